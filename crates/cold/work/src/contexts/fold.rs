//! From observations to contexts: a function of the set of observations alone. Their order and repetition do not matter, and
//! each part of them gives contexts, too.

use super::plan::Marks;
use super::{
    Action, Artifact, ArtifactKind, Binding, ById, Context, File, Git, Imported, LastSession, Mode, Note,
    Origin, SessionId, Span, Work, is_stale,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The permission mode in which nothing is done yet.
const PLAN_MODE: &str = "plan";
/// The start and the end of a session that `/clear` separates.
const CLEAR: &str = "clear";
/// What bound a session that another system ran.
const IMPORT: &str = "import";
/// How a session began that continues none.
const STARTUP: &str = "startup";

/// An observation, as far as contexts are about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// In milliseconds since 1970.
    pub at: i64,
    pub session: SessionId,
    /// Unique in its session among those of one kind.
    pub id: String,
    pub prompt_id: Option<String>,
    /// The row of the session's project.
    pub project: i64,
    pub what: What,
}

/// What was observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    Prompt {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission_mode: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
    },
    /// A tool that changes something ran, not in plan mode.
    Changed,
    /// The model showed a plan.
    Plan(Marks),
    /// The user accepted this plan, which may have their changes in it.
    AcceptedPlan(Marks),
    /// The user accepted the plan that was shown last.
    Accepted,
    /// The user refused it.
    Refused,
    /// The client's list of tasks changed.
    Task(Listed),
    Start {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    End {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Work(Box<Work>),
}

/// What a call did to a list of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listed {
    /// A task was added under this number.
    Added(String),
    /// It is at this now.
    Moved { number: String, to: Standing },
    /// The whole list was written anew.
    Written(Vec<Standing>),
}

/// How far a task is, as far as a plan is about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Open,
    Completed,
    /// It was taken out of the list.
    Gone,
}

impl What {
    /// Things of one moment have an order: what a session works on is known before what it does.
    fn rank(&self) -> u8 {
        match self {
            Self::End { .. } => 0,
            Self::Start { .. } => 1,
            Self::Work(_) => 2,
            Self::Prompt { .. } => 3,
            Self::Plan(_) => 4,
            Self::Accepted => 5,
            Self::AcceptedPlan(_) => 6,
            Self::Refused => 7,
            Self::Changed => 8,
            Self::Task(_) => 9,
        }
    }
}

/// Returns the contexts that observations make.
pub fn fold(seen: &[Seen]) -> ById {
    let mut ordered: Vec<&Seen> = seen.iter().collect();
    ordered.sort_by(|a, b| key(a).cmp(&key(b)));
    ordered.dedup_by(|a, b| key(a) == key(b));
    let mut folding = Folding::default();
    for seen in ordered {
        folding.take(seen);
    }
    folding.contexts
}

fn key(seen: &Seen) -> (i64, u8, &SessionId, &str) {
    (seen.at, seen.what.rank(), &seen.session, &seen.id)
}

/// A plan that the user accepted, and how far its own session is with it.
#[derive(Debug)]
struct Pursued {
    digest: String,
    /// The tasks that were listed since, by their numbers.
    tasks: BTreeMap<String, Standing>,
}

impl Pursued {
    fn take(&mut self, listed: &Listed) {
        match listed {
            Listed::Added(number) => drop(self.tasks.insert(number.clone(), Standing::Open)),
            Listed::Moved { number, to } => {
                if let Some(task) = self.tasks.get_mut(number) {
                    *task = *to;
                }
            }
            Listed::Written(tasks) => {
                self.tasks = tasks.iter().enumerate().map(|(at, task)| (at.to_string(), *task)).collect();
            }
        }
    }

    /// Says whether tasks were listed and none of them is open.
    fn is_carried_out(&self) -> bool {
        self.tasks.values().any(|task| *task == Standing::Completed)
            && self.tasks.values().all(|task| *task != Standing::Open)
    }
}

