use std::borrow::Cow;

use proptest::prelude::*;
use text::privacy::{
    Stripped, has_closing_tag, may_have_tag, strip, strip_composed, strip_memory, strip_private,
};

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

/// Ways to type `<private>` and `</private>`.
const FORMS: [(&str, &str); 16] = [
    ("<private>", "</private>"),
    ("< private>", "</private>"),
    ("<private >", "</ private>"),
    ("< private >", "< / private >"),
    ("<PRIVATE>", "</Private>"),
    ("<\tprivate\n>", "<\n/private>"),
    ("\u{ff1c}private\u{ff1e}", "\u{ff1c}/private\u{ff1e}"),
    (
        "\u{ff1c}\u{ff50}\u{ff32}\u{ff49}\u{ff56}\u{ff41}\u{ff54}\u{ff45}\u{ff1e}",
        "\u{ff1c}\u{ff0f}private\u{ff1e}",
    ),
    ("\u{fe64}private\u{fe65}", "\u{fe64}/private\u{fe65}"),
    ("&lt;private&gt;", "&lt;/private&gt;"),
    ("&LT; private &GT;", "&lt; / private&gt;"),
    ("&#60;private&#62;", "&#x3C;&#47;private&#x3e;"),
    (r"\<private\>", r"\</private\>"),
    (r"\\<private\\>", r"<\/private>"),
    ("<private reason=\"a > b\">", "</private>"),
    ("\u{ff1c}private>", "&lt;/private\u{ff1e}"),
];

#[test]
fn the_forms_that_people_type_hide_their_content() {
    for (opening, closing) in FORMS {
        check(&format!("a {opening}x{closing} b"), "a  b");
        check(&format!("a {opening}x"), "a ");
        check(&format!("a {opening}x<private>y</private>z{closing} b"), "a  b");
        check(&format!("a <private>x{opening}y{closing}z</private> b"), "a  b");
        check(&format!("x{closing} b"), " b");
        assert!(strip(&format!(" {opening}x{closing}\n")).wholly_private, "{opening}");
        assert!(strip(&format!("x{closing}")).wholly_private, "{closing}");
        assert!(may_have_tag(opening) && may_have_tag(closing));
        assert!(has_closing_tag(&format!("x {closing} y")) && !has_closing_tag(opening), "{closing}");
        assert_eq!(strip_private(&format!("- a\n- {opening}x{closing} b\n")), "- a\n-  b\n");
    }
}

#[test]
fn a_self_closing_tag_hides_what_follows_up_to_a_closing_one() {
    check("a<private/>b", "a");
    check("a <private />b</private> c", "a  c");
    check("a<private reason=\"x\" />b", "a");
    check("a&lt;private/&gt;b", "a");
    check("a<system-reminder/>b", "ab");
}

#[test]
fn in_a_memory_a_tag_that_is_never_closed_hides_its_entry_alone() {
    for (memory, told) in [
        ("- a\n- b\n", "- a\n- b\n"),
        ("- a <private>x\n  y\n- b\n", "- a \n- b\n"),
        ("- a <private>x\n\n## S\n- b\n", "- a \n\n## S\n- b\n"),
        ("- a <private>x\r\n- b\r\n", "- a \r\n- b\r\n"),
        ("- a <private>x\n\n  y\n\n\tz\n\n- b\n", "- a \n\n- b\n"),
        ("- a <private>x\n- b\n- c <private>y</private>\n- d\n", "- a \n- b\n- c \n- d\n"),
        ("- a <private>x\n- b <private>y\n- c", "- a \n- b \n- c"),
        ("- a <private x\n- b\n- c > d\n", "- a \n- b\n- c > d\n"),
        ("- a <private>x\n- y</private> z\n- b\n", "- a  z\n- b\n"),
        ("- a <private/>x\n- b <private>y</private>\n", "- a \n- b \n"),
        ("- a <private/>x\n- b y</private> c\n", "- a  c\n"),
        ("- a\n- x\n  y</private> z\n- b\n", "- a\n z\n- b\n"),
        ("para <private>x\ny\n\nother", "para \n\nother"),
    ] {
        assert_eq!(strip_memory(memory), told, "{memory:?}");
    }
    assert!(matches!(strip_memory("- a < b"), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn a_closing_tag_without_an_opening_one_hides_what_is_before_it() {
    check("a</private>b", "b");
    check("a<private>b</private>c</private>d", "d");
    check("a</system-reminder>b", "ab");
    let memory =
        "# Memory\n\n- kept\n- hidden\n  hidden too</private>\n- kept as well\n\nhidden\n</private>\n\nend";
    assert_eq!(strip_private(memory), "# Memory\n\n- kept\n\n- kept as well\n\n\n\nend");
    assert_eq!(strip_private("hidden</private> rest"), " rest");
    // What is left of one tag may be another: it must not take a whole question with it.
    let composed = strip_private("- an entry </pri<private>x</private>vate> of a teammate").into_owned();
    let question = format!("Do this.\n\n{composed}\n\nAnswer in JSON.");
    assert_eq!(strip_composed(&question).text, "Do this.\n\n of a teammate\n\nAnswer in JSON.");
}

#[test]
fn other_tags_stay() {
    for text in [
        "<privately>x</privately>",
        "<private-key>x</private-key>",
        "<privateer>",
        "#include <private/list.h>",
        "a < private && b > c",
        "a <privat\u{ff45}d>",
        "&lt;private reason=x&gt;",
        "\u{ff1c}privately\u{ff1e}",
        "AT&T, &amp; \u{ff0c}\u{ff1c}",
        "< private",
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
        ("<private/>", true),
        ("</private>", true),
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
        "< ",
        "&lt;private",
        "<private/",
        "<private/a>",
        "\u{ff1c}",
        "\\",
        "\\</private>",
        "x\n</private>",
    ] {
        check_linear(unit, |text| drop(strip(text)));
        check_linear(unit, |text| drop(strip(&format!("<private>{text}"))));
        check_linear(unit, |text| drop(strip_private(text).into_owned()));
        check_linear(unit, |text| drop(strip_memory(text).into_owned()));
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
    fn text_without_tags_is_untouched(text in "[^<&\u{ff1c}\u{fe64}]*") {
        prop_assert_eq!(strip(&text).text, text.as_str());
    }
}
