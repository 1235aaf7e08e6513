//! From Markdown with named headings to the sections of a handoff. Nothing is cut: what has no place of its own is kept under
//! the name that it came with.

use crate::Name;
use work::contexts::{OpenTask, Origin, Section};

/// A line that begins a section, as aiwcli wrote it: `<!-- SECTION: dead-ends -->`.
const MARKER: &str = "<!-- section:";
/// The level of headings that begin sections where no heading names a known one.
const LEVEL: usize = 2;

/// A handoff that is to be saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// On one line; without one, the handoff has that of its context.
    pub title: String,
    /// In the order they came in, each name once.
    pub sections: Vec<Section>,
    /// The tasks that are open.
    pub tasks: Vec<OpenTask>,
    pub origin: Origin,
}

impl Draft {
    /// Reads Markdown. Sections begin at headings of the level on which a known name comes first, or at the markers of aiwcli
    /// where there are any; what comes before the first one is the summary.
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut draft = Self::default();
        let body = draft.take_front_matter(text);
        let lines = Lines::of(body);
        let has_markers = lines.any(|line| marker(line).is_some());
        let level = lines.first(|line| heading(line).filter(|(_, name)| Name::of(name).is_some()));
        let level = level.map_or(LEVEL, |(level, _)| level);
        let (mut name, mut part) = (Name::Summary.label().to_owned(), String::new());
        let mut is_first = true;
        for (line, is_code) in lines.0 {
            let begun = match () {
                () if is_code => None,
                () if has_markers => marker(line).map(str::to_owned),
                () => heading(line).filter(|(found, _)| *found == level).map(|(_, name)| name.to_owned()),
            };
            if let Some(begun) = begun {
                draft.add(&name, &part);
                (name, part, is_first) = (begun, String::new(), false);
                continue;
            }
            // The title of the whole document.
            let title = heading(line).filter(|(found, _)| is_first && !is_code && *found == 1);
            if let Some((_, title)) = title.filter(|_| draft.title.is_empty() && part.trim().is_empty()) {
                draft.title = title.to_owned();
                continue;
            }
            part.push_str(line);
        }
        draft.add(&name, &part);
        draft
    }

    /// Adds to a section, which is made where there is none of the name. Nothing is added without text.
    pub fn add(&mut self, name: &str, text: &str) {
        let text = without_blank_lines(text);
        if text.is_empty() {
            return;
        }
        let known = Name::of(name);
        let label = known.map_or(name.trim(), |known| known.label());
        match self.sections.iter_mut().find(|section| section.name.eq_ignore_ascii_case(label)) {
            Some(section) => {
                section.text.push_str("\n\n");
                section.text.push_str(text);
            }
            None => self.sections.push(Section { name: label.to_owned(), text: text.to_owned() }),
        }
    }

    /// Returns the text of a section; empty where there is none.
    pub fn text(&self, name: Name) -> &str {
        text_of(&self.sections, name)
    }

    /// Returns the sections that a handoff should have and this one has not.
    pub fn empty_sections(&self) -> Vec<&'static str> {
        Name::ASKED.into_iter().filter(|name| self.text(*name).is_empty()).map(Name::label).collect()
    }

    /// Takes the front matter off, whose title counts: the first line is `---`, and up to the next such line there are
    /// only values. Anything else is text.
    fn take_front_matter<'t>(&mut self, text: &'t str) -> &'t str {
        let mut at = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            at += line.len();
            let line = line.trim_end();
            match (number, line) {
                (0, "---") => {}
                (0, _) => return text,
                (_, "---") => {
                    let front = text[..at].lines().filter_map(|line| line.split_once(':'));
                    let title = front.filter(|(name, _)| name.trim().eq_ignore_ascii_case("title"));
                    let mut title = title.map(|(_, title)| title.trim().trim_matches(['"', '\'']).to_owned());
                    self.title = title.next().unwrap_or_default();
                    return &text[at..];
                }
                _ if line.is_empty() || is_value(line) => {}
                _ => return text,
            }
        }
        text
    }
}

/// Returns the text of a section; empty where there is none.
pub(crate) fn text_of(sections: &[Section], name: Name) -> &str {
    let found = sections.iter().find(|section| section.name == name.label());
    found.map_or("", |section| &section.text)
}

/// Says whether a line of front matter is a value or belongs to one.
fn is_value(line: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    line.starts_with([' ', '-']) || line.split_once(':').is_some_and(|(name, _)| is_name(name))
}

