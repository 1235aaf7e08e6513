//! From observations to contexts: a function of the set of observations alone. Their order and repetition do not matter, and
//! each part of them gives contexts, too.

use super::plan::Marks;
use super::{
    Action, Artifact, ArtifactKind, Binding, ById, Context, File, Git, Imported, LastSession, Mode, Note,
    Origin, SessionId, Work,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The permission mode in which nothing is done yet.
const PLAN_MODE: &str = "plan";
/// The start and the end of a session that `/clear` separates.
const CLEAR: &str = "clear";
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

#[derive(Debug, Default)]
struct Folding {
    contexts: ById,
    /// What each session works on.
    current: BTreeMap<SessionId, String>,
    /// What a session worked on that ended with this prompt.
    left: BTreeMap<String, (SessionId, String)>,
    /// The plan that each session showed last, until it is accepted or the user says something else.
    shown: BTreeMap<SessionId, (i64, Marks)>,
    /// The digests of what was taken up, by context.
    consumed: BTreeSet<(String, String)>,
}

impl Folding {
    fn take(&mut self, seen: &Seen) {
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
                self.shown.insert(session.clone(), (seen.at, marks.clone()));
            }
            What::AcceptedPlan(marks) => {
                self.shown.insert(session.clone(), (seen.at, marks.clone()));
                self.accept(session, seen.at);
            }
            What::Accepted => self.accept(session, seen.at),
            What::Refused => drop(self.shown.remove(session)),
            What::Start { source } => self.start(seen, source.as_deref()),
            What::End { reason } => self.end(seen, reason.as_deref()),
        }
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
        context.last_active = context.last_active.max(seen.at);
        if let Some(git) = &work.git {
            context.git = Some(git.clone());
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
            Action::Bind { permission_mode, .. } => {
                self.bind(seen, &work.context, permission_mode.as_deref());
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
                // What an import brought waits only where its own state says so.
                if handoff.origin == Origin::Asked {
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
        let before = self.current.insert(seen.session.clone(), id.to_owned());
        if let Some(context) = self.contexts.get_mut(id)
            && !context.sessions.iter().any(|binding| binding.session == seen.session)
        {
            let binding = Binding { session: seen.session.clone(), at: seen.at, is_current: true };
            context.sessions.push(binding);
        }
        self.set_current(id);
        if let Some(before) = before.filter(|before| before != id) {
            self.set_current(&before);
        }
        self.activate(&seen.session, permission_mode);
    }

    /// A session goes on from a handoff: it waits for no other, whether or not the session that wrote it has ended.
    fn resume(&mut self, seen: &Seen, id: &str, digest: &str) {
        self.consumed.insert((id.to_owned(), digest.to_owned()));
        if let Some(context) = self.contexts.get_mut(id)
            && let Some(artifact) = context.artifact.as_mut().filter(|artifact| artifact.digest == digest)
        {
            artifact.is_consumed = true;
            context.staged_at = None;
            context.is_offered = false;
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
            context.staged_at = None;
            context.is_offered = false;
            if let Some(artifact) = &mut context.artifact {
                artifact.is_consumed = true;
                self.consumed.insert((id.clone(), artifact.digest.clone()));
            }
        }
        context.mode = Mode::Active;
    }

    fn accept(&mut self, session: &SessionId, at: i64) {
        let Some((_, marks)) = self.shown.remove(session) else { return };
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

    /// Has a context hold this for the next session. The latest wins; what was taken up before is not left again.
    fn leave(&mut self, id: &str, artifact: Artifact) {
        let is_consumed = self.consumed.contains(&(id.to_owned(), artifact.digest.clone()));
        let Some(context) = self.contexts.get_mut(id) else { return };
        context.artifact = Some(Artifact { is_consumed, ..artifact });
        if context.mode.is_staged() {
            context.stage();
        }
    }

    fn end(&mut self, seen: &Seen, reason: Option<&str>) {
        let session = &seen.session;
        // To accept a plan and clear the context ends the session at once, and fires nothing else.
        if reason == Some(CLEAR) && self.shown.contains_key(session) {
            self.accept(session, seen.at);
        }
        self.shown.remove(session);
        let Some(id) = self.current.get(session).cloned() else { return };
        let Some(context) = self.contexts.get_mut(&id) else { return };
        context.last_active = context.last_active.max(seen.at);
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

    /// `/clear`, `/branch` and `/resume` end one session and start another with the same prompt: that one goes on with the work,
    /// unless it has some of its own.
    fn start(&mut self, seen: &Seen, source: Option<&str>) {
        let left = seen.prompt_id.as_ref().and_then(|prompt| self.left.get(prompt)).cloned();
        let Some((before, id)) = left.filter(|_| source != Some(STARTUP)) else { return };
        let is_open = self.contexts.get(&id).is_some_and(|context| !context.is_done);
        if before == seen.session || self.current.contains_key(&seen.session) || !is_open {
            return;
        }
        // What waits is taken up by `/clear` itself, and else by the first prompt.
        let permission_mode = (source != Some(CLEAR)).then_some(PLAN_MODE);
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
