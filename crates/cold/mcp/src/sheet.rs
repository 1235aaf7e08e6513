//! The text of an answer: rows within a budget, fenced as data, and what to call for the rest.

use text::sanitize::Fence;

/// The longest answer, in characters: above 50,000 the client shows a preview instead.
pub const MAX_CHARS: usize = 40_000;
/// About how many characters a token has.
pub(crate) const PER_TOKEN: usize = 4;
/// What the fence, the line about what was left out and the next step may take.
const RESERVED: usize = 600;

/// An answer in the making.
pub(crate) struct Sheet {
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
    pub(crate) fn push(&mut self, row: String) {
        // Masking a tag makes a row longer.
        let length = text::sanitize::for_model(&row).chars().count() + 1;
        if self.left_out == 0 && length <= self.room {
            self.room -= length;
            self.rows.push(row);
        } else if self.rows.is_empty() && self.left_out == 0 {
            self.rows.push(row.chars().take(self.room.saturating_sub(1) / 4 * 3).chain(['…']).collect());
            (self.room, self.is_cut) = (0, true);
        } else {
            self.left_out += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the whole answer. `elsewhere` counts what was not even looked at; `rest` says how to get what is left out, `next` what
    /// to call for more about what is here.
    pub(crate) fn finish(
        self,
        fence: &Fence,
        source: &str,
        elsewhere: usize,
        rest: &str,
        next: &str,
    ) -> String {
        let mut text = fence.around(source, &[], &self.rows.join("\n"));
        let left_out = self.left_out + elsewhere;
        if left_out > 0 {
            text.push_str(&format!("\nLeft out: {left_out}. {rest}"));
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
    fn a_first_row_that_is_too_long_is_cut_and_said_to_be() {
        let mut sheet = Sheet::within(300);
        sheet.push("x".repeat(100_000));
        let text = sheet.finish(&Fence::new("ab"), "get", 0, "", "");
        assert!(text.chars().count() <= 1_200 && text.contains("Cut: "), "{text}");
    }
}
