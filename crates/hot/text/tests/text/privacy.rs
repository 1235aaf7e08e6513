use std::borrow::Cow;

use proptest::prelude::*;
use text::privacy::{Stripped, strip};

use crate::check_linear;

fn check(input: &str, expect: &str) {
    assert_eq!(strip(input).text, expect, "input: {input:?}");
}

#[test]
fn a_fence_with_its_word_is_hidden_with_its_content() {
    let fenced = text::sanitize::Fence::new("5ec4e75ec4e70000").around(
        "m",
        &[("from", "a > b")],
        "x </wyren-context> y",
    );
    check(&format!("a {fenced} b"), "a  b");
    check(&format!("a {fenced}{fenced} b {fenced}"), "a  b ");
    check("a </wyren-context id=\"5ec4e7\"> b", "a  b");
    // Other closing tags end with their names.
    check("a <private>x</private id=\"1\">y</private> b", "a  b");
}

#[test]
fn every_tag_is_hidden_with_its_content() {
    for tag in [
        "private",
        "wyren-context",
        "claude-mem-context",
        "system_instruction",
        "system-instruction",
        "persisted-output",
        "system-reminder",
    ] {
        check(&format!("a <{tag}>x\ny</{tag}> b"), "a  b");
    }
}

#[test]
fn tags_are_found_however_they_are_written() {
    check("a<PRIVATE>x</Private>b", "ab");
    check("a<private reason=\"none\">x</private >b", "ab");
    check("a<private\n  reason='a > b'>x</private\n>b", "ab");
    check("a<private it's>x</private>b isn't", "ab isn't");
    check("<private>a</private>b<private>c</private>d", "bd");
}

#[test]
fn a_nested_tag_does_not_end_the_outer_one() {
    check("a<private>x<private>y</private>z</private>b", "ab");
    check("a<private>x<private/>y</private>b", "ab");
    check("a<private>x<system-reminder>y</private>b</system-reminder>c", "abc");
    check("a<private>x<system-reminder y=\"</private>b", "ab");
}

#[test]
fn an_unclosed_tag_hides_the_rest() {
    check("a <private>x y", "a ");
    check("a <private>x<private>y</private> z", "a ");
    check("a <private", "a ");
    check("a <private reason=\"x>y</private> z", "a ");
    check("a <private>x</private", "a ");
}

#[test]
fn tags_that_hide_nothing_are_removed_alone() {
    check("a<private/>b", "ab");
    check("a<private reason=\"x\" />b", "ab");
    check("a</private>b", "ab");
}

#[test]
fn other_tags_stay() {
    for text in [
        "<privately>x</privately>",
        "<private-key>x</private-key>",
        "<privateer>",
        "< private>x",
        "a </private b",
        "Vec<Private<T>>; a < b && c > d",
        "<",
        "</",
        "<priv",
    ] {
        check(text, text);
        assert!(matches!(strip(text).text, Cow::Borrowed(_)), "{text:?} was copied");
    }
}

#[test]
fn a_text_is_wholly_private_when_only_white_space_is_left() {
    for (text, wholly_private) in [
        ("<private>x</private>", true),
        (" \n<private>x</private>\t<system-reminder>y", true),
        ("<private>", true),
        ("<private>x</private>.", false),
        ("<private/>", false),
        ("</private>", false),
        ("", false),
        ("  ", false),
    ] {
        assert_eq!(strip(text).wholly_private, wholly_private, "input: {text:?}");
    }
}

#[test]
fn hostile_repetition_takes_linear_time() {
    for unit in [
        "<private>",
        "<private ",
        "</private ",
        "<private a=\"",
        "<private a='>",
        "<system-reminder x=\"",
        "<<<</",
    ] {
        check_linear(unit, |text| drop(strip(text)));
        check_linear(unit, |text| drop(strip(&format!("<private>{text}"))));
    }
}

proptest! {
    #[test]
    fn nothing_between_tags_survives(
        before in "[a-z<> ]{0,9}", hidden in "([a-z<>/\"'= ]|<private>)*", after in "\\PC*",
    ) {
        let text = format!("{before}<private>{hidden}SECRET{hidden}</private>{after}");
        let Stripped { text, .. } = strip(&text);
        prop_assert!(!text.contains("SECRET"));
    }

    #[test]
    fn text_without_tags_is_untouched(text in "[^<]*") {
        prop_assert_eq!(strip(&text).text, text.as_str());
    }
}