/// A plan that waits for the user's word.
#[derive(Debug)]
struct Shown {
    /// The prompt that it was made for.
    prompt_id: Option<String>,
    marks: Marks,
}

#[derive(Debug, Default)]
struct Folding {
    contexts: ById,
    /// The sessions that something was seen of.
    known: BTreeSet<SessionId>,
    /// What each session works on.
    current: BTreeMap<SessionId, String>,
    /// What a session worked on that ended with this prompt.
    left: BTreeMap<String, (SessionId, String)>,
    /// The plan that each session showed last, until it is accepted or the user says something else.
    shown: BTreeMap<SessionId, Shown>,
    /// The plan that each session had accepted last.
    pursued: BTreeMap<SessionId, Pursued>,
    /// The sessions that an import bound.
    imported: BTreeSet<SessionId>,
    /// The context that each session was bound to last, also after that was done.
    held: BTreeMap<SessionId, String>,
    /// The digests of what was taken up, by context.
    consumed: BTreeSet<(String, String)>,
    /// The digests of handoffs of compactions that were stopped.
    stopped: BTreeSet<String>,
}

impl Folding {
    fn take(&mut self, seen: &Seen) {
        self.apply(seen);
        self.known.insert(seen.session.clone());
    }

    fn apply(&mut self, seen: &Seen) {
        let session = &seen.session;
        match &seen.what {
            What::Work(work) => self.act(seen, work),
            What::Prompt { permission_mode, branch } => {
                // Esc at a plan fires nothing: the next prompt says that it was not accepted.
                self.shown.remove(session);
                let Some(context) = self.bound(session, seen.at) else { return };
                if let Some(branch) = branch {
                    context.git.get_or_insert_default().branch = Some(branch.clone());
                }
                self.activate(session, permission_mode.as_deref());
            }
            What::Changed => {
                if self.bound(session, seen.at).is_some() {
                    self.activate(session, None);
                }
            }
            What::Plan(marks) => {
                self.bound(session, seen.at);
                self.show(seen, marks);
            }
            What::AcceptedPlan(marks) => {
                self.show(seen, marks);
                self.accept(session, seen.at);
            }
            What::Accepted => self.accept(session, seen.at),
            What::Refused => drop(self.shown.remove(session)),
            What::Task(listed) => {
                if let Some(pursued) = self.pursued.get_mut(session) {
                    pursued.take(listed);
                }
            }
            What::Start { source } => self.start(seen, source.as_deref()),
            What::End { reason } => self.end(seen, reason.as_deref()),
        }
    }

    fn show(&mut self, seen: &Seen, marks: &Marks) {
        let shown = Shown { prompt_id: seen.prompt_id.clone(), marks: marks.clone() };
        self.shown.insert(seen.session.clone(), shown);
    }

    /// Returns the context that a session works on, which is active at this moment.
    fn bound(&mut self, session: &SessionId, at: i64) -> Option<&mut Context> {
        let context = self.contexts.get_mut(self.current.get(session)?)?;
        context.last_active = context.last_active.max(at);
        Some(context)
    }

