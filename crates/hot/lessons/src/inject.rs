//! The lessons for a tool call: the body of `lesson-inject`.

use crate::call::Call;
use crate::choose::{self, Applying, Bounds, Subject};
use crate::index::Index;
use crate::layers::{self, Layer, Source};
use crate::lesson::Kind;
use crate::trigger::{Simple, Verdict};
use base::log::Level;
use base::project::Project;
use base::settings::{self, Settings};
use base::trust::Notice;
use hook::{Answer, Event, Host, Platform, PreToolUse};
use memmap2::Mmap;
use std::path::{Path, PathBuf};
use text::sanitize::Fence;

/// How much of a command the heading repeats.
const TARGET_CHARS: usize = 80;

/// Answers a call with the lessons that apply to it.
pub fn answer(call: &PreToolUse, host: &Host) -> Answer<PreToolUse> {
    let Some(tool) = call.tool_name.as_deref() else { return Answer::silent() };
    let cwd = host.cwd(call);
    let project = host.env.get("CLAUDE_PROJECT_DIR").map_or_else(|| cwd.clone(), PathBuf::from);
    let platform = Platform::from_name(host.env.text("LESSONS_AGENT_PLATFORM").as_deref());
    let tool_call = Call::read(tool, call.tool_input, platform, &project);
    let script = tool_call.command.as_deref().filter(|_| tool_call.is_shell()).unwrap_or_default();
    let commands = shell::commands(script);
    let simples = Simple::all(&commands);

    let indexes = open(host, &cwd);
    let seen = host.env.text("LESSONS_SEEN").unwrap_or_default();
    let disabled = host.settings().get("lessons.disabled");
    let mut applying = Vec::new();
    let mut notice = None;
    for (source, index) in &indexes {
        let mut untrusted = Vec::new();
        let found = match index.candidates(&tool_call, &simples) {
            Ok(found) => found,
            Err(damaged) => {
                discard(source, host, &damaged.to_string());
                continue;
            }
        };
        for number in found {
            let mut entry = match index.entry(number) {
                Ok(entry) => entry,
                Err(damaged) => {
                    discard(source, host, &damaged.to_string());
                    break;
                }
            };
            let is_wanted = !settings::list(&seen).any(|slug| slug == entry.slug)
                && !layers::is_disabled(&disabled, source.layer, entry.slug)
                && matches!(entry.judge(&tool_call, &simples), Verdict::Applies { .. })
                && is_in_scope(entry.scope, &cwd);
            if !is_wanted {
                continue;
            }
            if let Some(item) = source.untrusted(&entry) {
                entry.kind = Kind::Hint;
                untrusted.push(item);
            }
            applying.push(Applying { entry, is_shared: source.layer == Layer::Project });
        }
        if !untrusted.is_empty() {
            notice = source.trust().and_then(|trust| trust.notice(&host.paths, &untrusted));
        }
    }
    if applying.is_empty() {
        return Answer::silent();
    }
    let bounds = bounds(host.settings());
    let target = target(&tool_call);
    let is_shared = applying.iter().any(|lesson| lesson.is_shared);
    // The word takes a file to read; without others' text there is no fence.
    let fence = if is_shared { host.fence(call) } else { Fence::default() };
    let key = hook::call_key(tool, call.tool_input);
    let subject = Subject { target: &target, command: script, key, fence: &fence };
    let answer = choose::answer(applying, subject, &bounds, &host.claims(call)).for_platform(platform);
    telling(answer, notice)
}

/// Also tells the user, once, what is not trusted any more.
pub(crate) fn telling<E: Event>(answer: Answer<E>, notice: Option<Notice>) -> Answer<E> {
    let Some(notice) = notice else { return answer };
    answer
        .telling_user(format!("Wyren: {}", notice.text))
        .afterwards(move || notice.remember().map_err(Into::into))
}

/// Returns every source of lessons for a session in `cwd`.
pub(crate) fn sources(host: &Host, cwd: &Path) -> Vec<Source> {
    let manifest = host.env.get("LESSONS_MANIFEST_PATH").map(PathBuf::from);
    Source::all(&host.paths, cwd, manifest)
}

/// Opens the indexes of every source; one that cannot be opened is logged and left out.
pub(crate) fn open(host: &Host, cwd: &Path) -> Vec<(Source, Index<Mmap>)> {
    open_all(host, sources(host, cwd))
}

pub(crate) fn open_all(host: &Host, sources: Vec<Source>) -> Vec<(Source, Index<Mmap>)> {
    let mut indexes = Vec::new();
    for source in sources {
        match source.index() {
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
fn discard(source: &Source, host: &Host, reason: &str) {
    host.log(Level::Warn, &format!("{}: {reason}", source.place.display()));
    source.discard();
}

/// Returns the bounds that the settings give.
pub fn bounds(settings: &Settings) -> Bounds {
    let number = |name| usize::try_from(settings.number(name)).unwrap_or(usize::MAX);
    let small = |name| u8::try_from(settings.number(name)).unwrap_or(u8::MAX);
    Bounds {
        lessons: number("lessons.max_per_call"),
        bytes: number("lessons.max_bytes"),
        least_confidence: percent(&settings.get("lessons.min_confidence")),
        least_priority: small("lessons.min_priority"),
        returning_priority: small("lessons.returning_priority"),
    }
}

fn percent(share: &str) -> u8 {
    let share: f64 = share.parse().unwrap_or_default();
    // Settings are checked to be shares, so the cast is exact enough.
    (share * 100.0).round() as u8
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
