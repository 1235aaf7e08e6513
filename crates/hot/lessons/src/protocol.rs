//! The text that asks the model to report what it learned.

/// The reporting protocol, injected when a session starts.
pub const PROTOCOL: &str = include_str!("protocol.md");

#[cfg(test)]
mod tests {
    use super::*;

    /// What the protocol may cost each session; directives share the 4 KB of session start with it.
    const MAX_BYTES: usize = 1_600;

    #[test]
    fn the_protocol_keeps_its_heading_and_its_tags() {
        assert!(PROTOCOL.starts_with("# [lessons-learned] Lesson Reporting Protocol\n"));
        for tag in ["\n#lesson\n", "\n#/lesson\n", "#lesson:cancel", "scope: project"] {
            assert!(PROTOCOL.contains(tag), "{tag}");
        }
    }

    #[test]
    fn the_protocol_is_short() {
        assert!(PROTOCOL.len() <= MAX_BYTES, "{} bytes", PROTOCOL.len());
    }

    #[test]
    fn every_example_names_problem_and_solution() {
        let examples: Vec<&str> = PROTOCOL.split("\n#lesson\n").skip(1).collect();
        assert_eq!(examples.len(), 2);
        for example in examples {
            let body = example.split("\n#/lesson").next().unwrap();
            assert!(body.contains("problem: ") && body.contains("solution: "), "{body}");
        }
    }
}
