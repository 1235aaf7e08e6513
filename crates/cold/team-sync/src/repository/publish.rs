//! Publishing: a commit on top of the remote's tip, pushed again and again until it lands or the time is up.

use crate::repository::bounds::{self, Why};
use crate::repository::checkout::{keep, put};
use crate::repository::config::Remote;
use crate::repository::fetch::Fetched;
use crate::repository::git::{self, Failure, Output};
use crate::repository::local::Local;
use crate::repository::lock::SyncLock;
use crate::repository::objects::Snapshot;
use crate::repository::survey::{self, Omission};
use crate::repository::team::{Ref, Refs, Team};
use crate::repository::trees::Edits;
use crate::repository::{Error, Merge, Outgoing};
use base::{Timestamp, files};
use git2::{Oid, Signature, Time};
use place::{Mode, Reason, is_shared};
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

/// Shared files by their path relative to `.wyren/`; `None` removes one.
pub type Files = BTreeMap<String, Option<Vec<u8>>>;

/// How recent a fetch must be to push on top of it without another.
const FRESH: Duration = Duration::from_secs(2);

/// The longest pause after the first push that others outran; doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The longest pause between two pushes.
const LONGEST_PAUSE: Duration = Duration::from_millis(640);

/// Who commits when git does not know who the user is.
const UNKNOWN_USER: (&str, &str) = ("Wyren", "wyren@localhost");

/// How many characters of a session's id the subject of a commit shows, as in the Node version.
const SESSION_CHARS: usize = 8;

/// What is in the place of a session in the subject of a commit that no session made, as in the Node version.
const NO_SESSION: &str = "manual";

/// How a publication ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// It is on the remote, with this commit.
    Landed(String),
    /// The remote has all of it already.
    Nothing,
    /// It did not land now; it is kept, and goes with the next publication.
    Queued(Reason),
}

/// How a push ended.
pub(super) enum Pushed {
    Landed,
    Outrun,
    Refused(String),
    Failed(Reason),
}

impl Team {
    /// Publishes the local copy, together with what is queued, and removes files for the whole team.
    ///
    /// The copy of a file replaces what is queued of it; a file that is not there is as it was. What [`Merge::published`]
    /// keeps back goes nowhere. Everything is kept before the network is asked, and stays queued until it lands; only with
    /// [`Reason::Busy`], [`Reason::Detached`] and [`Reason::NotAllowed`] it is not, and the local copy alone has it. The local copy itself is not
    /// changed: that is [`Team::checkout`]'s.
    pub fn publish(
        &self,
        outgoing: &Outgoing<'_>,
        merge: &dyn Merge,
        deadline: Instant,
    ) -> Result<Published, Error> {
        if !outgoing.leave.covers(self) {
            return Ok(Published::Queued(Reason::NotAllowed));
        }
        if self.branch.is_none() {
            // Without a branch there is nowhere to queue; the local copy itself keeps it.
            return Ok(Published::Queued(Reason::Detached));
        }
        let lock = SyncLock::take_with_node(&self.folder, deadline).map_err(Error::file(&self.folder))?;
        let Some(lock) = lock else { return Ok(Published::Queued(Reason::Busy)) };
        // Read under the lock: what was read before another process published would look like the removal of what that one
        // added.
        let mut files = self.local_files()?;
        files.extend(outgoing.removed.iter().map(|path| (path.clone(), None)));
        let files = &files;
        if let Some(path) = files.keys().find(|path| !is_shared(path)) {
            return Err(Error::NotShared(path.clone()));
        }
        let mut refs = self.refs()?;
        let local = match self.enqueue(files, merge, &mut refs) {
            Err(Error::Busy) => return Ok(Published::Queued(Reason::Busy)),
            local => local?,
        };
        if local.pending == local.base && outgoing.taken_away.is_empty() && !outgoing.replaces {
            return Ok(Published::Nothing);
        }
        if let Some(until) = self.backing_off() {
            return Ok(Published::Queued(Reason::BackingOff(until)));
        }
        let (remote, branch) = match self.target() {
            Ok(target) => target,
            Err(reason) => return Ok(Published::Queued(reason)),
        };
        if self.has_inner_remote() {
            let words = "the remote is a folder inside this repository, whose hooks would run";
            return Ok(Published::Queued(Reason::Unusable(words.to_owned())));
        }
        let (subject, signature) = (subject(outgoing.session), self.signature()?);
        let publication = Publication {
            team: self,
            remote,
            branch,
            files,
            outgoing,
            merge,
            subject,
            signature,
            deadline,
            refs,
            local,
        };
        match publication.push_until_landed(&lock) {
            Err(Error::Busy) => Ok(Published::Queued(Reason::Busy)),
            published => published,
        }
    }

