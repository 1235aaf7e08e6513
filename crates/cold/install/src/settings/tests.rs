use super::file::{self, Change};
use super::*;
use base::Timestamp;
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

const PLUGIN: &str = "/opt/wyren-that-is-not-there";

fn around() -> Surroundings {
    Surroundings { home: Some("/home/ada".into()), project: "/home/ada/engine".into(), agent: None }
}

fn with(text: &str) -> String {
    with_hooks(text, Path::new(PLUGIN), &around()).unwrap()
}

fn without(text: &str) -> String {
    without_hooks(text, &around()).unwrap()
}

/// Checks that the hooks are added once, that everything else has its value, and that they come out again.
#[track_caller]
fn check(text: &str) -> String {
    let wired = with(text);
    let hooks = count(&wired, &around());
    assert_eq!(hooks, count(&to_paste(), &around()), "{wired}");
    assert_eq!(with(&wired), wired, "twice changes something");
    assert_eq!(without(&wired), text, "{wired}");
    wired
}

fn to_paste() -> String {
    crate::to_paste(Path::new(PLUGIN))
}

/// Checks that every line of `text` is in `wired`, in order.
#[track_caller]
fn check_lines(text: &str, wired: &str) {
    let mut lines = wired.lines();
    for line in text.lines() {
        let is_kept = |other: &str| {
            other == line || other.strip_suffix(',') == Some(line) || other.replacen(", //", " //", 1) == line
        };
        assert!(lines.any(is_kept), "{line:?} is missing or moved:\n{wired}");
    }
}

#[test]
fn a_file_that_is_missing_or_blank_becomes_what_a_person_would_paste() {
    for blank in ["", "\u{feff}", "\n", "// nothing yet\n"] {
        assert_eq!(with(blank), format!("{blank}{}", to_paste()));
    }
    assert_eq!(with("{}"), to_paste().trim_end());
}

#[test]
fn comments_trailing_commas_and_slashes_in_strings_survive() {
    let text = r#"{
  // The model that I like. "hooks": {}
  "model": "opus", /* not "sonnet" */
  "_comment": "see https://example.org/a//b",
  "permissions": { "allow": ["Bash(ls:*)",], }, // last
}
"#;
    let wired = check(text);
    check_lines(text, &wired);
    let without_comma = text.replace("}, // last", "} // last");
    check_lines(&without_comma, &check(&without_comma));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_survive() {
    let text = "\u{feff}{\r\n\t\"model\": \"opus\"\r\n}\r\n";
    let wired = check(text);
    assert!(
        wired.starts_with('\u{feff}') && wired.contains("\r\n\t\"hooks\": {\r\n\t\t\"SessionStart\": ["),
        "{wired}"
    );
    assert_eq!(wired.matches('\n').count(), wired.matches("\r\n").count());
}

#[test]
fn key_order_and_indentation_are_those_of_the_file() {
    let text = "{\n    \"z\": 1,\n    \"a\": 2\n}\n";
    let wired = check(text);
    assert!(
        wired.starts_with("{\n    \"z\": 1,\n    \"a\": 2,\n    \"hooks\": {\n        \"SessionStart\": [\n"),
        "{wired}"
    );
    assert!(check("{\"b\":[1,2]}").starts_with("{\"b\":[1,2], \"hooks\": { \"SessionStart\": ["));
}

#[test]
fn hooks_of_other_tools_survive_those_with_similar_names_too() {
    let text = r#"{
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "~/bin/stop-distill-more" }] }, // mine
      { "matcher": "", "hooks": [{ "type": "command", "command": "/opt/other/bin/stop-distill" }] }
    ],
    "SessionEnd": [{ "hooks": [{ "type": "command", "command": "echo /opt/wyren/bin/session-end" }] }],
    "Notification": []
  },
  "model": "opus"
}
"#;
    let wired = check(text);
    let value = jsonc::value(&wired).unwrap();
    assert_eq!(value["hooks"]["Stop"][1]["hooks"][0]["command"], "/opt/other/bin/stop-distill");
    assert_eq!(value["hooks"]["Stop"].as_array().unwrap().len(), 3);
    assert!(value["hooks"]["Notification"].is_array());
}

