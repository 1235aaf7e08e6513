//! Homes as each system leaves them, moved from and back.

use super::*;
use base::files;
use install::ours::Surroundings;
use install::settings::registered::with_plugin;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

/// A home with a project, both below one folder.
struct Home {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

type Tree = BTreeMap<PathBuf, Vec<u8>>;

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home/.claude/plugins", "project/.claude", "data", "path"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder, variables: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn with(mut self, variable: &str, name: &str) -> Self {
        let value = self.path(name).display().to_string();
        self.variables.push((variable.to_owned(), value));
        self
    }

    fn around(&self) -> Around {
        let own =
            [("HOME", "home"), ("WYREN_DATA_DIR", "data"), ("PATH", "path"), ("XDG_RUNTIME_DIR", "run")];
        let own = own.map(|(name, folder)| (name.to_owned(), self.path(folder).display().to_string()));
        let env = Env::fixed(own.into_iter().chain(self.variables.clone()));
        Around { paths: Paths::of(&env), env, project: self.path("project") }
    }

    /// Returns every file but those of the cache, which are made again.
    fn tree(&self) -> Tree {
        let (mut tree, mut folders) = (Tree::new(), vec![self.folder.path().to_owned()]);
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(&next).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let contents = if path == self.path("data/cache") {
                    continue;
                } else if metadata.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else if metadata.is_symlink() {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                } else {
                    fs::read(&path).unwrap()
                };
                tree.insert(path, contents);
            }
        }
        tree
    }

    fn names(&self) -> Vec<&'static str> {
        found(&self.around()).iter().map(|found| found.system.name).collect()
    }

    fn migrate(&self, choice: &Choice) -> Vec<String> {
        self.migrate_until(choice, usize::MAX).unwrap()
    }

    /// Migrates, and stops like a killed process at a report.
    fn migrate_until(&self, choice: &Choice, reports: usize) -> Result<Vec<String>> {
        let around = self.around();
        let mut journal = Journal::read(&around)?;
        let mut count = 0;
        act(&Plan::of(&around, choice), &around, &mut journal, &mut |_| {
            count += 1;
            if count > reports { Err(io::Error::other("killed")) } else { Ok(()) }
        })
    }

    fn undo(&self) -> Vec<Undone> {
        let around = self.around();
        let mut journal = Journal::read(&around).unwrap();
        let mut undone = Vec::new();
        let problems = undo(&around, &mut journal, &mut |one| {
            undone.push(one);
            Ok(())
        });
        assert_eq!(problems.unwrap(), Vec::<String>::new());
        assert!(!around.paths.migration_journal().exists());
        undone
    }
}

fn all() -> Choice {
    let disable = SYSTEMS.iter().map(|system| system.name.to_owned()).collect();
    Choice { only: Vec::new(), disable, unlink: true, link: None }
}

fn hook(command: &str) -> Value {
    json!([{"matcher": "", "hooks": [{"type": "command", "command": command, "timeout": 5}]}])
}

/// The settings of a user of all four, with something of their own.
fn write_settings(home: &Home) {
    let root = home.path("home/.claude/plugins/wyren/hooks/run-hook.cmd").display().to_string();
    let lessons = home.path("src/lessons-learned/hooks/pretooluse-lesson-inject.mjs").display().to_string();
    let text = format!(
        r#"{{
  // My settings.
  "model": "opus",
  "hooks": {{
    "SessionStart": [
      {{"matcher": "", "hooks": [{{"type": "command", "command": "\"{root}\" session-start", "timeout": 4}}]}},
      {{"hooks": [{{"type": "command", "command": "/opt/superpowers/hooks/run-hook.cmd session-start"}}]}},
    ],
    "Stop": [{{"matcher": "", "hooks": [{{"type": "command", "command": "\"{root}\" stop", "timeout": 5}}]}}],
    "PreToolUse": [{{"matcher": "Bash", "hooks": [
      {{"type": "command", "command": "node \"{lessons}\""}}, {{"type": "command", "command": "check.sh"}}
    ]}}],
  }},
  "enabledPlugins": {{"claude-mem@thedotmack": true, "lessons-learned@acme": true, "other@x": true}},
}}
"#
    );
    home.write("home/.claude/settings.json", &text.replace('\\', if cfg!(windows) { "\\\\" } else { "\\" }));
}

