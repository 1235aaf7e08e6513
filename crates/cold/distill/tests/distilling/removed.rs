//! A project that is removed while it is distilled stays removed.

use crate::desk::{Desk, add, answer};
use distill::{Error, Step};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

const STEPS: [Step; 6] =
    [Step::Begun, Step::Asking, Step::Intended, Step::Changed, Step::Marked, Step::Applied];

/// Distills, and has `removed` go at a step. Returns how it ended and what it logged afterwards.
fn distill_and_remove(
    desk: &Desk,
    step: Step,
    removed: &Path,
) -> (Result<distill::Report, Error>, Vec<String>) {
    let logged = Cell::new(0);
    let ended = desk.distill_through(&|reached| {
        if reached == step {
            fs::remove_dir_all(removed).unwrap();
            logged.set(desk.lines.borrow().len());
        }
    });
    let lines = desk.lines.borrow()[logged.get()..].to_vec();
    (ended, lines)
}

#[test]
fn d3_a_project_that_goes_at_any_step_of_a_distillation_stays_gone() {
    let places: [fn(&Desk) -> PathBuf; 2] = [|desk| desk.app(), |desk| desk.app().join(".wyren")];
    for (step, place) in STEPS.into_iter().flat_map(|step| places.map(|place| (step, place))) {
        let desk = Desk::new(&[answer(&[add("Decisions", "Postgres is the database", 1)])]);
        desk.decide("Postgres as the database");
        let removed = place(&desk);
        let (ended, lines) = distill_and_remove(&desk, step, &removed);
        assert!(!removed.exists(), "{step:?}: {} is back", removed.display());
        match ended {
            Err(Error::Gone(wyren)) => assert_eq!(wyren, desk.app().join(".wyren"), "{step:?}"),
            // All was done before it went.
            Ok(_) if matches!(step, Step::Marked | Step::Applied) => {}
            other => panic!("{step:?}: {other:?}"),
        }
        assert!(desk.questions() <= 1, "{step:?}");
        // D10: the log does not name a file that is not there.
        assert!(!lines.iter().any(|line| line.contains("wrote")), "{step:?}: {lines:?}");
    }
}
