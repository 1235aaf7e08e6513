//! `wyren status` for a person: everything on one screen.

use super::facts::{Facts, Journal, Note, Problem, TeamMemory, There, Work};
use crate::commands::spend::cents;
use crate::person;
use crate::terminal::{self, DIM, FAILURE, STRONG, SUCCESS, WARNING, counted, cut, wrap};
use anstyle::Style;
use base::Env;
use base::allowed::Extent;
use std::io::{self, Write};

/// The most lines there are, and the fewest columns that are counted with: those of an old terminal.
const MAX_LINES: usize = 24;
const MIN_WIDTH: usize = 60;

/// Wider lines are harder to read.
const MAX_WIDTH: usize = 120;

/// Of the labels, in columns.
const LABEL: usize = 13;

/// The most of each that is shown.
const MAX_HANDOFFS: usize = 2;
const MAX_WAITING: usize = 4;
const MAX_SECTIONS: usize = 6;
const MAX_NAMES: usize = 3;
const MAX_PROBLEM_LINES: usize = 3;
const MAX_TEXT_LINES: usize = 2;

/// With less room than this, in columns, the title does not say how the memory is shared.
const MIN_SHARED: usize = 20;

/// One line: a label, which may be empty, and a text.
struct Line {
    label: &'static str,
    text: String,
    style: Style,
}

/// Writes the screen.
pub(super) fn write(output: &mut impl Write, facts: &Facts, width: usize) -> io::Result<()> {
    let width = width.clamp(MIN_WIDTH, MAX_WIDTH);
    let version = env!("CARGO_PKG_VERSION");
    let title = cut(&format!("Wyren {version} in {}", facts.project), width);
    write!(output, "{STRONG}{title}{STRONG:#}")?;
    if let TeamMemory::There(there) = &facts.memory {
        let room = width.saturating_sub(terminal::columns_of(&title) + 2);
        let shared = if room < MIN_SHARED { String::new() } else { cut(&there.shared, room) };
        write!(output, "  {DIM}{shared}{DIM:#}")?;
    }
    writeln!(output)?;
    for Line { label, text, style } in lines(facts, width - LABEL).into_iter().take(MAX_LINES - 1) {
        writeln!(output, "{DIM}{label:LABEL$}{DIM:#}{style}{text}{style:#}")?;
    }
    Ok(())
}

fn lines(facts: &Facts, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |label: &'static str, text: &str, style: Style| {
        lines.push(Line { label, text: cut(text, width), style });
    };
    let plain = Style::new();
    let typed = |prompt: &str, arguments: &str| person::command_for(&facts.env, prompt, arguments);
    match &facts.memory {
        TeamMemory::Absent => {
            add("Team memory", &format!("none here. To start one: {}", typed("init", "init")), plain);
        }
        TeamMemory::Unreadable(error) => {
            for (index, line) in wrap(error, width).iter().take(MAX_PROBLEM_LINES).enumerate() {
                add(if index == 0 { "Team memory" } else { "" }, line, WARNING);
            }
        }
        TeamMemory::There(there) => {
            for (index, line) in
                wrap(&entries(there, &facts.env), width).iter().take(MAX_TEXT_LINES).enumerate()
            {
                add(if index == 0 { "Team memory" } else { "" }, line, plain);
            }
            if let Some(newest) = &there.newest {
                add("  newest", &with_author(newest, width), plain);
            }
            add("  news", &news(there), plain);
            for (index, note) in there.handoffs.iter().take(MAX_HANDOFFS).enumerate() {
                add(if index == 0 { "  handoff" } else { "" }, &handoff(note), plain);
            }
            if there.handoffs.len() > MAX_HANDOFFS {
                let more = there.handoffs.len() - MAX_HANDOFFS;
                add("", &format!("{more} more: {}", typed("memory", "memory")), DIM);
            }
            add("Learned", &learned(there), plain);
        }
    }
    add("Journal", &journal(facts), plain);
    add("Work", &work(facts), plain);
    for (index, line) in wrap(&lessons(facts), width).iter().take(MAX_TEXT_LINES).enumerate() {
        add(if index == 0 { "Lessons" } else { "" }, line, plain);
    }
    if !facts.lessons.lifted.is_empty() {
        add("  lifted", &lifted(facts), WARNING);
    }
    add("Spend", &spend(facts), plain);
    if facts.waiting.is_empty() {
        add("Waiting", "nothing", plain);
    }
    for (index, it) in facts.waiting.iter().take(MAX_WAITING).enumerate() {
        // The command is what the line is for: it is never cut.
        let room = width.saturating_sub(terminal::columns_of(&it.command) + 2);
        let text = format!("{}: {}", cut(&it.what, room), it.command);
        add(if index == 0 { "Waiting" } else { "" }, &text, WARNING);
    }
    if facts.waiting.len() > MAX_WAITING {
        let more = facts.waiting.len() - MAX_WAITING;
        add("", &format!("{more} more: {}", typed("doctor", "doctor")), DIM);
    }
    match &facts.problem {
        None => add("Health", "ok", SUCCESS),
        Some(Problem { is_bad, name, message, fix }) => {
            let style = if *is_bad { FAILURE } else { WARNING };
            let most = MAX_PROBLEM_LINES - usize::from(fix.is_some());
            let message = wrap(&format!("{name}: {message}"), width);
            for (index, line) in message.iter().take(most).enumerate() {
                let line = if index + 1 == most && message.len() > most {
                    format!("{line} …")
                } else {
                    line.clone()
                };
                add(if index == 0 { "Health" } else { "" }, &line, style);
            }
            if let Some(fix) = fix {
                add("", &format!("→ {fix}"), plain);
            }
        }
    }
    add("Data", &format!("{}; what sessions got: {}", facts.data, typed("log", "log --told")), DIM);
    lines
}

