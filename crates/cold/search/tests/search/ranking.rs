//! What comes first, what is left out, and how a score is explained.

use crate::{DAY, NOW, Shelf, document, query};
use search::{Document, Filter, Kind, Query};

#[test]
fn rare_words_count_for_more_than_common_ones() {
    let mut texts = vec!["parser"; 20];
    texts.push("deadlock");
    let shelf = Shelf::of(&texts);
    assert_eq!(shelf.find("parser deadlock")[0], "u");
}

#[test]
fn one_line_of_a_long_conversation_can_win() {
    let filler = "we talked about the weather and the garden and much else\n".repeat(200);
    let dialogue = format!("{filler}the staging password rotates on Fridays\n{filler}");
    let scattered = format!("password\n{filler}staging\n{filler}rotates\n{filler}");
    let shelf = Shelf::of(&[&scattered, &dialogue]);
    assert_eq!(shelf.find("when does the staging password rotate"), ["b", "a"]);
}

#[test]
fn the_lines_of_a_short_text_belong_together() {
    let shelf = Shelf::of(&["cache\nevicts\nearly", "cache evicts late\nand early in the year"]);
    let passage = |key: &str| {
        let found = shelf.index().search(&query("cache evicts early"));
        let hit = found.hits.into_iter().find(|hit| hit.key == key).unwrap();
        hit.parts.into_iter().find(|(name, _)| name == "best passage").unwrap().1
    };
    assert!(passage("a") > passage("b"));
}

#[test]
fn documents_are_counted_without_being_judged() {
    let mut shelf = Shelf::new();
    let of = |number: usize| Document {
        project: ["app", "other"][number % 2].into(),
        ..document(&number.to_string(), ["a cache", "the log", "cache and log"][number % 3])
    };
    shelf.put((0..3_000).map(of));
    shelf.remove("0");
    for text in ["cache", "log", "cache log", "the log", "nothing", "cach", ""] {
        for projects in [vec![], vec!["app".to_owned()]] {
            let query = Query { filter: Filter { projects, ..Filter::default() }, ..query(text) };
            let found = shelf.index().search_exhaustively(&Query { limit: 5_000, ..query.clone() });
            assert_eq!(shelf.index().count(&query), found.hits.len(), "{query:?}");
        }
    }
}

#[test]
fn words_near_each_other_count_for_more() {
    let apart = "lock was taken by the worker while nothing else did happen there at all to the file";
    let near = "worker was taken by nothing while the file lock did happen there at all else to the";
    let shelf = Shelf::of(&[apart, near]);
    assert_eq!(shelf.find("file lock")[0], "b");
}

#[test]
fn the_title_counts_for_more_than_the_body() {
    let mut shelf = Shelf::new();
    let of = |key: &str, title: &str, body: &str| Document { title: title.into(), ..document(key, body) };
    shelf.put([of("body", "an entry", "the cache grew"), of("title", "the cache", "an entry grew")]);
    assert_eq!(shelf.find("cache"), ["title", "body"]);
}

#[test]
fn a_name_from_code_as_it_was_typed_comes_before_a_short_text_with_its_rare_part() {
    let mut shelf = Shelf::new();
    let steps = (0..50).map(|number| {
        document(
            &format!("s{number}"),
            &format!("main.rs: step_{number} checks its input; all of the tests passed"),
        )
    });
    shelf.put(steps.chain([document("part", "go on with part 17")]));
    assert_eq!(shelf.find("step_17")[0], "s17");
    assert_eq!(shelf.find("stepSeventeen step_17")[0], "s17");
}