fn write_lessons(home: &Home, data: &str) {
    let lesson = |slug: &str, summary: &str| {
        json!({
            "slug": slug, "type": "hint", "priority": 6, "toolNames": ["Bash"],
            "commandRegexSources": [{"source": "\\bpytest\\b", "flags": ""}], "commandMatchTarget": "full",
            "pathRegexSources": [], "modelRegexSources": [], "tags": [], "scope": null,
            "message": "## Lesson", "summary": summary, "problem": "pytest waits for a terminal that is not there",
            "solution": "run pytest with --no-header -p no:cacheprovider and a time limit of two minutes",
        })
    };
    let manifest = json!({
        "type": "lessons-learned-manifest", "version": 1, "config": {},
        "lessons": {
            "01HZX3M0000000000000000001": lesson("pytest-hangs-ab12", "pytest hangs without a terminal"),
            "01HZX3M0000000000000000002": lesson("pytest-slow-cd34", "pytest is slow with the cache"),
        },
    });
    home.write(&format!("{data}/lesson-manifest.json"), &manifest.to_string());
    let config = json!({"type": "lessons-learned-config", "version": 1, "maxLessonsPerInjection": 5, "minPriority": 1});
    home.write(&format!("{data}/config.json"), &config.to_string());
}

/// What starts the Node version where npm makes no links.
const NPM_SCRIPT: &str =
    "#!/bin/sh\nbasedir=$(dirname \"$0\")\nexec node \"$basedir/../lib/wyren/bin/wyren.mjs\" \"$@\"\n";

/// A machine with all four, each wired.
fn full() -> Home {
    let home = Home::new();
    write_settings(&home);
    home.write("home/.claude/plugins/wyren/hooks/run-hook.cmd", "");
    write_lessons(&home, "src/lessons-learned/data");
    home.write("home/.claude-mem/claude-mem.db", "");
    let settings = json!({"CLAUDE_MEM_EXCLUDED_PROJECTS": "~/clients/**", "CLAUDE_MEM_MODE": "code"});
    home.write("home/.claude-mem/settings.json", &settings.to_string());
    home.write("project/.aiwcli/_shared/hooks-ts/context_monitor.ts", "");
    let command = "bun \"$CLAUDE_PROJECT_DIR\"/.aiwcli/_shared/hooks-ts/context_monitor.ts";
    let line = json!({"type": "command", "command": "bun .aiwcli/_shared/scripts/status_line.ts"});
    let settings = json!({"hooks": {"PostToolUse": hook(command)}, "statusLine": line});
    home.write("project/.claude/settings.json", &format!("{settings:#}\n"));
    #[cfg(unix)]
    {
        home.write("lib/wyren/bin/wyren.mjs", "#!/usr/bin/env node\n");
        std::os::unix::fs::symlink("../lib/wyren/bin/wyren.mjs", home.path("path/wyren")).unwrap();
    }
    home
}

fn plugin(home: &Home, id: &str, version: &str) -> String {
    let (name, market) = id.split_once('@').unwrap();
    let folder = format!("home/.claude/plugins/cache/{market}/{name}/{version}");
    fs::create_dir_all(home.path(&folder)).unwrap();
    let installed = json!({"version": 2, "plugins": {id: [{"installPath": home.path(&folder)}]}});
    home.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    folder
}

#[test]
fn an_empty_home_has_none_and_a_team_memory_alone_is_none() {
    let home = Home::new();
    home.write("project/.wyren/memory.md", "# Wyren Memory\n");
    assert_eq!(home.names(), Vec::<&str>::new());
    assert!(Plan::of(&home.around(), &all()).is_nothing());
}

