//! A plan for a person, and as JSON.

use super::what_is_switched;
use crate::person;
use crate::terminal::{self, Cell, DIM, STRONG, WARNING, counted};
use anstyle::Style;
use anyhow::Result;
use base::Env;
use base::paths::with_tilde;
use migrate::{Import, Part, Plan, Step, Undone};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;

/// How many remarks of an import are shown.
const MAX_REMARKS: usize = 5;

/// One thing that was found, and what happens to it.
struct Row {
    what: &'static str,
    /// A path, or the id of a plugin.
    place: String,
    detail: String,
    action: &'static str,
    /// The action in words.
    words: String,
}

fn rows(part: &Part, wyren: &str, shown: &dyn Fn(&Path) -> String) -> Vec<Row> {
    let system = part.found.system;
    let switch = |is_on: bool| match (is_on, part.disables) {
        (false, _) => ("stays", "off already".to_owned()),
        (true, true) => ("disable", "switch off".to_owned()),
        (true, false) => (
            "stays",
            format!("stays on: Wyren does not replace it yet. To switch it off: --disable {}", system.name),
        ),
    };
    let mut rows = Vec::new();
    for plugin in &part.found.plugins {
        let (action, words) = switch(plugin.is_on);
        let (place, detail) = (plugin.id.clone(), String::new());
        rows.push(Row { what: "plugin", place, detail, action, words });
    }
    for hooks in &part.found.hooks {
        let (action, words) = switch(true);
        let count = (hooks.count > 0).then(|| counted(hooks.count as u64, "hook", "hooks"));
        let members = hooks.members.iter().map(|key| (*key).to_owned());
        let detail = count.into_iter().chain(members).collect::<Vec<_>>().join(" and ");
        rows.push(Row { what: "hooks", place: shown(&hooks.file), detail, action, words });
    }
    for program in &part.found.programs {
        let is_due = part.unlinks.contains(program);
        let (action, words) = if is_due {
            ("unlink", "take from the PATH".to_owned())
        } else {
            ("stays", "stays on the PATH; to take it from there: --unlink".to_owned())
        };
        rows.push(Row { what: "program", place: shown(program), detail: String::new(), action, words });
    }
    if let Some(link) = &part.link {
        let (action, words) = match link.is_due {
            true => ("link", "make: it starts and stops `wyren serve`".to_owned()),
            false => ("stays", "not made; --link makes it, for scripts that call claude-mem".to_owned()),
        };
        let (place, detail) = (shown(&link.place), String::new());
        rows.push(Row { what: "command", place, detail, action, words });
    }
    for import in &part.imports {
        let (action, words) = match import.look.new {
            0 => ("stays", "nothing new".to_owned()),
            _ => ("import", "import".to_owned()),
        };
        let (place, detail) = (shown(&import.source), detail_of(import));
        rows.push(Row { what: import.importer.what, place, detail, action, words });
    }
    for record in &part.found.records {
        let (place, words) = (shown(&record.path), record.stays.to_owned());
        rows.push(Row { what: "data", place, detail: String::new(), action: "stays", words });
    }
    for project in &part.elsewhere {
        let words = format!("not changed; run {wyren} migrate there");
        let place = shown(project);
        rows.push(Row { what: "project", place, detail: String::new(), action: "stays", words });
    }
    rows
}

fn detail_of(import: &Import) -> String {
    match import.importer.what {
        "settings" => import.look.remarks.join(", "),
        _ => format!("{} of {} new", import.look.new, import.look.all),
    }
}