#[test]
fn a_program_of_another_tool_that_exists_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("bin/session-end");
    fs::create_dir(folder.path().join("bin")).unwrap();
    fs::write(&program, "").unwrap();
    let entry = serde_json::json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": program, "args": []}
    ]}]}});
    assert_eq!(without(&entry.to_string()), entry.to_string());
    // As in `~/.local/bin`, where `wyren` is linked.
    fs::write(folder.path().join("bin/wyren"), "").unwrap();
    assert_eq!(without(&entry.to_string()), entry.to_string());
    fs::create_dir(folder.path().join("hooks")).unwrap();
    fs::write(folder.path().join("hooks/hooks.json"), "{}").unwrap();
    assert_eq!(without(&entry.to_string()), "{}");
}

#[test]
fn single_objects_where_lists_belong_survive() {
    let text = r#"{
  "hooks": {
    "Stop": { "hooks": { "type": "command", "command": "say done" } }
  }
}
"#;
    let wired = with(text);
    let value = jsonc::value(&wired).unwrap();
    assert_eq!(value["hooks"]["Stop"][0]["hooks"]["command"], "say done");
    assert_eq!(with(&wired), wired);
    assert_eq!(jsonc::value(&without(&wired)).unwrap()["hooks"]["Stop"][0]["hooks"]["command"], "say done");
}

#[test]
fn another_folder_replaces_the_entries_of_the_old_one() {
    let text = "{\n  \"model\": \"opus\"\n}\n";
    let old = with_hooks(text, Path::new("/opt/old wyren"), &around()).unwrap();
    let new = with_hooks(&old, Path::new(PLUGIN), &around()).unwrap();
    assert_eq!(new, with(text));
    assert_eq!(plugin_of(&new, &around()), Some(PLUGIN.into()));
}

