//! Which of the lessons that apply are shown, and how.
//!
//! The user's own lessons before a repository's, then by priority, then by confidence. What does not fit comes with the next call: a claim is taken only for what is shown.

use crate::index::Entry;
use crate::leaves::Leaves;
use crate::lesson::Kind;
use crate::wording::{self, Form, Shown};
use base::allowed::Name;
use hook::{Answer, Claim, Claims, Keep, PreToolUse, Refuser};
use std::borrow::Cow;
use std::collections::BTreeSet;
use text::sanitize::{self, Fence};

/// How many calls one lesson pauses in a window; from then on it is a hint.
pub const MAX_PAUSES: usize = 3;
/// How many of a repository's lessons count for one call: more would only be names that the model reads.
const MAX_SHARED: usize = 20;

/// The bounds of what is shown with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most lessons.
    pub lessons: usize,
    /// The most bytes of their texts.
    pub bytes: usize,
    /// The least confidence of a lesson that is shown, in percent.
    pub least_confidence: u8,
    /// The least priority of a lesson that is shown.
    pub least_priority: u8,
    /// The least priority of a lesson that is shown again after a compaction.
    pub returning_priority: u8,
}

/// A lesson that applies.
#[derive(Debug)]
pub struct Applying<'a> {
    /// The lesson.
    pub entry: Entry<'a>,
    /// Whether it came with the repository: its words are others', and are fenced.
    pub is_shared: bool,
    /// How sure it is by what followed when it was shown, in percent; else what its file says.
    pub confidence: u8,
}

/// The call that lessons apply to.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// How texts are worded.
    pub form: Form,
    /// Whether the user can answer with a command of ours in the session.
    pub has_slash_commands: bool,
    /// What it would run; empty when it is not for a shell.
    pub command: &'a str,
    /// Tells it from other calls.
    pub key: u64,
    /// The tags around the words of a repository's lessons.
    pub fence: &'a Fence,
}

impl Applying<'_> {
    /// Returns the name of the lesson's claim. A repository's lesson cannot take the claim of a lesson of the same name.
    fn claim_name(&self) -> Cow<'_, str> {
        if self.is_shared {
            Cow::Owned(format!("project:{}", self.entry.slug))
        } else {
            Cow::Borrowed(self.entry.slug)
        }
    }

    fn name(&self) -> Name {
        Name::new(self.entry.slug, self.is_shared)
    }
}

/// The refusal of a call.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) answer: Answer<PreToolUse>,
    /// The lessons that refuse it.
    pub(crate) names: Vec<Name>,
}

/// Sorts lessons by what counts most; a repository's come after the user's own, and no more than a few of them count.
pub(crate) fn rank(lessons: &mut Vec<Applying<'_>>, bounds: &Bounds) {
    lessons.retain(|lesson| {
        lesson.entry.confidence >= bounds.least_confidence && lesson.entry.priority >= bounds.least_priority
    });
    lessons.sort_by(|one, other| {
        let rank = |lesson: &Applying<'_>| (!lesson.is_shared, lesson.entry.priority, lesson.confidence);
        rank(other).cmp(&rank(one)).then_with(|| one.entry.slug.cmp(other.entry.slug))
    });
    let mut names = BTreeSet::new();
    // A hint of the same name does not take the place of a guard.
    lessons.retain(|lesson| names.insert((lesson.claim_name().into_owned(), lesson.entry.kind.name())));
    let mut shared = 0;
    lessons.retain(|lesson| {
        // What refuses is trusted; hints need no trust and must not crowd it out.
        let is_shared_hint = lesson.is_shared && lesson.entry.kind == Kind::Hint;
        shared += usize::from(is_shared_hint);
        !is_shared_hint || shared <= MAX_SHARED
    });
}