    fn act(&mut self, seen: &Seen, work: &Work) {
        let context = self.contexts.entry(work.context.clone()).or_insert_with(|| Context {
            id: work.context.clone(),
            created_at: seen.at,
            project: Some(seen.project),
            ..Context::default()
        });
        if work.action != Action::Offered {
            context.last_active = context.last_active.max(seen.at);
            if let Some(git) = &work.git {
                context.git = Some(git.clone());
            }
        }
        match &work.action {
            Action::New { summary, tags, method, bind, permission_mode } => {
                // Made once: of two the first counts, and a person's edit counts more than either.
                if context.method.is_empty() {
                    context.method.clone_from(method);
                    context.project = Some(seen.project);
                    context.created_at = seen.at;
                    if context.summary.is_empty() {
                        context.summary.clone_from(summary);
                    }
                    if context.tags.is_empty() {
                        context.tags.clone_from(tags);
                    }
                }
                if *bind {
                    self.bind(seen, &work.context, permission_mode.as_deref());
                }
            }
            Action::Bind { via, permission_mode } => {
                let mode = permission_mode.as_deref();
                if via == IMPORT {
                    self.imported.insert(seen.session.clone());
                    self.attach(seen, &work.context, mode);
                } else {
                    self.bind(seen, &work.context, mode);
                }
            }
            Action::Edit { summary, tags } => {
                context.summary = summary.clone().unwrap_or_else(|| context.summary.clone());
                context.tags = tags.clone().unwrap_or_else(|| context.tags.clone());
            }
            Action::Note { text } => context.notes.push(Note { at: seen.at, text: text.clone() }),
            Action::Done => {
                context.is_done = true;
                context.rest();
                self.current.retain(|_, current| *current != work.context);
                self.set_current(&work.context);
            }
            Action::Reopen => {
                context.is_done = false;
                context.rest();
            }
            Action::Offered => context.is_offered = context.mode.is_staged(),
            Action::Handoff(handoff) => {
                let artifact = Artifact {
                    kind: ArtifactKind::Handoff,
                    at: seen.at,
                    digest: handoff.digest.clone(),
                    marks: None,
                    path: handoff.path.clone(),
                    is_consumed: false,
                };
                let is_left = match handoff.origin {
                    Origin::Asked => true,
                    Origin::Stopped => !self.has_of_a_person(&work.context, seen.at),
                    // What an import brought waits only where its own state says so.
                    Origin::Compaction | Origin::Import => false,
                };
                if handoff.origin == Origin::Stopped {
                    self.stopped.insert(handoff.digest.clone());
                }
                if is_left {
                    self.leave(&work.context, artifact);
                }
            }
            Action::Resumed { digest } => self.resume(seen, &work.context, digest),
            Action::Window { remaining_pct, warnings_fired } => {
                let last = context.last_session.get_or_insert_default();
                last.session_id.clone_from(&seen.session.id);
                last.saved_at = seen.at;
                last.context_remaining_pct = Some(*remaining_pct);
                for fired in warnings_fired {
                    if !last.context_warnings_fired.contains(fired) {
                        last.context_warnings_fired.push(fired.clone());
                    }
                }
            }
            Action::Import(imported) => context.import(imported),
        }
    }

    fn bind(&mut self, seen: &Seen, id: &str, permission_mode: Option<&str>) {
        self.attach(seen, id, permission_mode);
        self.hold(seen, id);
    }

    fn attach(&mut self, seen: &Seen, id: &str, permission_mode: Option<&str>) {
        let before = self.current.insert(seen.session.clone(), id.to_owned());
        if let Some(context) = self.contexts.get_mut(id)
            && !context.sessions.iter().any(|binding| binding.session == seen.session)
        {
            let session = seen.session.clone();
            context.sessions.push(Binding { session, at: seen.at, is_current: true, spans: Vec::new() });
        }
        self.set_current(id);
        if let Some(before) = before.filter(|before| before != id) {
            self.set_current(&before);
        }
        self.activate(&seen.session, permission_mode);
    }

    /// Notes that what a session does from now on belongs to a context. What it did before its first one belongs to that, unless
    /// it is of another system, where a session may be bound to several at once.
    fn hold(&mut self, seen: &Seen, id: &str) {
        let held = self.held.insert(seen.session.clone(), id.to_owned());
        if held.as_deref() == Some(id) {
            return;
        }
        let is_first = held.is_none() && !self.imported.contains(&seen.session);
        let from = if is_first { 0 } else { seen.at };
        if let Some(span) = held.and_then(|held| self.binding(&held, &seen.session)?.spans.last_mut()) {
            span.to = Some(seen.at);
        }
        if let Some(binding) = self.binding(id, &seen.session) {
            binding.spans.push(Span { from, to: None });
        }
    }