    /// Returns whether a push goes to a folder in the clone itself. An archive can bring such a repository, with hooks.
    fn has_inner_remote(&self) -> bool {
        let repository = &self.place.repository;
        let folders = [&repository.root, &repository.git_folder, &repository.common_folder];
        self.destinations().iter().any(|destination| {
            // The key of a folder has no `.git` at its end.
            let above = Path::new(destination).parent().filter(|_| Path::new(destination).has_root());
            above.is_some_and(|above| {
                folders.iter().any(|folder| files::canonical(above).starts_with(files::canonical(folder)))
            })
        })
    }

    /// Keeps the files as what is to be on the remote, without what is not to leave this machine.
    fn enqueue(&self, files: &Files, merge: &dyn Merge, refs: &mut Refs) -> Result<Local, Error> {
        let mut local = self.local(refs)?;
        let noted = local.clone();
        if let Some(tip) = refs.tip {
            self.settle(&mut local, tip)?;
        }
        let mut pending = local.pending.or_else(|| local.base.clone()).unwrap_or_default();
        for (path, contents) in files {
            match contents {
                Some(contents) => {
                    if let Some(contents) = merge.published(path, contents) {
                        put(&mut pending, path, self.objects.write(&contents)?);
                    }
                }
                None => {
                    pending.remove(path);
                }
            }
        }
        local.pending = Some(pending);
        if local.base.is_none() && local.pending == Some(Snapshot::new()) && files.is_empty() {
            // Nothing was ever shared, and nothing is to be.
            local.base.clone_from(&local.pending);
            return Ok(local);
        }
        if local != noted {
            self.note(refs, &local)?;
        }
        Ok(local)
    }

    /// Finds out whether the last push landed without our hearing of it, and notes what it means.
    pub(crate) fn settle(&self, local: &mut Local, tip: Oid) -> Result<bool, Error> {
        let Some(candidate) = local.candidate else { return Ok(false) };
        if !self.is_ancestor(candidate, tip)? {
            return Ok(false);
        }
        local.agreed = local.candidate.take();
        local.base = local.sent.take();
        Ok(true)
    }

    /// Returns what the merge is based on. Before the first sync that is where the branch and the copy parted, as far as it
    /// concerns the files that are to be published: the others are not removed just because they were not given.
    fn merge_base(
        &self,
        local: &Local,
        ours: &Snapshot,
        files: &Files,
        tip: Option<Oid>,
        deadline: Instant,
    ) -> Result<Snapshot, Error> {
        match (&local.base, tip) {
            (Some(base), Some(_)) => Ok(base.clone()),
            (None, Some(tip)) => {
                let mut base = self.first_base(tip, deadline)?;
                base.retain(|path, _| ours.contains_key(path) || files.contains_key(path));
                Ok(base)
            }
            (_, None) => Ok(Snapshot::new()),
        }
    }

    /// Pushes a commit that was built on top of `tip`, if that is still what the remote has: one that deleted the branch
    /// meanwhile does not get it back.
    fn push(
        &self,
        remote: &Remote,
        branch: &str,
        (tip, commit): (Option<Oid>, Oid),
        deadline: Instant,
    ) -> Result<Pushed, Error> {
        let expected = tip.map(|tip| tip.to_string()).unwrap_or_default();
        let lease = format!("--force-with-lease=refs/heads/{branch}:{expected}");
        let refspec = format!("{commit}:refs/heads/{branch}");
        let arguments = [
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--no-signed",
            "--recurse-submodules=no",
            &lease,
            "--",
            &remote.name,
            &refspec,
        ];
        let begun = Instant::now();
        match self.relay()?.network(&arguments, Vec::new(), deadline) {
            Err(Failure::Start(error)) => Err(error),
            Err(Failure::TimedOut) => self.timed_out(begun).map(Pushed::Failed),
            Ok(output) if output.is_success() => Ok(Pushed::Landed),
            Ok(output) => match verdict_of(&output) {
                Pushed::Failed(Reason::Unreachable(words)) => {
                    self.failed(Reason::Unreachable(self.relay()?.explained(words))).map(Pushed::Failed)
                }
                Pushed::Failed(reason) => self.failed(reason).map(Pushed::Failed),
                pushed => Ok(pushed),
            },
        }
    }