#[test]
fn what_is_old_is_left_out_early_and_nothing_better_with_it() {
    let mut shelf = Shelf::new();
    // Alike but for their age, which decides, and one that is better than all newer ones.
    for part in 0..3_u64 {
        shelf.put((0..2_000_u64).map(|number| Document {
            at: NOW - 5 * DAY + (number * 3 + part) * 60_000,
            ..document(&format!("{part}-{number}"), "the lock is held and the lock is released")
        }));
    }
    shelf.put([Document { at: NOW - 20 * DAY, ..document("best", "lock held lock") }]);
    let index = shelf.index();
    let asked = |text: &str| Query { limit: 20, ..query(text) };
    let (quick, all) = (index.search(&asked("lock held")), index.search_exhaustively(&asked("lock held")));
    assert_eq!(quick.hits, all.hits);
    assert_eq!((&*quick.hits[0].key, &*quick.hits[1].key), ("best", "2-1999"));
    assert_eq!((quick.total, all.total), (None, Some(6_001)), "not all were looked at");
    // Those of shorter lists are counted all the same.
    assert_eq!(index.search(&asked("released")).total, Some(6_000));
    let filter = Filter { since: Some(NOW - 5 * DAY + 60_000 * 5_990), ..Filter::default() };
    assert_eq!(index.search(&Query { filter, limit: 1, ..query("released") }).total, Some(10));
}

#[test]
fn of_equal_fit_the_newest_comes_first() {
    let mut shelf = Shelf::new();
    let of = |key: &str, days: u64| Document { at: NOW - days * DAY, ..document(key, "the same text") };
    shelf.put([of("year", 365), of("today", 0), of("month", 30)]);
    assert_eq!(shelf.find("same text"), ["today", "month", "year"]);
}

#[test]
fn what_is_about_a_file_of_the_question_counts_for_more() {
    let mut shelf = Shelf::new();
    let of = |key: &str, file: &str| Document {
        files: vec![file.into()],
        ..document(key, "auth.rs: expiry checked")
    };
    shelf.put([of("a", "docs/other.md"), of("b", "src/auth.rs")]);
    assert_eq!(shelf.find("expiry auth.rs")[0], "b");
}

#[test]
fn the_order_is_the_same_however_the_index_came_to_be() {
    let documents: Vec<Document> = (0..200)
        .map(|number| document(&format!("k{number:03}"), ["same words", "same"][number % 2]))
        .collect();
    let mut at_once = Shelf::new();
    at_once.put(documents.clone());
    let mut by_one = Shelf::new();
    documents.iter().rev().for_each(|document| by_one.put([document.clone()]));
    let mut tidied = Shelf::new();
    documents.chunks(7).for_each(|some| tidied.put(some.to_vec()));
    tidied.tidy();
    let found = at_once.find("same words");
    assert_eq!(found.len(), 100);
    assert_eq!(found, by_one.find("same words"));
    assert_eq!(found, tidied.find("same words"));
}

