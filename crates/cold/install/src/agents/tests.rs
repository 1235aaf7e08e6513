use super::*;
use crate::list::{self, Below};
use crate::ours::hook_names;
use crate::settings::{count, with_hooks, without_hooks};
use base::Timestamp;
use std::fs;

const PLUGIN: &str = "/opt/wyren-that-is-not-there";
const GUIDE: &str = "../../../docs/guides/other-agents.md";

fn around(agent: &'static Agent) -> Surroundings {
    Surroundings { home: Some("/home/ada".into()), project: "/home/ada/engine".into(), agent: Some(agent) }
}

fn wired() -> impl Iterator<Item = &'static Agent> {
    AGENTS.iter().filter(|agent| !matches!(agent.wiring, Wiring::Module { .. }))
}

fn hooks(agent: &Agent) -> &'static [Hook] {
    match agent.wiring {
        Wiring::Groups { hooks, .. } | Wiring::Flat { hooks, .. } => hooks,
        Wiring::Module { .. } => &[],
    }
}

/// Every path below a folder with its contents.
fn tree(folder: &Path) -> Vec<(PathBuf, Option<String>)> {
    let mut tree = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tree.extend(self::tree(&path));
            tree.push((path, None));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            tree.push((path, Some(text)));
        }
    }
    tree.sort();
    tree
}

#[test]
fn every_program_of_the_table_is_a_hook_of_ours_and_is_wired_once_per_event() {
    for agent in wired() {
        let text = agent.to_paste(Path::new(PLUGIN)).unwrap();
        assert_eq!(count(&text, &around(agent)), hooks(agent).len(), "{text}");
        for (event, program, _) in hooks(agent) {
            assert!(hook_names().contains(*program), "{program}");
            let same = hooks(agent).iter().filter(|other| (other.0, other.1) == (*event, *program));
            assert_eq!(same.count(), 1, "{event} {program}");
        }
        assert!(text.contains(&format!("{PLUGIN}/bin/lesson-inject --agent {}\"", agent.name)), "{text}");
    }
}

#[test]
fn hooks_come_out_as_they_went_in_and_twice_changes_nothing() {
    let texts = [
        "{}",
        "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n",
        "{\r\n\t\"version\": 1, // mine\r\n\t\"x\": [1,],\r\n}\r\n",
        "{\"version\": 1, \"hooks\": {\"Stop\": [], \"stop\": []}}",
    ];
    for agent in wired() {
        let around = around(agent);
        for text in texts {
            let wired = with_hooks(text, Path::new(PLUGIN), &around).unwrap();
            assert_eq!(count(&wired, &around), hooks(agent).len(), "{wired}");
            assert_eq!(
                with_hooks(&wired, Path::new(PLUGIN), &around).unwrap(),
                wired,
                "twice changes something"
            );
            assert_eq!(count(&without_hooks(&wired, &around).unwrap(), &around), 0);
        }
        let others = match agent.has_groups() {
            true => "{\"version\": 1, \"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"say done\"}]}]}}",
            false => "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"say done\"}]}}",
        };
        let wired = with_hooks(others, Path::new(PLUGIN), &around).unwrap();
        assert!(wired.contains("say done") && wired.len() > 500);
        assert_eq!(without_hooks(&wired, &around).unwrap(), others);
    }
}

#[test]
fn what_is_installed_leaves_the_tree_as_it_was() {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap();
    for agent in &AGENTS {
        let home = tempfile::tempdir().unwrap();
        let folder = agent.user_folder(home.path(), |_| None);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("mine.txt"), "mine").unwrap();
        if !matches!(agent.wiring, Wiring::Module { .. }) {
            fs::write(folder.join(agent.file()), "{\n  // mine\n  \"a\": {},\n  \"hooks\": {},\n}\n")
                .unwrap();
        }
        let before = tree(home.path());
        let around = Surroundings::default();
        for round in 0..2 {
            let plan = agent.install(&folder, &plugin, &around).unwrap();
            assert_eq!(plan.is_nothing(), round == 1, "{plan:?}");
            if let Some(change) = &plan.change {
                file::apply(change, Timestamp::from_millis(1_800_000_000_000), 0o600).unwrap();
            }
            plan.files.iter().for_each(|file| file.write().unwrap());
        }
        for (path, _) in
            tree(home.path()).iter().filter(|entry| !before.iter().any(|(path, _)| *path == entry.0))
        {
            let part = path.strip_prefix(home.path()).unwrap();
            assert!(path.is_dir() || list::is_listed(Below::Home, part), "{}", part.display());
            let in_project = Path::new(agent.project).join(path.strip_prefix(&folder).unwrap());
            assert!(path.is_dir() || list::is_listed(Below::Work, &in_project), "{}", in_project.display());
        }
        let removal = agent.uninstall(&folder, &around).unwrap();
        assert!(!removal.is_nothing() && removal.edited.is_empty());
        if let Some(change) = &removal.change {
            file::apply(change, Timestamp::from_millis(1_800_000_000_000), 0o600).unwrap();
        }
        removal.files.iter().for_each(|path| marked::remove(path, &folder).unwrap());
        assert_eq!(tree(home.path()), before, "{}", agent.name);
    }
}