    /// Notes that the remote's tip is the commit that just landed there.
    fn note_tip(&self, commit: Oid) -> Result<(), Error> {
        let mut state = self.state();
        state.previous = state.tip.replace(commit.to_string());
        state.verdict = Some(match state.previous {
            Some(_) => place::Verdict::FastForward,
            None => place::Verdict::New,
        });
        state.succeed(Timestamp::now());
        self.write_state(&mut state)
    }

    /// Returns whether the last fetch of this branch is so recent that another would see the same.
    fn is_fresh(&self) -> bool {
        let state = self.state();
        let age = Timestamp::now().millis_since(Timestamp::from_millis(state.fetched_at));
        state.remote.as_deref() == self.remote()
            && state.branch == self.branch
            && u128::from(age) < FRESH.as_millis()
    }

    /// Returns who commits, as git itself would put it, and when.
    fn signature(&self) -> Result<Signature<'static>, Error> {
        let output = self.git.local(&["var", "GIT_AUTHOR_IDENT"])?;
        let known = output.is_success().then(|| parse_identity(&output.line())).flatten();
        known.or_else(|| Signature::now(UNKNOWN_USER.0, UNKNOWN_USER.1).ok()).ok_or_else(|| Error::Object {
            action: "sign the commit",
            words: "the time is not known".to_owned(),
        })
    }
}

/// A publication on its way to the remote.
struct Publication<'a> {
    team: &'a Team,
    remote: &'a Remote,
    branch: &'a str,
    files: &'a Files,
    outgoing: &'a Outgoing<'a>,
    merge: &'a dyn Merge,
    subject: String,
    signature: Signature<'static>,
    deadline: Instant,
    refs: Refs,
    local: Local,
}

/// A commit on top of the remote's tip.
struct Candidate {
    tip: Option<Oid>,
    commit: Oid,
    /// The local copy that it contains.
    ours: Snapshot,
}

/// What a commit is to change.
struct Plan {
    edits: Edits,
    /// The local copy as far as the remote has it with the commit.
    agreed: Snapshot,
    /// What stays queued because it is left out on the remote, or would be, and why.
    blocked: Option<String>,
}

/// What there is to push.
enum Built {
    Candidate(Candidate),
    /// Nothing, and how the publication ended.
    Done(Published),
}

