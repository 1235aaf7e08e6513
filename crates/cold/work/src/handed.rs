//! What a session gets of a handoff without asking for it: the dead ends and what is pending, word for word as far as they fit, and
//! the command that prints the rest.

use crate::contexts::read::Handed;
use crate::contexts::{DEAD_ENDS, PENDING};
use base::Timestamp;
use text::sanitize;

/// In characters.
const MAX_TITLE: usize = 160;

/// Returns the name that a person types.
pub fn name(handed: &Handed) -> String {
    format!("{}/{}", handed.context, handed.handoff.id)
}

/// Returns the text, of at most `room` bytes: dead ends first. What does not fit is named; nothing where not even that fits.
pub fn part(handed: &Handed, room: usize) -> String {
    let name = name(handed);
    let saved = Timestamp::from_millis(u64::try_from(handed.at).unwrap_or_default());
    let title = sanitize::model_line(&handed.handoff.title, MAX_TITLE);
    let mut text = format!("Handoff {name}, saved {saved}: {title}\n");
    let end = format!("All of it: `wyren handoff show {name}`\n");
    let mut left = room.saturating_sub(text.len() + end.len());
    for (heading, section) in [("Dead ends", DEAD_ENDS), ("Pending", PENDING)] {
        let words = sanitize::for_model(handed.handoff.text(section)).trim_end().to_owned();
        if words.is_empty() {
            continue;
        }
        let head = format!("\n{heading}\n");
        let rest = format!("(cut: `wyren handoff show {name} --section '{section}'`)\n");
        // What is pending keeps a third of the room, however long the dead ends are.
        let share = if section == DEAD_ENDS { left - left / 3 } else { left };
        let share = share.saturating_sub(head.len());
        let part = match words.len() < share {
            true => format!("{head}{words}\n"),
            false => {
                let lines = whole_lines(&words, share.saturating_sub(rest.len() + 1));
                format!("{head}{lines}{rest}")
            }
        };
        left = left.saturating_sub(part.len());
        text.push_str(&part);
    }
    text.push_str(&end);
    if text.len() > room { String::new() } else { text }
}

/// Returns the lines that fit.
fn whole_lines(text: &str, most: usize) -> &str {
    let cut = text.floor_char_boundary(most);
    text[..cut].rfind('\n').map_or("", |end| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contexts::{Handoff, Section};

    fn handed(dead_ends: &str, pending: &str) -> Handed {
        let section = |name: &str, text: &str| Section { name: name.to_owned(), text: text.to_owned() };
        let handoff = Handoff {
            id: "2026-11-18-1412".to_owned(),
            title: "Cents".to_owned(),
            sections: vec![section(PENDING, pending), section(DEAD_ENDS, dead_ends)],
            ..Handoff::default()
        };
        Handed { context: "261118-0905-cart".to_owned(), at: 0, session: None, handoff }
    }

    #[test]
    fn line_6_dead_ends_and_pending_are_whole_where_they_fit_and_named_where_they_do_not() {
        let table = "| a | b |\n|---|---|\n\n---\nafter";
        let text = part(&handed(table, "- checkout.js"), 2_000);
        assert!(text.contains(&format!("\nDead ends\n{table}\n\nPending\n- checkout.js\n")), "{text}");
        assert!(!text.contains("(cut:"), "{text}");
        let long = "- tried this\n".repeat(500);
        let text = part(&handed(&long, "- checkout.js"), 1_000);
        assert!(text.len() <= 1_000 && text.matches("- tried this\n").count() > 20, "{text}");
        assert!(text.contains("show 261118-0905-cart/2026-11-18-1412 --section 'dead ends'`)\n"), "{text}");
        assert!(text.contains("\nPending\n- checkout.js\n"), "{text}");
        assert_eq!(part(&handed(&long, "x"), 60), "");
    }

    #[test]
    fn any_room_is_kept() {
        for room in (0..3_000).step_by(7) {
            let text = part(&handed(&"ä long line\n".repeat(90), &"- ö\n".repeat(90)), room);
            assert!(text.len() <= room, "{room}: {}", text.len());
        }
    }
}