#[test]
fn each_system_is_found_in_each_of_its_ways() {
    let check = |expected: &str, is_on: bool, make: &dyn Fn(&Home)| {
        let home = Home::new();
        make(&home);
        let found = found(&home.around());
        assert_eq!(found.iter().map(|found| found.system.name).collect::<Vec<_>>(), [expected]);
        assert_eq!(found[0].is_on(), is_on, "{found:?}");
    };
    let on = |home: &Home, id: &str, file: &str| {
        home.write(file, &json!({"enabledPlugins": {id: true}}).to_string());
    };
    let user = "home/.claude/settings.json";
    check("wyren-node", true, &|home| {
        let command = "\"/home/ada/.claude/plugins/wyren/hooks/run-hook.cmd\" stop";
        home.write(user, &json!({"hooks": {"Stop": hook(command)}}).to_string());
    });
    check("wyren-node", false, &|home| {
        home.write("home/.claude/plugins/wyren/bin/wyren.mjs", "");
    });
    check("wyren-node", true, &|home| {
        let folder = plugin(home, "wyren@ssm", "0.4.6");
        home.write(&format!("{folder}/hooks/run-hook.cmd"), "");
        on(home, "wyren@ssm", user);
    });
    #[cfg(unix)]
    check("wyren-node", false, &|home| {
        home.write("path/wyren", NPM_SCRIPT);
    });
    for file in [user, "project/.claude/settings.json", "project/.claude/settings.local.json"] {
        check("lessons-learned", true, &|home| {
            plugin(home, "lessons-learned@acme", "0.1.0");
            on(home, "lessons-learned@acme", file);
        });
        check("claude-mem", true, &|home| on(home, "claude-mem@thedotmack", file));
    }
    check("lessons-learned", false, &|home| {
        let folder = plugin(home, "lessons-learned@acme", "0.1.0");
        home.write(&format!("{folder}/data/lessons.db"), "");
    });
    check("lessons-learned", true, &|home| {
        let command = "node /src/lessons-learned/hooks/session-start-scan.mjs";
        home.write(user, &json!({"hooks": {"SessionStart": hook(command)}}).to_string());
    });
    check("claude-mem", false, &|home| {
        home.write("home/.claude-mem/claude-mem.db", "");
    });
    check("claude-mem", true, &|home| {
        let command = "npx claude-mem hook claude-code context";
        home.write(user, &json!({"hooks": {"SessionStart": hook(command)}}).to_string());
    });
    check("aiwcli", true, &|home| {
        let command = "bun .aiwcli/core/hooks/session_start.ts";
        home.write(
            "project/.claude/settings.local.json",
            &json!({"hooks": {"SessionStart": hook(command)}}).to_string(),
        );
    });
    check("aiwcli", false, &|home| {
        home.write("project/_output/contexts/260101-1000-x/state.json", "{}");
    });
}

#[test]
fn folders_that_the_environment_names_are_looked_at() {
    let home = Home::new().with("LESSONS_DATA_DIR", "elsewhere").with("CLAUDE_MEM_DATA_DIR", "mem");
    write_lessons(&home, "elsewhere");
    home.write("mem/claude-mem.db", "");
    assert_eq!(home.names(), ["lessons-learned", "claude-mem"]);
    let home = Home::new().with("WYREN_HOME", "other");
    let command = "\"/x/plugins/wyren/hooks/run-hook.cmd\" stop";
    home.write("other/settings.json", &json!({"hooks": {"Stop": hook(command)}}).to_string());
    assert_eq!(home.names(), ["wyren-node"]);
}

#[test]
fn wyrens_own_plugin_is_not_taken_for_the_node_version() {
    let home = Home::new();
    let folder = plugin(&home, "wyren@wyren", "0.1.0");
    home.write(&format!("{folder}/bin/wyren"), "");
    home.write("home/.claude/settings.json", "{\"enabledPlugins\": {\"wyren@wyren\": true}}");
    assert_eq!(home.names(), Vec::<&str>::new());
}

#[test]
fn what_wyren_does_not_replace_stays_on_unless_it_is_named() {
    let home = full();
    home.migrate(&Choice::default());
    let settings = fs::read_to_string(home.path("home/.claude/settings.json")).unwrap();
    assert!(settings.contains("\"claude-mem@thedotmack\": true"), "{settings}");
    assert!(settings.contains("\"lessons-learned@acme\": false"), "{settings}");
    for gone in ["plugins/wyren/hooks", "pretooluse-lesson-inject"] {
        assert!(!settings.contains(gone), "{settings}");
    }
    for kept in ["// My settings.", "superpowers/hooks/run-hook.cmd", "check.sh", "\"other@x\": true"] {
        assert!(settings.contains(kept), "{kept}: {settings}");
    }
    let project = fs::read_to_string(home.path("project/.claude/settings.json")).unwrap();
    assert!(project.contains("context_monitor.ts"), "{project}");
    home.migrate(&all());
    let settings = fs::read_to_string(home.path("home/.claude/settings.json")).unwrap();
    assert!(settings.contains("\"claude-mem@thedotmack\": false"), "{settings}");
    let project = fs::read_to_string(home.path("project/.claude/settings.json")).unwrap();
    assert!(!project.contains(".aiwcli"), "{project}");
    assert!(found(&home.around()).iter().all(|found| !found.is_on()));
}