    fn binding(&mut self, id: &str, session: &SessionId) -> Option<&mut Binding> {
        self.contexts.get_mut(id)?.sessions.iter_mut().find(|binding| binding.session == *session)
    }

    /// A session goes on from a handoff: it waits for no other, whether or not the session that wrote it has ended.
    fn resume(&mut self, seen: &Seen, id: &str, digest: &str) {
        self.consumed.insert((id.to_owned(), digest.to_owned()));
        if let Some(context) = self.contexts.get_mut(id)
            && context.artifact.as_ref().is_some_and(|artifact| artifact.digest == digest)
        {
            context.take_up();
            context.mode = Mode::Active;
        }
        // A plan that waits in the same context goes on waiting.
        self.bind(seen, id, Some(PLAN_MODE));
    }

    /// Notes which sessions still work on a context.
    fn set_current(&mut self, id: &str) {
        let Some(context) = self.contexts.get_mut(id) else { return };
        for binding in &mut context.sessions {
            binding.is_current = self.current.get(&binding.session).is_some_and(|current| current == id);
        }
    }

    /// Work begins or goes on, unless in plan mode; what was staged is taken up by it.
    fn activate(&mut self, session: &SessionId, permission_mode: Option<&str>) {
        if permission_mode == Some(PLAN_MODE) {
            return;
        }
        let Some(id) = self.current.get(session) else { return };
        let Some(context) = self.contexts.get_mut(id) else { return };
        if context.mode.is_staged() {
            context.take_up();
            let digest = context.artifact.as_ref().map(|artifact| artifact.digest.clone());
            self.consumed.extend(digest.map(|digest| (id.clone(), digest)));
        }
        context.mode = Mode::Active;
    }

    fn accept(&mut self, session: &SessionId, at: i64) {
        let Some(Shown { marks, .. }) = self.shown.remove(session) else { return };
        let pursued = Pursued { digest: marks.digest.clone(), tasks: BTreeMap::new() };
        // It may be told twice, once with the call and once with the text.
        if self.pursued.get(session).is_none_or(|before| before.digest != pursued.digest) {
            self.pursued.insert(session.clone(), pursued);
        }
        let Some(id) = self.current.get(session).cloned() else { return };
        let artifact = Artifact {
            kind: ArtifactKind::Plan,
            at,
            digest: marks.digest.clone(),
            marks: Some(marks),
            path: None,
            is_consumed: false,
        };
        self.leave(&id, artifact);
    }

    /// Says whether a context holds a handoff that a person asked for and no session has gone on from, unless it is old.
    fn has_of_a_person(&self, id: &str, now: i64) -> bool {
        let artifact = self.contexts.get(id).and_then(|context| context.artifact.as_ref());
        artifact.is_some_and(|artifact| {
            artifact.kind == ArtifactKind::Handoff
                && !artifact.is_consumed
                && !self.stopped.contains(&artifact.digest)
                && !is_stale(artifact.at, now)
        })
    }

    /// Has a context hold this for the next session. The latest wins; what was taken up before is not left again.
    fn leave(&mut self, id: &str, artifact: Artifact) {
        let is_consumed = self.consumed.contains(&(id.to_owned(), artifact.digest.clone()));
        let Some(context) = self.contexts.get_mut(id) else { return };
        context.artifact = Some(Artifact { is_consumed, ..artifact });
        if is_consumed {
            context.take_up();
        } else if context.mode.is_staged() {
            context.stage();
        }
    }

