//! The confidence of lessons as measured by what followed when they were shown: a small file beside the index of each source,
//! which a program with time writes. It decides what comes first, and silences nothing: that is for a person to do.

use base::files;
use std::path::Path;

/// The ending of the file.
pub const ENDING: &str = "confidence";

const HEAD: &str = "wyren confidence 1";

/// What was measured of the lessons of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured(String);

impl Measured {
    /// Reads a file; without one, or with one of a later version, nothing was measured.
    pub fn read(file: &Path) -> Self {
        let text = files::read_text_capped(file, files::cap::STATE).unwrap_or_default();
        let lines = text.strip_prefix(HEAD).and_then(|rest| rest.strip_prefix('\n'));
        Self(lines.map(str::to_owned).unwrap_or_default())
    }

    /// Returns the confidence of a lesson, in percent.
    pub fn of(&self, slug: &str) -> Option<u8> {
        self.0.lines().find_map(|line| line.strip_prefix(slug)?.strip_prefix(' ')?.parse().ok())
    }
}

/// Returns the text of a file that says how sure lessons are, in percent.
pub fn render<'a>(measured: impl Iterator<Item = (&'a str, u8)>) -> String {
    measured.fold(format!("{HEAD}\n"), |text, (slug, percent)| text + &format!("{slug} {percent}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_is_found_by_its_whole_name_and_another_version_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.confidence");
        assert_eq!(Measured::read(&file).of("make"), None);
        std::fs::write(&file, render([("make-it", 12), ("make", 90)].into_iter())).unwrap();
        let measured = Measured::read(&file);
        assert_eq!(
            (measured.of("make"), measured.of("make-it"), measured.of("mak")),
            (Some(90), Some(12), None)
        );
        std::fs::write(&file, "wyren confidence 2\nmake 90\n").unwrap();
        assert_eq!(Measured::read(&file).of("make"), None);
    }
}