impl Publication<'_> {
    /// Fetches, merges and pushes, again and again while others push first.
    fn push_until_landed(mut self, lock: &SyncLock) -> Result<Published, Error> {
        let mut pause = FIRST_PAUSE;
        // A push whose end is not known must be looked for before another takes its place.
        let mut must_fetch = !self.team.is_fresh() || self.local.candidate.is_some();
        loop {
            lock.renew();
            if must_fetch
                && let Fetched::Failed(reason) = self.team.fetch_locked(&mut self.refs, self.deadline)?
            {
                return Ok(Published::Queued(reason));
            }
            let has_fetched = std::mem::replace(&mut must_fetch, true);
            let candidate = match self.build()? {
                Built::Candidate(candidate) => candidate,
                // By now a teammate may have removed what is left out.
                Built::Done(Published::Queued(Reason::LeftOut(_))) if !has_fetched => continue,
                Built::Done(published) => return Ok(published),
            };
            let commits = (candidate.tip, candidate.commit);
            match self.team.push(self.remote, self.branch, commits, self.deadline)? {
                Pushed::Landed => return self.note_landed(candidate),
                Pushed::Refused(words) => return Ok(Published::Queued(Reason::Refused(words))),
                Pushed::Failed(reason) => return Ok(Published::Queued(reason)),
                Pushed::Outrun => {}
            }
            let moment = Instant::now() + jitter(pause);
            if moment >= self.deadline {
                return Ok(Published::Queued(Reason::Outrun));
            }
            std::thread::sleep(moment - Instant::now());
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Merges what is queued with the remote's tip into a commit, and notes it before it is pushed.
    fn build(&mut self) -> Result<Built, Error> {
        let (team, tip) = (self.team, self.refs.tip);
        if self.refs.before.is_some() {
            return Ok(Built::Done(Published::Queued(Reason::Rewritten)));
        }
        if tip.is_none() && team.mode == Mode::Branch {
            let reason = Reason::NotOnRemote(self.branch.to_owned());
            return Ok(Built::Done(Published::Queued(reason)));
        }
        let landed = self.local.candidate;
        let has_landed = match tip {
            Some(tip) => team.settle(&mut self.local, tip)?,
            None => false,
        };
        let ours = self.local.pending.clone().unwrap_or_default();
        let base = team.merge_base(&self.local, &ours, self.files, tip, self.deadline)?;
        let plan = self.plan(base, ours)?;
        if plan.edits.is_empty() {
            self.agree(plan.agreed, tip);
            team.note(&mut self.refs, &self.local)?;
            let landed = landed.filter(|_| has_landed).map(|commit| Published::Landed(commit.to_string()));
            let blocked = plan.blocked.map(|why| Published::Queued(Reason::LeftOut(why)));
            return Ok(Built::Done(landed.or(blocked).unwrap_or(Published::Nothing)));
        }
        let commit = team.objects.commit(tip, &plan.edits, &self.subject, &self.signature)?;
        self.local.sent = Some(plan.agreed.clone());
        self.local.candidate = Some(commit);
        team.note(&mut self.refs, &self.local)?;
        Ok(Built::Candidate(Candidate { tip, commit, ours: plan.agreed }))
    }

    /// Merges what is queued with what the remote has, but for what is left out there: that is neither replaced nor removed
    /// without a person's word, and our version of it stays queued.
    fn plan(&self, mut base: Snapshot, ours: Snapshot) -> Result<Plan, Error> {
        let objects = &self.team.objects;
        let survey = self.team.survey(self.refs.tip, &[&base, &ours])?;
        let mut edits = Edits::default();
        let is_taken_away = |it: &&Omission| self.outgoing.taken_away.contains(&it.left_out().path);
        // A folder in the place of the memory, or a file in that of a folder, goes with what replaces it.
        let is_in_the_way = |it: &&Omission| self.outgoing.replaces && it.why == Why::FileAndFolder;
        for omission in survey.omissions.iter().filter(|it| is_taken_away(it) || is_in_the_way(it)) {
            edits.remove(omission);
        }
        let is_free = |path: &String| {
            let parts = survey::split(path);
            let is_within = |it: &Omission| is_taken_away(&it) && parts.starts_with(&it.parts);
            self.outgoing.replaces || survey.omissions.iter().any(is_within)
        };
        let mut theirs = survey.taken(&base);
        for path in survey.frozen.iter().filter(|path| is_free(path)) {
            base.remove(path);
            theirs.remove(path);
        }
        let mut wanted = objects.merge(self.merge, &base, &ours, &theirs)?;
        let mut agreed = ours.clone();
        let mut blocked = None;
        for path in ours.keys() {
            if wanted.contains_key(path) && survey.occupied_part(path, &wanted).is_some() {
                // The checkout gives it another name.
                agreed.remove(path);
                wanted.remove(path);
                continue;
            }
            let version = wanted.get(path).filter(|version| theirs.get(path) != Some(version));
            let is_frozen = survey.frozen.contains(path) && !is_free(path);
            let is_large = match version {
                Some(version) => objects.size(*version)? > bounds::max_size(path),
                None => false,
            };
            if (version.is_some() && is_frozen) || is_large {
                let omission = survey.omissions.iter().find(|it| survey::split(path).starts_with(&it.parts));
                let why =
                    omission.filter(|_| is_frozen).map_or(Why::Large(bounds::max_size(path)), |it| it.why);
                blocked = blocked.or(Some(format!("{}: {why}", bounds::shown(&survey::split(path)))));
                keep(&mut wanted, path, &theirs);
            }
            if is_frozen || is_large {
                keep(&mut agreed, path, &base);
            }
        }
        for path in theirs.keys().filter(|path| !wanted.contains_key(*path)) {
            edits.remove_file(path);
        }
        // A folder that is taken away is made anew with what is wanted of it.
        let is_made_anew = |path: &String| {
            let parts = survey::split(path);
            survey.omissions.iter().any(|it| is_taken_away(&it) && parts.starts_with(&it.parts))
        };
        for (path, id) in
            wanted.iter().filter(|(path, id)| theirs.get(*path) != Some(id) || is_made_anew(path))
        {
            edits.file(path, *id);
        }
        Ok(Plan { edits, agreed, blocked })
    }

    fn note_landed(mut self, candidate: Candidate) -> Result<Published, Error> {
        let Candidate { commit, ours, .. } = candidate;
        self.agree(ours, Some(commit));
        let bundle = self.local.write(&self.team.objects)?;
        self.team.update_refs(&self.refs, &[(Ref::Local, Some(bundle)), (Ref::Remote, Some(commit))])?;
        self.team.note_tip(commit)?;
        Ok(Published::Landed(commit.to_string()))
    }

    /// The remote has `ours` with the commit `agreed`.
    fn agree(&mut self, ours: Snapshot, agreed: Option<Oid>) {
        let pending = self.local.pending.take();
        let copy = self.team.origin_and_copy().1;
        self.local = Local { base: Some(ours), pending, sent: None, candidate: None, agreed, copy };
    }
}

/// Reads `Ada <ada@host> 1794796001 +0100`.
fn parse_identity(line: &str) -> Option<Signature<'static>> {
    let (name, rest) = line.split_once(" <")?;
    let (email, when) = rest.rsplit_once("> ")?;
    let (seconds, zone) = when.split_once(' ')?;
    let zone: i32 = zone.parse().ok()?;
    Signature::new(name, email, &Time::new(seconds.parse().ok()?, zone / 100 * 60 + zone % 100)).ok()
}