/// Returns the number of entries, as in `12 entries: Decisions 7, Rejected paths 5`.
fn entries(there: &There, env: &Env) -> String {
    let total: usize = there.sections.iter().map(|(_, count)| count).sum();
    if total == 0 {
        let add = person::command_for(env, "memory add TEXT", "memory add TEXT");
        return format!("no entries yet. To add one: {add}");
    }
    let mut parts: Vec<String> =
        there.sections.iter().take(MAX_SECTIONS).map(|(name, count)| format!("{name} {count}")).collect();
    let others: usize = there.sections.iter().skip(MAX_SECTIONS).map(|(_, count)| count).sum();
    if others > 0 {
        parts.push(format!("others {others}"));
    }
    format!("{}: {}", counted(total, "entry", "entries"), parts.join(", "))
}

/// Returns an entry with its author and day, of which the text gives way.
fn with_author(note: &Note, width: usize) -> String {
    let by: Vec<&str> = [&note.author, &note.when].into_iter().flatten().map(String::as_str).collect();
    let by = if by.is_empty() { String::new() } else { format!(" ({})", cut(&by.join(", "), width / 2)) };
    format!("{}{by}", cut(&note.text, width.saturating_sub(terminal::columns_of(&by))))
}

fn handoff(note: &Note) -> String {
    let by: Vec<&str> = [&note.author, &note.when].into_iter().flatten().map(String::as_str).collect();
    if by.is_empty() { note.text.clone() } else { format!("{}: {}", by.join(", "), note.text) }
}

fn news(there: &There) -> String {
    if there.news.is_empty() {
        return "none from teammates since yesterday".to_owned();
    }
    let mut parts: Vec<String> =
        there.news.iter().take(MAX_NAMES).map(|(author, count)| format!("{count} from {author}")).collect();
    let others: usize = there.news.iter().skip(MAX_NAMES).map(|(_, count)| count).sum();
    if others > 0 {
        parts.push(format!("{others} from others"));
    }
    format!("{} since yesterday", parts.join(", "))
}

fn learned(there: &There) -> String {
    match (there.learned_today, there.learned_this_week) {
        (0, 0) => "nothing from your sessions this week".to_owned(),
        (0, week) => format!("{} from your sessions this week", counted(week, "entry", "entries")),
        (today, week) => {
            format!("{} from your sessions today, {week} this week", counted(today, "entry", "entries"))
        }
    }
}

/// Returns what was done here, as in `3 entries today, 12 this week: wyren recap`.
fn journal(facts: &Facts) -> String {
    let Journal { today, this_week, is_recorded } = facts.journal;
    if !is_recorded {
        return format!("nothing is recorded here: {}", person::in_terminal(&facts.env, "capture status"));
    }
    let command = person::command_for(&facts.env, "search WORDS", "recap");
    match (today, this_week) {
        (0, 0) => "no entries this week".to_owned(),
        (0, week) => format!("{} this week: {command}", counted(week, "entry", "entries")),
        (today, week) => format!("{} today, {week} this week: {command}", counted(today, "entry", "entries")),
    }
}

