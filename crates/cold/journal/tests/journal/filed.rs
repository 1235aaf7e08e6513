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