#[test]
fn a_file_that_the_user_edited_stays() {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folder = tempfile::tempdir().unwrap();
    let agent = find("opencode").unwrap();
    let install = || agent.install(folder.path(), &plugin, &Surroundings::default()).unwrap();
    install().files.iter().for_each(|file| file.write().unwrap());
    let module = folder.path().join(agent.file());
    fs::write(&module, fs::read_to_string(&module).unwrap() + "// and mine\n").unwrap();
    assert!(install().is_nothing(), "it is not written again");
    let removal = agent.uninstall(folder.path(), &Surroundings::default()).unwrap();
    assert_eq!((removal.files.len(), removal.edited), (1, vec![module]));
}

#[test]
fn a_folder_with_spaces_is_quoted_and_one_that_a_shell_would_change_is_refused() {
    let codex = find("codex").unwrap();
    let spaced = Path::new("/home/ada/my tools/wyren");
    let text = codex.to_paste(spaced).unwrap();
    assert!(text.contains("\"\\\"/home/ada/my tools/wyren/bin/stop-distill\\\" --agent codex\""), "{text}");
    assert_eq!(count(&text, &around(codex)), hooks(codex).len());
    for odd in ["/home/$USER/wyren", "/home/a`b`/wyren", "/home/\"a\"/wyren"] {
        assert!(with_hooks("", Path::new(odd), &around(codex)).is_err(), "{odd}");
    }
}

#[test]
fn powershell_is_asked_to_run_a_path_in_quotes() {
    let spaced = r"C:\Users\Ada Lovelace\wyren\bin\stop-distill";
    assert_eq!(quoted(spaced, Shell::PowerShell).unwrap(), format!("& \"{spaced}\""));
    assert_eq!(quoted(spaced, Shell::Other).unwrap(), format!("\"{spaced}\""));
    let plain = r"C:\Users\ada\wyren\bin\stop-distill";
    assert_eq!(quoted(plain, Shell::PowerShell).unwrap(), plain);
    // What is written so is found again.
    let gemini = find("gemini").unwrap();
    let text = gemini.to_paste(Path::new("/home/ada/my tools/wyren")).unwrap();
    let called = text.replace("\"command\": \"\\\"", "\"command\": \"& \\\"");
    assert!(
        called.contains("\"& \\\"/home/ada/my tools/wyren/bin/stop-distill\\\" --agent gemini\""),
        "{called}"
    );
    assert_eq!(count(&called, &around(gemini)), hooks(gemini).len());
}

#[test]
fn variables_move_the_users_folder() {
    let folder = |agent: &str, set: &[(&str, &str)]| {
        let variable =
            |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| PathBuf::from(value));
        find(agent).unwrap().user_folder(Path::new("/home/ada"), variable)
    };
    assert_eq!(folder("codex", &[]), Path::new("/home/ada/.codex"));
    assert_eq!(folder("codex", &[("CODEX_HOME", "/c")]), Path::new("/c"));
    assert_eq!(folder("gemini", &[("GEMINI_CLI_HOME", "/g")]), Path::new("/g/.gemini"));
    assert_eq!(folder("opencode", &[("XDG_CONFIG_HOME", "/x")]), Path::new("/x/opencode"));
    // As if it were not set: where the user happens to be is no folder of an agent's.
    assert_eq!(folder("codex", &[("CODEX_HOME", "c")]), Path::new("/home/ada/.codex"));
    assert_eq!(
        folder("opencode", &[("OPENCODE_CONFIG_DIR", "."), ("XDG_CONFIG_HOME", "/x")]),
        Path::new("/x/opencode")
    );
}

#[test]
fn the_guide_has_the_table_of_what_works() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GUIDE);
    let guide = fs::read_to_string(&path).unwrap();
    let (start, end) = ("<!-- agents -->\n", "<!-- /agents -->");
    let (above, rest) = guide.split_once(start).unwrap();
    let (present, below) = rest.split_once(end).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, format!("{above}{start}{}{end}{below}", guide_table())).unwrap();
        return;
    }
    assert_eq!(
        present,
        guide_table(),
        "write it anew: UPDATE_GOLDEN=1 cargo test -p wyren-install the_guide"
    );
}
