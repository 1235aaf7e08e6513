//! What is written is found again; what is damaged is absent, and never read beyond its end.

use crate::support::{contents, entry};
use proptest::prelude::*;
use recall::{Cache, Contents, MAX_ENTRIES_OF_FILE, Strength};
use std::collections::BTreeMap;

/// The most bytes of a cache.
const MAX_BYTES: usize = 8 * 1000 * 1000;

/// Asks a cache everything that hooks ask.
fn ask_everything(cache: &Cache<Vec<u8>>, contents: &Contents) {
    for path in contents.files.keys().map(String::as_str).chain(["", "nowhere.rs"]) {
        for number in cache.about_file(path) {
            let _ = cache.line(number);
        }
    }
    for term in ["expiry", "verify_token", "main.rs", "", "title", "backoff"] {
        for strength in [Strength::Name, Strength::Word] {
            for number in cache.about_term(strength, term) {
                let _ = cache.line(number);
            }
        }
    }
    for number in [0, 1, cache.len() as u32, u32::MAX] {
        let _ = cache.line(number);
    }
}

fn some_contents() -> impl Strategy<Value = Contents> {
    let titles = prop::collection::vec("[a-z_.: ]{0,40}", 0..30);
    let files = prop::collection::btree_map(
        "[a-zä]{1,8}/[a-z]{1,8}\\.rs",
        prop::collection::vec(0_u32..40, 0..30),
        0..30,
    );
    (titles, files).prop_map(|(titles, files)| {
        let entries = titles.iter().enumerate().map(|(number, title)| entry(&format!("id{number}"), title));
        let sorted = |mut numbers: Vec<u32>| {
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let files = files.into_iter().map(|(path, numbers)| (path, sorted(numbers))).collect();
        Contents { entries: entries.collect(), files }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_found_again(contents in some_contents(), fingerprint: u64) {
        let cache = Cache::new(contents.build(fingerprint)).unwrap();
        prop_assert_eq!(cache.fingerprint(), fingerprint);
        prop_assert_eq!(cache.len(), contents.entries.len());
        for (path, numbers) in &contents.files {
            let known = numbers.iter().copied().filter(|number| (*number as usize) < contents.entries.len());
            let known: Vec<u32> = known.take(MAX_ENTRIES_OF_FILE).collect();
            prop_assert_eq!(cache.about_file(path), known, "{}", path);
        }
        prop_assert!(cache.about_file("not/there.rs").is_empty());
        for (number, entry) in (0..).zip(&contents.entries) {
            let line = cache.line(number).unwrap();
            prop_assert_eq!(line.id, &entry.id);
            prop_assert!(line.text.starts_with("2026-11-16 ✓"), "{}", line.text);
        }
        prop_assert!(cache.line(contents.entries.len() as u32).is_none());
    }

    #[test]
    fn damage_is_noticed_and_never_read_beyond_the_end(
        contents in some_contents(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        length in any::<prop::sample::Index>(),
        is_cut: bool,
    ) {
        let whole = contents.build(7);
        let mut damaged = whole.clone();
        for (place, byte) in places {
            let place = place.index(damaged.len());
            damaged[place] = byte;
        }
        if is_cut {
            damaged.truncate(length.index(whole.len()));
            prop_assert!(Cache::new(damaged.clone()).is_none());
        }
        // A header that holds, over tables and records that do not.
        let mut resealed = damaged.clone();
        if resealed.len() == whole.len() {
            resealed[..64].copy_from_slice(&whole[..64]);
        }
        for bytes in [damaged, resealed] {
            if let Some(cache) = Cache::new(bytes) {
                ask_everything(&cache, &contents);
            }
        }
    }

    #[test]
    fn any_bytes_are_no_cache_or_a_harmless_one(bytes: Vec<u8>, header in prop::collection::vec(any::<u32>(), 7)) {
        prop_assert!(Cache::new(bytes.clone()).is_none());
        // The magic and the checksum are right, the numbers are anything.
        let mut file = Contents::default().build(1);
        for (place, number) in header.iter().enumerate().skip(1) {
            file[16 + 4 * place..20 + 4 * place].copy_from_slice(&number.to_le_bytes());
        }
        file.extend(bytes);
        let length = (file.len() as u32).to_le_bytes();
        file[16..20].copy_from_slice(&length);
        let sum = xxhash_rust::xxh3::xxh3_64(&file[..56]).to_le_bytes();
        file[56..64].copy_from_slice(&sum);
        for slots in [16_u32, 1 << 31] {
            let mut file = file.clone();
            file[20..24].copy_from_slice(&slots.to_le_bytes());
            file[28..32].copy_from_slice(&slots.to_le_bytes());
            let sum = xxhash_rust::xxh3::xxh3_64(&file[..56]).to_le_bytes();
            file[56..64].copy_from_slice(&sum);
            let cache = Cache::new(file).unwrap();
            ask_everything(&cache, &contents(&[]));
        }
    }
}

#[test]
fn another_version_counts_as_absent() {
    let mut file = contents(&[("a.rs", &["one"])]).build(1);
    file[7] += 1;
    let sum = xxhash_rust::xxh3::xxh3_64(&file[..56]).to_le_bytes();
    file[56..64].copy_from_slice(&sum);
    assert!(Cache::new(file).is_none());
}

#[test]
fn a_cache_stays_below_its_size_whatever_the_journal_holds() {
    let long = "Ünïcödé wörds_in_a_title ".repeat(40);
    let entries =
        (0..30_000).map(|number| entry(&format!("{number:08}"), &format!("{number}th {long} word{number}x")));
    let mut contents = Contents { entries: entries.collect(), files: BTreeMap::new() };
    for number in 0..30_000_u32 {
        let numbers = (0..40)
            .map(|step| (number / 2 + step * 500) % 30_000)
            .collect::<std::collections::BTreeSet<u32>>();
        let path = format!("{}/file{number}.rs", "folder/".repeat(number as usize % 140));
        contents.files.insert(path, numbers.into_iter().collect());
    }
    let file = contents.build(1);
    assert!(file.len() < MAX_BYTES, "{}", file.len());
    let cache = Cache::new(file).unwrap();
    // What is left out is old.
    assert!(cache.line(0).is_some() && cache.len() > 5_000, "{}", cache.len());
    let longest = |numbers: Vec<u32>| {
        numbers.iter().filter_map(|number| cache.line(*number)).map(|line| line.text.len()).sum::<usize>()
    };
    let some = contents.files.keys().map(|path| longest(cache.about_file(path))).max();
    assert!(some.unwrap() <= 20 * 200 * 2 && some.unwrap() > 0, "{some:?}");
}
