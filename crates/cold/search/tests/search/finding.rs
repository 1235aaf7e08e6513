//! What is found by which words.

use crate::{Shelf, document, query};

#[track_caller]
fn check(texts: &[&str], question: &str, expected: &[&str]) {
    let shelf = Shelf::of(texts);
    let mut found = shelf.find(question);
    found.sort();
    assert_eq!(found, expected, "{question}");
}

#[test]
fn a_question_is_no_phrase() {
    check(
        &["the login token expires", "expired cookies", "a bakery"],
        "why did the token expire",
        &["a", "b"],
    );
}

#[test]
fn names_from_code_are_found_in_every_spelling() {
    let texts = ["fn verifyToken()", "verify_token fails", "verify-token", "token of the parser"];
    for question in ["verifyToken", "verify_token", "verifytoken", "VERIFY_TOKEN"] {
        let found = Shelf::of(&texts).find(question);
        let mut first = found[..3].to_vec();
        first.sort();
        assert_eq!(first, ["a", "b", "c"], "{question}");
    }
    check(&texts, "token", &["a", "b", "c", "d"]);
}

#[test]
fn paths_and_codes_are_found_whole_and_by_their_parts() {
    check(&["src/auth/token.rs:12", "error E0382: use after move", "e0499"], "E0382", &["b"]);
    check(&["src/auth/token.rs:12", "src/main.rs"], "token.rs", &["a", "b"]);
    check(&["src/auth/token.rs:12", "src/main.rs"], "auth", &["a"]);
    check(&["released 1.2.3", "released 1.2.4"], "1.2.3", &["a"]);
}

#[test]
fn endings_and_accents_do_not_matter() {
    check(&["caching of résumés", "a cache"], "cached", &["a", "b"]);
    check(&["caching of résumés", "a cache"], "resume", &["a"]);
    check(&["die Größe"], "groesse große grosse", &["a"]);
}

#[test]
fn compounds_are_found_by_their_parts_without_a_dictionary() {
    let texts = ["die Fehlerbehandlung ist neu", "das Datenbankschema", "kein Treffer"];
    check(&texts, "Fehler", &["a"]);
    check(&texts, "Behandlung", &["a"]);
    check(&texts, "Fehlerbehandlung", &["a"]);
    check(&texts, "Datenbank", &["b"]);
    check(&texts, "schema", &["b"]);
}

#[test]
fn compounds_are_found_by_a_last_part_that_lost_its_ending() {
    let texts = [
        "ein Verbindungsfehler",
        "die Datenbankabfrage",
        "eine Netzwerkschnittstelle und ein Lesefehler",
        "die Hilfsfunktion",
        "ein Fehler",
        "die Zwischenspeicher",
        "a conversion of units",
    ];
    check(&texts, "Fehler", &["a", "c", "e"]);
    check(&texts, "Abfrage", &["b"]);
    check(&texts, "Schnittstelle fehlt", &["c"]);
    check(&texts, "Funktion", &["d"]);
    check(&texts, "Speicher", &["f"]);
    check(&texts, "session", &[]);
    // What has the word itself comes first.
    assert_eq!(Shelf::of(&texts).find("Fehler")[0], "e");
}

#[test]
fn a_word_is_found_however_it_is_put_together() {
    let texts = ["the filename is long", "parse_file_names()", "fn fileName()", "a name of the file"];
    for question in ["filename", "fileName", "file_name", "file-names", "FILE_NAME"] {
        let found = Shelf::of(&texts).find(question);
        assert!(["a", "c"].iter().all(|key| found.contains(&(*key).to_owned())), "{question}: {found:?}");
    }
    let found = Shelf::of(&["a text"]).index().search(&query("fooBar foobar"));
    let words: Vec<&str> = found.terms.iter().map(|(word, _)| word.as_str()).collect();
    assert_eq!(words, ["foobar", "foo", "Bar"], "{found:?}");
    let texts =
        ["released v1.2.3 today", "released 1.2.3 today", "the URLs of the APIs", "an URL", "Python3.11"];
    check(&texts, "1.2.3", &["a", "b"]);
    check(&texts, "v1.2.3", &["a", "b"]);
    check(&texts, "v1", &["a"]);
    check(&texts, "url", &["c", "d"]);
    check(&texts, "URLs", &["c", "d"]);
    check(&texts, "api", &["c"]);
    check(&texts, "python 3.11", &["e"]);
}

#[test]
fn what_is_written_with_other_signs_is_the_same_word() {
    let texts = ["a ﬁle in the oﬃce", "Fehler\u{ad}behandlung", "كتب أحمد رسالة", "le modèle de l’IA"];
    check(&texts, "file office", &["a"]);
    check(&texts, "Fehlerbehandlung", &["b"]);
    check(&texts, "احمد", &["c"]);
    check(&texts, "رساله", &["c"]);
    check(&texts, "IA", &["d"]);
}