/// Returns the subject of a commit, as the Node version writes it.
fn subject(session: Option<&str>) -> String {
    let plain = |session: &str| session.chars().filter(|c| !c.is_control()).take(SESSION_CHARS).collect();
    let short: String = session.map(plain).unwrap_or_default();
    let short = if short.trim().is_empty() { NO_SESSION } else { &short };
    format!("[wyren] memory update (session {short})")
}

/// Reads what a push that failed says about our reference: `!<tab>from:to<tab>[rejected] (fetch first)`.
pub(super) fn verdict_of(output: &Output) -> Pushed {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let summary = stdout.lines().find_map(|line| line.strip_prefix("!\t")?.split('\t').nth(1));
    match summary {
        None => Pushed::Failed(Reason::Unreachable(output.words())),
        Some(summary) if is_outrun(summary) => Pushed::Outrun,
        Some(summary) => {
            // What the server itself says, a hook for instance, comes with a prefix.
            let said = output.stderr.lines().filter_map(|line| line.strip_prefix("remote:"));
            let said: Vec<&str> = said.map(str::trim).filter(|line| !line.is_empty()).collect();
            Pushed::Refused(git::words(&format!("{summary} {}", said.join(" "))))
        }
    }
}

/// Returns whether another push was first, before this one or during it.
fn is_outrun(summary: &str) -> bool {
    const SIGNS: &[&str] = &[
        "fetch first",
        "non-fast-forward",
        "needs force",
        "stale info",
        "cannot lock ref",
        "failed to lock",
        "failed to update ref",
        "reference already exists",
        "incorrect old value",
    ];
    SIGNS.iter().any(|sign| summary.contains(sign))
}

/// Returns a random part of a pause, so that those who met once do not meet again.
fn jitter(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(0);
    pause.mul_f64((random % 1_000) as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d7_the_subject_is_that_of_the_node_version() {
        assert_eq!(subject(Some("0123456789abcdef")), "[wyren] memory update (session 01234567)");
        assert_eq!(subject(Some("ab\n")), "[wyren] memory update (session ab)");
        for nothing in [None, Some(""), Some("\n"), Some("  ")] {
            assert_eq!(subject(nothing), "[wyren] memory update (session manual)");
        }
    }

    #[test]
    fn an_identity_is_read_as_git_writes_it() {
        let identity = parse_identity("Ada L <ada@host> 1794796001 -0230").unwrap();
        assert_eq!((identity.name(), identity.email()), (Ok("Ada L"), Ok("ada@host")));
        assert_eq!((identity.when().seconds(), identity.when().offset_minutes()), (1_794_796_001, -150));
    }

    #[test]
    fn a_lost_race_is_not_a_refusal() {
        let verdict = |stdout: &str, stderr: &str| {
            verdict_of(&Output { code: Some(1), stdout: stdout.into(), stderr: stderr.into() })
        };
        assert!(matches!(verdict("!\ta:b\t[rejected] (fetch first)\n", ""), Pushed::Outrun));
        let busy = "!\ta:b\t[remote rejected] (cannot lock ref 'b': is at c but expected d)";
        assert!(matches!(verdict(busy, ""), Pushed::Outrun));
        let Pushed::Refused(words) = verdict(
            "To x\n!\ta:b\t[remote rejected] (pre-receive hook declined)\nDone\n",
            "remote: main is protected\u{7}   \nremote: \nerror: failed to push\n",
        ) else {
            panic!("not a refusal")
        };
        assert_eq!(words, "[remote rejected] (pre-receive hook declined) main is protected");
        let failed = verdict("", "fatal: Could not read from remote repository.\n");
        assert!(matches!(failed, Pushed::Failed(Reason::Unreachable(_))));
    }
}
