//! Plans: every one that the model shows is kept, whether the user accepts it or not. The tool runs once a plan is accepted; for
//! one that is refused, or accepted with a new window, no event tells: `work` derives that from what follows.

use crate::observation::{Data, Fields, Observation};
use crate::record::{Error, Place, keep, named, unique_id};
use crate::{Rules, shrink};
use base::digest;
use hook::{AroundTool, Event as _, Host};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The tool that shows a plan.
pub const TOOL: &str = "ExitPlanMode";
/// The most bytes that a plan keeps: far more than a person reads before they accept it.
pub const MAX_BYTES: usize = 128 * 1024;
/// How many digits of the SHA-256 name a plan, as in aiwcli.
const DIGITS: usize = 12;

/// A plan that the model showed, or that the user accepted.
#[derive(Clone, Debug, Serialize)]
pub struct Plan<'a> {
    /// Whole up to [`MAX_BYTES`], without private parts and secrets.
    pub text: Cow<'a, str>,
    /// The file that the client keeps it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Cow<'a, str>>,
    /// The [`digest`] of the text.
    pub digest: String,
    /// Whether the user accepted it: the text has what they changed in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    /// `plan`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Cow<'a, str>>,
    /// The client's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<Cow<'a, str>>,
}

impl Plan<'_> {
    /// The name of the kind.
    pub const KIND: &'static str = "plan";
}

/// Returns what names a plan, wherever it is seen: 12 digits of the SHA-256 of its text without tags, with every run of white
/// space as one blank. A prompt that carries the plan has the same.
pub fn digest(text: &str) -> String {
    let mut digest = digest::sha256_hex(normalised(text).as_bytes());
    digest.truncate(DIGITS);
    digest
}

/// Returns a text without tags, with every run of white space as one blank.
pub fn normalised(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        plain.push_str(before);
        // A bracket that opens no tag is a character like any other.
        let end = tag.find('>').filter(|end| *end > 1).map_or(1, |end| end + 1);
        plain.push_str(if end == 1 { "<" } else { " " });
        rest = &tag[end..];
    }
    plain.push_str(rest);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Records a plan that is about to be shown, or that was accepted.
pub fn record_plan(call: &AroundTool, host: &Host) -> Result<(), Error> {
    let (Some(TOOL), Some(session)) = (call.tool_name.as_deref(), call.session_id()) else { return Ok(()) };
    let rules = Rules::of(host.settings(), &host.env);
    if !rules.records_tool(TOOL) {
        return Ok(());
    }
    let fields = |value: Option<&'static RawValue>| value.map(RawValue::get).and_then(Fields::read);
    let (input, output) = (fields(call.tool_input), fields(call.tool_response));
    let text = |name: &str| {
        let found = [&output, &input].into_iter().flatten().find_map(|fields| fields.text(name));
        found.filter(|text| !text.trim().is_empty())
    };
    // Without a file of its own, and without a text in the call, there is no plan to keep.
    let Some(plan) = text("plan") else { return Ok(()) };
    let Some(place) = Place::of(&rules, session, call, host) else { return Ok(()) };
    let path = text("filePath").or_else(|| text("planFilePath"));
    let kept = shrink::long_text(&plan, MAX_BYTES);
    let data = Data::Plan(Plan {
        digest: digest(&kept),
        text: kept,
        path: path.as_deref().map(shrink::text),
        accepted: call.has_run(),
        permission_mode: call.permission_mode.as_deref().map(Cow::from),
        tool_use_id: named(call.tool_use_id.as_deref()),
    });
    let id = call.tool_use_id.as_deref().filter(|id| !id.is_empty());
    let prefix = if call.has_run() { 'a' } else { 't' };
    let id = id.map_or_else(|| unique_id(host), |id| format!("{prefix}:{id}"));
    let observation = Observation {
        agent: call.agent_id().map(Cow::from),
        agent_type: named(call.agent_type.as_deref()),
        ..place.observation(id, named(call.prompt_id.as_deref()), data)
    };
    keep(&place.spool, &observation, host, call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_11_a_plan_has_one_digest_however_it_is_written() {
        let plan = "# Plan\n\n1. do a\n2. do b\n";
        for same in [
            "# Plan 1. do a 2. do b",
            "  # Plan\r\n\t1. do a\n\n2.  do b",
            "<!-- plan-id: 3f --># Plan 1. do a\n<b>2. do b</b>",
        ] {
            assert_eq!(digest(plan), digest(same), "{same}");
        }
        for other in ["# Plan 1. do a 2. do c", "# Plan 1. do a", "# Plan 1. do a 2. do b <"] {
            assert_ne!(digest(plan), digest(other), "{other}");
        }
        assert_eq!(digest("abc"), "ba7816bf8f01");
    }

    #[test]
    fn a_bracket_that_opens_no_tag_hides_nothing() {
        assert_ne!(digest("keep a <"), digest("keep a"));
        assert_ne!(digest("n <> m, then x"), digest("n, then x"));
    }
}