/// Returns the refusal of the guards and pauses among `lessons`; `None` when they let the call pass, with or without the
/// leave of the user. Leave is found here, and used only when all lessons let the call pass.
pub(crate) fn refusal(
    lessons: &mut [Applying<'_>],
    call: Subject<'_>,
    bounds: &Bounds,
    claims: &Claims,
    leaves: &Leaves<'_>,
) -> Option<Refusal> {
    let refuses = |lesson: &&Applying<'_>| lesson.entry.kind == Kind::Guard && !leaves.lift(&lesson.name());
    if let Some(guard) = lessons.iter().find(refuses) {
        let answer =
            Answer::deny(Refuser::Guard, call.form.guard(guard, call)).from_lessons(guard.claim_name());
        return Some(Refusal { answer, names: vec![guard.name()] });
    }
    let (mut pausing, mut held) = (Vec::new(), Vec::new());
    for (number, lesson) in lessons.iter_mut().enumerate() {
        if lesson.entry.kind != Kind::Pause {
            continue;
        }
        match pause(lesson, call.key, bounds, claims) {
            Pause::Refuse(_) if leaves.lift(&lesson.name()) => {}
            Pause::Refuse(claims) => {
                pausing.push(number);
                held.extend(claims);
            }
            Pause::Passed => {}
            Pause::Spent => lesson.entry.kind = Kind::Hint,
        }
    }
    if pausing.is_empty() {
        return None;
    }
    let pauses: Vec<&Applying<'_>> = pausing.into_iter().map(|number| &lessons[number]).collect();
    let named: Vec<Cow<'_, str>> = pauses.iter().map(|pause| pause.claim_name()).collect();
    let answer = Answer::deny(Refuser::Pause, call.form.pauses(&pauses, call)).from_lessons(named.join(","));
    let names = pauses.iter().map(|pause| pause.name()).collect();
    Some(Refusal { answer: answer.claiming(held), names })
}

/// What becomes of a call that a pause applies to.
enum Pause {
    /// It is refused. The claims are those of the call and of one of the lesson's pauses.
    Refuse([Claim; 2]),
    /// It was refused before, and passes now.
    Passed,
    /// The lesson has paused often enough in this window.
    Spent,
}

/// A pause is about the call: each other call that the lesson applies to is refused once, too.
fn pause(lesson: &Applying<'_>, key: u64, bounds: &Bounds, claims: &Claims) -> Pause {
    let name = lesson.claim_name();
    let Some(of_call) = take(&format!("{name}@{key:016x}"), lesson, bounds, claims) else {
        return Pause::Passed;
    };
    let numbered = |number| take(&format!("{name}@pause-{number}"), lesson, bounds, claims);
    match (1..=MAX_PAUSES).find_map(numbered) {
        // A pause that could not be remembered would refuse forever.
        Some(of_lesson) if of_call.is_kept() && of_lesson.is_kept() => Pause::Refuse([of_call, of_lesson]),
        Some(_) => Pause::Passed,
        None => Pause::Spent,
    }
}

/// Makes hints of the pauses that have paused often enough in this window, unless this very call was paused: for a call
/// that was made.
pub(crate) fn soften_spent(lessons: &mut [Applying<'_>], key: u64, claims: &Claims) {
    for lesson in lessons.iter_mut().filter(|lesson| lesson.entry.kind == Kind::Pause) {
        let name = lesson.claim_name().into_owned();
        let is_spent = (1..=MAX_PAUSES).all(|number| claims.is_taken(&format!("{name}@pause-{number}")));
        if is_spent && !claims.is_taken(&format!("{name}@{key:016x}")) {
            lesson.entry.kind = Kind::Hint;
        }
    }
}

/// Returns the hints for a call that passes; `lifted` are the lessons that the user lifted for it alone.
pub(crate) fn hint(
    lessons: &[Applying<'_>],
    call: Subject<'_>,
    target: impl FnOnce() -> String,
    bounds: &Bounds,
    claims: &Claims,
    lifted: &[String],
) -> Answer<PreToolUse> {
    let mut shown = Shown::default();
    let (mut slugs, mut names, mut held, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for lesson in lessons.iter().filter(|lesson| lesson.entry.kind == Kind::Hint) {
        if slugs.len() == bounds.lessons {
            drop_from(&mut shown, lesson);
            continue;
        }
        let room = bounds.bytes.saturating_sub(bytes);
        let full = call.form.hint(lesson, call);
        let whole = attributed(lesson, call.fence, &full);
        let text = if whole.len() <= room {
            whole
        } else if slugs.is_empty() {
            // The first one is shown in any case, cut where it must be; the tags around it are not.
            let frame = attributed(lesson, call.fence, "").len();
            let full =
                if lesson.is_shared { sanitize::for_model(&full) } else { Cow::Borrowed(full.as_str()) };
            attributed(lesson, call.fence, &cut(&full, room.saturating_sub(frame)))
        } else {
            attributed(lesson, call.fence, &call.form.citation(lesson))
        };
        if text.len() > room {
            drop_from(&mut shown, lesson);
        } else if let Some(claim) = take(&lesson.claim_name(), lesson, bounds, claims) {
            bytes += text.len() + 2;
            shown.texts.push(text);
            slugs.push(lesson.entry.slug);
            names.push(lesson.claim_name());
            if lesson.is_shared {
                shown.shared += 1;
            } else {
                shown.own.push(lesson.entry.slug);
            }
            held.push(claim);
        }
    }
    let note = (!lifted.is_empty()).then(|| wording::lifted(lifted));
    if slugs.is_empty() {
        return note.map_or_else(Answer::silent, Answer::context);
    }
    let context = call.form.context(&shown, target);
    let context = note.map_or_else(|| context.clone(), |note| format!("{note}\n\n{context}"));
    Answer::context(context).with_lessons_seen(slugs.join(",")).from_lessons(names.join(",")).claiming(held)
}

fn drop_from<'a>(shown: &mut Shown<'a>, lesson: &Applying<'a>) {
    if !lesson.is_shared {
        shown.dropped.push(lesson.entry.slug);
    }
}

/// Takes a claim for a lesson, unless it was taken in this window before.
fn take(name: &str, lesson: &Applying<'_>, bounds: &Bounds, claims: &Claims) -> Option<Claim> {
    let returns = lesson.entry.priority >= bounds.returning_priority;
    let keep = if returns { Keep::UntilCompaction } else { Keep::UntilClear };
    // The priority may have changed since: then the claim is in the other folder.
    if claims.is_taken(name) { None } else { claims.take(name, keep) }
}

/// Fences a text that came with the repository: others wrote it.
fn attributed(lesson: &Applying<'_>, fence: &Fence, text: &str) -> String {
    if lesson.is_shared {
        fence.around("project lesson", &[("name", lesson.entry.slug)], text)
    } else {
        text.to_owned()
    }
}

fn cut(text: &str, most: usize) -> String {
    const MARK: &str = "\n[cut]";
    let end = text.floor_char_boundary(most.saturating_sub(MARK.len()));
    format!("{}{MARK}", &text[..end])
}
