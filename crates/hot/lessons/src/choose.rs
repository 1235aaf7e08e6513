//! Which of the lessons that apply are shown, and how.
//!
//! The user's own lessons before a repository's, then by priority, then by confidence. What does not fit comes with the next call: a claim is taken only for what is shown.

use crate::index::Entry;
use crate::lesson::Kind;
use hook::{Answer, Claim, Claims, Keep, PreToolUse};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use text::sanitize::{self, DATA_NOTE, Fence, TRUSTED};

/// How many calls one lesson pauses in a window; from then on it is a hint.
pub const MAX_PAUSES: usize = 3;
/// How many of a repository's lessons count for one call: more would only be names that the model reads.
const MAX_SHARED: usize = 20;
/// How much of a command a reason repeats.
const COMMAND_CHARS: usize = 120;
/// The placeholder of the command in a lesson's texts.
const COMMAND: &str = "{command}";
/// What ends the reason of a pause.
const PAUSED: &str = "Shown once. To proceed anyway, repeat the call unchanged.";
/// How much of a problem and a solution a citation keeps.
const CITED_CHARS: usize = 200;

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
}

/// The call that lessons apply to.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// How a heading names it.
    pub target: &'a str,
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
}

/// Answers a call that `lessons` apply to.
pub fn answer(
    mut lessons: Vec<Applying<'_>>,
    call: Subject<'_>,
    bounds: &Bounds,
    claims: &Claims,
) -> Answer<PreToolUse> {
    rank(&mut lessons, bounds);
    refusal(&mut lessons, call, bounds, claims).unwrap_or_else(|| hint(&lessons, call, bounds, claims))
}

