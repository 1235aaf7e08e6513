//! A script of one line for the shells of Windows, which start `wyren.cmd` for `wyren`.

use base::files;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(windows)]
pub(super) const NAME: &str = "wyren.cmd";

/// The most bytes of a script that are read.
const MAX_BYTES: usize = 64 * 1024;

/// What is before and after the program's path.
const LINE: [&str; 2] = ["@\"", "\" %*\r\n"];

/// Returns the program that a script starts; `None` for one that we did not write.
pub(super) fn target(at: &Path) -> io::Result<Option<PathBuf>> {
    let text = match files::read_text_capped(at, MAX_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
        read => read.unwrap_or_default(),
    };
    let program = text.strip_prefix(LINE[0]).and_then(|rest| rest.strip_suffix(LINE[1]));
    Ok(program.map(|program| PathBuf::from(program.replace("%%", "%"))))
}

pub(super) fn write(at: &Path, program: &Path) -> io::Result<()> {
    let program =
        program.to_str().ok_or_else(|| io::Error::other("the path of the program is not valid text"))?;
    // A single one would begin the name of a variable.
    let line = format!("{}{}{}", LINE[0], program.replace('%', "%%"), LINE[1]);
    files::write_atomic(at, line.as_bytes())
}
