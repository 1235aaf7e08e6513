//! What a plan is about, out of the call that proposed it.

/// How many steps of a plan an entry names.
const STEPS: usize = 2;

/// Returns the title of a plan and its first steps on one line; nothing when it has no steps.
///
/// The input may have been cut, so it is not parsed as JSON.
pub(super) fn gist(input: &str) -> Option<String> {
    let (_, plan) = input.split_once(r#""plan":""#)?;
    let plan =
        plan.split(r#"","#).next()?.trim_end_matches(r#""}"#).replace(r"\n", "\n").replace(r#"\""#, "\"");
    let title = plan
        .lines()
        .find_map(|line| line.strip_prefix('#'))
        .map(|title| title.trim_start_matches('#').trim());
    let steps: Vec<&str> =
        plan.lines().filter_map(step).filter(|step| !step.contains("[truncated ")).take(STEPS).collect();
    match (title, steps.as_slice()) {
        (_, []) => None,
        (Some(title), steps) => Some(format!("Plan accepted, {title}: {}", steps.join("; "))),
        (None, steps) => Some(format!("Plan accepted: {}", steps.join("; "))),
    }
}

fn step(line: &str) -> Option<&str> {
    let line = line.trim();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let step = match numbered.strip_prefix(". ").filter(|_| numbered.len() < line.len()) {
        Some(step) => step,
        None => line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?,
    };
    Some(step.trim_end_matches('.').trim()).filter(|step| !step.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_becomes_its_title_and_first_steps() {
        let input = r##"{"plan":"# Cache\n\n1. Use an LRU.\n2. Size it at \"10k\".\n3. Measure."}"##;
        assert_eq!(gist(input).as_deref(), Some("Plan accepted, Cache: Use an LRU; Size it at \"10k\""));
        assert_eq!(gist(r#"{"plan":"just prose"}"#), None);
        assert_eq!(gist("{}"), None);
    }
}
