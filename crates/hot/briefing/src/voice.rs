//! What the user reads in a session: one line at its start or at a prompt, whatever many programs have something to say.

use base::notice::{self, Key, Line, Notice};
use base::paths::with_tilde;
use base::trust::{self, Item, Trust};
use base::{leave, left};
use hook::{Answer, Event, Host, SessionStart};
use place::Folder;
use text::sanitize;

use crate::view::View;

/// The longest path in the first line, in characters: what comes behind it must fit.
const MAX_PATH_CHARS: usize = 60;

/// Adds what a session tells the user before everything else, once: what is on.
pub(crate) fn introduced(mut notices: Vec<Notice>, host: &Host) -> Vec<Notice> {
    if !notice::is_introduced(&host.paths) {
        notices.push(notice::first(&host.paths, introduction(host)));
    }
    notices
}

/// Adds the line that the user reads: `notices`, and what waits. Where there is nothing, that costs one system call.
pub(crate) fn speak<E: Event>(
    answer: Answer<E>,
    call: &E,
    host: &Host,
    folder: Option<&Folder>,
    mut notices: Vec<Notice>,
) -> Answer<E> {
    let wyren = folder.map(|folder| folder.wyren.as_path());
    notices.extend(notice::waiting(&host.paths, wyren, call.session_id(), host.started));
    notices.retain(|notice| notice.key != Key::Lessons || E::NAME == SessionStart::NAME);
    if notices.is_empty() || host.is_headless() {
        return answer;
    }
    let line = Line::of(notices, &host.settings().get("ui.messages"));
    answer.noticing(line, &host.paths, wyren)
}

/// Returns what to tell the user once about a memory: which skills are not trusted, what stays on this machine until they let
/// it publish, and what distillation took out.
pub(crate) fn about_memory(
    folder: &Folder,
    view: &View,
    trust: Option<&Trust>,
    untrusted: &[Item],
    host: &Host,
) -> Vec<Notice> {
    let root = folder.wyren.parent().unwrap_or(&folder.wyren);
    let skills = match trust {
        Some(trust) => trust.notice(&host.paths, untrusted),
        None => trust::waiting_skills(&host.paths, root, &view.skills()),
    };
    let place = folder.place.as_ref();
    let kept = place.and_then(|place| leave::kept_notice(&host.paths, &place.repository.common_folder));
    [skills, kept, left::notice(&host.paths, &folder.wyren)].into_iter().flatten().collect()
}

/// Returns what the first session says: what is on, where data goes, that a model is asked, and how to change that.
fn introduction(host: &Host) -> String {
    let settings = host.settings();
    let parts = if settings.is_on("capture.enabled") {
        "team memory, lessons and recording"
    } else {
        "team memory and lessons"
    };
    let budget = settings.get("model.daily_budget_usd");
    let asks = settings.is_on("distill.enabled") && budget.parse::<f64>().is_ok_and(|budget| budget > 0.0);
    let budget = if budget.contains('.') { format!("{budget:0<4}") } else { budget };
    let model = match settings.get("model.provider").as_str() {
        _ if !asks => String::new(),
        "off" => String::new(),
        "cli" => format!(". A model finds decisions with your Claude login, at most ${budget} a day"),
        "api" => format!(". A model finds decisions with your API key, at most ${budget} a day"),
        _ => ". The model that you configured finds decisions".to_owned(),
    };
    let data = sanitize::one_line(&with_tilde(host.paths.data(), &host.env), MAX_PATH_CHARS);
    format!("{parts} are on; data is in {data}{model}. See /wyren:status; to turn parts off: wyren config")
}
