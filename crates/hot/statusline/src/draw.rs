//! The line itself: what fits into a width, on one row or two.
//!
//! Parts are in the order of their worth. Names are cut until a row fits; what does not fit even then is put in fewer words or
//! left out. Two rows are used where one has no room for everything.

use crate::facts::Facts;
use base::Env;

/// Between two parts.
const BETWEEN: &str = " │ ";

/// Below these columns the names are shorter, and from the last on longer.
const NANO: usize = 35;
const MICRO: usize = 55;
const MINI: usize = 76;
const WIDE: usize = 120;

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

/// A part of the line: what it may say, the longest first, and the escape sequence of its colour.
struct Part {
    texts: Vec<String>,
    colour: &'static str,
}

const PLAIN: &str = "";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RED: &str = "\x1b[31m";
const CYAN: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// How long names and the bar may be, in columns.
#[derive(Clone, Copy)]
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

/// How much longer names may be where there is room, in steps of so many columns each.
const STEPS: usize = 10;
const STEP: usize = 6;

/// Returns the lengths that may be tried for a width, the longest first, and how many of them are tried for a single row before
/// there are two.
fn classes(width: usize) -> (usize, Vec<Lengths>) {
    let shorter = match width {
        0..NANO => &CLASSES[3..],
        NANO..MICRO => &CLASSES[2..],
        MICRO..MINI => &CLASSES[1..],
        _ => &CLASSES,
    };
    let steps = if width < WIDE { 0 } else { STEPS };
    let longer = (1..=steps).rev().map(|step| {
        let more = step * STEP;
        let Lengths { model, bar, project, branch, task } = shorter[0];
        Lengths {
            model: model + more,
            bar,
            project: project + more,
            branch: branch + more,
            task: task + more,
        }
    });
    (steps + 1, longer.chain(shorter.iter().copied()).collect())
}

/// Draws the line for a width in columns, on `rows` rows at most. Each row ends with a newline.
pub fn draw(facts: &Facts, width: usize, rows: usize, colour: Colour) -> String {
    let (whole, classes) = classes(width);
    let all = |lengths: &Lengths| {
        first(facts, lengths).into_iter().chain(second(facts, lengths)).collect::<Vec<_>>()
    };
    if rows < 2 || classes[..whole].iter().any(|lengths| columns_of(&all(lengths)) <= width) {
        return row(&fitting(&classes, width, all), width, colour);
    }
    let rows = [first, second].map(|parts| fitting(&classes, width, |lengths| parts(facts, lengths)));
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
        parts.push(Part { texts: vec!["Planning".to_owned()], colour: CYAN });
    }
    parts.extend(facts.left.map(|left| window(left, lengths.bar)));
    let project = cut(&facts.project, lengths.project);
    match &facts.branch {
        Some(branch) => {
            let branch = format!("{project} ⎇ {}", cut(branch, lengths.branch));
            let texts = vec![format!("{branch}{}", counts(facts)), branch, project];
            parts.push(Part { texts, colour: PLAIN });
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
    let work: Vec<String> = work.collect();
    if !work.is_empty() {
        // What is done now says more than what it is a part of.
        let texts = std::iter::once(work.join(" › ")).chain(work.into_iter().rev()).collect();
        parts.push(Part { texts, colour: PLAIN });
    }
    if facts.news > 0 {
        parts.push(Part { texts: vec![format!("{} new from team", facts.news)], colour: GREEN });
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
    Part { texts: vec![text], colour: PLAIN }
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
    let figure = format!("{left}% left");
    let space = if bar == 0 { "" } else { " " };
    let whole = format!("{}{}{space}{figure}", "█".repeat(full), "░".repeat(bar - full));
    Part { texts: vec![whole, figure], colour }
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
        let needed = |text: &str| columns(between) + columns(text);
        let Some(text) = part.texts.iter().find(|text| used + needed(text) <= width) else { continue };
        used += needed(text);
        row += between;
        match colour {
            Colour::On if !part.colour.is_empty() => row.extend([part.colour, text, RESET]),
            _ => row += text,
        }
    }
    if row.is_empty() { row } else { row + "\n" }
}

fn columns_of(parts: &[Part]) -> usize {
    let between = columns(BETWEEN) * parts.len().saturating_sub(1);
    parts.iter().filter_map(|part| part.texts.first()).map(|text| columns(text)).sum::<usize>() + between
}

/// Returns a text that takes this many columns at most, with `…` for what is cut.
fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |(_, wide): &(char, usize)| {
        used += wide;
        used <= most
    };
    let start: String = letters(text).take_while(fits).map(|(letter, _)| letter).collect();
    let is_open = |letter: char| letter.is_whitespace() || letter == JOINER;
    format!("{}…", start.trim_end_matches(is_open))
}