#[test]
fn a_word_itself_comes_before_words_that_contain_it() {
    let shelf = Shelf::of(&["die Fehlerbehandlung", "der Fehler"]);
    assert_eq!(shelf.find("Fehler"), ["b", "a"]);
}

#[test]
fn the_last_word_may_be_unfinished_and_others_may_not() {
    let texts = ["authentication of users", "a header"];
    check(&texts, "users authen", &["a"]);
    check(&texts, "auth", &["a"]);
    check(&texts, "head ", &[]);
    check(&["tokenizer"], "tok parser", &[]);
}

#[test]
fn scripts_without_spaces_are_found_by_any_part() {
    let texts = ["数据库连接超时", "データベースの接続", "한국어로 검색", "database"];
    check(&texts, "连接", &["a"]);
    check(&texts, "超时", &["a"]);
    check(&texts, "接続", &["b"]);
    check(&texts, "검색", &["c"]);
    check(&texts, "库", &["a"]);
}

#[test]
fn a_question_of_common_words_alone_is_answered() {
    let texts = ["to be or not to be", "the question", "nothing"];
    check(&texts, "to be or not to be", &["a"]);
    check(&texts, "the", &["b"]);
}

#[test]
fn words_that_hold_a_question_together_find_nothing_beside_others() {
    let texts = ["why the build is so slow", "the cache of the build", "why is it so"];
    check(&texts, "why is the cache so large", &["b"]);
    check(&texts, "doesn't the cache help", &["b"]);
    // Of two that fit as well, the one with more of them comes first.
    let shelf = Shelf::of(&["cache it then", "cache before build", "go test it", "test it then"]);
    assert_eq!(shelf.find("cache before")[0], "b");
    assert_eq!(shelf.find("go test")[0], "c");
}

#[test]
fn a_word_of_the_question_that_joins_words_in_another_language_is_looked_for() {
    let mut texts = vec!["filler"; 24];
    texts[3] = "Maria lost her hat";
    texts[5] = "Maria and the trip";
    let mut shelf = Shelf::of(&texts);
    shelf.put((0..60).map(|number| document(&format!("x{number}"), "filler")));
    assert_eq!(shelf.find("hat trip"), ["d", "f"]);
    // Where many texts have it, it joins words: this is a collection in that language.
    shelf.put((0..60).map(|number| document(&format!("g{number}"), "sie hat es")));
    assert_eq!(shelf.find("hat trip"), ["f"]);
}

#[test]
fn a_slip_beside_other_words_is_read_as_it_was_meant() {
    let texts = ["the journal is derived", "a journey", "the index is derived", "verification of tokens"];
    let shelf = Shelf::of(&texts);
    assert_eq!(shelf.find("jounral derived"), ["a", "c"]);
    assert_eq!(shelf.find("verfication tokens"), ["d"]);
    // The score says so.
    let found = shelf.index().search(&query("jounral derived"));
    assert!(found.hits[0].parts.iter().any(|(name, _)| name == "words like “jounral”"), "{found:?}");
    // Codes and short words are no slips, and neither is a word with another first letter.
    check(&["error E0382 here", "a fix"], "E0381 fox error", &["a"]);
    check(&texts, "xournal derived", &["a", "c"]);
    // A long text may be in another language: only its first words are slips.
    let lorem = "lorem ipsum dolor amet consectetur adipiscing sed tempor incididunt";
    check(&texts, &format!("tokens {lorem} jounral"), &["d"]);
}

#[test]
fn an_empty_question_finds_nothing() {
    for question in ["", "   ", "?!", "\u{0}", "\u{301}"] {
        check(&["a text"], question, &[]);
    }
}

#[test]
fn words_that_no_document_has_are_named_with_their_nearest() {
    let shelf = Shelf::of(&["the journal is derived", "journals"]);
    let found = shelf.index().search(&query("jounral derived"));
    assert_eq!(found.terms, [("jounral".to_owned(), 0), ("derived".to_owned(), 1)]);
    assert_eq!(shelf.index().nearest("jounral"), ["journal"]);
    assert_eq!(shelf.index().nearest("ox"), Vec::<String>::new());
}

#[test]
fn very_long_words_and_texts_are_taken() {
    let mut shelf = Shelf::new();
    let long = "x".repeat(5_000);
    shelf.put([document("long", &format!("{long} needle")), document("many", &"word ".repeat(300_000))]);
    assert_eq!(shelf.find(&long), ["long"]);
    assert_eq!(shelf.find("needle"), ["long"]);
    assert_eq!(shelf.find("word"), ["many"]);
}