    fn end(&mut self, seen: &Seen, reason: Option<&str>) {
        let session = &seen.session;
        // To accept a plan and clear the context ends the session at once under the plan's prompt, and fires nothing else. A
        // `/clear` that the user types has a prompt of its own.
        let is_accepted = |shown: &Shown| shown.prompt_id.is_some() && shown.prompt_id == seen.prompt_id;
        if reason == Some(CLEAR) && self.shown.get(session).is_some_and(is_accepted) {
            self.accept(session, seen.at);
        }
        self.shown.remove(session);
        let Some(id) = self.current.get(session).cloned() else { return };
        let Some(context) = self.contexts.get_mut(&id) else { return };
        context.last_active = context.last_active.max(seen.at);
        // A plan whose own session completed every task that it listed for it waits for no other.
        if let Some(digest) = context.artifact.as_ref().map(|artifact| artifact.digest.clone())
            && let Some(pursued) = self.pursued.get(session)
            && pursued.digest == digest
            && pursued.is_carried_out()
        {
            context.take_up();
            self.consumed.insert((id.clone(), digest));
        }
        let last = context.last_session.get_or_insert_default();
        if last.session_id != session.id {
            *last = LastSession::default();
        }
        last.session_id.clone_from(&session.id);
        last.saved_at = seen.at;
        last.save_reason = Some(reason.unwrap_or("unknown").to_owned());
        if context.artifact.as_ref().is_some_and(|artifact| !artifact.is_consumed) && !context.is_done {
            if !context.mode.is_staged() {
                context.staged_at = Some(seen.at);
            }
            context.stage();
        }
        if let Some(prompt) = &seen.prompt_id {
            self.left.insert(prompt.clone(), (session.clone(), id));
        }
    }

    /// `/clear`, `/branch` and `/resume` end one session and start another with the same prompt: a new one goes on with the work.
    /// An earlier one, which `/resume` goes back to, has work of its own, or none that is still open.
    fn start(&mut self, seen: &Seen, source: Option<&str>) {
        let left = seen.prompt_id.as_ref().and_then(|prompt| self.left.get(prompt)).cloned();
        let Some((before, id)) = left.filter(|_| source != Some(STARTUP)) else { return };
        let Some(context) = self.contexts.get(&id).filter(|context| !context.is_done) else { return };
        if before == seen.session || self.known.contains(&seen.session) {
            return;
        }
        // What waits is taken up by `/clear` itself; and else the first prompt says whether the work begins.
        let is_taken_up = source == Some(CLEAR) && context.mode.is_staged();
        let permission_mode = (!is_taken_up).then_some(PLAN_MODE);
        self.bind(seen, &id, permission_mode);
    }
}

impl Context {
    /// Holds nothing for the next session any more.
    fn rest(&mut self) {
        self.mode = Mode::Idle;
        self.artifact = None;
        self.staged_at = None;
        self.is_offered = false;
    }

    /// What was left is a session's now, and waits for no other.
    fn take_up(&mut self) {
        if let Some(artifact) = &mut self.artifact {
            artifact.is_consumed = true;
        }
        if self.mode.is_staged() {
            self.mode = Mode::Active;
        }
        self.staged_at = None;
        self.is_offered = false;
    }

    fn stage(&mut self) {
        self.is_offered = false;
        self.mode = match self.artifact.as_ref().map(|artifact| artifact.kind) {
            Some(ArtifactKind::Plan) => Mode::HasPlan,
            Some(ArtifactKind::Handoff) => Mode::HasHandoff,
            None => self.mode,
        };
    }

    fn import(&mut self, imported: &Imported) {
        let Imported { mode, is_done, artifact, last_session, git, files, extra } = imported;
        self.mode = *mode;
        self.is_done = *is_done;
        self.artifact.clone_from(artifact);
        self.staged_at = mode.is_staged().then_some(self.last_active);
        self.last_session = last_session.clone().or(self.last_session.take());
        self.git = git.clone().or_else(|| self.git.take());
        self.files = files.iter().map(|file| File { text: String::new(), ..file.clone() }).collect();
        self.extra.extend(extra.clone());
    }
}

/// Returns the branch and commit of the repository that a folder is in.
pub fn git_of(folder: &std::path::Path) -> Option<Git> {
    let repository = base::project::Repository::above(folder)?;
    let branch = repository.branch();
    branch.is_some().then(|| Git { branch, ..Git::default() })
}

#[cfg(test)]
mod tests;