#[test]
fn an_entry_that_a_person_moved_or_changed_is_replaced_and_their_own_stay() {
    let ours = format!(
        r#"{{"type": "command", "command": "{PLUGIN}/bin/stop-distill", "args": [], "timeout": 60}}"#
    );
    let text = format!("{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{{\"command\": \"mine\"}}, {ours}]}}]}}}}");
    assert_eq!(without(&text), r#"{"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}}"#);
    let wired = with(&text);
    assert_eq!(wired.matches("stop-distill").count(), 1, "{wired}");
    assert!(wired.contains("mine"), "{wired}");
}

#[test]
fn a_comment_before_our_entry_does_not_swallow_what_follows() {
    let ours = format!(r#"{{"hooks": [{{"command": "{PLUGIN}/bin/stop-distill", "args": []}}]}}"#);
    let text = format!("{{\"hooks\": {{\"Stop\": [ // note\n {ours}, {{\"hooks\": []}} ]}}}}");
    let rest = jsonc::value(&without(&text)).unwrap();
    assert_eq!(rest, serde_json::json!({"hooks": {"Stop": [{"hooks": []}]}}));
    let text = format!("{{\"a\": 1, // note\n \"hooks\": {{\"Stop\": [{ours}]}} }}");
    assert_eq!(jsonc::value(&without(&text)).unwrap(), serde_json::json!({"a": 1}));
}

#[test]
fn what_is_not_valid_is_refused() {
    for (text, words) in [
        ("{\n\"a\": 1\n\"b\": 2\n}", "line 3"),
        ("[]", "not an object"),
        ("{\"hooks\": []}", "`hooks`"),
        ("{\"hooks\": {\"Stop\": 3}}", "`Stop`"),
    ] {
        let error = with_hooks(text, Path::new(PLUGIN), &around()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

fn spaces() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", " ", "\n  ", "\r\n\t", " /* a \"hooks\" */ ", " // b, {\n "])
        .prop_map(str::to_owned)
}

/// Values with space and comments anywhere, and now and then a comma after the last element.
fn jsonc_value() -> impl Strategy<Value = String> {
    let scalars = vec!["1", "-2.5e3", "true", "null", "\"//\"", "\"a \\\" /* b\"", "{}", "[]"];
    let leaf = prop::sample::select(scalars).prop_map(str::to_owned);
    leaf.prop_recursive(3, 24, 4, |inner| {
        let element = (spaces(), inner, spaces());
        let elements = (prop::collection::vec(element, 1..4), any::<bool>(), spaces());
        (elements, any::<bool>()).prop_map(|((elements, has_comma, end), is_object)| {
            let comma = if has_comma { "," } else { "" };
            let name = |index| if is_object { format!("\"k{index}\":") } else { String::new() };
            let parts = elements.into_iter().enumerate();
            let parts =
                parts.map(|(index, (before, value, after))| format!("{before}{}{value}{after}", name(index)));
            let (open, close) = if is_object { ('{', '}') } else { ('[', ']') };
            format!("{open}{}{comma}{end}{close}", parts.collect::<Vec<_>>().join(","))
        })
    })
}

proptest! {
    #[test]
    fn installing_and_uninstalling_gives_back_the_bytes(
        value in jsonc_value(), event in jsonc_value(), before in spaces(), between in spaces(), after in spaces(),
        has_hooks in any::<bool>(), is_first in any::<bool>(),
    ) {
        let hooks = format!("\"hooks\":{between}{{{before}\"Stop\":{after}[{event}]{between}}}");
        let text = match (has_hooks, is_first) {
            (true, true) => format!("{{{before}{hooks}{after},\"a\":{value}{between}}}{after}"),
            (true, false) => format!("{{{before}\"a\":{value}{between},{after}{hooks}{between}}}\n"),
            (false, _) => format!("{before}{{{after}\"a\":{between}{value}{before}}}"),
        };
        let wired = with(&text);
        prop_assert_eq!(count(&wired, &around()), count(&to_paste(), &around()));
        prop_assert_eq!(&with(&wired), &wired);
        prop_assert_eq!(without(&wired), text);
    }
}

struct Folder {
    folder: TempDir,
}

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("settings.json")
    }

    fn write(&self, text: &str) {
        fs::write(self.path(), text).unwrap();
    }

    fn read(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn install(&self) -> Result<Change, file::Error> {
        let change = file::install(&self.path(), Path::new(PLUGIN), &around())?;
        file::apply(&change, Timestamp::now(), 0o600)?;
        Ok(change)
    }

    fn uninstall(&self) -> Change {
        let change = file::uninstall(&self.path(), &around(), file::What::All).unwrap();
        file::apply(&change, Timestamp::now(), 0o600).unwrap();
        change
    }
}

#[test]
fn a_file_is_backed_up_once_and_is_as_it_was_after_the_way_out() {
    for text in [
        "{}",
        "{\n}\n",
        "",
        " ",
        "{\"hooks\": {}}",
        "{\"hooks\": {\"Stop\": []}}",
        "{\"hooks\": {\"Stop\": {}}}",
    ] {
        let folder = Folder::new();
        folder.write(text);
        folder.install().unwrap();
        assert!(folder.install().unwrap().is_nothing());
        let names = folder.names();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names[1].starts_with("settings.json.wyren-backup-20"), "{names:?}");
        assert_eq!(fs::read_to_string(folder.folder.path().join(&names[1])).unwrap(), text);
        folder.uninstall();
        assert_eq!((folder.read(), folder.names()), (text.to_owned(), vec!["settings.json".to_owned()]));
    }
}

#[test]
fn a_file_that_wyren_made_goes_again_also_after_an_update() {
    let folder = Folder::new();
    let change = file::install(&folder.path(), Path::new("/opt/older"), &around()).unwrap();
    file::apply(&change, Timestamp::now(), 0o600).unwrap();
    folder.install().unwrap();
    folder.uninstall();
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_file_with_hooks_that_wyren_would_write_otherwise_is_not_removed() {
    let folder = Folder::new();
    let plugin = folder.folder.path().join("plugin");
    for path in ["bin/wyren", "bin/stop-distill", "hooks/hooks.json"] {
        fs::create_dir_all(plugin.join(path).parent().unwrap()).unwrap();
        fs::write(plugin.join(path), "").unwrap();
    }
    let command = format!("{} --mine", plugin.join("bin/stop-distill").display());
    let by_hand =
        serde_json::json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
    folder.write(&by_hand.to_string());
    assert_eq!(folder.uninstall().hooks, 1);
    assert_eq!(folder.read(), "{}");
}

#[test]
fn only_files_with_a_time_in_their_names_are_backups() {
    let folder = Folder::new();
    folder.write("{}");
    let named = |ending: &str| folder.folder.path().join(format!("settings.json.wyren-backup-{ending}"));
    for ending in ["notes", "", "20261116T022641123Z.mine", "20261116T022641123"] {
        fs::write(named(ending), "{}").unwrap();
    }
    assert_eq!(file::backups(&folder.path()), Vec::<PathBuf>::new());
    let backup = file::backup_name(&folder.path(), Timestamp::now());
    fs::write(&backup, "{}").unwrap();
    assert_eq!(file::backups(&folder.path()), [backup]);
}

#[test]
fn the_backup_of_a_file_that_cannot_be_read_stays() {
    let folder = Folder::new();
    folder.write("{\"model\": ");
    for text in ["{\"model\": \"opus\"}", "{\"model\": \"son"] {
        let backup = file::backup_name(&folder.path(), Timestamp::now());
        fs::write(&backup, text).unwrap();
        assert_eq!(folder.uninstall().kept, std::slice::from_ref(&backup));
        assert_eq!(fs::read_to_string(&backup).unwrap(), text);
        fs::remove_file(backup).unwrap();
    }
}

#[test]
fn what_the_user_changed_meanwhile_stays_and_so_does_the_backup() {
    let folder = Folder::new();
    folder.write("{\n  \"model\": \"opus\"\n}\n");
    folder.install().unwrap();
    folder.write(&folder.read().replace("\"opus\"", "\"sonnet\""));
    let change = folder.uninstall();
    assert_eq!(folder.read(), "{\n  \"model\": \"sonnet\"\n}\n");
    assert_eq!((change.kept.len(), folder.names().len()), (1, 2));
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_refused_and_the_mode_of_others_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.write("{}");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o444)).unwrap();
    let error = folder.install().unwrap_err().to_string();
    assert!(error.contains("chmod u+w"), "{error}");
    assert_eq!((folder.read(), folder.names().len()), ("{}".to_owned(), 1));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o640)).unwrap();
    folder.install().unwrap();
    assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_the_file_that_it_leads_to_is_written() {
    let folder = Folder::new();
    let real = folder.folder.path().join("dotfiles.json");
    fs::write(&real, "{\"model\": \"opus\"}").unwrap();
    std::os::unix::fs::symlink("dotfiles.json", folder.path()).unwrap();
    folder.install().unwrap();
    assert!(base::files::is_link(&folder.path()));
    assert_eq!(fs::read_to_string(&real).unwrap(), with("{\"model\": \"opus\"}"));
    folder.uninstall();
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\"model\": \"opus\"}");
    assert_eq!(folder.names(), ["dotfiles.json", "settings.json"]);
    fs::remove_file(&real).unwrap();
    assert!(folder.install().unwrap_err().to_string().contains("does not exist"));
}

