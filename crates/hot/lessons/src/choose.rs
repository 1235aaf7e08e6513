//! Which of the lessons that apply are said, and how.
//!
//! By priority, then confidence. What does not fit comes the next time: a claim is taken only for what is said.

use crate::index::Entry;
use crate::lesson::Kind;
use hook::{Answer, Claim, Claims, Keep, PreToolUse};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use text::sanitize;

/// How much of a command a reason repeats.
const COMMAND_CHARS: usize = 120;
/// How much of a problem and a solution a citation keeps.
const CITED_CHARS: usize = 200;

/// The bounds of what is said with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most lessons.
    pub lessons: usize,
    /// The most bytes of their texts.
    pub bytes: usize,
    /// Lessons that are less sure are not said, in percent.
    pub least_confidence: u8,
    /// Lessons that matter less are not said.
    pub least_priority: u8,
    /// Lessons that matter this much may come again after a compaction.
    pub returning_priority: u8,
}

/// A lesson that applies.
#[derive(Debug)]
pub struct Applying<'a> {
    /// The lesson.
    pub entry: Entry<'a>,
    /// Whether it came with the repository: its words are someone else's, and it says so.
    pub is_shared: bool,
}

impl Applying<'_> {
    /// Returns the name of the lesson's claim: a repository's lesson cannot take the one of a lesson of the same name.
    fn claim_name(&self) -> Cow<'_, str> {
        if self.is_shared {
            Cow::Owned(format!("project:{}", self.entry.slug))
        } else {
            Cow::Borrowed(self.entry.slug)
        }
    }
}

/// Answers a call that `lessons` apply to. `target` names the call, `command` is what it would run.
pub fn answer(
    mut lessons: Vec<Applying<'_>>,
    target: &str,
    command: &str,
    bounds: &Bounds,
    claims: &Claims,
) -> Answer<PreToolUse> {
    lessons.retain(|lesson| {
        lesson.entry.confidence >= bounds.least_confidence && lesson.entry.priority >= bounds.least_priority
    });
    lessons.sort_by(|one, other| {
        let rank = |lesson: &Applying<'_>| (lesson.entry.priority, lesson.entry.confidence);
        rank(other).cmp(&rank(one)).then_with(|| one.entry.slug.cmp(other.entry.slug))
    });
    let mut names = BTreeSet::new();
    lessons.retain(|lesson| names.insert(lesson.claim_name().into_owned()));
    if let Some(guard) = lessons.iter().find(|lesson| lesson.entry.kind == Kind::Guard) {
        return Answer::deny(refusal(guard, command));
    }
    let pauses: Vec<(&Applying<'_>, Claim)> = lessons
        .iter()
        .filter(|lesson| lesson.entry.kind == Kind::Pause)
        .filter_map(|lesson| Some((lesson, take(lesson, bounds, claims)?)))
        // A pause that nobody could remember would refuse forever.
        .filter(|(_, claim)| claim.is_kept())
        .collect();
    if !pauses.is_empty() {
        let reasons: Vec<String> = pauses.iter().map(|(lesson, _)| refusal(lesson, command)).collect();
        let note = "This is said once. If the call is right as it is, make it again and it passes.";
        let reason = format!("{}\n\n{note}", reasons.join("\n\n"));
        return Answer::deny(reason).claiming(pauses.into_iter().map(|(_, claim)| claim));
    }
    hint(&lessons, target, bounds, claims)
}

fn hint(lessons: &[Applying<'_>], target: &str, bounds: &Bounds, claims: &Claims) -> Answer<PreToolUse> {
    let mut said = Said::default();
    for lesson in lessons.iter().filter(|lesson| lesson.entry.kind == Kind::Hint) {
        if said.slugs.len() == bounds.lessons {
            said.dropped.push(lesson.entry.slug);
            continue;
        }
        let room = bounds.bytes.saturating_sub(said.bytes);
        let full = full_text(lesson);
        let text = if full.len() <= room {
            full
        } else if said.slugs.is_empty() {
            // The first one is said in any case, as far as it goes.
            cut(&full, room)
        } else {
            citation(lesson)
        };
        if text.len() > room {
            said.dropped.push(lesson.entry.slug);
        } else if let Some(claim) = take(lesson, bounds, claims) {
            said.bytes += text.len() + 2;
            said.texts.push(text);
            said.slugs.push(lesson.entry.slug);
            said.claims.push(claim);
        }
    }
    if said.slugs.is_empty() {
        return Answer::silent();
    }
    let seen = said.slugs.join(",");
    Answer::context(said.context(target)).with_lessons_seen(seen).claiming(said.claims)
}

/// Takes the claim of a lesson, unless it was said in this window before.
fn take(lesson: &Applying<'_>, bounds: &Bounds, claims: &Claims) -> Option<Claim> {
    let name = lesson.claim_name();
    let returns = lesson.entry.priority >= bounds.returning_priority;
    let keep = if returns { Keep::UntilCompaction } else { Keep::UntilClear };
    // The priority may have changed since: then the claim is in the other folder.
    if claims.is_taken(&name) { None } else { claims.take(&name, keep) }
}

#[derive(Default)]
struct Said<'a> {
    slugs: Vec<&'a str>,
    dropped: Vec<&'a str>,
    texts: Vec<String>,
    claims: Vec<Claim>,
    bytes: usize,
}

impl Said<'_> {
    fn context(&self, target: &str) -> String {
        let count = self.slugs.len();
        let plural = if count == 1 { "" } else { "s" };
        let mut context = format!("[lessons-learned] {count} lesson{plural} matched for {target}\n\n");
        context.push_str(&self.texts.join("\n\n"));
        let metadata = serde_json::json!({"version": 1, "injected": self.slugs, "dropped": self.dropped});
        let _ = write!(context, "\n\n<!-- lessonInjection: {metadata} -->");
        context
    }
}

fn full_text(lesson: &Applying<'_>) -> String {
    let Entry { summary, problem, solution, instead, .. } = &lesson.entry;
    let mut text = format!("## Lesson: {summary}\n{problem}\n**Fix**: {solution}");
    if !instead.is_empty() {
        let _ = write!(text, "\n**Instead**: `{instead}`");
    }
    attributed(lesson, text)
}

fn citation(lesson: &Applying<'_>) -> String {
    let first_line =
        |text: &str| text.lines().next().unwrap_or_default().chars().take(CITED_CHARS).collect::<String>();
    let Entry { summary, problem, solution, .. } = &lesson.entry;
    let text = format!(
        "**Lesson**: {summary}\n**Problem**: {}\n**Solution**: {}",
        first_line(problem),
        first_line(solution)
    );
    attributed(lesson, text)
}

/// Fences a text that came with the repository: it is a colleague's word, not ours.
fn attributed(lesson: &Applying<'_>, text: String) -> String {
    if lesson.is_shared {
        sanitize::fence("project lesson", &[("name", lesson.entry.slug)], &text)
    } else {
        text
    }
}

/// Returns why a call is refused, and what to do instead.
fn refusal(lesson: &Applying<'_>, command: &str) -> String {
    let shown: String = command.chars().take(COMMAND_CHARS).collect();
    // Replaced as text, wherever it stands: a command may hold anything.
    full_text(lesson).replace("{command}", &shown)
}

fn cut(text: &str, most: usize) -> String {
    const MARK: &str = "\n[cut]";
    let end = text.floor_char_boundary(most.saturating_sub(MARK.len()));
    format!("{}{MARK}", &text[..end])
}
