//! The bars that the annotated transcripts set.

use distiller::evaluation::{
    self, Case, Figures, Gate, MIN_PRECISION, MIN_PRECISION_HELD_OUT, MIN_RECALL, MIN_RECALL_HELD_OUT,
    Outcome,
};
use distiller::{Evidence, apply};

use crate::data_folder;

fn cases() -> Vec<Case> {
    evaluation::cases(&data_folder()).unwrap()
}

fn outcomes(cases: &[Case], held_out: Option<bool>) -> Vec<Outcome> {
    let wanted = |case: &&Case| held_out.is_none_or(|held_out| case.annotation.held_out == held_out);
    cases.iter().filter(wanted).map(|case| case.extracted().unwrap()).collect()
}

#[test]
fn extraction_reaches_its_bars_on_all_cases_and_on_those_it_was_not_tuned_on() {
    let cases = cases();
    let bars = [(None, MIN_RECALL, MIN_PRECISION), (Some(true), MIN_RECALL_HELD_OUT, MIN_PRECISION_HELD_OUT)];
    for (held_out, recall, precision) in bars {
        let figures = Figures::of(&outcomes(&cases, held_out));
        assert!(figures.recall >= recall, "held out {held_out:?}: {figures:?}");
        assert!(figures.precision >= precision, "held out {held_out:?}: {figures:?}");
    }
}

#[test]
fn a_perfect_model_loses_nothing_in_application() {
    for case in cases() {
        let outcome = case.scripted().unwrap();
        assert_eq!(
            (outcome.missed, outcome.wrong, outcome.contradictions),
            (vec![], vec![], 0),
            "{}",
            case.name
        );
    }
}

#[test]
fn a_perfect_model_resolves_what_is_resolved() {
    for case in cases() {
        let slice = case.slice().unwrap();
        let evidence = Evidence::of(&slice);
        let when = "2026-11-16T09:00:00Z".parse().unwrap();
        let context = distiller::Context {
            session: &slice.session,
            author: "Ada",
            when,
            evidence: &evidence,
            clearance: distiller::Clearance::default(),
        };
        let applied = apply(&case.memory(), &case.perfect(), &context);
        assert_eq!(case.annotation.unresolved(&applied.memory).count(), 0, "{}", case.name);
        let gone = case.annotation.removed.len()
            + case.annotation.facts.iter().filter(|fact| !fact.replaces.is_empty()).count();
        assert_eq!(applied.removals.len(), gone, "{}", case.name);
    }
}

#[test]
fn the_annotated_set_is_large_and_varied_enough() {
    let cases = cases();
    assert!(cases.len() >= 24);
    let held_out = cases.iter().filter(|case| case.annotation.held_out).count();
    assert!(held_out * 3 >= cases.len(), "{held_out} of {} are held out", cases.len());
    assert!(cases.iter().filter(|case| case.annotation.facts.is_empty()).count() >= 2);
    assert!(cases.iter().filter(|case| !case.annotation.existing_memory.is_empty()).count() >= 2);
}

#[test]
fn nothing_hostile_secret_or_private_reaches_a_memory_or_a_model() {
    for case in cases() {
        let slice = case.slice().unwrap();
        let rendered = slice.render();
        for hidden in ["sk-ant-api03-Zk9", "ghp_a1B2", "Jonas", "</wyren-context>"] {
            assert!(!rendered.contains(hidden), "{}: {hidden}", case.name);
        }
    }
}

#[test]
fn extraction_contradicts_itself_nowhere_and_the_memory_only_where_it_takes_a_model_to_see_it() {
    for case in cases() {
        // "Docs move to Starlight" ends "Docs are built with Docusaurus", which only their meaning tells.
        let expected = usize::from(case.name == "existing-superseded");
        assert_eq!(case.extracted().unwrap().contradictions, expected, "{}", case.name);
    }
}

#[test]
fn every_slice_with_something_to_find_passes_and_most_of_the_others_do_not() {
    let mut all = Gate::default();
    for case in cases() {
        let gate = case.gate().unwrap();
        assert_eq!(gate.telling_passed, gate.telling, "{}: a slice with facts is not distilled", case.name);
        all = all.and(gate);
    }
    assert!(all.telling >= 50 && all.plain >= 5, "{all:?}");
    assert!(all.plain_passed * 3 <= all.plain, "{all:?}");
}
