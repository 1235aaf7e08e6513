//! The plan: one that was accepted, or else one that was written to a file.

use crate::budget::PLAN_CHARS;
use distiller::clean_cut;
use serde_json::Value;

/// The tool by which a model has its plan accepted.
pub(crate) const PROPOSES: &str = "ExitPlanMode";
/// Where the client has the model write a plan before it is accepted.
const CLIENT_FOLDER: &str = "/.claude/plans/";
/// What the client writes before the plan in the result of a call that was accepted.
const ACCEPTED: [&str; 2] = ["## Approved Plan (edited by user):\n", "## Approved Plan:\n"];
/// What the client writes around a plan that goes on in a new window.
const CONTINUES: &str = "Implement the following plan:\n\n";
const CONTINUES_END: &str = "\n\nIf you need specific details from before exiting plan mode";

/// Plans as they are proposed, written and changed.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    /// What was accepted.
    accepted: Option<String>,
    /// What was written to a file of the project that is named a plan.
    in_project: Option<String>,
    /// What was written to the client's folder, and waits to be accepted.
    proposed: Option<String>,
    /// The file of the plan that was written last.
    file: Option<String>,
}

impl Plans {
    /// Takes the plan out of a prompt by which it goes on in a new window. Returns its first line, by which it is known.
    pub(crate) fn continued(&mut self, prompt: &str) -> Option<String> {
        let plan = prompt.strip_prefix(CONTINUES)?;
        let plan = plan.split_once(CONTINUES_END).map_or(plan, |(plan, _)| plan);
        let plan = clean_cut(plan, PLAN_CHARS);
        let title =
            plan.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty())?;
        let title = format!("Implement the plan: {title}");
        self.accepted = Some(plan);
        Some(title)
    }

    /// Notes that a plan was accepted: `input` of the call, and what came back.
    pub(crate) fn accept(&mut self, input: &str, output: &str, result: Option<&str>) {
        let of_json = |json: &str| {
            let json: Value = serde_json::from_str(json).ok()?;
            json["plan"].as_str().filter(|plan| !plan.trim().is_empty()).map(str::to_owned)
        };
        let told =
            || ACCEPTED.iter().find_map(|head| output.split_once(head)).map(|(_, plan)| plan.to_owned());
        let plan = told().or_else(|| result.and_then(of_json)).or_else(|| of_json(input));
        let plan = plan.map(|plan| clean_cut(&plan, PLAN_CHARS)).or_else(|| self.proposed.clone());
        self.accepted = plan.or_else(|| self.accepted.take());
    }

    /// Returns the plan: one that was accepted, or else one in a file of the project, which may be of anything.
    pub(crate) fn last(self) -> Option<String> {
        self.accepted.or(self.in_project)
    }

    /// Says whether a file may be a plan, by its name.
    pub(crate) fn may_be(path: &str) -> bool {
        path.contains(CLIENT_FOLDER) || is_plan(path)
    }

    /// Notes that such a file was written or edited.
    pub(crate) fn written(&mut self, path: &str, input: &Value) {
        if !Self::may_be(path) {
            return;
        }
        let is_clients = path.contains(CLIENT_FOLDER);
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        if input["content"].is_string() {
            let plan = clean_cut(&text(input, "content"), PLAN_CHARS);
            self.file = Some(path.to_owned());
            *(if is_clients { &mut self.proposed } else { &mut self.in_project }) = Some(plan);
            return;
        }
        // Edits change what is known of it.
        if self.file.as_deref() != Some(path) {
            return;
        }
        let edits = input["edits"].as_array().map_or(std::slice::from_ref(input), Vec::as_slice);
        for edit in edits {
            let (old, new) = (text(edit, "old_string"), clean_cut(&text(edit, "new_string"), PLAN_CHARS));
            let known = [&mut self.proposed, &mut self.accepted, &mut self.in_project];
            for plan in known.into_iter().filter_map(Option::as_mut) {
                if !old.is_empty() && plan.contains(old.trim()) {
                    *plan = plan.replacen(old.trim(), &new, 1);
                }
            }
        }
    }
}

/// Says whether a file is a plan by its name: `docs/plans/ledg-455.md`, `PLAN.md`, `migration-plan.md`.
fn is_plan(path: &str) -> bool {
    let path = path.to_ascii_lowercase().replace('\\', "/");
    let Some((folder, name)) = path.rsplit_once('/') else { return is_named_plan(&path) };
    name.ends_with(".md") && folder.rsplit('/').next() == Some("plans") || is_named_plan(name)
}

fn is_named_plan(name: &str) -> bool {
    let stem = name.strip_suffix(".md").or_else(|| name.strip_suffix(".txt"));
    stem.is_some_and(|stem| stem.split(|c: char| !c.is_alphanumeric()).any(|word| word == "plan"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_plan_comes_from_wherever_the_client_has_it() {
        let accepted = |input: &str, output: &str, result: Option<&str>| {
            let mut plans = Plans::default();
            plans.written("/home/a/.claude/plans/x-y.md", &json!({"content": "# From the file"}));
            plans.written("/p/tests/query_plan.txt", &json!({"content": "# Not this"}));
            plans.accept(input, output, result);
            plans.written("/p/tests/query_plan.txt", &json!({"content": "# Nor this"}));
            plans.last().unwrap()
        };
        assert_eq!(
            accepted(r##"{"plan":"# In the call"}"##, "User has approved your plan.", None),
            "# In the call"
        );
        let told = "User has approved your plan.\n\n## Approved Plan (edited by user):\n# As told\n\n1. do";
        assert_eq!(accepted("{}", told, None), "# As told\n\n1. do");
        assert_eq!(
            accepted("{}", "User has approved your plan.", Some(r##"{"plan":"# Beside"}"##)),
            "# Beside"
        );
        assert_eq!(accepted("{}", "User has approved your plan.", None), "# From the file");
    }

    #[test]
    fn a_plan_in_a_file_of_the_project_is_one_and_changes_with_it() {
        for path in
            ["docs/plans/ledg-455.md", "/p/PLAN.md", "/p/docs/migration-plan.md", "implementation_plan.txt"]
        {
            let mut plans = Plans::default();
            plans.written(path, &json!({"content": "# Plan\n- a\n- b"}));
            plans.written(path, &json!({"old_string": "- b\n", "new_string": "- c\n"}));
            assert_eq!(plans.last().as_deref(), Some("# Plan\n- a\n- c"), "{path}");
        }
        for path in
            ["src/plan.rs", "docs/explanation.md", "/p/.claude/plans/x.md", "/p/plans/x.json", "planets.md"]
        {
            let mut plans = Plans::default();
            plans.written(path, &json!({"content": "# Plan"}));
            assert_eq!(plans.last(), None, "{path}");
        }
    }

    #[test]
    fn a_plan_that_goes_on_in_a_new_window_is_taken_out_of_the_prompt() {
        let mut plans = Plans::default();
        let prompt = "Implement the following plan:\n\n# Cache\n\n1. a\n\n\nIf you need specific details from before exiting plan mode (like …), read";
        assert_eq!(plans.continued(prompt).as_deref(), Some("Implement the plan: Cache"));
        assert_eq!(plans.accepted.as_deref(), Some("# Cache\n\n1. a"));
        assert_eq!(plans.continued("Implement the cache"), None);
    }
}
