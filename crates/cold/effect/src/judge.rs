//! What became of a lesson that was shown, by the calls that followed in its window.
//!
//! Nothing but recorded calls counts, and whether the lesson applies to one is asked of its own trigger: no model guesses.

use crate::recorded::{Call, Fate, How, Session, Showing, Step, What};
use std::collections::BTreeSet;
use std::time::Duration;

/// How many calls after a showing are looked at.
pub const FOLLOWING: usize = 3;
/// A window in which nothing happened for this long has ended: a killed client says no farewell.
pub const SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// What became of a showing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The call was changed or given up, and what was run instead succeeded.
    Heeded,
    /// The call was made all the same, and succeeded.
    Overruled,
    /// It was heeded, and what was run instead failed.
    Failed,
    /// The call was made all the same, and failed: the lesson was right.
    Ignored,
    /// Not known, or not yet.
    Open,
}

impl Verdict {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heeded => "heeded",
            Self::Overruled => "overruled",
            Self::Failed => "failed anyway",
            Self::Ignored => "ignored, and failed",
            Self::Open => "open",
        }
    }
}

/// A verdict, with all that it follows from.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// How the lesson spoke up.
    pub how: How,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The session.
    pub session: String,
    /// Why.
    pub reason: &'static str,
    /// The call that the lesson was shown for; `None` where it was not recorded.
    pub call: Option<Evidence>,
    /// The calls that decided, in their order.
    pub following: Vec<Evidence>,
}

/// A recorded call, as evidence.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// When it ended, in milliseconds since 1970.
    pub at: u64,
    /// The tool.
    pub tool: String,
    /// What it was about: a command, else its input as JSON.
    pub text: String,
    /// How it ended.
    pub fate: Fate,
    /// Whether the lesson applies to it.
    pub applies: bool,
}

/// What a lesson says about recorded calls.
pub trait Asked {
    /// Returns whether the lesson applies to a call.
    fn applies(&self, session: &Session, call: &Call) -> bool;
    /// Returns the programs that the lesson is about in a call that it applies to.
    fn programs(&self, session: &Session, call: &Call) -> BTreeSet<String>;
}

/// Judges one showing. `now` is in milliseconds since 1970.
pub fn judge(session: &Session, showing: &Showing, lesson: &dyn Asked, now: u64) -> Judged {
    let shown = &session.steps[showing.step];
    let own = own_call(session, shown);
    let evidence = |at: u64, call: &Call| Evidence {
        at,
        tool: call.tool.clone(),
        text: text_of(call),
        fate: call.fate.clone(),
        applies: lesson.applies(session, call),
    };
    let judged = |verdict, reason, following| Judged {
        verdict,
        how: showing.how,
        at: shown.at,
        session: session.id.clone(),
        reason,
        call: own.map(|(at, call)| evidence(at, call)),
        following,
    };
    let Some((ended, call)) = own else {
        return judged(Verdict::Open, "its call was not recorded", Vec::new());
    };
    if call.input.is_none() {
        return judged(Verdict::Open, "what its call did was let go", Vec::new());
    }
    // A call that began before the model could read the lesson is no answer to it.
    let since = if showing.how == How::Hint { ended } else { shown.at };
    let window = Window::after(session, showing.step, now);
    let is_answer = |(_, other): &(u64, &Call)| {
        other.began >= since
            && other.fate != Fate::Interrupted
            && !(other.tool_use_id.is_some() && other.tool_use_id == call.tool_use_id)
    };
    let answers: Vec<(u64, &Call)> = window.calls.iter().copied().filter(is_answer).collect();
    let same_tool = || answers.iter().copied().filter(|(_, other)| other.tool == call.tool);
    let wanted = lesson.programs(session, call);
    let has_program =
        |other: &Call| wanted.is_empty() || !wanted.is_disjoint(&crate::known::programs(session, other));
    let repeats: Vec<(u64, &Call)> =
        same_tool().filter(|(_, other)| has_program(other)).take(FOLLOWING).collect();
    let looked_at: Vec<(u64, &Call)> = match showing.how {
        How::Hint => repeats,
        How::Pause if !repeats.is_empty() => repeats,
        How::Pause | How::Guard => same_tool().take(FOLLOWING).collect(),
    };
    let following: Vec<Evidence> = looked_at.iter().map(|(at, call)| evidence(*at, call)).collect();
    let is_complete = following.len() == FOLLOWING || window.is_over;
    let (verdict, reason) = match showing.how {
        How::Hint => hint(&following, is_complete),
        How::Pause | How::Guard => {
            refusal(&following, is_complete, |place| is_unchanged(call, looked_at[place].1))
        }
    };
    judged(verdict, reason, following)
}

