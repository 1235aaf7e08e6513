//! The lessons for a tool call: the body of `lesson-inject`.

use crate::allowance::{Allowance, OTHERS_TIME};
use crate::call::Call;
use crate::choose::{self, Applying, Bounds, Refusal, Subject};
use crate::index::{Entry, Index};
use crate::layers::{self, Compile, Layer, Source};
use crate::leaves::{Leaves, Unused};
use crate::lesson::Kind;
use crate::trigger::{Simple, Verdict};
use crate::wording::Form;
use base::allowed;
use base::log::Level;
use base::notice::{About, Notice};
use base::project::Project;
use base::settings::{self, Settings};
use base::trust::Item;
use hook::{Answer, Claims, Event as _, Host, Platform, PreToolUse};
use memmap2::Mmap;
use std::cell::OnceCell;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use text::sanitize::{self, Fence};
use text::{privacy, redact};

/// The most bytes of lessons beside one call, whatever the setting: with the heading the client takes them whole.
const MAX_BYTES: usize = 9_000;

/// How much of a command the heading repeats.
const TARGET_CHARS: usize = 80;

/// How much of a refused call is kept for the person who may lift the refusal.
const REFUSED_CHARS: usize = 120;

/// How often leave is looked for; a call that then still lacks it is refused.
const MAX_LOOKS: usize = 2;

/// Answers a call with the lessons that apply to it. `compile` rebuilds an index that is out of date; `may_keep` says
/// whether anything of the call may be kept.
pub fn answer(
    call: &PreToolUse,
    host: &Host,
    compile: impl Compile,
    may_keep: impl Fn() -> bool,
) -> Answer<PreToolUse> {
    let mut looks = 0;
    loop {
        let leaves = if looks < MAX_LOOKS {
            Leaves::new(&host.paths, call.session_id(), host.started)
        } else {
            Leaves::none(&host.paths)
        };
        match try_answer(call, host, &leaves, compile, &may_keep) {
            Ok(answer) => return answer,
            // It is gone at the next look.
            Err(Unused::Taken) => looks += 1,
            Err(Unused::Stuck(error)) => {
                host.log(Level::Warn, &format!("could not use up leave for one call: {error}"));
                looks = MAX_LOOKS;
            }
        }
    }
}