/// The lines of a text with their ends, and whether each is in a block of code.
struct Lines<'t>(Vec<(&'t str, bool)>);

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let mut fence: Option<&str> = None;
        let lines = text.split_inclusive('\n').map(|line| {
            let start = line.trim_start();
            let marks = start.len() - start.trim_start_matches(['`', '~']).len();
            let mark = &start[..marks];
            let is_mark = marks >= 3 && (mark.bytes().all(|c| c == b'`') || mark.bytes().all(|c| c == b'~'));
            match fence {
                None if is_mark => fence = Some(mark),
                Some(open) if is_mark && mark.starts_with(open) && start.trim_end() == mark => fence = None,
                open => return (line, open.is_some()),
            }
            (line, true)
        });
        let lines: Vec<(&str, bool)> = lines.collect();
        // A block that never ends is no block: its headings are headings.
        match fence {
            Some(_) => Self(lines.into_iter().map(|(line, _)| (line, false)).collect()),
            None => Self(lines),
        }
    }

    fn first<T>(&self, find: impl Fn(&'t str) -> Option<T>) -> Option<T> {
        self.0.iter().filter(|(_, is_code)| !is_code).find_map(|(line, _)| find(line))
    }

    fn any(&self, fits: impl Fn(&'t str) -> bool) -> bool {
        self.first(|line| fits(line).then_some(())).is_some()
    }
}

/// Returns the name in a marker of aiwcli.
fn marker(line: &str) -> Option<&str> {
    let line = line.trim();
    let start = line.get(..MARKER.len()).filter(|start| start.eq_ignore_ascii_case(MARKER))?;
    Some(line[start.len()..].strip_suffix("-->")?.trim()).filter(|name| !name.is_empty())
}

/// Returns the level and the text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.len() - line.trim_start_matches('#').len();
    let name = line[level..].strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim_end();
    ((1..=6).contains(&level) && !name.is_empty()).then_some((level, name))
}

/// Returns a text without the blank lines around it; what its first line is indented by stays.
fn without_blank_lines(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
    let start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(text: &str) -> Vec<(String, String)> {
        Draft::parse(text).sections.into_iter().map(|section| (section.name, section.text)).collect()
    }

    #[test]
    fn line_1_tables_and_rules_cut_nothing() {
        let dead_ends = "| approach | why |\n|---|---|\n| floats | 0.1 + 0.2 |\n\n---\n\nafter the rule\n\n---\nand the second";
        let text =
            format!("---\ntitle: Cents\n---\n## Dead ends\n\n{dead_ends}\n\n## Pending\n- checkout.js\n");
        let draft = Draft::parse(&text);
        assert_eq!(draft.title, "Cents");
        assert_eq!(draft.text(Name::DeadEnds), dead_ends);
        assert_eq!(draft.text(Name::Pending), "- checkout.js");
    }

    #[test]
    fn line_24_unknown_sections_and_what_comes_first_are_kept() {
        let text = "# The cart\n\nWe move to cents.\n\n## COMPLETED WORK\ncart.js\n### details\nall of it\n## Risks\nrounding\n## next-steps\n- b\n## Pending\n- a\n";
        let draft = Draft::parse(text);
        assert_eq!(draft.title, "The cart");
        let expected = [
            ("summary", "We move to cents."),
            ("completed work", "cart.js\n### details\nall of it"),
            ("Risks", "rounding"),
            ("pending", "- b\n\n- a"),
        ];
        assert_eq!(sections(text), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert_eq!(draft.empty_sections(), ["decisions", "dead ends", "context", "plan"]);
    }

    #[test]
    fn the_markers_of_aiwcli_begin_sections_and_headings_then_do_not() {
        let text = "before\n<!-- SECTION: dead-ends -->\n## Dead ends\na\n<!-- section: Oddity -->\nb\n";
        let expected = [("summary", "before"), ("dead ends", "## Dead ends\na"), ("Oddity", "b")];
        assert_eq!(sections(text), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }

    #[test]
    fn headings_in_code_and_rules_at_the_top_are_text() {
        let text = "---\nno value here\n---\n## Context\n```md\n## Pending\n```\nend\n";
        let expected = [("summary", "---\nno value here\n---"), ("context", "```md\n## Pending\n```\nend")];
        assert_eq!(sections(text), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
        // A block that was never closed hides no section.
        assert_eq!(sections("## Context\n```\n## Pending\nx\n").len(), 2);
    }

    #[test]
    fn a_text_without_headings_is_the_summary_and_the_level_is_that_of_the_first_known_name() {
        assert_eq!(sections("  only this\n"), [("summary".to_owned(), "  only this".to_owned())]);
        let text = "# Pending\n- a\n## sub\n- b\n# Dead ends\nc\n";
        let expected = [("pending", "- a\n## sub\n- b"), ("dead ends", "c")];
        assert_eq!(sections(text), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert!(Draft::parse(" \n\n").sections.is_empty());
    }
}