/// Returns how many pieces of work are open, as in `2 open, 1 waits to be taken up: wyren work`.
fn work(facts: &Facts) -> String {
    let Work { open, waiting } = facts.work;
    if open == 0 {
        return "nothing open".to_owned();
    }
    let waits =
        if waiting == 0 { String::new() } else { format!(", {waiting} with a plan or handoff that waits") };
    let command = if person::is_in_prompt(&facts.env) {
        "^".to_owned()
    } else {
        person::in_terminal(&facts.env, "work")
    };
    format!("{open} open{waits}: {command}")
}

fn lessons(facts: &Facts) -> String {
    let lessons = &facts.lessons;
    let mut text = format!("{} in use; today {} shown", lessons.in_use, lessons.shown_today);
    text += &format!(", {} refused", counted(lessons.refused_today, "call", "calls"));
    let names: Vec<&str> = lessons.refused.iter().take(MAX_NAMES).map(String::as_str).collect();
    if !names.is_empty() {
        text += &format!(" ({})", names.join(", "));
    }
    text
}

/// Returns the lessons that let calls pass, as in `git-push for the next call`.
fn lifted(facts: &Facts) -> String {
    let lifted = &facts.lessons.lifted;
    let named = lifted.iter().take(MAX_NAMES).map(|(name, extent)| match extent {
        Extent::Once => format!("{name} for the next call"),
        Extent::Session => format!("{name} until the session ends"),
    });
    let mut parts: Vec<String> = named.collect();
    if lifted.len() > MAX_NAMES {
        parts.push(format!("{} more", lifted.len() - MAX_NAMES));
    }
    parts.join(", ")
}

fn spend(facts: &Facts) -> String {
    if facts.spend.is_off {
        return "no model is asked (model.provider is off, or the budget is 0)".to_owned();
    }
    format!("{} of {} today", cents(facts.spend.today), cents(facts.spend.budget))
}

#[cfg(test)]
mod tests {
    use super::super::facts::{Lessons, Spend, Waiting};
    use super::*;
    use crate::terminal::columns_of;
    use model::Money;
    use std::fs;
    use std::path::Path;

    fn note(text: &str, author: &str, when: &str) -> Note {
        Note { text: text.to_owned(), author: Some(author.to_owned()), when: Some(when.to_owned()) }
    }

    fn busy() -> Facts {
        let there = There {
            shared: "branch wyren/memory of origin".to_owned(),
            sections: vec![
                ("Decisions".to_owned(), 7),
                ("Rejected paths".to_owned(), 3),
                ("Live workarounds".to_owned(), 1),
                ("Known broken state".to_owned(), 1),
                ("Open questions".to_owned(), 2),
            ],
            newest: Some(note(
                "Prices are integer cents everywhere, because float sums drifted in the totals of the checkout",
                "Ada",
                "today",
            )),
            news: vec![("Grace".to_owned(), 3), ("Linus".to_owned(), 1)],
            handoffs: vec![
                note("Cart is in cents; checkout.js still takes euros, do that next", "Grace", "today 09:11"),
                note(
                    "日本語のメモもここに一行で表示され、端末の幅に合わせて切られます。",
                    "Ada",
                    "yesterday",
                ),
                note("older", "Ada", "1 Nov"),
            ],
            learned_today: 2,
            learned_this_week: 5,
        };
        Facts {
            project: "acme/app".to_owned(),
            memory: TeamMemory::There(there),
            journal: Journal { today: 3, this_week: 12, is_recorded: true },
            work: Work { open: 2, waiting: 1 },
            lessons: Lessons {
                in_use: 205,
                shown_today: 3,
                refused_today: 2,
                refused: vec!["git-force-push-to-the-main-branch".to_owned()],
                lifted: vec![("git-force-push-to-the-main-branch".to_owned(), Extent::Once)],
            },
            spend: Spend {
                today: Money::from_micros(24_600),
                budget: Money::from_micros(500_000),
                is_off: false,
            },
            waiting: vec![
                Waiting {
                    what: "2 guards, pauses or skills are not trusted yet".to_owned(),
                    command: "wyren trust".to_owned(),
                },
                Waiting { what: "1 background job has failed".to_owned(), command: "wyren jobs".to_owned() },
            ],
            problem: Some(Problem {
                is_bad: false,
                name: "worker",
                message: "1 failed, the last one (distill): could not read the transcript of the session"
                    .to_owned(),
                fix: Some("wyren jobs retry --all".to_owned()),
            }),
            data: "~/.local/share/wyren".to_owned(),
            env: Env::fixed([("A", "b")]),
        }
    }

    fn drawn(facts: &Facts, width: usize) -> String {
        let mut output = anstream::StripStream::new(Vec::new());
        write(&mut output, facts, width).unwrap();
        String::from_utf8(output.into_inner()).unwrap()
    }