/// As [`answer`]; an error when the call would pass with leave that does not count any more.
fn try_answer(
    call: &PreToolUse,
    host: &Host,
    leaves: &Leaves<'_>,
    compile: impl Compile,
    may_keep: &dyn Fn() -> bool,
) -> Result<Answer<PreToolUse>, Unused> {
    let Some(tool) = call.tool_name.as_deref() else { return Ok(Answer::silent()) };
    let cwd = host.cwd(call);
    let project = host.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| cwd.clone(), PathBuf::from);
    let platform = host.platform();
    let turn = Turn::of(call, platform);
    let home = base::system::home(&host.env);
    let mut tool_call = Call::read(tool, call.tool_input, platform, &project).at(&cwd, home.as_deref());
    tool_call.name_data_folder(&host.paths);
    let script = tool_call.command.as_deref().filter(|_| tool_call.is_shell()).unwrap_or_default();
    // The process ends with the answer: to give back what a long script took would cost a part of its reading.
    let commands = ManuallyDrop::new(shell::commands(script));
    let simples = ManuallyDrop::new(Simple::all(&commands));

    let judging = Judging { call: &tool_call, simples: &simples, cwd: &cwd, host, compile };
    // Most calls are about no lesson: what choosing takes is made when there is something to choose.
    let choosing = OnceCell::new();
    let choosing = || {
        choosing.get_or_init(|| Choosing {
            call: &tool_call,
            form: Form::of(host.settings()),
            has_slash_commands: platform == Platform::ClaudeCode,
            command: script,
            key: hook::call_key(&tool_call.tool, call.tool_input),
            bounds: bounds(host.settings()),
            claims: host.claims(call),
        })
    };

    // The user's own lessons have the first word: what a repository brings is not even looked at when they refuse.
    let own = ManuallyDrop::new(open_all(host, Source::own(&host.paths), compile));
    let unlimited = Allowance::unlimited();
    let mut applying: Vec<Applying<'_>> =
        own.iter().flat_map(|(source, index)| judging.judge(source, index, &unlimited).0).collect();
    if !applying.is_empty()
        && turn.may_refuse()
        && let Some(refusal) = choosing().refusal(&mut applying, &Fence::default(), leaves)
    {
        return Ok(noted(refusal, call, &cwd, host, may_keep));
    }

    let others = ManuallyDrop::new(open_all(host, others(host, &cwd), compile));
    let mut shared = Vec::new();
    let time = OnceCell::new();
    for (source, index) in others.iter().filter(|(_, index)| !index.is_empty()) {
        let time = time.get_or_init(|| Allowance::of(OTHERS_TIME));
        let (found, untrusted) = judging.judge(source, index, time);
        shared.extend(found);
        if !untrusted.is_empty() {
            leave(source.trust().and_then(|trust| trust.notice(&host.paths, &untrusted)), source, host);
        }
        if time.is_spent() {
            let reason = "took too long: the rest of them was left out for this call";
            host.log(Level::Warn, &format!("the lessons in {} {reason}", source.place.display()));
        }
    }
    if applying.is_empty() && shared.is_empty() {
        return Ok(Answer::silent());
    }
    // The word takes a file to read; without others' text there is no fence.
    let fence = if shared.is_empty() { Fence::default() } else { host.fence(call) };
    if turn.may_refuse()
        && let Some(refusal) = choosing().refusal(&mut shared, &fence, leaves)
    {
        return Ok(noted(refusal, call, &cwd, host, may_keep));
    }
    let lifted = leaves.use_up()?;
    if turn == Turn::Refusals {
        return Ok(Answer::silent());
    }
    applying.extend(shared);
    if turn == Turn::Hints {
        choose::soften_spent(&mut applying, choosing().key, &choosing().claims);
    }
    Ok(choosing().hint(applying, &fence, &lifted))
}

/// Has a refusal noted once the client has it, for a person who lifts it.
fn noted(
    refusal: Refusal,
    call: &PreToolUse,
    cwd: &Path,
    host: &Host,
    may_keep: &dyn Fn() -> bool,
) -> Answer<PreToolUse> {
    let Refusal { answer, names } = refusal;
    let Some(session) = call.session_id() else { return answer };
    let shown = if may_keep() { hook::shown_input(call.tool_input) } else { "".into() };
    let shown = sanitize::one_line(&redact::redact(&privacy::strip_private(&shown)), REFUSED_CHARS);
    let refusal =
        |name| allowed::Refusal { name, session: session.to_owned(), at: host.started, call: shown.clone() };
    let refusals: Vec<allowed::Refusal> = names.into_iter().map(refusal).collect();
    let (paths, cwd) = (host.paths.clone(), cwd.to_owned());
    answer.afterwards(move || {
        let root = Project::of(&cwd).root;
        for refusal in refusals {
            refusal.note(&paths, &root)?;
        }
        Ok(())
    })
}

/// Has a notice about a project wait for the next prompt: a call is no moment to speak to the user.
pub(crate) fn leave(notice: Option<Notice>, source: &Source, host: &Host) {
    let Some(notice) = notice else { return };
    let wyren = place::project_root(&source.place).join(place::FOLDER);
    if let Err(error) = notice.leave(&host.paths, About::Memory(&wyren)) {
        host.log(Level::Warn, &format!("could not leave a notice: {error}"));
    }
}

/// What may be said about a call now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Everything.
    All,
    /// Only a refusal: some agents read nothing else before a tool runs.
    Refusals,
    /// Only hints: the tool has run.
    Hints,
}

