//! How an answer is shown.

use crate::terminal::{self, Cell, DIM, STRONG, counted, cut, wrap};
use crate::when;
use anstyle::Style;
use answers::why::Answer;
use base::Timestamp;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::RangeInclusive;

/// Columns when the terminal's width is unknown.
const DEFAULT_WIDTH: usize = 100;
/// The most lines of code that are shown of one block.
const MAX_CODE: usize = 3;
/// The longest title, in characters.
const MAX_TITLE: usize = 100;
/// The room for the name of a fact.
const NAME: usize = 10;

/// Writes the whole story of each block.
pub(super) fn write_lines(
    answer: &Answer,
    output: &mut impl Write,
    file: &str,
    range: &RangeInclusive<usize>,
) -> io::Result<()> {
    let width = terminal::width().unwrap_or(DEFAULT_WIDTH);
    let edit = |at: usize| answer.origins[at].map(|origin| (origin.edit, origin.moved));
    let blocks = answer.blocks(range, |at| (edit(at), answer.commit_of[at]));
    for (number, block) in blocks.iter().enumerate() {
        if number > 0 {
            writeln!(output)?;
        }
        let lines = match block.to - block.from {
            0 => format!("{}", block.from + 1),
            _ => format!("{}-{}", block.from + 1, block.to + 1),
        };
        writeln!(output, "{STRONG}{file}:{lines}{STRONG:#}")?;
        for line in answer.lines[block.from..=block.to].iter().take(MAX_CODE) {
            writeln!(output, "{DIM}  {}{DIM:#}", cut(&line.replace('\t', "    "), width.saturating_sub(2)))?;
        }
        let left = (block.to + 1 - block.from).saturating_sub(MAX_CODE);
        if left > 0 {
            writeln!(output, "{DIM}  … {}{DIM:#}", counted(left as u64, "more line", "more lines"))?;
        }
        for (name, text) in answer.facts(block) {
            let lines = wrap(&text, width.saturating_sub(NAME + 2).max(20));
            for (number, line) in lines.iter().enumerate() {
                let name = if number == 0 { name } else { "" };
                writeln!(output, "  {DIM}{name:<NAME$}{DIM:#}{line}")?;
            }
        }
    }
    Ok(())
}

/// Writes one row for each block of the file.
pub(super) fn write_table(answer: &Answer, output: &mut impl Write) -> io::Result<()> {
    if answer.lines.is_empty() {
        return writeln!(output, "The file is empty.");
    }
    let (today, range) = (when::day(Timestamp::now()), 1..=answer.lines.len());
    let plain = Style::new();
    let heading = |text: &str| (text.to_owned(), DIM);
    let mut rows: Vec<Vec<Cell>> = vec![["LINES", "WHEN", "COMMIT", "PROMPT"].map(heading).into()];
    let with_blanks = answer.with_blank_lines();
    for block in answer.blocks(&range, |at| with_blanks[at]) {
        let lines = match block.to - block.from {
            0 => format!("{}", block.from + 1),
            _ => format!("{}-{}", block.from + 1, block.to + 1),
        };
        let at =
            (block.from..=block.to).find(|at| answer.turn(*at) == with_blanks[*at]).unwrap_or(block.from);
        let known = answer.known(at).filter(|_| with_blanks[at].is_some());
        let moment = known.map(|known| when::spoken_moment(Timestamp::from_millis(known.call.at), today));
        let prompt = match known {
            Some(known) => (known.prompt(MAX_TITLE), plain),
            None => ("not from a recorded session".to_owned(), DIM),
        };
        let row =
            [(lines, plain), (moment.unwrap_or_default(), DIM), (answer.commits_in(&block), DIM), prompt];
        rows.push(row.into());
    }
    terminal::write_table(output, &rows)?;
    let recorded = answer.origins.iter().filter(|origin| origin.is_some()).count();
    let turns: BTreeSet<(&str, u64)> = (0..answer.lines.len()).filter_map(|at| answer.turn(at)).collect();
    let prompts = counted(turns.len() as u64, "recorded prompt", "recorded prompts");
    let lines = counted(answer.lines.len() as u64, "line", "lines");
    writeln!(output, "{DIM}{recorded} of {lines} from {prompts}{DIM:#}")
}
