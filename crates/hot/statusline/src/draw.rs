//! The line itself: what fits into a width, on one row or two.
//!
//! Parts are in the order of their worth. Names are cut until a row fits, and what does not fit even then is left out. Two rows
//! are used where one has no room for everything.

use crate::facts::Facts;
use base::Env;

/// Between two parts.
const BETWEEN: &str = " │ ";

/// Below these columns the names are shorter.
const NANO: usize = 35;
const MICRO: usize = 55;
const MINI: usize = 76;

/// A window with no more than this much left, in percent, is urgent, or soon will be; as in the warning to the model.
const URGENT: u8 = 10;
const SOON: u8 = 30;

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    On,
    Off,
}

impl Colour {
    /// Returns whether the user wants colours. The client passes them on, though it gives no terminal.
    pub fn of(env: &Env) -> Self {
        let is_dumb = env.text("TERM").is_some_and(|terminal| terminal == "dumb");
        if env.get("NO_COLOR").is_some() || is_dumb { Self::Off } else { Self::On }
    }
}

/// A part of the line, with the escape sequence of its colour.
struct Part {
    text: String,
    colour: &'static str,
}

const PLAIN: &str = "";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RED: &str = "\x1b[31m";
const CYAN: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// How long names and the bar may be, in columns.
struct Lengths {
    model: usize,
    bar: usize,
    project: usize,
    branch: usize,
    task: usize,
}

/// From wide to narrow terminals.
const CLASSES: [Lengths; 4] = [
    Lengths { model: 24, bar: 10, project: 24, branch: 30, task: 40 },
    Lengths { model: 18, bar: 6, project: 16, branch: 18, task: 24 },
    Lengths { model: 12, bar: 4, project: 12, branch: 12, task: 18 },
    Lengths { model: 8, bar: 0, project: 8, branch: 8, task: 12 },
];

/// Returns the lengths that may be tried for a width, the longest first.
fn classes(width: usize) -> &'static [Lengths] {
    match width {
        0..NANO => &CLASSES[3..],
        NANO..MICRO => &CLASSES[2..],
        MICRO..MINI => &CLASSES[1..],
        _ => &CLASSES,
    }
}

/// Draws the line for a width in columns, on `rows` rows at most. Each row ends with a newline.
pub fn draw(facts: &Facts, width: usize, rows: usize, colour: Colour) -> String {
    let classes = classes(width);
    let all = |lengths: &Lengths| first(facts, lengths).into_iter().chain(second(facts, lengths)).collect();
    let whole: Vec<Part> = all(&classes[0]);
    if rows < 2 || columns_of(&whole) <= width {
        return row(&fitting(classes, width, all), width, colour);
    }
    let rows = [first, second].map(|parts| fitting(classes, width, |lengths| parts(facts, lengths)));
    rows.iter().map(|parts| row(parts, width, colour)).collect()
}

/// Returns the parts with the longest names that fit on a row, else with the shortest.
fn fitting(classes: &[Lengths], width: usize, parts: impl Fn(&Lengths) -> Vec<Part>) -> Vec<Part> {
    let mut all = classes.iter().map(parts);
    let mut last = Vec::new();
    all.find_map(|parts| {
        let fits = columns_of(&parts) <= width;
        last = parts;
        fits.then(|| std::mem::take(&mut last))
    })
    .unwrap_or(last)
}

/// Returns the parts about the session and the repository.
fn first(facts: &Facts, lengths: &Lengths) -> Vec<Part> {
    let mut parts = Vec::new();
    if facts.is_planning {
        parts.push(Part { text: "Planning".to_owned(), colour: CYAN });
    }
    parts.extend(facts.left.map(|left| window(left, lengths.bar)));
    let project = cut(&facts.project, lengths.project);
    match &facts.branch {
        Some(branch) => {
            parts.push(plain(format!("{project} ⎇ {}{}", cut(branch, lengths.branch), counts(facts))))
        }
        None => parts.push(plain(project)),
    }
    parts.extend(facts.model.as_deref().map(|model| plain(cut(model, lengths.model))));
    parts
}

/// Returns the parts about Wyren.
fn second(facts: &Facts, lengths: &Lengths) -> Vec<Part> {
    let mut parts = Vec::new();
    let work = [&facts.context, &facts.task].into_iter().flatten().map(|name| cut(name, lengths.task));
    let work = work.collect::<Vec<_>>().join(" › ");
    if !work.is_empty() {
        parts.push(plain(work));
    }
    if facts.news > 0 {
        parts.push(Part { text: format!("{} new from team", facts.news), colour: GREEN });
    }
    if facts.lessons > 0 {
        let noun = if facts.lessons == 1 { "lesson" } else { "lessons" };
        parts.push(plain(format!("{} {noun}", facts.lessons)));
    }
    if facts.spent_micros > 0 {
        // In whole cents; what is spent is never shown as nothing.
        let cents = facts.spent_micros.div_ceil(10_000);
        parts.push(plain(format!("${}.{:02} today", cents / 100, cents % 100)));
    }
    parts
}

fn plain(text: String) -> Part {
    Part { text, colour: PLAIN }
}

/// Returns how much of the window is left, as a bar of this many columns and a figure.
fn window(left: u8, bar: usize) -> Part {
    let colour = match left {
        _ if left <= URGENT => RED,
        _ if left <= SOON => YELLOW,
        _ => GREEN,
    };
    // An empty bar is an empty window.
    let full = (usize::from(left) * bar).div_ceil(100);
    let space = if bar == 0 { "" } else { " " };
    Part { text: format!("{}{}{space}{left}% left", "█".repeat(full), "░".repeat(bar - full)), colour }
}

