//! A month of work, scripted: which lessons gain, which are proposed for archiving, and which do not move.

use crate::desk::{DAY, Desk, Kept, MINUTE, Seen};
use effect::{Effect, Tally, Verdict};
use lessons::Kind;
use lessons::layers::{Layer, Source};

/// The seed of the month that goes through the database, and how many others are only counted: one month is one draw.
const SEED: u64 = 42;
const SEEDS: u64 = 500;
/// In how many of a hundred months a lesson must end where it belongs. A lesson that helps nine times out of ten has bad months.
const LEAST_HELPFUL: u64 = 90;
const LEAST_HARMFUL: u64 = 99;
/// When the month begins, in milliseconds since 1970.
const BEGIN: u64 = 1_790_000_000_000;

/// A lesson of the month: its file's confidence, how often it is shown, and of a hundred times how often it is heeded and how
/// often the call succeeds then, and when it is not heeded.
struct Script {
    slug: &'static str,
    folder: &'static str,
    program: &'static str,
    kind: Kind,
    confidence: u8,
    shown: u64,
    heeded: u64,
    helped: u64,
    harmless: u64,
}

const SCRIPTS: [Script; 7] = [
    // Helpful: heeding helps, and what ignores them mostly fails.
    Script {
        slug: "helpful-hint",
        folder: "data/lessons",
        program: "make",
        kind: Kind::Hint,
        confidence: 60,
        shown: 30,
        heeded: 95,
        helped: 95,
        harmless: 10,
    },
    Script {
        slug: "helpful-pause",
        folder: "data/lessons",
        program: "ninja",
        kind: Kind::Pause,
        confidence: 50,
        shown: 24,
        heeded: 95,
        helped: 95,
        harmless: 10,
    },
    Script {
        slug: "helpful-shipped",
        folder: "plugin/lessons",
        program: "bazel",
        kind: Kind::Pause,
        confidence: 80,
        shown: 20,
        heeded: 95,
        helped: 95,
        harmless: 10,
    },
    // Harmful: what they advise fails.
    Script {
        slug: "harmful-hint",
        folder: "data/lessons",
        program: "meson",
        kind: Kind::Hint,
        confidence: 80,
        shown: 16,
        heeded: 90,
        helped: 5,
        harmless: 95,
    },
    // Annoying: the call works, so it is repeated unchanged.
    Script {
        slug: "annoying-pause",
        folder: "data/lessons",
        program: "scons",
        kind: Kind::Pause,
        confidence: 80,
        shown: 16,
        heeded: 5,
        helped: 50,
        harmless: 98,
    },
    Script {
        slug: "annoying-shipped",
        folder: "plugin/lessons",
        program: "waf",
        kind: Kind::Pause,
        confidence: 90,
        shown: 20,
        heeded: 0,
        helped: 50,
        harmless: 100,
    },
    // Shipped, and never shown.
    Script {
        slug: "never-shown",
        folder: "plugin/lessons",
        program: "buck",
        kind: Kind::Guard,
        confidence: 80,
        shown: 0,
        heeded: 0,
        helped: 0,
        harmless: 0,
    },
];

/// Numbers that only look like chance: the same in every run.
struct Chance(u64);

impl Chance {
    /// Says yes so many times out of a hundred.
    fn of(&mut self, percent: u64) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % 100 < percent
    }
}

/// Returns a text that lives as long as the test.
fn kept(text: String) -> &'static str {
    text.leak()
}

impl Script {
    fn is_helpful(&self) -> bool {
        self.slug.starts_with("helpful")
    }

    /// Says whether a lesson ended where it belongs.
    fn is_met(&self, tally: &Tally) -> bool {
        let is_annoying = tally.is_annoying(self.confidence);
        if self.is_helpful() { tally.confidence(self.confidence) > 80 && !is_annoying } else { is_annoying }
    }

    /// Returns what the model does when the lesson is shown: whether it heeds it, and whether the call succeeds then.
    fn draw(&self, chance: &mut Chance) -> (bool, bool) {
        let is_heeded = chance.of(self.heeded);
        (is_heeded, chance.of(if is_heeded { self.helped } else { self.harmless }))
    }

    fn begin(&self, number: u64) -> u64 {
        BEGIN + number * 30 * DAY / self.shown.max(1)
    }
}