#[test]
fn only_the_named_system_is_moved_from() {
    let home = full();
    home.migrate(&Choice { only: vec!["wyren-node".to_owned()], ..Choice::default() });
    let settings = fs::read_to_string(home.path("home/.claude/settings.json")).unwrap();
    assert!(
        !settings.contains("plugins/wyren") && settings.contains("pretooluse-lesson-inject"),
        "{settings}"
    );
    assert!(!home.path("data/lessons").exists());
}

#[test]
fn lessons_and_settings_are_imported_and_the_earlier_systems_files_stay_as_they_are() {
    let home = full();
    let before = home.tree();
    assert_eq!(home.migrate(&Choice::default()), Vec::<String>::new());
    let lessons = files::files_in(&home.path("data/lessons"));
    assert_eq!(lessons.len(), 2, "{lessons:?}");
    let config = fs::read_to_string(home.path("data/config.toml")).unwrap();
    for line in ["max_per_call = 5", "excluded_projects = [\"~/clients/**\"]"] {
        assert!(config.contains(line), "{line}: {config}");
    }
    assert!(!config.contains("min_priority"), "a default is not copied: {config}");
    let after = home.tree();
    for (path, contents) in before.iter().filter(|(path, _)| !path.ends_with("settings.json")) {
        assert_eq!(after.get(path), Some(contents), "{}", path.display());
    }
}

#[test]
fn twice_changes_nothing() {
    let home = full();
    home.migrate(&all());
    let once = home.tree();
    assert!(Plan::of(&home.around(), &all()).is_nothing());
    home.migrate(&all());
    assert_eq!(home.tree(), once);
}

#[test]
fn after_undo_every_file_is_as_it_was() {
    let home = full();
    home.write("data/config.toml", "# mine\n[log]\nlevel = \"warn\"\n");
    let before = home.tree();
    home.migrate(&Choice::default());
    home.migrate(&all());
    assert_ne!(home.tree(), before);
    home.undo();
    assert_eq!(home.tree(), before);
    assert_eq!(home.undo(), []);
    assert_eq!(home.tree(), before);
}

#[test]
fn killed_between_any_two_steps_undo_restores_and_the_next_run_goes_on() {
    let reference = full();
    reference.migrate(&all());
    let mut reports = 0;
    loop {
        let home = full();
        let before = home.tree();
        let is_killed = home.migrate_until(&all(), reports).is_err();
        home.undo();
        assert_eq!(home.tree(), before, "undone after {reports} reports");

        let home = full();
        let before = home.tree();
        let _ = home.migrate_until(&all(), reports);
        home.migrate(&all());
        assert!(Plan::of(&home.around(), &all()).is_nothing());
        assert_eq!(home.tree().len(), reference.tree().len());
        home.undo();
        assert_eq!(home.tree(), before, "undone after {reports} reports and another run");
        reports += 1;
        if !is_killed {
            break;
        }
    }
    assert!(reports > 9, "{reports}");
}

#[test]
fn killed_before_a_step_that_is_in_the_journal_nothing_is_undone_twice() {
    let home = full();
    home.migrate(&Choice { only: vec!["wyren-node".to_owned()], ..Choice::default() });
    let journal = fs::read(home.path("data/migrate.json")).unwrap();
    home.undo();
    let before = home.tree();
    // An undo that was killed before it dropped its step.
    fs::write(home.path("data/migrate.json"), journal).unwrap();
    assert_eq!(home.undo(), [Undone::Nothing]);
    assert_eq!(home.tree(), before);
}

#[test]
fn of_settings_that_changed_since_only_our_part_is_taken_back() {
    let home = full();
    let path = home.path("home/.claude/settings.json");
    home.migrate(&all());
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"opus\"", "\"sonnet\"")).unwrap();
    let undone = home.undo();
    assert!(undone.contains(&Undone::TakenBack(path.clone())), "{undone:?}");
    let text = fs::read_to_string(&path).unwrap();
    for part in ["\"sonnet\"", "run-hook.cmd\\\" stop", "pretooluse-lesson-inject", "// My settings."] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("\"claude-mem@thedotmack\": true"), "{text}");
    assert_eq!(found(&home.around()).iter().filter(|found| found.is_on()).count(), 4);
    let names = fs::read_dir(home.path("home/.claude")).unwrap().flatten().map(|entry| entry.file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("backup")));
}

