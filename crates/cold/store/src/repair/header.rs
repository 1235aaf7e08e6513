//! The first bytes of a database. When they alone are damaged, SQLite refuses a file of which everything can be read.

use super::{COMPANIONS, replace_by_copy, suffixed};
use base::files;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// The length of the header.
const LENGTH: usize = 100;
/// The size of a page in every database that we make.
const PAGE_BYTES: u32 = 4_096;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Numbers that the format fixes: no reserved bytes, and three fractions.
const FIXED: [u8; 4] = [0, 64, 32, 32];

/// Says whether the header is one that we write and the file is as long as it says.
pub(super) fn is_sound(database: &Path) -> bool {
    let Ok(header) = read(database) else { return false };
    let Ok(length) = fs::metadata(database).map(|metadata| metadata.len()) else { return false };
    let number = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    header.starts_with(MAGIC)
        && header[16..18] == [0x10, 0x00]
        && header[18..20].iter().all(|version| matches!(version, 1 | 2))
        && header[20..24] == FIXED
        && (1..=4).contains(&number(44))
        && number(56) == 1
        && u64::from(number(28)) * u64::from(PAGE_BYTES) == length
}

/// Makes a copy of the database, with the log of changes beside it, and gives it a sound header.
pub(super) fn make_sound_copy(database: &Path, copy: &Path) -> io::Result<()> {
    let (log, log_copy) = (suffixed(database, "-wal"), suffixed(copy, "-wal"));
    for companion in COMPANIONS {
        files::remove_if_there(&suffixed(copy, companion))?;
    }
    replace_by_copy(database, copy)?;
    let has_log = log.exists();
    if has_log {
        replace_by_copy(&log, &log_copy)?;
    }
    let page = page_bytes(&log).unwrap_or(PAGE_BYTES);
    let mut file = File::options().write(true).open(copy)?;
    let pages = file.metadata()?.len().div_ceil(u64::from(page)).max(1);
    file.set_len(pages * u64::from(page))?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header(page, u32::try_from(pages).unwrap_or(u32::MAX), has_log))
}

fn read(database: &Path) -> io::Result<[u8; LENGTH]> {
    let mut header = [0; LENGTH];
    File::open(database)?.read_exact(&mut header)?;
    Ok(header)
}

/// Returns the size of a page as the log of changes says it.
fn page_bytes(log: &Path) -> Option<u32> {
    let mut start = [0; 12];
    File::open(log).ok()?.read_exact(&mut start).ok()?;
    let page = u32::from_be_bytes([start[8], start[9], start[10], start[11]]);
    (page.is_power_of_two() && (512..=65_536).contains(&page)).then_some(page)
}

/// Returns a header; see <https://www.sqlite.org/fileformat.html>. The copy is only read, so it needs no list of free pages.
fn header(page: u32, pages: u32, has_log: bool) -> [u8; LENGTH] {
    let mut header = [0; LENGTH];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, MAGIC);
    // 65,536 does not fit, and is written as 1.
    put(16, &u16::try_from(page).unwrap_or(1).to_be_bytes());
    put(18, &[if has_log { 2 } else { 1 }; 2]);
    put(20, &FIXED);
    // The number of changes, and again the number for which the count of pages holds.
    for at in [24, 92] {
        put(at, &1_u32.to_be_bytes());
    }
    put(28, &pages.to_be_bytes());
    // The version of the schema, its format, and UTF-8.
    for (at, number) in [(40, 1_u32), (44, 4), (56, 1), (96, 3_045_000)] {
        put(at, &number.to_be_bytes());
    }
    header
}