/// Returns how a branch differs from its upstream, and its files from the last commit.
fn counts(facts: &Facts) -> String {
    let counts = [("↑", facts.ahead), ("↓", facts.behind), ("*", facts.dirty)];
    counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(sign, count)| format!(" {sign}{count}"))
        .collect()
}

/// Puts the parts that fit on a row; nothing for none.
fn row(parts: &[Part], width: usize, colour: Colour) -> String {
    let (mut row, mut used) = (String::new(), 0);
    for part in parts {
        let between = if row.is_empty() { "" } else { BETWEEN };
        let needed = columns(between) + columns(&part.text);
        if used + needed > width {
            continue;
        }
        used += needed;
        row += between;
        match colour {
            Colour::On if !part.colour.is_empty() => row.extend([part.colour, &part.text, RESET]),
            _ => row += &part.text,
        }
    }
    if row.is_empty() { row } else { row + "\n" }
}

fn columns_of(parts: &[Part]) -> usize {
    let between = columns(BETWEEN) * parts.len().saturating_sub(1);
    parts.iter().map(|part| columns(&part.text)).sum::<usize>() + between
}

/// Returns a text that takes this many columns at most, with `…` for what is cut.
fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |letter: &char| {
        used += columns_of_char(*letter);
        used <= most
    };
    let start: String = text.chars().take_while(fits).collect();
    format!("{}…", start.trim_end())
}

fn columns(text: &str) -> usize {
    text.chars().map(columns_of_char).sum()
}

/// Returns the columns of a character: two for the scripts and signs that terminals draw wide. The tables of Unicode would be
/// half of this program; what they call narrow and is counted as wide here leaves a column free.
fn columns_of_char(letter: char) -> usize {
    match letter as u32 {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xa960..=0xa97f | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe10..=0xfe19 | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x16fe0..=0x1b2ff | 0x1f000..=0x1faff | 0x20000..=0x3fffd => 2,
        // Signs in colour among older ones: ⌚ ⏰ ☕ ⚡ ✅ ❌ ⭐.
        0x231a..=0x231b | 0x23e9..=0x23f3 | 0x25fd..=0x25fe | 0x2600..=0x27bf | 0x2b00..=0x2bff => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            model: Some("Opus 4.8 (1M context)".to_owned()),
            left: Some(62),
            project: "wyren".to_owned(),
            branch: Some("feature/window".to_owned()),
            ahead: 1,
            behind: 2,
            dirty: 3,
            context: Some("window".to_owned()),
            task: Some("Draw the status line".to_owned()),
            news: 2,
            lessons: 5,
            spent_micros: 120_000,
            ..Facts::default()
        }
    }

    #[track_caller]
    fn check(facts: &Facts, width: usize, expected: &[&str]) {
        let drawn = draw(facts, width, 2, Colour::Off);
        assert_eq!(drawn.lines().collect::<Vec<_>>(), expected, "{width}");
        assert!(drawn.lines().all(|line| columns(line) <= width), "{drawn}");
    }

    #[test]
    fn a_wide_terminal_has_one_row() {
        check(
            &facts(),
            196,
            &[
                "███████░░░ 62% left │ wyren ⎇ feature/window ↑1 ↓2 *3 │ Opus 4.8 (1M context) │ window › Draw the status line │ 2 new from team │ 5 lessons │ $0.12 today",
            ],
        );
    }

    #[test]
    fn an_ordinary_terminal_has_two() {
        check(
            &facts(),
            76,
            &[
                "████░░ 62% left │ wyren ⎇ feature/window ↑1 ↓2 *3 │ Opus 4.8 (1M cont…",
                "window › Draw the status line │ 2 new from team │ 5 lessons │ $0.12 today",
            ],
        );
    }

    #[test]
    fn narrow_terminals_have_shorter_names_and_fewer_parts() {
        check(
            &facts(),
            50,
            &["62% left │ wyren ⎇ feature… ↑1 ↓2 *3 │ Opus 4.…", "window › Draw the st… │ 2 new from team"],
        );
        check(&facts(), 20, &["62% left │ Opus 4.…", "2 new from team"]);
        check(&facts(), 3, &[]);
    }

    #[test]
    fn a_wrapped_line_leaves_one_row() {
        assert_eq!(draw(&facts(), 76, 1, Colour::Off).lines().count(), 1);
    }

    #[test]
    fn what_is_not_known_is_not_shown() {
        let facts = Facts { project: "wyren".to_owned(), ..Facts::default() };
        check(&facts, 196, &["wyren"]);
        check(
            &Facts { left: Some(0), is_planning: true, ..facts },
            196,
            &["Planning │ ░░░░░░░░░░ 0% left │ wyren"],
        );
    }

    #[test]
    fn a_bar_is_coloured_by_how_much_is_left() {
        for (left, colour) in [(100, GREEN), (31, GREEN), (30, YELLOW), (11, YELLOW), (10, RED), (0, RED)] {
            let facts = Facts { left: Some(left), ..Facts::default() };
            assert!(draw(&facts, 80, 2, Colour::On).starts_with(colour), "{left}");
        }
        assert_eq!(Colour::of(&Env::fixed([("NO_COLOR", "1")])), Colour::Off);
        assert_eq!(Colour::of(&Env::fixed([("TERM", "dumb")])), Colour::Off);
        assert_eq!(Colour::of(&Env::fixed([("TERM", "xterm")])), Colour::On);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("漢字", 4), "漢字");
        assert_eq!(columns("🙂a"), 3);
        assert_eq!(columns("✅⚡⌚⭐☕"), 10);
        // What the line itself is drawn with.
        assert_eq!(columns("█░⎇↑↓*│…›"), 9);
    }
}