#[test]
fn pages_follow_each_other() {
    let texts: Vec<String> = (0..26).map(|number| "word ".repeat(number + 1)).collect();
    let shelf = Shelf::of(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let page = |skip, limit| {
        let found = shelf.index().search(&Query { skip, limit, ..query("word") });
        assert_eq!(found.total, Some(26));
        found.hits.into_iter().map(|hit| hit.key).collect::<Vec<_>>()
    };
    let whole = page(0, 100);
    assert_eq!(whole.len(), 26);
    assert_eq!([page(0, 10), page(10, 10), page(20, 10)].concat(), whole);
    assert!(page(0, 0).is_empty() && page(30, 10).is_empty());
}

#[test]
fn the_parts_of_a_score_add_up_to_it() {
    let mut shelf = Shelf::new();
    shelf.put([Document {
        files: vec!["src/auth.rs".into()],
        title: "verifyToken checks expiry".into(),
        ..document("a", "in auth.rs\nthe token expired")
    }]);
    let found = shelf.index().search(&query("verifyToken auth.rs expir"));
    let hit = &found.hits[0];
    let sum: f64 = hit.parts.iter().map(|(_, part)| part).sum();
    assert!((sum - hit.score).abs() < 1e-9, "{hit:?}");
    for name in ["best passage", "words near each other", "new", "same file"] {
        assert!(hit.parts.iter().any(|(part, _)| part == name), "{name}: {:?}", hit.parts);
    }
}

#[test]
fn the_quick_way_finds_what_the_exhaustive_way_finds() {
    let mut shelf = Shelf::new();
    let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    let text = |number: usize| -> String {
        (0..12)
            .map(|place| words[(number * 7 + place * place * (number % 5 + 1)) % (1 + number % 8)])
            .collect::<Vec<_>>()
            .join(" ")
    };
    let of = |number: usize| Document {
        at: NOW - number as u64 * DAY / 9,
        ..document(&number.to_string(), &text(number))
    };
    shelf.put((0..5_000).map(of));
    for question in
        ["alpha", "alpha beta", "theta alpha", "gamma delta zeta eta", "alpha beta gamma delta epsilon"]
    {
        let query = Query { limit: 10, ..query(question) };
        let keys =
            |found: search::query::Found| found.hits.into_iter().map(|hit| hit.key).collect::<Vec<_>>();
        let (quick, all) =
            (keys(shelf.index().search(&query)), keys(shelf.index().search_exhaustively(&query)));
        let same = quick.iter().filter(|key| all.contains(key)).count();
        assert!(same >= 9, "{question}: {quick:?} instead of {all:?}");
    }
}

#[test]
fn each_filter_leaves_out_what_does_not_fit() {
    let full = Document {
        kind: Some(Kind::Entry),
        class: "fix".into(),
        project: "app".into(),
        session: "0a1b2c3d-session".into(),
        branch: "main".into(),
        author: "Ada Lovelace".into(),
        at: NOW - 10 * DAY,
        files: vec!["src/auth/token.rs".into()],
        ..document("full", "the text")
    };
    let mut shelf = Shelf::new();
    let plain = Document { kind: Some(Kind::Lesson), ..document("plain", "the text") };
    let other = Document { project: "other".into(), ..document("other", "the text") };
    shelf.put([full, plain, other]);
    let check = |change: &dyn Fn(&mut Filter), expected: &[&str]| {
        let mut filter = Filter::default();
        change(&mut filter);
        let mut found = shelf.find_with("text", filter.clone());
        found.sort();
        assert_eq!(found, expected, "{filter:?}");
    };
    check(&|_| {}, &["full", "other", "plain"]);
    // What belongs to every project belongs to this one, too.
    check(&|filter| filter.projects = vec!["app".into()], &["full", "plain"]);
    check(&|filter| filter.kinds = vec![Kind::Entry], &["full"]);
    check(&|filter| filter.classes = vec!["fix".into()], &["full"]);
    check(
        &|filter| (filter.kinds, filter.classes) = (vec![Kind::Lesson], vec!["fix".into()]),
        &["full", "plain"],
    );
    check(&|filter| filter.session = "0a1b".into(), &["full"]);
    check(&|filter| filter.branch = "main".into(), &["full"]);
    check(&|filter| filter.branch = "mai".into(), &[]);
    check(&|filter| filter.author = "ada".into(), &["full"]);
    for file in
        ["src/auth/token.rs", "./src/auth/token.rs", "token.rs", "auth/token.rs", "src", "src/auth/", "auth"]
    {
        check(&|filter| filter.file = file.into(), &["full"]);
    }
    for file in ["oken.rs", "src/au", "/"] {
        check(&|filter| filter.file = file.into(), &[]);
    }
    check(&|filter| filter.since = Some(NOW - 10 * DAY), &["full", "other", "plain"]);
    check(&|filter| filter.since = Some(NOW - 10 * DAY + 1), &["other", "plain"]);
    check(&|filter| filter.until = Some(NOW - 10 * DAY), &[]);
    check(&|filter| filter.until = Some(NOW - 10 * DAY + 1), &["full"]);
}