#[test]
fn what_was_installed_after_the_migration_stays_and_the_rest_is_as_it_was() {
    type Wire = fn(&Path, &Path, &Surroundings) -> file::Change;
    let by_hooks: Wire = |path, plugin, around| file::install(path, plugin, around).unwrap();
    let by_plugin: Wire = |path, plugin, _| {
        let text = fs::read_to_string(path).unwrap();
        let after = with_plugin(&text, plugin).unwrap();
        file::edited(path, Some(text), after)
    };
    for wire in [by_hooks, by_plugin] {
        let home = full();
        let around = Surroundings {
            home: Some(home.path("home")),
            project: home.path("project"),
            ..Surroundings::default()
        };
        let (path, plugin) = (home.path("home/.claude/settings.json"), home.path("data/plugin"));
        let before = home.tree();
        let wired = wire(&path, &plugin, &around).after;
        home.migrate(&all());
        let later = base::Timestamp::from_millis(base::Timestamp::now().millis() + 60_000);
        file::apply(&wire(&path, &plugin, &around), later, 0o600).unwrap();
        let undone = home.undo();
        assert!(undone.contains(&Undone::TakenBack(path.clone())), "{undone:?}");
        assert_eq!(fs::read_to_string(&path).ok(), wired);
        let change = file::uninstall(&path, &around, file::What::All).unwrap();
        file::apply(&change, later, 0o600).unwrap();
        assert_eq!(home.tree(), before, "no backup is left, and the file is as it was");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_on_the_path_twice_has_its_program_once() {
    let home = full();
    let folder = home.path("path");
    std::os::unix::fs::symlink(&folder, home.path("link")).unwrap();
    let folders = [folder.clone(), home.path("link"), folder.clone()];
    let path = std::env::join_paths(folders).unwrap().into_string().unwrap();
    let mut around = home.around();
    around.env = Env::fixed([("PATH", path), ("HOME", home.path("home").display().to_string())]);
    assert_eq!(node_programs(&around.env), [folder.join("wyren")]);
}

#[test]
fn without_the_backup_the_hooks_come_back_all_the_same() {
    let home = full();
    home.migrate(&Choice::default());
    let folder = home.path("home/.claude");
    let is_backup = |path: &PathBuf| path.to_string_lossy().contains("wyren-backup");
    let backups: Vec<PathBuf> = files::files_in(&folder).into_iter().filter(is_backup).collect();
    assert_eq!(backups.len(), 1);
    fs::remove_file(&backups[0]).unwrap();
    assert!(home.undo().contains(&Undone::TakenBack(folder.join("settings.json"))));
    let text = fs::read_to_string(folder.join("settings.json")).unwrap();
    assert!(
        text.contains("run-hook.cmd\\\" stop") && text.contains("\"lessons-learned@acme\": true"),
        "{text}"
    );
}

#[test]
fn lessons_and_settings_that_the_user_changed_since_stay() {
    let home = full();
    home.migrate(&Choice::default());
    let lessons = files::files_in(&home.path("data/lessons"));
    let text = fs::read_to_string(&lessons[0]).unwrap();
    fs::write(&lessons[0], text + "\nMine.\n").unwrap();
    config::set(&home.around().paths, "lessons.max_per_call", Some("7")).unwrap();
    let undone = home.undo();
    assert!(
        undone.contains(&Undone::Lessons { removed: 1, changed: vec![lessons[0].clone()] }),
        "{undone:?}"
    );
    assert!(lessons[0].is_file() && !lessons[1].exists());
    let config = fs::read_to_string(home.path("data/config.toml")).unwrap();
    assert!(config.contains("max_per_call = 7") && !config.contains("excluded_projects"), "{config}");
}

#[test]
fn a_plugin_of_the_projects_shared_settings_is_switched_off_for_the_user_alone() {
    let home = Home::new();
    plugin(&home, "lessons-learned@acme", "0.1.0");
    let shared = "{\"enabledPlugins\": {\"lessons-learned@acme\": true}}\n";
    home.write("project/.claude/settings.json", shared);
    let before = home.tree();
    home.migrate(&Choice::default());
    assert_eq!(fs::read_to_string(home.path("project/.claude/settings.json")).unwrap(), shared);
    let local = fs::read_to_string(home.path("project/.claude/settings.local.json")).unwrap();
    assert!(local.contains("\"lessons-learned@acme\": false"), "{local}");
    assert!(found(&home.around()).iter().all(|found| !found.is_on()));
    assert!(Plan::of(&home.around(), &Choice::default()).is_nothing());
    home.undo();
    assert_eq!(home.tree(), before);
}

#[test]
fn settings_that_are_not_valid_are_named_and_left_alone() {
    let home = full();
    let path = home.write("home/.claude/settings.json", "{\"hooks\": ");
    let plan = Plan::of(&home.around(), &all());
    assert!(
        plan.problems.iter().any(|problem| problem.contains("settings.json is not valid JSON")),
        "{plan:?}"
    );
    home.migrate(&all());
    assert_eq!(fs::read_to_string(path).unwrap(), "{\"hooks\": ");
    home.undo();
}

#[test]
fn an_import_that_fails_leaves_the_hooks_on() {
    let home = full();
    let plan = Plan::of(&home.around(), &Choice::default());
    fs::write(home.path("src/lessons-learned/data/lesson-manifest.json"), "broken").unwrap();
    let around = home.around();
    let mut journal = Journal::read(&around).unwrap();
    let problems = act(&plan, &around, &mut journal, &mut |_| Ok(())).unwrap();
    assert!(problems.iter().any(|problem| problem.contains("were left on")), "{problems:?}");
    let settings = fs::read_to_string(home.path("home/.claude/settings.json")).unwrap();
    assert!(settings.contains("pretooluse-lesson-inject"), "{settings}");
}

#[cfg(unix)]
#[test]
fn a_read_only_settings_file_is_named_and_the_rest_is_done() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = full();
    let path = home.path("home/.claude/settings.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let before = fs::read_to_string(&path).unwrap();
    let problems = home.migrate(&all());
    assert!(problems.iter().any(|problem| problem.contains("read-only")), "{problems:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    assert!(!home.path("path/wyren").exists());
    home.undo();
    assert!(home.path("path/wyren").exists());
}

#[cfg(unix)]
#[test]
fn a_program_that_took_the_place_of_the_unlinked_one_stays() {
    let home = full();
    home.migrate(&all());
    let place = home.write("path/wyren", "#!/bin/sh\n");
    assert!(home.undo().contains(&Undone::Left(place.clone())));
    assert_eq!(fs::read_to_string(place).unwrap(), "#!/bin/sh\n");
}

#[cfg(unix)]
#[test]
fn only_a_program_of_its_package_is_taken_for_the_node_version() {
    let home = Home::new();
    let cmd = "@ECHO off\r\nSET dp0=%~dp0\r\n\"%_prog%\" \"%dp0%\\node_modules\\@ssm-08\\wyren\\bin\\wyren.mjs\" %*\r\n";
    for (path, text) in [
        ("a/bin/wyren.mjs", "#!/usr/bin/env node\n"),
        ("a/node_modules/@ssm-08/wyren/cli.js", "#!/usr/bin/env node\n"),
        ("a/wyren", NPM_SCRIPT),
        ("a/wyren.cmd", cmd),
    ] {
        let program = home.write(path, text);
        assert!(is_of_node(&program), "{path}");
    }
    std::os::unix::fs::symlink("bin/wyren.mjs", home.path("a/link")).unwrap();
    assert!(is_of_node(&home.path("a/link")));
    for (path, text) in [
        ("b/wyren", "#!/usr/bin/env node\nconsole.log('my own')\n"),
        ("b/node_modules/wyren/cli.js", "#!/usr/bin/env node\n"),
        ("b/run", "#!/bin/sh\nbasedir=$(dirname \"$0\")\nexec node \"$basedir/../mine/cli.mjs\" \"$@\"\n"),
        ("b/elf", "\u{7f}ELF wyren.mjs"),
    ] {
        let program = home.write(path, text);
        assert!(!is_of_node(&program), "{path}");
    }
    assert!(!is_of_node(&home.path("b/missing")));
    let own = home.write("path/wyren", "#!/usr/bin/env node\n");
    home.migrate(&all());
    assert!(own.is_file() && home.names().is_empty(), "a user's own program was taken from the PATH");
}

#[test]
fn hooks_and_other_members_of_the_settings_are_counted_apart() {
    let home = full();
    let found = found(&home.around());
    let aiwcli = found.iter().find(|found| found.system.name == "aiwcli").unwrap();
    assert_eq!((aiwcli.hooks[0].count, &*aiwcli.hooks[0].members), (1, &["statusLine"][..]));
}

#[cfg(unix)]
#[test]
fn a_script_is_unlinked_and_comes_back_with_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let program = home.write("path/wyren", NPM_SCRIPT);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    home.migrate(&all());
    assert!(!program.exists());
    home.undo();
    assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_to_string(&program).unwrap(), NPM_SCRIPT);
}

#[test]
fn every_database_comes_before_a_manifest_and_the_newest_first() {
    let home = Home::new();
    for version in ["0.0.9", "0.1.0"] {
        let folder = plugin(&home, "lessons-learned@acme", version);
        write_lessons(&home, &format!("{folder}/data"));
    }
    let sources = || (importers::lessons::IMPORTER.sources)(&home.around());
    assert_eq!(sources().len(), 1, "one manifest is enough: {:?}", sources());
    let copy = home.write("home/.lessons-learned-backups/lessons-2026.db", "");
    assert_eq!(sources(), [copy]);
    let database = home.write("home/.claude/plugins/cache/acme/lessons-learned/0.0.9/data/lessons.db", "");
    assert_eq!(sources(), [database]);
}

#[test]
fn other_projects_of_the_clients_list_are_named_and_not_changed() {
    let home = Home::new();
    let command = "node /src/lessons-learned/hooks/session-start-scan.mjs";
    let settings = json!({"hooks": {"SessionStart": hook(command)}}).to_string();
    home.write("home/.claude/settings.json", &settings);
    home.write("other/.claude/settings.json", &settings);
    let projects = json!({"projects": {home.path("other").display().to_string(): {}, home.path("gone").display().to_string(): {}}});
    home.write("home/.claude.json", &projects.to_string());
    let plan = Plan::of(&home.around(), &Choice::default());
    assert_eq!(plan.parts[0].elsewhere, [home.path("other")]);
    home.migrate(&Choice::default());
    assert_eq!(fs::read_to_string(home.path("other/.claude/settings.json")).unwrap(), settings);
    fs::remove_file(home.path("home/.claude/settings.json")).unwrap();
    let plan = Plan::of(&home.around(), &Choice::default());
    assert_eq!((plan.parts.len(), plan.is_nothing()), (1, true), "found elsewhere alone: {plan:?}");
}

#[test]
fn a_journal_of_a_later_version_or_a_damaged_one_is_refused_and_kept() {
    let home = full();
    for text in ["{\"v\": 3, \"steps\": []}", "{", "{}"] {
        let file = home.write("data/migrate.json", text);
        assert!(Journal::read(&home.around()).is_err(), "{text}");
        assert!(home.migrate_until(&all(), usize::MAX).is_err());
        assert_eq!(fs::read_to_string(file).unwrap(), text);
    }
}

/// A machine with claude-mem's records of two projects, and settings of which some were changed.
fn with_records() -> Home {
    let home = Home::new();
    let theirs =
        fixture::ClaudeMem::new(&home.path("home/.claude-mem/claude-mem.db"), fixture::Shape::Current);
    for (session, project) in [("s", "web"), ("t", "clients")] {
        theirs.session(session, "claude", project, 1_794_796_000_000, "");
        theirs.observation(session, project, 1_794_796_001_000, "the title", &[]);
    }
    drop(theirs);
    let settings = json!({
        "CLAUDE_MEM_EXCLUDED_PROJECTS": "clients", "CLAUDE_MEM_MODE": "code", "CLAUDE_MEM_MODEL": "opus",
        "CLAUDE_MEM_SKIP_TOOLS": "ListMcpResourcesTool,SlashCommand,Skill,TodoWrite,AskUserQuestion",
        "CLAUDE_MEM_GEMINI_API_KEY": "key-of-the-user", "CLAUDE_MEM_WORKER_PORT": "37700",
    });
    home.write("home/.claude-mem/settings.json", &settings.to_string());
    home
}

fn entries(home: &Home) -> u64 {
    let store = ::journal::open_store(&home.around().paths).unwrap();
    let sql = "SELECT count(*) FROM observations WHERE kind = 'entry'";
    store.connection().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn claude_mems_records_are_imported_by_its_own_rules_and_taken_back() {
    let home = with_records();
    let plan = Plan::of(&home.around(), &Choice::default());
    let looks: Vec<_> =
        plan.parts[0].imports.iter().map(|import| (import.importer.what, import.look.new)).collect();
    assert_eq!(looks, [("settings", 1), ("records", 2)]);
    assert!(!home.path("data/wyren.db").exists(), "a look makes no database");
    assert_eq!(home.migrate(&Choice::default()), Vec::<String>::new());
    assert_eq!(entries(&home), 1, "what was kept out stays out");
    assert!(Plan::of(&home.around(), &Choice::default()).is_nothing());
    assert!(home.undo().contains(&Undone::Records { removed: 1 }));
    assert_eq!(entries(&home), 0);
}

#[test]
fn line_26_only_settings_that_differ_from_claude_mems_defaults_are_taken_and_the_others_are_named() {
    let home = with_records();
    let plan = Plan::of(&home.around(), &Choice::default());
    let remarks = &plan.parts[0].imports[0].look.remarks;
    let expected =
        ["capture.excluded_projects = clients", "left out: CLAUDE_MEM_GEMINI_API_KEY, CLAUDE_MEM_MODEL"];
    assert_eq!(remarks, &expected);
    home.migrate(&Choice::default());
    let config = fs::read_to_string(home.path("data/config.toml")).unwrap();
    assert!(config.contains("excluded_projects") && !config.contains("skip_tools"), "{config}");
    assert!(!config.contains("key-of-the-user"), "{config}");
}

/// Returns a choice that makes or offers the link named claude-mem.
fn linking(home: &Home, is_due: bool) -> Choice {
    let program = home.write("plugin/bin/wyren", "");
    home.write("plugin/hooks/hooks.json", "{}");
    let place = home.path("home/.local/bin/claude-mem");
    Choice { link: Some(Link { place, program, is_due }), ..all() }
}

#[cfg(unix)]
#[test]
fn a_link_named_claude_mem_is_offered_made_on_request_and_taken_back() {
    let home = full();
    let offered = linking(&home, false);
    let of_plan = |choice: &Choice| {
        let parts = Plan::of(&home.around(), choice).parts;
        parts
            .into_iter()
            .filter_map(|part| Some((part.found.system.name, part.link?.is_due)))
            .collect::<Vec<_>>()
    };
    assert_eq!(of_plan(&offered), [("claude-mem", false)]);
    let before = home.tree();
    home.migrate(&offered);
    assert!(!home.path("home/.local").exists(), "an offer makes nothing");
    let journal: Value = serde_json::from_slice(&fs::read(home.path("data/migrate.json")).unwrap()).unwrap();
    assert_eq!(journal["v"], 1, "an earlier version can take it back");
    home.undo();
    assert_eq!(home.tree(), before);

    let due = linking(&home, true);
    let mut reports = 1;
    while home.migrate_until(&due, reports).is_err() {
        home.undo();
        assert_eq!(home.tree(), before, "undone after {reports} reports");
        reports += 1;
    }
    let link = home.path("home/.local/bin/claude-mem");
    assert_eq!(fs::read_link(&link).unwrap(), home.path("plugin/bin/wyren"));
    assert_eq!(of_plan(&due), [], "it is there");
    let journal: Value = serde_json::from_slice(&fs::read(home.path("data/migrate.json")).unwrap()).unwrap();
    assert_eq!(journal["v"], 2, "an earlier version cannot");
    assert!(home.undo().contains(&Undone::Unlinked(link.clone())));
    assert_eq!(home.tree(), before);

    // A claude-mem of the user's own is neither offered nor removed.
    home.write("home/.local/bin/claude-mem", "#!/bin/sh\n");
    assert_eq!(of_plan(&due), []);
    fs::remove_file(&link).unwrap();
    home.migrate(&due);
    fs::remove_file(&link).unwrap();
    home.write("home/.local/bin/claude-mem", "#!/bin/sh\n");
    assert!(home.undo().contains(&Undone::Left(link.clone())));
    assert_eq!(fs::read_to_string(&link).unwrap(), "#!/bin/sh\n");
}