/// Writes one session in which a lesson is shown, and what the model does then.
fn session(script: &Script, number: u64, chance: &mut Chance) -> Vec<Seen> {
    let begin = script.begin(number);
    let name = kept(format!("{}-{number}", script.slug));
    let seen =
        |minute: u64, what: Kept| Seen { at: begin + minute * MINUTE, session: name, agent: None, what };
    let ran = |id, command, works: bool| Kept::Ran { id, command, error: !works, interrupted: false };
    let shown = kept(format!("{} all", script.program));
    let (is_heeded, works) = script.draw(chance);
    let next = if is_heeded { kept(format!("{} -j1 all", script.program)) } else { shown };
    let mut steps = match script.kind {
        Kind::Hint => {
            vec![seen(1, Kept::Hint { id: "a", lesson: script.slug }), seen(2, ran("a", shown, !is_heeded))]
        }
        _ => vec![seen(2, Kept::Refused { id: "a", command: shown, by: "pause", lesson: script.slug })],
    };
    steps.extend([seen(3, ran("b", next, works)), seen(4, Kept::End)]);
    steps
}

fn month() -> (Desk, Vec<Effect>) {
    let (desk, mut chance) = (Desk::new(), Chance(SEED));
    let mut seen = Vec::new();
    for script in &SCRIPTS {
        desk.lesson(script.folder, script.slug, script.kind, script.program, script.confidence);
        (0..script.shown).for_each(|number| seen.extend(session(script, number, &mut chance)));
    }
    let effects = desk.effects(&seen, BEGIN + 31 * DAY);
    (desk, effects)
}

#[test]
fn a_simulated_month_rewards_what_helps_and_proposes_what_annoys_for_archiving() {
    for script in SCRIPTS.iter().filter(|script| script.shown > 0) {
        let month = |seed: u64| {
            let (mut chance, mut tally) = (Chance(seed), Tally::default());
            for number in 0..script.shown {
                let verdict = match script.draw(&mut chance) {
                    (true, true) => Verdict::Heeded,
                    (true, false) => Verdict::Failed,
                    (false, true) => Verdict::Overruled,
                    (false, false) => Verdict::Ignored,
                };
                tally.count(script.begin(number), verdict, 1, BEGIN + 31 * DAY);
            }
            tally
        };
        let met = (0..SEEDS).filter(|seed| script.is_met(&month(*seed))).count() as u64;
        let least = if script.is_helpful() { LEAST_HELPFUL } else { LEAST_HARMFUL };
        assert!(met * 100 >= least * SEEDS, "{}: {met} of {SEEDS} months", script.slug);
    }
}

#[test]
fn a_month_through_the_database_comes_to_the_same_and_moves_nothing_that_was_never_shown() {
    let (desk, effects) = month();
    let of = |slug: &str| effects.iter().find(|effect| effect.name == slug);
    for script in SCRIPTS.iter().filter(|script| script.shown > 0) {
        let effect = of(script.slug).unwrap();
        let told = format!("{}: {:?}, {} %", script.slug, effect.tally, effect.confidence());
        assert_eq!(effect.tally.shown, script.shown, "{told}");
        assert!(script.is_met(&effect.tally), "{told}");
    }
    // What was never shown has no line anywhere.
    assert!(of("never-shown").is_none());
    effect::measure::write(&desk.paths(), &effects).unwrap();
    let shipped = Source::own(&desk.paths()).remove(0);
    assert_eq!((shipped.layer, shipped.measured().of("never-shown")), (Layer::Shipped, None));
    assert!(shipped.measured().of("helpful-shipped").is_some_and(|percent| percent > 80));
}

#[test]
fn a_proposal_is_made_once_and_again_only_for_other_lessons() {
    let (desk, effects) = month();
    let paths = desk.paths();
    let read = || {
        let waiting = base::notice::waiting(&paths, None, None, base::Timestamp::now());
        waiting.iter().for_each(|notice| notice.remember().unwrap());
        waiting.into_iter().map(|notice| notice.text).collect::<Vec<_>>()
    };
    effect::measure::propose(&paths, &effects).unwrap();
    let first = read();
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(first[0].starts_with("3 lessons did not help"), "{first:?}");
    assert!(first[0].chars().count() <= base::notice::MAX_CHARS, "{first:?}");
    effect::measure::propose(&paths, &effects).unwrap();
    assert!(read().is_empty());
    // One of them is archived: the others were named before.
    let fewer: Vec<Effect> = effects.iter().filter(|effect| effect.name != "harmful-hint").cloned().collect();
    effect::measure::propose(&paths, &fewer).unwrap();
    assert!(read().is_empty());
    let mut another = effects.iter().find(|effect| effect.name == "harmful-hint").cloned().unwrap();
    another.name = "another".to_owned();
    effect::measure::propose(&paths, &[&fewer[..], &[another]].concat()).unwrap();
    assert_eq!(read(), ["1 lesson did not help: another. Look: wyren lessons stats"]);
}
