//! From Markdown with named headings to the sections of a handoff. Nothing is cut: what has no place of its own is kept under
//! the name that it came with.

use crate::Name;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use work::contexts::{OpenTask, Origin, Section};

/// A line that begins a section, as aiwcli wrote it: `<!-- SECTION: dead-ends -->`.
const MARKER: &str = "<!-- section:";
/// The level of headings that begin sections where no heading has a known name.
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
    /// Reads Markdown. Sections begin at headings of a known name, at others beside or above the section before, or at the markers
    /// of aiwcli where there are any; what comes before the first one is the summary.
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut draft = Self::default();
        let body = draft.take_front_matter(text);
        let lines = lines(body);
        let is_marked = lines.iter().any(|(line, is_code)| !is_code && marker(line).is_some());
        let outline = Outline::of(&lines);
        let mut section = Begun { name: Name::Summary.label(), ..Begun::default() };
        let (mut before, mut level, mut subject) = (section.name, outline.level, None);
        let mut at = 0;
        while let Some((line, is_code)) = lines.get(at).copied() {
            at += 1;
            let heading = outline.at(at - 1);
            let begun = match heading {
                _ if is_code => None,
                Some(heading) if heading.is_title(&draft, &section, &outline) => {
                    draft.title = heading.name.to_owned();
                    at = heading.end;
                    continue;
                }
                _ if is_marked => marker(line).map(|name| Begun { name, ..Begun::default() }),
                Some(heading) if outline.begins(heading, level, subject, section.source.is_empty()) => {
                    Some(heading.begin(&lines))
                }
                _ => None,
            };
            if let Some(begun) = begun {
                draft.end(&section, before);
                before = if section.is_empty() { before } else { section.name };
                section = begun;
                (level, subject) = (heading.map_or(level, |heading| heading.level), None);
                at = heading.filter(|_| !is_marked).map_or(at, |heading| heading.end);
                continue;
            }
            if let Some(heading) = heading.filter(|heading| heading.name().is_none()) {
                subject = Some(subject.map_or(heading.level, |level: usize| level.min(heading.level)));
            }
            section.text.push_str(line);
        }
        draft.end(&section, before);
        draft
    }

    /// Adds a section that ends. A heading of the writer's own with nothing below is text, of the section before.
    fn end(&mut self, section: &Begun<'_>, before: &str) {
        match section.is_empty() && Name::of(section.name).is_none() {
            true => self.add(before, &section.source),
            false => self.add(section.name, &section.text),
        }
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

/// A section that is read.
#[derive(Default)]
struct Begun<'t> {
    name: &'t str,
    /// The heading as it was written; empty for what has none.
    source: String,
    text: String,
}

impl Begun<'_> {
    fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Returns the lines of a text with their ends, and whether each is in a block of code.
fn lines(text: &str) -> Vec<(&str, bool)> {
    let mut fence: Option<(usize, &str)> = None;
    let mut lines: Vec<(&str, bool)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = line.trim();
        let marks = start.len() - start.trim_start_matches(['`', '~']).len();
        let (mark, rest) = start.split_at(marks);
        let is_mark = marks >= 3 && (mark.bytes().all(|c| c == b'`') || mark.bytes().all(|c| c == b'~'));
        // Backquotes behind it make it code in a line.
        let opens = is_mark && !(mark.starts_with('`') && rest.contains('`'));
        let is_code = opens || fence.is_some();
        match fence {
            None if opens => fence = Some((lines.len(), mark)),
            Some((_, open)) if is_mark && mark.starts_with(open) && rest.is_empty() => fence = None,
            _ => {}
        }
        lines.push((line, is_code));
    }
    // A block that never ends is no block: its headings are headings.
    if let Some((from, _)) = fence {
        lines[from..].iter_mut().for_each(|(_, is_code)| *is_code = false);
    }
    lines
}

/// The level of a line in bold that is a heading: below all others.
const BOLD: usize = 7;

/// A heading: `## Pending`, a line in bold, or one that is underlined with `=` or `-`.
#[derive(Debug)]
struct Heading<'t> {
    /// The number of its line, and of the first one behind it.
    at: usize,
    end: usize,
    level: usize,
    name: &'t str,
    /// What follows the name in brackets: `(in this order)`.
    aside: &'t str,
}