impl Turn {
    fn of(call: &PreToolUse, platform: Platform) -> Self {
        match call.event_name() {
            _ if call.has_run() => Self::Hints,
            Some(hook::BEFORE_TOOL) if platform.takes_hints_late() => Self::Refusals,
            _ => Self::All,
        }
    }

    fn may_refuse(self) -> bool {
        self != Self::Hints
    }
}

/// What is needed to choose among the lessons that apply to a call.
struct Choosing<'a> {
    call: &'a Call<'a>,
    form: Form,
    has_slash_commands: bool,
    command: &'a str,
    key: u64,
    bounds: Bounds,
    claims: Claims,
}

impl Choosing<'_> {
    fn subject<'s>(&'s self, fence: &'s Fence) -> Subject<'s> {
        let Self { form, has_slash_commands, command, key, .. } = *self;
        Subject { form, has_slash_commands, command, key, fence }
    }

    /// Returns the refusal of the guards and pauses among `lessons`, and sorts these.
    fn refusal(
        &self,
        lessons: &mut Vec<Applying<'_>>,
        fence: &Fence,
        leaves: &Leaves<'_>,
    ) -> Option<Refusal> {
        choose::rank(lessons, &self.bounds);
        choose::refusal(lessons, self.subject(fence), &self.bounds, &self.claims, leaves)
    }

    fn hint(&self, mut lessons: Vec<Applying<'_>>, fence: &Fence, lifted: &[String]) -> Answer<PreToolUse> {
        choose::rank(&mut lessons, &self.bounds);
        let target = || target(self.call);
        choose::hint(&lessons, self.subject(fence), target, &self.bounds, &self.claims, lifted)
    }
}

/// A call, and what decides whether lessons count for it.
struct Judging<'a, C> {
    call: &'a Call<'a>,
    simples: &'a [Simple<'a>],
    cwd: &'a Path,
    host: &'a Host,
    compile: C,
}

impl<C: Compile> Judging<'_, C> {
    /// Returns the lessons of a source that apply, and what of them the user has to trust before it may act.
    fn judge<'i>(
        &self,
        source: &Source,
        index: &'i Index<Mmap>,
        time: &Allowance,
    ) -> (Vec<Applying<'i>>, Vec<Item>) {
        let (mut applying, mut untrusted) = (Vec::new(), Vec::new());
        let mut measured = None;
        let found = match index.candidates_within(self.call, self.simples, time) {
            Ok(found) => found,
            Err(damaged) => {
                discard(source, self.host, self.compile, &damaged.to_string());
                return (applying, untrusted);
            }
        };
        for number in found {
            if time.is_spent() {
                break;
            }
            let mut entry = match index.entry(number) {
                Ok(entry) => entry,
                Err(damaged) => {
                    discard(source, self.host, self.compile, &damaged.to_string());
                    break;
                }
            };
            let is_wanted =
                matches!(entry.judge_within(self.call, self.simples, time), Verdict::Applies { .. })
                    && !self.is_silenced(source.layer, &entry)
                    && is_in_scope(entry.scope, self.cwd);
            if !is_wanted {
                continue;
            }
            if let Some(item) = source.untrusted(&entry) {
                entry.kind = Kind::Hint;
                untrusted.push(item);
            }
            let measured = measured.get_or_insert_with(|| source.measured());
            let confidence = measured.of(entry.slug).unwrap_or(entry.confidence);
            applying.push(Applying { entry, is_shared: source.layer == Layer::Project, confidence });
        }
        (applying, untrusted)
    }
}

impl<C> Judging<'_, C> {
    /// Returns whether a lesson that applies was shown elsewhere, or is switched off. Few calls need these settings.
    fn is_silenced(&self, layer: Layer, entry: &Entry<'_>) -> bool {
        let setting = |name| self.host.settings().get(name);
        let seen = self.host.env.text("LESSONS_SEEN").unwrap_or_default();
        settings::list(&seen).any(|slug| slug == entry.slug)
            || layers::is_disabled(&setting("lessons.disabled"), layer, entry.slug)
            || (!entry.pack.is_empty()
                && layers::is_pack_off(&setting("lessons.packs_off"), layer, entry.pack))
    }
}

