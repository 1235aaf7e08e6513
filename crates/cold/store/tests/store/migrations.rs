use super::*;
use store::Tables;

/// How a database looked after each step, by the first row that was written with it.
const EARLIER: &[&str] = &[
    // 1
    "INSERT INTO projects VALUES (1, 'path:/p', 'p', '/p');
     INSERT INTO sessions VALUES (1, 's', 1, '/p', 'go', 1000, 2000, 1);
     INSERT INTO prompts VALUES (1, 1, 'p:1', 1, 1000, '/p', 'go');
     INSERT INTO tool_calls VALUES (1, 1, 't:1', 1, 2000, '/p', 'Bash', '1', 0, '{\"command\":\"ls\"}', 'null', NULL, 1.5,
         NULL, NULL);
     INSERT INTO spool_files VALUES ('f', 3);
     INSERT INTO unread_lines VALUES ('d', NULL, x'00');",
    // 2
    "INSERT INTO projects VALUES (1, 'path:/p', 'p', '/p');
     INSERT INTO sessions VALUES (1, 'claude-code', 's', 1, '/p', 'go', 1000, 2000, 1, NULL, NULL, NULL, NULL, NULL);
     INSERT INTO observations VALUES (1, 1, 'prompt', 'p:1', 1000, 1, '1', '/p', NULL, NULL, NULL, 0, '{\"text\":\"go\"}');
     INSERT INTO observations VALUES (2, 1, 'tool', 't:1', 2000, 1, NULL, '/p', NULL, NULL, 'Bash', 0, '{\"tool\":\"Bash\"}');
     INSERT INTO payloads VALUES (2, '{\"input\":{\"command\":\"ls\"}}');
     INSERT INTO spool_files VALUES ('f', 3);
     INSERT INTO unread_lines VALUES ('d', NULL, x'00');",
    // 3
    "INSERT INTO projects VALUES (1, 'path:/p', 'p', '/p');
     INSERT INTO sessions VALUES (1, 'claude-code', 's', 1, '/p', 'go', 1000, 2000, 1, NULL, NULL, NULL, NULL, NULL);
     INSERT INTO observations VALUES (1, 1, 'prompt', 'p:1', 1000, 1, '1', '/p', NULL, NULL, NULL, 0, '{\"text\":\"go\"}');
     INSERT INTO observations VALUES (2, 1, 'tool', 't:1', 2000, 1, NULL, '/p', NULL, NULL, 'Bash', 0, '{\"tool\":\"Bash\"}');
     INSERT INTO payloads VALUES (2, '{\"input\":{\"command\":\"ls\"}}');
     INSERT INTO spool_files VALUES ('f', 3);
     INSERT INTO unread_lines VALUES ('d', NULL, x'00');
     INSERT INTO transcripts VALUES ('n', 'import', 'r', 3);",
];

#[test]
fn every_earlier_database_is_brought_up_to_date_and_keeps_what_it_held() {
    assert_eq!(EARLIER.len(), observations::TABLES.migrations.len(), "a new step needs a line in EARLIER");
    for (step, rows) in EARLIER.iter().enumerate() {
        let data = Data::new();
        let earlier = Tables { owner: "capture", migrations: &observations::TABLES.migrations[..=step] };
        let old = Store::open(&data.database(), &[earlier]).unwrap();
        old.connection().execute_batch(rows).unwrap();
        drop(old);
        let mut store = data.store();
        assert_eq!(store.ahead(), None);
        assert_eq!(rendered(&store), "1 go\n  1 ls", "from step {}", step + 1);
        data.append(&prompt("s", "2", 0, "and on"));
        assert_eq!(data.drain(&mut store).stored, 1, "from step {}", step + 1);
    }
}
