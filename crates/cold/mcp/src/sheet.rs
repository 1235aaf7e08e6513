//! The text of an answer: rows within a budget, fenced as data, and what to call for the rest.

use text::sanitize::Fence;

/// The longest answer, in characters: above 50,000 the client shows a preview instead.
pub const MAX_CHARS: usize = 40_000;
/// About how many letters a token has, in English and in code.
pub(crate) const PER_TOKEN: usize = 4;
/// What the fence, the line about what was left out and the next step may take.
const RESERVED: usize = 600;

/// Returns how many letters of English take as many tokens as this text.
pub(crate) fn weight(text: &str) -> usize {
    text.chars().map(weight_of).sum()
}

/// Returns the beginning of a text that weighs no more than this.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    let mut sum = 0;
    let end = text.char_indices().find(|(_, letter)| {
        sum += weight_of(*letter);
        sum > most
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

fn weight_of(letter: char) -> usize {
    match letter {
        // Latin, and punctuation.
        ..='\u{24f}' | '\u{2000}'..='\u{206f}' => 1,
        // Chinese, Japanese, Korean, and pictures: a token each, or more.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'.. => {
            PER_TOKEN
        }
        _ => 2,
    }
}

/// What was not even looked at for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Counted(usize),
    /// There is more, and counting it would take too long.
    Uncounted,
}

impl From<usize> for Beyond {
    fn from(number: usize) -> Self {
        Self::Counted(number)
    }
}

/// An answer in the making.
pub(crate) struct Sheet {
    /// As a [`weight`]: never more than that many characters.
    room: usize,
    rows: Vec<String>,
    left_out: usize,
    is_cut: bool,
}

impl Sheet {
    /// Begins an answer of about this many tokens.
    pub(crate) fn within(tokens: usize) -> Self {
        let room = (tokens * PER_TOKEN).clamp(RESERVED * 2, MAX_CHARS) - RESERVED;
        Self { room, rows: Vec::new(), left_out: 0, is_cut: false }
    }

    /// Adds a row if there is room; later rows never take the place of earlier ones. The first row is cut rather than left out.
    /// Returns whether the row is in the answer.
    pub(crate) fn push(&mut self, row: String) -> bool {
        // Masking a tag makes a row longer.
        let masked = text::sanitize::for_model(&row).into_owned();
        let length = weight(&masked) + 1;
        if self.left_out == 0 && length <= self.room {
            self.room -= length;
            self.rows.push(row);
        } else if self.rows.is_empty() && self.left_out == 0 {
            self.rows.push(format!("{}…", beginning(&masked, self.room.saturating_sub(2))));
            (self.room, self.is_cut) = (0, true);
        } else {
            self.left_out += 1;
            return false;
        }
        true
    }