/// Returns every source of lessons for a session in `cwd`.
pub(crate) fn sources(host: &Host, cwd: &Path) -> Vec<Source> {
    let mut sources = Source::own(&host.paths);
    sources.extend(others(host, cwd));
    sources
}

/// Returns the sources that are not the user's own.
fn others(host: &Host, cwd: &Path) -> Vec<Source> {
    let manifest = host.env.get("LESSONS_MANIFEST_PATH").map(PathBuf::from);
    Source::others(&host.paths, cwd, manifest)
}

/// Opens the indexes of every source; one that cannot be opened is logged and left out.
pub(crate) fn open(host: &Host, cwd: &Path, compile: impl Compile) -> Vec<(Source, Index<Mmap>)> {
    open_all(host, sources(host, cwd), compile)
}

pub(crate) fn open_all(
    host: &Host,
    sources: Vec<Source>,
    compile: impl Compile,
) -> Vec<(Source, Index<Mmap>)> {
    let mut indexes = Vec::new();
    for source in sources {
        let index = source.index(compile);
        if let Some(left_out) = source.left_out() {
            host.log(Level::Warn, &left_out);
        }
        match index {
            Ok(Some(index)) => indexes.push((source, index)),
            Ok(None) => {}
            Err(error) => {
                host.log(Level::Warn, &format!("no index for {}: {error}", source.place.display()));
            }
        }
    }
    indexes
}

/// Removes a damaged index, so that the next call rebuilds it.
fn discard(source: &Source, host: &Host, compile: impl Compile, reason: &str) {
    host.log(Level::Warn, &format!("{}: {reason}", source.place.display()));
    source.discard(compile);
}

/// Returns the bounds that the settings give.
pub fn bounds(settings: &Settings) -> Bounds {
    let number = |name| usize::try_from(settings.number(name)).unwrap_or(usize::MAX);
    let small = |name| u8::try_from(settings.number(name)).unwrap_or(u8::MAX);
    Bounds {
        lessons: number("lessons.max_per_call"),
        bytes: number("lessons.max_bytes").min(MAX_BYTES),
        least_confidence: settings.percent("lessons.min_confidence"),
        least_priority: small("lessons.min_priority"),
        returning_priority: small("lessons.returning_priority"),
    }
}

/// Returns whether a lesson holds here. Finding the project costs more than all the rest, so it is done only for a
/// lesson that names one.
pub fn is_in_scope(scope: &str, cwd: &Path) -> bool {
    if scope.is_empty() {
        return true;
    }
    let project = Project::of(cwd);
    let encoded = |root: &Path| {
        root.to_string_lossy().replace(|character: char| !character.is_ascii_alphanumeric(), "-")
    };
    // Lessons-learned names a project by its folder, every other character than a letter or digit a dash.
    let old = encoded(&project.root);
    let slashes = project.root.to_string_lossy().replace('/', "-");
    scope == project.key
        || Path::new(scope) == project.root
        || [old.as_str(), slashes.as_str()]
            .iter()
            .any(|name| scope.trim_start_matches('-') == name.trim_start_matches('-'))
}

fn target(call: &Call<'_>) -> String {
    match (&call.command, call.paths.first()) {
        (Some(command), _) if call.is_shell() => {
            let line: String =
                command.lines().next().unwrap_or_default().chars().take(TARGET_CHARS).collect();
            let more = if line.len() < command.len() { "..." } else { "" };
            format!("`{line}{more}`")
        }
        (_, Some(path)) => format!("{}: {path}", call.tool),
        _ => call.tool.to_string(),
    }
}