#[test]
fn a_file_that_is_not_valid_is_left_as_it_is() {
    let folder = Folder::new();
    folder.write("{\"a\": ");
    let error = folder.install().unwrap_err().to_string();
    assert!(error.contains("not valid JSON: line 1") && error.contains("left as it is"), "{error}");
    assert_eq!((folder.read(), folder.names().len()), ("{\"a\": ".to_owned(), 1));
    fs::write(folder.path(), [0xff, 0xfe]).unwrap();
    assert!(folder.install().is_err());
}

#[test]
fn a_file_of_a_megabyte_is_edited() {
    let folder = Folder::new();
    let rules: String =
        (0..25_000).map(|rule| format!("      \"Bash(tool-{rule} --with an-argument:*)\",\n")).collect();
    let text = format!("{{\n  \"permissions\": {{\n    \"allow\": [\n{rules}    ],\n  }},\n}}\n");
    assert!(text.len() > 1_000_000);
    folder.write(&text);
    folder.install().unwrap();
    folder.uninstall();
    assert_eq!(folder.read(), text);
}

/// Does to a settings file what `claude plugin` does: reads it, writes it anew with its members sorted.
fn client_writes(folder: &Folder, edit: impl FnOnce(&mut Value)) {
    let mut value = jsonc::value(&folder.read()).unwrap_or_default();
    edit(&mut value);
    folder.write(&format!("{value:#}\n"));
}

fn client_registers(folder: &Folder) {
    client_writes(folder, |settings| {
        settings["extraKnownMarketplaces"]["wyren"] =
            serde_json::json!({"source": {"source": "directory", "path": PLUGIN}});
        settings["enabledPlugins"]["wyren@wyren"] = true.into();
    });
}

fn client_unregisters(folder: &Folder) {
    client_writes(folder, |settings| {
        for (name, key) in [("extraKnownMarketplaces", "wyren"), ("enabledPlugins", "wyren@wyren")] {
            settings[name].as_object_mut().unwrap().remove(key);
        }
    });
}

