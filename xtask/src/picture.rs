//! Draws a terminal as an SVG file: the picture of a real run in the README.

use std::fmt::Write as _;

/// How many characters a line has, at most.
const COLUMNS: usize = 104;

/// The size of a character and of a line, in pixels.
const CHARACTER: f64 = 8.0;
const LINE: usize = 19;

/// The room around the text, and above it for the window's bar.
const MARGIN: usize = 18;
const BAR: usize = 34;

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Who is at the terminal.
    Person,
    /// What a person or the model types.
    Typed,
    /// What the user reads.
    Said,
    /// What the model reads.
    Context,
    /// What refuses a call.
    Refused,
    /// How long it took, and the like.
    Quiet,
}

impl Ink {
    const fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Typed => "typed",
            Self::Said => "said",
            Self::Context => "context",
            Self::Refused => "refused",
            Self::Quiet => "quiet",
        }
    }
}

/// A terminal's text, line by line.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    lines: Vec<(Ink, String)>,
}

impl Picture {
    /// Adds a text; lines that are too long are broken between words and go on below the first one's text.
    pub(crate) fn add(&mut self, ink: Ink, mark: &str, text: &str) {
        let indent = " ".repeat(mark.chars().count());
        let mut lead = mark;
        for line in text.lines() {
            let mut rest = wrap(line, COLUMNS - mark.chars().count()).into_iter();
            let first = rest.next().unwrap_or_default();
            self.lines.push((ink, format!("{lead}{first}")));
            self.lines.extend(rest.map(|line| (ink, format!("{indent}{line}"))));
            lead = &indent;
        }
    }

    pub(crate) fn gap(&mut self) {
        self.lines.push((Ink::Quiet, String::new()));
    }

    /// Returns the file; `title` is on the window's bar and read aloud to those who do not see the picture.
    pub(crate) fn svg(&self, title: &str) -> String {
        let width = COLUMNS as f64 * CHARACTER + 2.0 * MARGIN as f64;
        let height = BAR + self.lines.len() * LINE + 2 * MARGIN;
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{title}">
<style>
text {{ font: 13.3px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }}
.person {{ fill: #8ab4f8; font-weight: bold; }} .typed {{ fill: #e8eaed; }} .said {{ fill: #81c995; }}
.context {{ fill: #bdc1c6; }} .refused {{ fill: #f6aea9; }} .quiet {{ fill: #80868b; }}
</style>
<rect width="100%" height="100%" rx="10" fill="#1b1d21"/>
<circle cx="20" cy="18" r="6" fill="#f28b82"/><circle cx="40" cy="18" r="6" fill="#fdd663"/><circle cx="60" cy="18" r="6" fill="#81c995"/>
<text class="quiet" x="50%" y="22" text-anchor="middle">{title}</text>
"##,
            title = escaped(title),
        );
        for (number, (ink, line)) in self.lines.iter().enumerate().filter(|(_, (_, line))| !line.is_empty()) {
            let y = BAR + MARGIN + number * LINE + LINE / 2;
            let length = line.chars().count() as f64 * CHARACTER;
            // Whatever font there is, a line is as wide as its characters.
            let _ = writeln!(
                svg,
                r#"<text class="{}" x="{MARGIN}" y="{y}" textLength="{length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">{}</text>"#,
                ink.name(),
                escaped(line),
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Breaks a line between words, each part indented as it is; a word that is longer than a line stays whole.
fn wrap(line: &str, columns: usize) -> Vec<String> {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && indent + last.chars().count() + 1 + word.chars().count() > columns {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines.iter().map(|line| format!("{:indent$}{line}", "")).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_indented() {
        let mut picture = Picture::default();
        picture.add(Ink::Typed, "$ ", &"word ".repeat(30));
        assert_eq!(picture.lines.len(), 2);
        assert!(picture.lines.iter().all(|(_, line)| line.chars().count() <= COLUMNS));
        assert!(picture.lines[0].1.starts_with("$ word") && picture.lines[1].1.starts_with("  word"));
        let mut picture = Picture::default();
        picture.add(Ink::Said, "  ", &format!("  {}", "word ".repeat(30)));
        assert_eq!(picture.lines.len(), 2);
        assert!(picture.lines.iter().all(|(_, line)| line.starts_with("    word")));
    }

    #[test]
    fn text_cannot_leave_its_element() {
        let mut picture = Picture::default();
        picture.add(Ink::Context, "", "</text><script>&");
        let svg = picture.svg("a \"title\"");
        assert!(svg.contains("&lt;/text&gt;&lt;script&gt;&amp;</text>"), "{svg}");
        assert!(svg.contains("aria-label=\"a &quot;title&quot;\""), "{svg}");
    }
}