impl<'t> Heading<'t> {
    fn of(lines: &[(&'t str, bool)], at: usize) -> Option<Self> {
        let (line, false) = *lines.get(at)? else { return None };
        let indent = line.len() - line.trim_start_matches(' ').len();
        let text = line.trim();
        if indent > 3 || text.is_empty() {
            return None;
        }
        let (level, name, end) = match hashes(text).or_else(|| bold(text)) {
            Some((level, name)) => (level, name, at + 1),
            None => (underline(lines, at, text)?, text, at + 2),
        };
        let (name, aside) = match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
            Some((start, _)) if Name::of(name).is_none() && Name::of(start).is_some() => {
                (start.trim_end(), &name[start.len()..])
            }
            _ => (name, ""),
        };
        Some(Self { at, end, level, name, aside })
    }

    fn name(&self) -> Option<Name> {
        Name::of(self.name)
    }

    /// Says whether it is the title of the whole document.
    fn is_title(&self, draft: &Draft, section: &Begun<'_>, outline: &Outline<'_>) -> bool {
        let is_first = section.source.is_empty() && section.is_empty() && draft.sections.is_empty();
        // Beside the sections it is one, unless nothing is below.
        let is_above = || outline.level > 1 || outline.is_bare(self);
        self.level == 1 && self.name().is_none() && is_first && draft.title.is_empty() && is_above()
    }

    fn begin(&self, lines: &[(&'t str, bool)]) -> Begun<'t> {
        let source = lines[self.at..self.end].iter().map(|(line, _)| *line).collect();
        let text = if self.aside.is_empty() { String::new() } else { format!("{}\n", self.aside) };
        Begun { name: self.name, source, text }
    }
}

/// The headings of a document.
struct Outline<'t> {
    headings: Vec<Heading<'t>>,
    /// That of the sections: the one on which most known names are.
    level: usize,
    /// The known names that are on this level or above.
    names: Vec<Name>,
    /// The headings that another one follows, with nothing in between.
    bare: Vec<usize>,
}

impl<'t> Outline<'t> {
    fn of(lines: &[(&'t str, bool)]) -> Self {
        let mut headings: Vec<Heading<'t>> = Vec::new();
        for at in 0..lines.len() {
            if headings.last().is_none_or(|last| last.end <= at) {
                headings.extend(Heading::of(lines, at));
            }
        }
        let weight = |level: usize| {
            let known = headings.iter().filter(|heading| heading.level == level);
            let known: BTreeMap<Name, bool> = known.filter_map(|heading| Name::read(heading.name)).collect();
            known.values().map(|is_clear| if *is_clear { 2 } else { 1 }).sum::<usize>()
        };
        let level = (1..=BOLD).filter(|level| weight(*level) > 0);
        let level = level.max_by_key(|level| (weight(*level), Reverse(*level))).unwrap_or(LEVEL);
        let above = headings.iter().filter(|heading| heading.level <= level);
        let names = above.filter_map(Heading::name).collect();
        let is_blank =
            |range: std::ops::Range<usize>| lines[range].iter().all(|(line, _)| line.trim().is_empty());
        let pairs = headings.iter().zip(headings.iter().skip(1));
        let bare = pairs.filter(|(one, next)| is_blank(one.end..next.at)).map(|(one, _)| one.at).collect();
        Self { headings, level, names, bare }
    }

    /// Returns the heading that begins with a line.
    fn at(&self, line: usize) -> Option<&Heading<'t>> {
        let found = self.headings.binary_search_by_key(&line, |heading| heading.at);
        found.ok().map(|found| &self.headings[found])
    }

    fn is_bare(&self, heading: &Heading<'_>) -> bool {
        self.bare.binary_search(&heading.at).is_ok()
    }

    /// Says whether a heading begins a section, below one of this level; `subject` is the highest level of other headings in that
    /// one.
    fn begins(&self, heading: &Heading<'_>, level: usize, subject: Option<usize>, is_first: bool) -> bool {
        match Name::read(heading.name) {
            Some(_) if heading.level <= self.level => true,
            // It may be a part of something else: the context of a decision.
            Some((name, is_clear)) => {
                is_clear
                    && !self.names.contains(&name)
                    && subject.is_none_or(|subject| heading.level <= subject)
            }
            None if is_first => heading.level == self.level,
            None => heading.level <= level.max(self.level),
        }
    }
}

/// Returns the level and the text of a line that begins with `#`.
fn hashes(line: &str) -> Option<(usize, &str)> {
    let level = line.len() - line.trim_start_matches('#').len();
    let name = line[level..].strip_prefix([' ', '\t'])?.trim();
    // Behind the text they are no part of it, unless they belong to a word: `C#`.
    let text = name.trim_end_matches('#');
    let name = if text.ends_with(char::is_whitespace) { text.trim_end() } else { name };
    ((1..=6).contains(&level) && !text.is_empty()).then_some((level, name))
}

/// Returns the level and the text of a line that is in bold.
fn bold(line: &str) -> Option<(usize, &str)> {
    let line = line.strip_suffix(':').unwrap_or(line);
    let inside = |mark: &str| {
        let name = line.strip_prefix(mark)?.strip_suffix(mark)?.trim();
        (!name.contains(mark) && name.contains(char::is_alphanumeric)).then_some((BOLD, name))
    };
    inside("**").or_else(|| inside("__"))
}

/// Returns the level of a line that the next one underlines. With `-` that may be a rule: it is no longer than three, or the line is
/// longer.
fn underline(lines: &[(&str, bool)], at: usize, text: &str) -> Option<usize> {
    let is_alone = at.checked_sub(1).is_none_or(|before| {
        lines[before].1 || lines[before].0.trim().is_empty() || hashes(lines[before].0.trim()).is_some()
    });
    let (next, false) = *lines.get(at + 1)? else { return None };
    let next = next.trim();
    let is_text = !text.starts_with(['-', '*', '+', '>', '|', '<', '=']);
    let is_of = |mark: u8| next.len() >= 3 && next.bytes().all(|byte| byte == mark);
    let is_known = || Name::of(text).is_some();
    match is_alone && is_text {
        true if is_of(b'=') => Some(1),
        true if is_of(b'-') && (is_known() || next.len() >= text.chars().count().max(4)) => Some(2),
        _ => None,
    }
}

/// Returns the name in a marker of aiwcli.
fn marker(line: &str) -> Option<&str> {
    let line = line.trim();
    let start = line.get(..MARKER.len()).filter(|start| start.eq_ignore_ascii_case(MARKER))?;
    Some(line[start.len()..].strip_suffix("-->")?.trim()).filter(|name| !name.is_empty())
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
    fn sections_begin_at_headings_of_any_level_and_form() {
        let expected = [("completed work", "cart.js"), ("dead ends", "floats"), ("pending", "checkout.js")];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        for text in [
            "# Completed work\ncart.js\n## Dead ends\nfloats\n### Pending\ncheckout.js\n",
            "### Completed work\ncart.js\n# Dead ends\nfloats\n## Pending\ncheckout.js\n",
            "## Completed work\ncart.js\n### Dead ends\nfloats\n### Next steps\ncheckout.js\n",
            "Completed work\n==============\ncart.js\n\nDead ends\n---\nfloats\n\nPending\n-------\ncheckout.js\n",
            "**Completed work**\ncart.js\n\n**Dead ends:**\nfloats\n\n__Pending__:\n\ncheckout.js\n",
            "## 1. Completed work\ncart.js\n## 2) Dead ends ##\nfloats\n## ⏳ Pending:\ncheckout.js\n",
            "## Completed work\ncart.js\n\n**Dead ends**\nfloats\n\nPending\n=======\ncheckout.js\n",
            "# Done\ncart.js\n# Failed approaches\nfloats\n# Next\ncheckout.js\n",
        ] {
            assert_eq!(sections(text), expected, "{text}");
        }
    }

    #[test]
    fn headings_of_what_a_section_tells_of_stay_in_it() {
        for (text, expected) in [
            (
                "## Completed work\n### Files\n- a\n### Notes\n- b\n## Dead ends\nc\n",
                vec![("completed work", "### Files\n- a\n### Notes\n- b"), ("dead ends", "c")],
            ),
            (
                "## Decisions\n### Cents\n#### Context\n0.1 + 0.2\n#### Plan\nno floats\n## Pending\nd\n",
                vec![
                    ("decisions", "### Cents\n#### Context\n0.1 + 0.2\n#### Plan\nno floats"),
                    ("pending", "d"),
                ],
            ),
            (
                "## Decisions\n### Context\na\n## Context\nb\n",
                vec![("decisions", "### Context\na"), ("context", "b")],
            ),
            (
                "## Dead ends\n**decimal.js**\n40 KB\n\nand so on\n---\nafter\n",
                vec![("dead ends", "**decimal.js**\n40 KB\n\nand so on\n---\nafter")],
            ),
            (
                "## Context\n```\n# Pending\n```\nx\n## Dead ends\ny\n```\nnever closed\n",
                vec![("context", "```\n# Pending\n```\nx"), ("dead ends", "y\n```\nnever closed")],
            ),
            (
                "## Context\n```code``` in a line\n## Dead ends\n    # a comment\ny\n",
                vec![("context", "```code``` in a line"), ("dead ends", "    # a comment\ny")],
            ),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
            assert_eq!(sections(text), expected, "{text}");
        }
    }

    #[test]
    fn what_people_and_tools_write_keeps_its_places() {
        for (text, expected) in [
            (
                "# Handoff: parser\n\n## Summary\nmoved\n\n## ✅ Completed Work\n- crate\n\n### Dead Ends\n- nom\n\n## Next Steps:\n1. tests\n",
                vec![
                    ("summary", "moved"),
                    ("completed work", "- crate"),
                    ("dead ends", "- nom"),
                    ("pending", "1. tests"),
                ],
            ),
            (
                "Summary\n-------\nmoved\n\nOpen questions\n--------------\nwho reviews?\n\nDead ends\n---------\nnom\n",
                vec![("summary", "moved"), ("Open questions", "who reviews?"), ("dead ends", "nom")],
            ),
            (
                "**Goal**\nmove it\n\n**Done**\n- crate\n\n**Risks**\nrounding\n\n**Next**\n- tests\n",
                vec![
                    ("summary", "move it"),
                    ("completed work", "- crate"),
                    ("Risks", "rounding"),
                    ("pending", "- tests"),
                ],
            ),
            (
                "### Decisions\n- serde\n#### Why\nsmall\n### PENDING\n- tests\n#### Later\n- docs\n",
                vec![("decisions", "- serde\n#### Why\nsmall"), ("pending", "- tests\n#### Later\n- docs")],
            ),
            (
                "# Context\nrust\n# Dead ends\n## nom\nslow\n## pest\nbig\n# Pending\n~~~sh\n# Plan\ncargo test\n~~~\n",
                vec![
                    ("context", "rust"),
                    ("dead ends", "## nom\nslow\n## pest\nbig"),
                    ("pending", "~~~sh\n# Plan\ncargo test\n~~~"),
                ],
            ),
            (
                "## Plan\n1. move\n\n## Dead ends\n\nTried nom\n---------\nslow\n\n## Pending\n\nfirst\n\n---\n\nsecond\n",
                vec![("plan", "1. move"), ("Tried nom", "slow"), ("pending", "first\n\n---\n\nsecond")],
            ),
            (
                "   ## Completed work\n   crate\n   ## Dead ends\n   nom\n",
                vec![("completed work", "   crate"), ("dead ends", "   nom")],
            ),
            (
                "## Decisions\n**Use serde**\nsmall\n**Context**\nbig inputs\n\n## Dead ends\nnom\n## Context\nrust\n",
                vec![
                    ("decisions", "**Use serde**\nsmall\n**Context**\nbig inputs"),
                    ("dead ends", "nom"),
                    ("context", "rust"),
                ],
            ),
            (
                "## Completed work\n```rust\n/// # Pending\n# Dead ends\n```\n```\n## Plan\n```\ndone\n",
                vec![("completed work", "```rust\n/// # Pending\n# Dead ends\n```\n```\n## Plan\n```\ndone")],
            ),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
            assert_eq!(sections(text), expected, "{text}");
        }
    }

    #[test]
    fn headings_of_the_writers_own_are_kept_with_or_without_text() {
        for (text, expected) in [
            (
                "## Pending\n- a\n# Appendix\nb\n## C#\nc\n",
                vec![("pending", "- a"), ("Appendix", "b"), ("C#", "c")],
            ),
            (
                "## Dead ends\na\n# Never on Fridays\n## Pending\nb\n",
                vec![("dead ends", "a\n\n# Never on Fridays"), ("pending", "b")],
            ),
            (
                "## Pending (in this order)\n- a\n## Risks (two)\nb\n",
                vec![("pending", "(in this order)\n- a"), ("Risks (two)", "b")],
            ),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
            assert_eq!(sections(text), expected, "{text}");
        }
        assert_eq!(Draft::parse("# Cents\n\n# Dead ends\nfloats\n").title, "Cents");
        assert_eq!(Draft::parse("Cents\n=====\n\n## Dead ends\nfloats\n").title, "Cents");
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
