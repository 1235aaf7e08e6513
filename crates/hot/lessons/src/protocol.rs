//! The text that asks the model to report what it learned.

/// The reporting protocol, shown when a session starts.
pub const PROTOCOL: &str = include_str!("protocol.md");

/// The same in the words of lessons-learned, for the setting `lessons.format`.
pub const OLD_PROTOCOL: &str = include_str!("protocol-lessons-learned.md");

#[cfg(test)]
mod tests {
    use super::*;

    /// What the protocol may cost each session, in characters.
    const MAX_CHARS: usize = 500;

    /// What it may cost in its old form, in bytes; directives share the 4 KB of session start with it.
    const MAX_OLD_BYTES: usize = 1_600;

    #[test]
    fn text_1_the_protocol_is_short_and_has_a_line_and_a_block_for_a_lesson() {
        assert!(PROTOCOL.starts_with("# Lesson Reporting Protocol\n"));
        assert!(PROTOCOL.chars().count() <= MAX_CHARS, "{} characters", PROTOCOL.chars().count());
        for form in [
            "\n#lesson what went wrong -> what to do\n",
            "\n#lesson\ntool: ",
            "\ntrigger: ",
            "\nproblem: ",
            "\nsolution: ",
            "\n#/lesson\n",
            "scope: project",
            "#lesson:cancel",
        ] {
            assert!(PROTOCOL.contains(form), "{form}");
        }
        assert!(PROTOCOL.contains("Wyren") && !PROTOCOL.contains("lessons-learned"));
    }

    #[test]
    fn the_old_form_keeps_its_heading_and_its_tags() {
        assert!(OLD_PROTOCOL.starts_with("# [lessons-learned] Lesson Reporting Protocol\n"));
        for tag in ["\n#lesson\n", "\n#/lesson\n", "#lesson:cancel", "scope: project"] {
            assert!(OLD_PROTOCOL.contains(tag), "{tag}");
        }
        assert!(OLD_PROTOCOL.len() <= MAX_OLD_BYTES, "{} bytes", OLD_PROTOCOL.len());
    }

    #[test]
    fn every_example_names_problem_and_solution() {
        for (protocol, count) in [(PROTOCOL, 1), (OLD_PROTOCOL, 2)] {
            let examples: Vec<&str> = protocol.split("\n#lesson\n").skip(1).collect();
            assert_eq!(examples.len(), count);
            for example in examples {
                let body = example.split("\n#/lesson").next().unwrap();
                assert!(body.contains("problem: ") && body.contains("solution: "), "{body}");
            }
        }
    }
}