fn hint(following: &[Evidence], is_complete: bool) -> (Verdict, &'static str) {
    let again = following.iter().find(|call| call.applies && !is_refused(call));
    match again.map(|call| &call.fate) {
        Some(Fate::Succeeded) => return (Verdict::Overruled, "a call that it applies to succeeded"),
        Some(_) => return (Verdict::Ignored, "a call that it applies to failed"),
        None => {}
    }
    if !is_complete {
        return (Verdict::Open, "fewer than three calls of the program followed");
    }
    if following.iter().any(|call| !call.applies && call.fate == Fate::Succeeded) {
        return (Verdict::Heeded, "it applied to none of the calls that followed, and one succeeded");
    }
    match following.iter().any(|call| call.fate == Fate::Failed) {
        true => (Verdict::Failed, "it applied to none of the calls that followed, and none succeeded"),
        false => (Verdict::Open, "no call of the program followed"),
    }
}

fn refusal(
    following: &[Evidence],
    is_complete: bool,
    is_unchanged: impl Fn(usize) -> bool,
) -> (Verdict, &'static str) {
    if let Some(place) = following.iter().position(|call| call.applies) {
        let again = &following[place];
        return match &again.fate {
            Fate::Refused { .. } => (Verdict::Open, "a call that it applies to was refused again"),
            Fate::Failed => (Verdict::Ignored, "a call that it applies to was made, and failed"),
            _ if is_unchanged(place) => (Verdict::Overruled, "the call was repeated unchanged"),
            _ => (Verdict::Overruled, "a call that it applies to was made"),
        };
    }
    if following.iter().any(|call| call.fate == Fate::Succeeded) {
        return (Verdict::Heeded, "what was run instead succeeded");
    }
    match following.iter().any(|call| call.fate == Fate::Failed) {
        true if is_complete => (Verdict::Failed, "what was run instead failed"),
        true => (Verdict::Open, "what was run instead failed so far"),
        false => (Verdict::Open, "no call followed"),
    }
}

fn is_refused(call: &Evidence) -> bool {
    matches!(call.fate, Fate::Refused { .. })
}

/// Returns the call that a lesson was shown for, and when it ended.
fn own_call<'s>(session: &'s Session, shown: &'s Step) -> Option<(u64, &'s Call)> {
    match &shown.what {
        What::Call(call) => Some((shown.at, call)),
        What::Hints { call: Some(id), .. } => session.steps.iter().find_map(|step| match &step.what {
            What::Call(call) if call.tool_use_id.as_deref() == Some(id) && step.agent == shown.agent => {
                Some((step.at, call))
            }
            _ => None,
        }),
        _ => None,
    }
}

/// The rest of the window in which a lesson was shown.
struct Window<'s> {
    calls: Vec<(u64, &'s Call)>,
    is_over: bool,
}

impl<'s> Window<'s> {
    fn after(session: &'s Session, step: usize, now: u64) -> Self {
        let agent = &session.steps[step].agent;
        let mut window = Self { calls: Vec::new(), is_over: false };
        for later in &session.steps[step + 1..] {
            // A session that ended may go on.
            window.is_over = matches!(later.what, What::End | What::NewWindow);
            match &later.what {
                What::Call(call) if later.agent == *agent => window.calls.push((later.at, call)),
                // A compaction of the main window does not touch a subagent's.
                What::NewWindow if agent.is_none() => return window,
                What::NewWindow => window.is_over = false,
                _ => {}
            }
        }
        let last = session.steps.last().map_or(0, |step| step.at);
        window.is_over |= now.saturating_sub(last) > SILENCE.as_millis() as u64;
        window
    }
}

fn is_unchanged(one: &Call, other: &Call) -> bool {
    let value = |call: &Call| {
        let input = call.input.as_ref()?;
        let mut input: serde_json::Value = serde_json::from_str(input.get()).ok()?;
        // What the model says about a call is not the call.
        input.as_object_mut().map(|fields| fields.remove("description"));
        Some(input)
    };
    one.tool == other.tool && value(one).is_some() && value(one) == value(other)
}

/// Returns what a call is about: its command, else its input.
fn text_of(call: &Call) -> String {
    let Some(input) = &call.input else { return String::new() };
    let fields: serde_json::Value = serde_json::from_str(input.get()).unwrap_or_default();
    let field = ["command", "cmd", "file_path", "path"].iter().find_map(|name| fields[name].as_str());
    field.map_or_else(|| input.get().to_owned(), str::to_owned)
}
