//! Sessions that were kept under a bare name, and get their folder later.

use crate::bench::Bench;
use serde_json::json;

/// Returns the keys of the projects that entries and summaries are of, each once.
fn keys(bench: &Bench) -> Vec<String> {
    let mut select = bench
        .store
        .connection()
        .prepare(
            "SELECT DISTINCT key FROM (SELECT project FROM entries UNION ALL SELECT project FROM summaries)
             JOIN projects ON projects.row = project ORDER BY key",
        )
        .unwrap();
    let keys = select.query_map([], |row| row.get(0)).unwrap();
    keys.collect::<Result<_, _>>().unwrap()
}

/// Two turns as an import from claude-mem brings them: of a project of which no more than the name is known.
fn imported() -> Bench {
    let mut bench = Bench::new();
    bench.session("imported").in_folder("");
    for number in 1..=2 {
        bench.prompt(&format!("go on with part {number}"));
        let files = ["src/auth.rs"];
        let title = format!("part {number} is done");
        bench.put(
            "entry",
            json!({"type": "change", "title": title, "files_modified": files, "source": "claude-mem"}),
        );
        let completed = format!("part {number}");
        bench.put("summary", json!({"request": "go on", "completed": completed, "source": "claude-mem"}));
    }
    bench.drain();
    let named = "UPDATE projects SET key = 'name:shop', name = 'shop', root = ''";
    bench.store.connection().execute(named, []).unwrap();
    assert_eq!(keys(&bench), ["name:shop"]);
    bench
}

#[test]
fn entries_under_a_bare_name_move_to_the_folders_project_once_the_session_has_one() {
    let mut bench = imported();
    bench.in_folder("/home/dev/shop").prompt("and now in its folder").done("Here we are.");
    let entries = bench.entries();
    assert_eq!(keys(&bench), ["path:/home/dev/shop"]);
    let parts: Vec<&str> =
        entries.iter().map(|entry| entry.title.as_str()).filter(|title| title.starts_with("part")).collect();
    assert_eq!(parts, ["part 1 is done", "part 2 is done"], "each once");
}

#[test]
fn another_session_in_the_folder_leaves_what_is_under_the_name_where_it_is() {
    let mut bench = imported();
    bench.session("another").in_folder("/home/dev/shop").prompt("hello").done("Here we are, all tests pass.");
    bench.drain();
    assert!(keys(&bench).contains(&"name:shop".to_owned()), "{:?}", keys(&bench));
}

#[test]
fn work_that_was_asked_for_in_another_project_appears_where_it_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let repository = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.join(".git/refs")).unwrap();
        std::fs::create_dir_all(path.join(".git/objects")).unwrap();
        std::fs::write(path.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (api, web) = (repository("api"), repository("web"));
    let mut bench = Bench::new();
    bench.in_folder(&api).prompt("We decided: the button says Send. Rename it in ../web").in_folder(&web);
    let input = json!({"file_path": format!("{web}/button.ts"), "old_string": "Go", "new_string": "Send"});
    bench
        .put("tool", json!({"tool": "Edit", "input": input}))
        .done("The button says Send. Next: translate it.");
    bench.drain();
    let projects = |table: &str| -> Vec<(i64, String)> {
        let column = if table == "entries" { "title" } else { "request" };
        let query = format!("SELECT e.project, e.{column} FROM {table} AS e");
        let mut select = bench.store.connection().prepare(&query).unwrap();
        select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let (entries, summaries) = (projects("entries"), projects("summaries"));
    let key: String = bench
        .store
        .connection()
        .query_row("SELECT root FROM projects WHERE row = ?1", [entries[0].0], |row| row.get(0))
        .unwrap();
    assert!(key.ends_with("/web"), "{key}");
    assert!(
        entries.iter().chain(&summaries).all(|(project, _)| *project == entries[0].0),
        "{entries:?} {summaries:?}"
    );
    assert!(entries.iter().all(|(_, title)| !title.contains("no change")), "{entries:?}");
}