/// Shows a plan.
pub(super) fn plan(plan: &Plan, env: &Env) -> Result<()> {
    let mut output = terminal::output();
    if plan.parts.is_empty() {
        let names: Vec<&str> = migrate::SYSTEMS.iter().map(|system| system.name).collect();
        writeln!(output, "No earlier system was found. Wyren looked for {}.", names.join(", "))?;
        return Ok(());
    }
    let shown = |path: &Path| with_tilde(path, env);
    let wyren = person::wyren(env);
    for part in &plan.parts {
        let title = part.found.system.title;
        writeln!(output, "{STRONG}{title}{STRONG:#}")?;
        let cells = |row: Row| -> Vec<Cell> {
            let style = if row.action == "stays" { DIM } else { Style::new() };
            let detail = if row.detail.is_empty() { String::new() } else { format!(" ({})", row.detail) };
            vec![
                (format!("  {}", row.what), Style::new()),
                (row.place + &detail, Style::new()),
                (row.words, style),
            ]
        };
        let rows: Vec<Vec<Cell>> = rows(part, &wyren, &shown).into_iter().map(cells).collect();
        terminal::write_table(&mut output, &rows)?;
        for import in part.imports.iter().filter(|import| import.importer.what != "settings") {
            for remark in import.look.remarks.iter().take(MAX_REMARKS) {
                writeln!(output, "  {WARNING}{}{WARNING:#}", text::sanitize::one_line(remark, 200))?;
            }
            let more = import.look.remarks.len().saturating_sub(MAX_REMARKS);
            if more > 0 {
                writeln!(output, "  {WARNING}and {more} more remarks{WARNING:#}")?;
            }
        }
    }
    for edit in plan.edits.iter().filter(|edit| edit.is_shared) {
        writeln!(
            output,
            "{WARNING}{} belongs to the project{WARNING:#}: the change reaches your team once you commit it",
            shown(&edit.path)
        )?;
    }
    if plan.is_nothing() {
        writeln!(output, "Nothing to do.")?;
    }
    Ok(())
}

/// Returns a plan as JSON.
pub(super) fn as_json(plan: &Plan, problems: &[String]) -> Value {
    let plain = |path: &Path| path.display().to_string();
    let systems = plan.parts.iter().map(|part| {
        let found = rows(part, "wyren", &plain).into_iter().map(|row| {
            json!({"what": row.what, "where": row.place, "detail": row.detail, "action": row.action})
        });
        json!({
            "name": part.found.system.name, "on": part.found.is_on(), "replaced": part.found.system.is_replaced(),
            "found": found.collect::<Vec<_>>(),
        })
    });
    let edits = plan.edits.iter().map(|edit| json!({"file": edit.path, "off": what_is_switched(edit)}));
    json!({"systems": systems.collect::<Vec<_>>(), "edits": edits.collect::<Vec<_>>(), "problems": problems})
}

/// Describes what taking a step back would do.
pub(super) fn step(step: &Step, env: &Env) -> String {
    match step {
        Step::Settings { path, .. } => format!("restore {}", with_tilde(path, env)),
        Step::Config { values, .. } => {
            format!("restore config.toml without {}", values.keys().cloned().collect::<Vec<_>>().join(", "))
        }
        Step::Lessons { files, source, .. } => {
            let lessons = counted(files.len() as u64, "lesson", "lessons");
            format!("remove {lessons} imported from {}", with_tilde(source, env))
        }
        Step::Records { source, .. } => {
            format!("remove the records imported from {}", with_tilde(source, env))
        }
        Step::Program { path, .. } => format!("restore {}", with_tilde(path, env)),
        Step::Link { path, .. } => format!("remove {}", with_tilde(path, env)),
    }
}

pub(super) fn step_as_json(step: &Step) -> Value {
    match step {
        Step::Settings { path, hooks, plugins, .. } => {
            json!({"what": "settings", "where": path, "hooks": hooks.len(), "plugins": plugins.keys().collect::<Vec<_>>()})
        }
        Step::Config { values, .. } => json!({"what": "config", "values": values}),
        Step::Lessons { source, files, .. } => {
            json!({"what": "lessons", "where": source, "files": files.len()})
        }
        Step::Records { source, .. } => json!({"what": "records", "where": source}),
        Step::Program { path, .. } => json!({"what": "program", "where": path}),
        Step::Link { path, .. } => json!({"what": "link", "where": path}),
    }
}

pub(super) fn undone_as_json(undone: &Undone) -> Value {
    match undone {
        Undone::Nothing => json!({"result": "nothing"}),
        Undone::Restored(path) => json!({"result": "restored", "where": path}),
        Undone::TakenBack(path) => json!({"result": "taken back", "where": path}),
        Undone::Lessons { removed, changed } => {
            json!({"result": "lessons", "removed": removed, "left": changed})
        }
        Undone::Records { removed } => json!({"result": "records", "removed": removed}),
        Undone::Unlinked(path) => json!({"result": "unlinked", "where": path}),
        Undone::Left(path) => json!({"result": "left", "where": path}),
    }
}