#[test]
fn what_the_client_writes_for_the_plugin_keeps_the_layout_and_comes_out_byte_for_byte() {
    for text in [
        "{\n    \"z\": 1,\n\n    \"a\": [1,2]\n}",
        "{}",
        "{\"enabledPlugins\": {}, \"b\": 1}\n",
        "{\"enabledPlugins\": {\"other@x\": false}}",
    ] {
        for has_hooks in [false, true] {
            let folder = Folder::new();
            folder.write(text);
            file::back_up(&folder.path(), text, Timestamp::now(), 0o600).unwrap();
            client_registers(&folder);
            let change = file::registered(&folder.path(), Some(text.to_owned()), Path::new(PLUGIN)).unwrap();
            file::apply(&change.unwrap(), Timestamp::now(), 0o600).unwrap();
            assert_eq!(folder.read(), registered::with_plugin(text, Path::new(PLUGIN)).unwrap());
            assert_eq!(folder.names().len(), 2);
            if has_hooks {
                folder.install().unwrap();
            }
            let planned = file::uninstall(&folder.path(), &around(), file::What::All).unwrap();
            client_unregisters(&folder);
            let change = file::uninstall_after_client(planned, &around()).unwrap();
            file::apply(&change, Timestamp::now(), 0o600).unwrap();
            assert_eq!((folder.read(), folder.names().len()), (text.to_owned(), 1), "{has_hooks}");
        }
    }
}

#[test]
fn a_client_that_fails_on_the_way_does_not_cost_the_layout() {
    let text = "{\n    \"z\": 1,\n    \"a\": [1,2]\n}";
    let lay_out = |folder: &Folder| {
        let change = file::registered(&folder.path(), Some(text.to_owned()), Path::new(PLUGIN)).unwrap();
        file::apply(&change.unwrap(), Timestamp::now(), 0o600).unwrap();
        folder.read()
    };
    let folder = Folder::new();
    folder.write(text);
    client_writes(&folder, |_| {});
    assert_ne!(folder.read(), text);
    assert_eq!(lay_out(&folder), text);
    client_writes(&folder, |settings| {
        settings["extraKnownMarketplaces"]["wyren"] =
            serde_json::json!({"source": {"source": "directory", "path": PLUGIN}});
    });
    assert_eq!(lay_out(&folder), registered::with_marketplace(text, Path::new(PLUGIN)).unwrap());
}

#[test]
fn a_backup_is_needless_only_where_the_file_is_what_it_was() {
    let folder = Folder::new();
    folder.write("{}");
    let backup = file::back_up(&folder.path(), "{}", Timestamp::now(), 0o600).unwrap();
    folder.write("{\"a\": 1}");
    assert!(!file::drop_needless(&backup, &folder.path(), "{}").unwrap() && backup.is_file());
    folder.write("{}");
    assert!(file::drop_needless(&backup, &folder.path(), "{}").unwrap() && !backup.exists());
}

#[test]
fn a_file_that_the_client_made_for_the_plugin_goes_again() {
    let folder = Folder::new();
    folder.write("{}");
    client_registers(&folder);
    assert!(file::registered(&folder.path(), None, Path::new(PLUGIN)).unwrap().is_none());
    let planned = file::uninstall(&folder.path(), &around(), file::What::All).unwrap();
    client_unregisters(&folder);
    file::apply(&file::uninstall_after_client(planned, &around()).unwrap(), Timestamp::now(), 0o600).unwrap();
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn what_else_the_client_changed_stays() {
    let folder = Folder::new();
    let text = "{\"model\": \"opus\",\n \"b\": 1}\n";
    folder.write(text);
    client_registers(&folder);
    client_writes(&folder, |settings| drop(settings.as_object_mut().unwrap().remove("model")));
    assert!(file::registered(&folder.path(), Some(text.to_owned()), Path::new(PLUGIN)).unwrap().is_none());
    let planned = file::uninstall(&folder.path(), &around(), file::What::All).unwrap();
    client_unregisters(&folder);
    client_writes(&folder, |settings| settings["b"] = 2.into());
    file::apply(&file::uninstall_after_client(planned, &around()).unwrap(), Timestamp::now(), 0o600).unwrap();
    assert_eq!(folder.read(), "{\n  \"b\": 2\n}\n");
}

#[test]
fn without_the_client_its_entries_stay_and_so_does_the_backup() {
    let folder = Folder::new();
    folder.write("{\"b\": 1}");
    file::back_up(&folder.path(), "{\"b\": 1}", Timestamp::now(), 0o600).unwrap();
    client_registers(&folder);
    let change = file::registered(&folder.path(), Some("{\"b\": 1}".to_owned()), Path::new(PLUGIN)).unwrap();
    file::apply(&change.unwrap(), Timestamp::now(), 0o600).unwrap();
    let before = folder.read();
    let change = file::uninstall(&folder.path(), &around(), file::What::Hooks).unwrap();
    file::apply(&change, Timestamp::now(), 0o600).unwrap();
    assert_eq!((folder.read(), folder.names().len()), (before, 2));
}