/// Sorts lessons by what counts most; a repository's come after the user's own, and no more than a few of them count.
pub(crate) fn rank(lessons: &mut Vec<Applying<'_>>, bounds: &Bounds) {
    lessons.retain(|lesson| {
        lesson.entry.confidence >= bounds.least_confidence && lesson.entry.priority >= bounds.least_priority
    });
    lessons.sort_by(|one, other| {
        let rank =
            |lesson: &Applying<'_>| (!lesson.is_shared, lesson.entry.priority, lesson.entry.confidence);
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

/// Returns the answer of the guards and pauses among `lessons`; `None` when they let the call pass.
pub(crate) fn refusal(
    lessons: &mut [Applying<'_>],
    call: Subject<'_>,
    bounds: &Bounds,
    claims: &Claims,
) -> Option<Answer<PreToolUse>> {
    if let Some(guard) = lessons.iter().find(|lesson| lesson.entry.kind == Kind::Guard) {
        let reason = noted(guard.is_shared, refusal_text(guard, call));
        return Some(Answer::deny(reason).from_lessons(guard.entry.slug));
    }
    let mut pauses: Vec<(String, [Claim; 2])> = Vec::new();
    let mut slugs = Vec::new();
    let mut has_shared = false;
    for lesson in lessons.iter_mut().filter(|lesson| lesson.entry.kind == Kind::Pause) {
        match pause(lesson, call.key, bounds, claims) {
            Pause::Refuse(held) => {
                slugs.push(lesson.entry.slug);
                has_shared |= lesson.is_shared;
                pauses.push((refusal_text(lesson, call), held));
            }
            Pause::Passed => {}
            Pause::Spent => lesson.entry.kind = Kind::Hint,
        }
    }
    if !pauses.is_empty() {
        let (reasons, held): (Vec<String>, Vec<[Claim; 2]>) = pauses.into_iter().unzip();
        let reason = noted(
            has_shared,
            format!(
                "{}

{PAUSED}",
                reasons.join(
                    "

"
                )
            ),
        );
        let answer = Answer::deny(reason).from_lessons(slugs.join(","));
        return Some(answer.claiming(held.into_iter().flatten()));
    }
    None
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

pub(crate) fn hint(
    lessons: &[Applying<'_>],
    call: Subject<'_>,
    bounds: &Bounds,
    claims: &Claims,
) -> Answer<PreToolUse> {
    let mut said = Said::default();
    for lesson in lessons.iter().filter(|lesson| lesson.entry.kind == Kind::Hint) {
        if said.slugs.len() == bounds.lessons {
            said.drop(lesson);
            continue;
        }
        let room = bounds.bytes.saturating_sub(said.bytes);
        let full = full_text(lesson, call.command);
        let whole = attributed(lesson, call.fence, &full);
        let text = if whole.len() <= room {
            whole
        } else if said.slugs.is_empty() {
            // The first one is shown in any case, cut where it must be; the tags around it are not.
            let frame = attributed(lesson, call.fence, "").len();
            let full =
                if lesson.is_shared { sanitize::for_model(&full) } else { Cow::Borrowed(full.as_str()) };
            attributed(lesson, call.fence, &cut(&full, room.saturating_sub(frame)))
        } else {
            attributed(lesson, call.fence, &citation(lesson))
        };
        if text.len() > room {
            said.drop(lesson);
        } else if let Some(claim) = take(&lesson.claim_name(), lesson, bounds, claims) {
            said.bytes += text.len() + 2;
            said.texts.push(text);
            said.slugs.push(lesson.entry.slug);
            if lesson.is_shared {
                said.shared += 1;
            } else {
                said.own.push(lesson.entry.slug);
            }
            said.claims.push(claim);
        }
    }
    if said.slugs.is_empty() {
        return Answer::silent();
    }
    let seen = said.slugs.join(",");
    Answer::context(said.context(call.target)).with_lessons_seen(seen).claiming(said.claims)
}

/// Takes a claim for a lesson, unless it was taken in this window before.
fn take(name: &str, lesson: &Applying<'_>, bounds: &Bounds, claims: &Claims) -> Option<Claim> {
    let returns = lesson.entry.priority >= bounds.returning_priority;
    let keep = if returns { Keep::UntilCompaction } else { Keep::UntilClear };
    // The priority may have changed since: then the claim is in the other folder.
    if claims.is_taken(name) { None } else { claims.take(name, keep) }
}

#[derive(Default)]
struct Said<'a> {
    slugs: Vec<&'a str>,
    /// Those that did not come with the repository. Outside of their tags, others' lessons are not named.
    own: Vec<&'a str>,
    /// How many came with the repository.
    shared: usize,
    dropped: Vec<&'a str>,
    texts: Vec<String>,
    claims: Vec<Claim>,
    bytes: usize,
}

impl<'a> Said<'a> {
    fn drop(&mut self, lesson: &Applying<'a>) {
        if !lesson.is_shared {
            self.dropped.push(lesson.entry.slug);
        }
    }

    fn context(&self, target: &str) -> String {
        let count = self.slugs.len();
        let plural = if count == 1 { "" } else { "s" };
        let mut context = format!("[lessons-learned] {count} lesson{plural} matched for {target}\n\n");
        context.push_str(&noted(self.shared > 0, self.texts.join("\n\n")));
        let metadata = serde_json::json!({"version": 1, "injected": self.own, "dropped": self.dropped});
        let _ = write!(context, "\n\n<!-- lessonInjection: {metadata} -->");
        context
    }
}

/// Returns all that a lesson says. `{command}` in it becomes the beginning of the command.
fn full_text(lesson: &Applying<'_>, command: &str) -> String {
    let Entry { summary, problem, solution, instead, .. } = &lesson.entry;
    let mut text = format!("## Lesson: {summary}\n{problem}\n**Fix**: {solution}");
    if !instead.is_empty() {
        let _ = write!(text, "\n**Instead**: `{instead}`");
    }
    if text.contains(COMMAND) {
        let shown: String = command.chars().take(COMMAND_CHARS).collect();
        // Replaced as text, wherever it is: a command may hold anything.
        text = text.replace(COMMAND, &shown);
    }
    text
}

/// Returns the reason of a guard or pause.
fn refusal_text(lesson: &Applying<'_>, call: Subject<'_>) -> String {
    let text = full_text(lesson, call.command);
    if lesson.is_shared {
        let attribution = [("name", lesson.entry.slug), ("trusted", TRUSTED)];
        return call.fence.around("project lesson", &attribution, &text);
    }
    text
}

/// Puts the sentence about fences before a text that has one.
fn noted(has_fence: bool, text: String) -> String {
    if has_fence { format!("{DATA_NOTE}\n\n{text}") } else { text }
}

fn citation(lesson: &Applying<'_>) -> String {
    let first_line =
        |text: &str| text.lines().next().unwrap_or_default().chars().take(CITED_CHARS).collect::<String>();
    let Entry { summary, problem, solution, .. } = &lesson.entry;
    format!(
        "**Lesson**: {summary}\n**Problem**: {}\n**Solution**: {}",
        first_line(problem),
        first_line(solution)
    )
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