fn columns(text: &str) -> usize {
    letters(text).map(|(_, wide)| wide).sum()
}

/// Makes one sign of those around it.
const JOINER: char = '\u{200d}';
/// Has the sign before it drawn in colour, and wide.
const IN_COLOUR: char = '\u{fe0f}';

/// Returns the characters of a text with the columns that each adds.
fn letters(text: &str) -> impl Iterator<Item = (char, usize)> {
    text.chars().scan(0, |before, letter| {
        let wide = match letter {
            IN_COLOUR => usize::from(*before == 1),
            _ => columns_of_char(letter),
        };
        *before = if letter == IN_COLOUR { 2 } else { wide };
        Some((letter, wide))
    })
}

/// Returns the columns of a character: two for the scripts and signs that terminals draw wide. The tables of Unicode would be
/// half of this program; what they call narrow and is counted as wide here leaves a column free.
fn columns_of_char(letter: char) -> usize {
    match letter as u32 {
        // Marks on the letter before: accents, points of Hebrew and Arabic, vowels of Hindi and Thai, and the rest of a syllable of
        // Korean or a sound mark of Japanese, as macOS writes the names of folders.
        0x0300..=0x036f | 0x0483..=0x0489 | 0x0591..=0x05bd | 0x064b..=0x065f | 0x0941..=0x0948 | 0x094d => 0,
        0x0e31 | 0x0e34..=0x0e3a | 0x0e47..=0x0e4e | 0x1160..=0x11ff | 0x3099..=0x309a | 0xd7b0..=0xd7ff => 0,
        0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f | 0xe0100..=0xe01ef => 0,
        0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xa960..=0xa97f | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe10..=0xfe19 | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x16fe0..=0x1b2ff | 0x1f000..=0x1faff | 0x20000..=0x3fffd => 2,
        // Signs in colour among older ones: ⌚ ⏰ ☕ ⚡ ✅ ❌ ⭐.
        0x231a..=0x231b
        | 0x2329..=0x232a
        | 0x23e9..=0x23f3
        | 0x25fd..=0x25fe
        | 0x2600..=0x27bf
        | 0x2b00..=0x2bff => 2,
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
        check(&facts(), 36, &["62% left │ wyren ⎇ feature… ↑1 ↓2 *3", "window › Draw the st… │ 5 lessons"]);
        check(&facts(), 20, &["62% left │ wyren", "Draw the st…"]);
        check(&facts(), 3, &[]);
    }

    #[test]
    fn a_wide_terminal_shows_whole_names_as_far_as_there_is_room() {
        let long = Facts {
            task: Some("Teach the status line what a name is, and cut none that has room".to_owned()),
            branch: Some("fix/names-of-branches-that-are-long".to_owned()),
            ..facts()
        };
        let drawn = draw(&long, 220, 2, Colour::Off);
        let [task, branch] = [&long.task, &long.branch].map(|name| name.as_deref().unwrap());
        assert!(drawn.lines().count() == 1 && drawn.contains(task) && drawn.contains(branch), "{drawn}");
        let drawn = draw(&long, 200, 2, Colour::Off);
        assert!(
            drawn.lines().count() == 1 && drawn.contains("Teach the status line what a name is, and"),
            "{drawn}"
        );
    }

    #[test]
    fn no_width_is_overrun_whatever_the_names_are() {
        let names = [
            "wyren",
            "漢字の名前のプロジェクト",
            "가나다라마바사아자차",
            "👩‍💻👨‍👩‍👧 ℹ️ ©️ 1️⃣",
            "ex\u{301}e\u{301}",
        ];
        for name in names {
            let name = name.repeat(4);
            let facts = Facts {
                model: Some(name.clone()),
                project: name.clone(),
                branch: Some(name.clone()),
                context: Some(name.clone()),
                task: Some(name),
                is_planning: true,
                ..facts()
            };
            for width in 0..260 {
                for rows in [1, 2] {
                    let drawn = draw(&facts, width, rows, Colour::Off);
                    assert!(drawn.lines().all(|line| columns(line) <= width), "{width}: {drawn}");
                    assert!(
                        width < "Planning │ 62% left".chars().count() || drawn.contains("62% left"),
                        "{width}: {drawn}"
                    );
                    assert!(!drawn.contains("\u{200d}…"), "{width}: {drawn}");
                }
            }
        }
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
        // Drawn in colour because of what follows, or a part of the letter before.
        assert_eq!(columns("ℹ️©️❤️"), 6);
        assert_eq!(columns("e\u{301}\u{1112}\u{1161}\u{11ab}か\u{3099}ก็"), 6);
        assert_eq!(cut("👨‍👩‍👧‍👦", 6), "👨‍👩…");
        // What the line itself is drawn with.
        assert_eq!(columns("█░⎇↑↓*│…›"), 9);
    }
}