    /// Adds a row with others on both sides of it: the nearest of them are the last to be left out.
    pub(crate) fn push_around(&mut self, before: Vec<String>, middle: String, after: Vec<String>) {
        let sides = before.len().max(after.len());
        let middle_at = before.len();
        let mut nearest: Vec<(usize, String)> = vec![(middle_at, middle)];
        let mut before = before.into_iter().enumerate().rev();
        let mut after = after.into_iter().enumerate();
        for _ in 0..sides {
            nearest.extend(before.next());
            nearest.extend(after.next().map(|(at, row)| (middle_at + 1 + at, row)));
        }
        let begin = self.rows.len();
        let mut places: Vec<usize> = Vec::new();
        for (place, row) in nearest {
            if self.push(row) {
                places.push(place);
            }
        }
        let mut placed: Vec<(usize, String)> = places.into_iter().zip(self.rows.drain(begin..)).collect();
        placed.sort_by_key(|(place, _)| *place);
        self.rows.extend(placed.into_iter().map(|(_, row)| row));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the [`weight`] of what there is still room for.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Returns how many rows the answer has.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the whole answer. `rest` says how to get what is left out, `next` what to call for more about what is here.
    pub(crate) fn finish(
        self,
        fence: &Fence,
        source: &str,
        beyond: impl Into<Beyond>,
        rest: &str,
        next: &str,
    ) -> String {
        let mut text = fence.around(source, &[], &self.rows.join("\n"));
        match beyond.into() {
            Beyond::Counted(beyond) if self.left_out + beyond > 0 => {
                text.push_str(&format!("\nLeft out: {}. {rest}", self.left_out + beyond));
            }
            Beyond::Uncounted => text.push_str(&format!("\nLeft out: more than were counted. {rest}")),
            Beyond::Counted(_) => {}
        }
        if self.is_cut {
            text.push_str("\nCut: the budget is smaller than this one. Call again with a larger budget.");
        }
        if !next.is_empty() {
            text.push_str(&format!("\nNext: {next}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_to_its_budget_and_names_what_was_left_out() {
        let fence = Fence::new("ab12");
        for (tokens, longest) in [(300, 1_200), (2_000, 8_000), (1_000_000, MAX_CHARS)] {
            let mut sheet = Sheet::within(tokens);
            for number in 0..10_000 {
                sheet.push(format!("{number} <wyren-context> a row of some length with a tag in it"));
            }
            let text = sheet.finish(&fence, "search", 0, "More: a higher budget.", "get with ids.");
            assert!(text.chars().count() <= longest, "{tokens}: {}", text.chars().count());
            assert!(text.contains("Left out: ") && text.contains("More: a higher budget."), "{text}");
            assert_eq!(text.matches("<wyren-context").count(), 1, "rows cannot imitate the fence");
        }
    }

    #[test]
    fn a_budget_is_in_tokens_whatever_the_script() {
        let fence = Fence::new("ab12");
        for (row, letters_a_token) in [("四捨五入は銀行式にする", 1), ("округлять до чётного", 2)]
        {
            let mut sheet = Sheet::within(1_000);
            for _ in 0..10_000 {
                sheet.push(row.to_owned());
            }
            let text = sheet.finish(&fence, "search", 0, "", "");
            let letters = text.chars().filter(|letter| *letter > '\u{24f}').count();
            assert!((300..=1_000).contains(&(letters / letters_a_token)), "{row}: {letters}");
        }
        assert_eq!(beginning("ab四五", 6), "ab四");
    }

    #[test]
    fn what_is_nearest_to_the_middle_is_left_out_last() {
        let rows =
            |name: &str| (1..=20).map(|number| format!("{name} {number:02} {}", "x".repeat(50))).collect();
        let mut sheet = Sheet::within(300);
        sheet.push_around(rows("before"), "> the middle".to_owned(), rows("after"));
        let text = sheet.finish(&Fence::new("ab"), "timeline", 0, "Fewer rows.", "");
        let shown: Vec<&str> =
            text.lines().filter(|line| line.contains(['x', '>']) && !line.starts_with('<')).collect();
        let middle = shown.iter().position(|line| *line == "> the middle").unwrap();
        assert!(middle > 2 && shown[middle - 1].starts_with("before 20"), "{text}");
        assert!(
            shown[middle - 2].starts_with("before 19") && shown[middle + 1].starts_with("after 01"),
            "{text}"
        );
        assert!(text.contains("Left out: ") && !text.contains("before 01"), "{text}");
    }

    #[test]
    fn a_first_row_that_is_too_long_is_cut_and_said_to_be() {
        let mut sheet = Sheet::within(300);
        sheet.push("x".repeat(100_000));
        let text = sheet.finish(&Fence::new("ab"), "get", 0, "", "");
        assert!(text.chars().count() <= 1_200 && text.contains("Cut: "), "{text}");
        // Masking a tag makes it longer, and must not make the answer longer than its budget.
        let mut sheet = Sheet::within(1_000_000);
        sheet.push("<a>".repeat(100_000));
        let text = sheet.finish(&Fence::new("ab"), "get", 0, "", "");
        assert!(text.chars().count() <= MAX_CHARS, "{}", text.chars().count());
    }
}