    #[track_caller]
    fn check(facts: &Facts, width: usize, golden: &str) {
        let drawn = drawn(facts, width);
        assert!(drawn.lines().count() <= MAX_LINES, "{drawn}");
        assert!(drawn.lines().all(|line| columns_of(line) <= width), "{drawn}");
        let drawn = drawn.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands/status/golden").join(golden);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&file, &drawn).unwrap();
        }
        assert_eq!(drawn, fs::read_to_string(&file).unwrap(), "{golden}: UPDATE_GOLDEN=1 writes it");
    }

    #[test]
    fn c19_a_busy_day_fits_on_a_screen_of_80_columns() {
        check(&busy(), 80, "busy-80.txt");
    }

    #[test]
    fn c19_a_busy_day_fits_on_a_screen_of_100_columns() {
        check(&busy(), 100, "busy-100.txt");
    }

    #[test]
    fn c19_without_a_memory_the_rest_is_still_shown() {
        let facts = Facts { memory: TeamMemory::Absent, waiting: Vec::new(), problem: None, ..busy() };
        check(&facts, 80, "no-memory-80.txt");
    }

    #[test]
    fn review_15_in_a_prompt_the_screen_names_what_can_be_typed_there() {
        let env = || Env::fixed([("WYREN_IN_PROMPT", "1")]);
        let text = drawn(&Facts { env: env(), waiting: Vec::new(), problem: None, ..busy() }, 100);
        assert!(text.contains("1 more: /wyren:memory\n") && text.contains("got: /wyren:log\n"), "{text}");
        assert!(!text.contains("wyren log") && !text.contains(": wyren "), "{text}");
        let text = drawn(&Facts { env: env(), memory: TeamMemory::Absent, ..busy() }, 100);
        assert!(text.contains("To start one: /wyren:init\n"), "{text}");
        assert!(
            text.contains("12 this week: /wyren:search WORDS\n") && text.contains(" waits: ^\n"),
            "{text}"
        );
    }

    #[test]
    fn what_was_done_and_what_is_open_is_shown_and_that_nothing_is_recorded() {
        let line = |journal: Journal, work: Work, label: &str| {
            let text = drawn(&Facts { journal, work, ..busy() }, 80);
            text.lines().find(|line| line.starts_with(label)).map(str::to_owned)
        };
        let journal = |today, this_week, is_recorded| {
            line(Journal { today, this_week, is_recorded }, Work::default(), "Journal").unwrap()
        };
        assert_eq!(journal(1, 1, true), "Journal      1 entry today, 1 this week: wyren recap");
        assert_eq!(journal(0, 7, true), "Journal      7 entries this week: wyren recap");
        assert_eq!(journal(0, 0, true), "Journal      no entries this week");
        assert_eq!(journal(0, 7, false), "Journal      nothing is recorded here: wyren capture status");
        let work = |open, waiting| line(Journal::default(), Work { open, waiting }, "Work").unwrap();
        assert_eq!(work(0, 0), "Work         nothing open");
        assert_eq!(work(3, 0), "Work         3 open: wyren work");
        assert_eq!(work(3, 2), "Work         3 open, 2 with a plan or handoff that waits: wyren work");
    }

    #[test]
    fn review_19_an_empty_memory_names_the_command_that_adds() {
        let empty = || TeamMemory::There(There::default());
        let text = drawn(&Facts { memory: empty(), ..busy() }, 80);
        assert!(text.contains("no entries yet. To add one: wyren memory add TEXT\n"), "{text}");
        let env = Env::fixed([("WYREN_IN_PROMPT", "1")]);
        let text = drawn(&Facts { memory: empty(), env, ..busy() }, 80);
        assert!(text.contains("To add one: /wyren:memory add TEXT\n"), "{text}");
    }

    #[test]
    fn c19_the_most_there_can_be_stays_within_24_lines() {
        let waiting =
            |number: usize| Waiting { what: format!("thing {number}"), command: "wyren sync".to_owned() };
        let problem = Problem {
            is_bad: true,
            name: "data folder",
            message: "word ".repeat(100),
            fix: Some("fix ".repeat(50)),
        };
        let facts = Facts { waiting: (0..9).map(waiting).collect(), problem: Some(problem), ..busy() };
        for width in [60, 80, 100, 200] {
            let drawn = drawn(&facts, width);
            assert!(drawn.lines().count() <= MAX_LINES, "{drawn}");
            assert!(drawn.lines().all(|line| columns_of(line) <= width), "{drawn}");
            assert!(drawn.contains("5 more: wyren doctor"), "{drawn}");
        }
    }
}
