//! Our hooks in the client's `settings.json`: the texts. [`file`] has the files.
//!
//! Every edit is one insertion or removal, after which the text is read again: places move, and a settings file is small.

pub mod beneath;
pub mod file;
pub mod others;
pub mod registered;
pub mod shown;

use crate::jsonc::{self, BYTE_ORDER_MARK, Invalid, Kind, Node, comma_after, end_before};
use crate::ours::Surroundings;
use crate::wiring::{Style, Wiring};
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The member of the settings that hooks are in, and the member of a group.
const HOOKS: &str = "hooks";

/// Why a text cannot be edited.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("not valid JSON: {0}")]
    Invalid(#[from] Invalid),
    #[error("the settings are not an object")]
    NotAnObject,
    #[error("`{0}` is not what the client expects there")]
    Odd(String),
    #[error("the plugin's folder is not valid text: {0}")]
    Folder(String),
    #[error("already a file with a `{0}` of yours")]
    Taken(&'static str),
}

/// Where something is: a container, how deep its elements are nested, and which element it is.
struct Spot<'a> {
    container: Range<usize>,
    spans: Vec<&'a Range<usize>>,
    index: usize,
}

/// Returns the text with the hooks of the plugin in a folder, and no others of ours. One that has them stays as it is.
pub fn with_hooks(text: &str, plugin: &Path, around: &Surroundings) -> Result<String, Error> {
    let wiring =
        Wiring::of(plugin, around.agent).ok_or_else(|| Error::Folder(plugin.display().to_string()))?;
    let Some(root) = jsonc::parse(text)? else {
        let end = if text.is_empty() || text.ends_with(['\n', BYTE_ORDER_MARK]) { "" } else { "\n" };
        return Ok(format!("{text}{end}{}", wiring.text));
    };
    if !matches!(root.kind, Kind::Object(_)) {
        return Err(Error::NotAnObject);
    }
    if entries(&root, around) == entries(&wiring.root, around) {
        return Ok(text.to_owned());
    }
    with_wiring(without_hooks(text, around)?, &wiring)
}

fn with_wiring(mut text: String, wiring: &Wiring) -> Result<String, Error> {
    // Such as the version of the format, which a file that is not empty usually has.
    for member in wiring.root.members().iter().filter(|member| member.key != HOOKS) {
        if object(&text)?.member(&member.key).is_none() {
            text = added(&text, &object(&text)?, 1, |style| wiring.part(&member.span, style))?;
        }
    }
    let hooks = wiring.root.member(HOOKS).ok_or(Error::NotAnObject)?;
    if object(&text)?.member(HOOKS).is_none() {
        return added(&text, &object(&text)?, 1, |style| wiring.part(&hooks.span, style));
    }
    for event in hooks.value.members() {
        text = with_event(text, wiring, event)?;
    }
    Ok(text)
}

fn with_event(mut text: String, wiring: &Wiring, event: &jsonc::Member) -> Result<String, Error> {
    let root = object(&text)?;
    let hooks = root.member(HOOKS).filter(|hooks| matches!(hooks.value.kind, Kind::Object(_)));
    let hooks = &hooks.ok_or_else(|| Error::Odd(HOOKS.to_owned()))?.value;
    match hooks.member(&event.key) {
        None => return added(&text, hooks, 2, |style| wiring.part(&event.span, style)),
        Some(present) => match &present.value.kind {
            Kind::Array(_) => {}
            // Where a list belongs, people write its one element.
            Kind::Object(_) => {
                let Range { start, end } = present.value.span;
                text.insert(end, ']');
                text.insert(start, '[');
            }
            Kind::Scalar(_) => return Err(Error::Odd(event.key.clone())),
        },
    }
    for group in event.value.elements() {
        let root = object(&text)?;
        let groups = root.member(HOOKS).and_then(|hooks| hooks.value.member(&event.key));
        let groups = &groups.ok_or(Error::NotAnObject)?.value;
        text = added(&text, groups, 3, |style| wiring.part(&group.span, style))?;
    }
    Ok(text)
}

/// Returns the text without any hook of ours, nor the lists that held nothing else.
pub fn without_hooks(text: &str, around: &Surroundings) -> Result<String, Error> {
    without(text, &|hook| is_wired(hook, around))
}

fn without(text: &str, is_meant: &dyn Fn(&Node) -> bool) -> Result<String, Error> {
    let mut text = text.to_owned();
    loop {
        let Some(root) = jsonc::parse(&text)? else { return Ok(text) };
        let Some(spot) = first_of(&root, is_meant) else { return Ok(text) };
        text = removed(&text, &spot);
    }
}

/// Returns the folder of the plugin whose hooks a text has; the first, should there be several.
pub fn plugin_of(text: &str, around: &Surroundings) -> Option<PathBuf> {
    let root = jsonc::parse(text).ok()??;
    let program = hooks_of(&root, around.has_groups()).find_map(|(_, _, hook)| around.program_of(hook))?;
    Some(program.parent()?.parent()?.to_owned())
}

/// Returns how many hooks of ours a text has.
pub fn count(text: &str, around: &Surroundings) -> usize {
    let root = jsonc::parse(text).ok().flatten();
    root.map_or(0, |root| entries(&root, around).len())
}

fn object(text: &str) -> Result<Node, Error> {
    jsonc::parse(text)?.ok_or(Error::NotAnObject)
}

/// Returns every hook, with its event and its group, which is the hook itself where the format has no groups.
fn hooks_of(root: &Node, has_groups: bool) -> impl Iterator<Item = (&str, &Node, &Node)> {
    let objects = root.members().iter().filter(|member| member.key == HOOKS);
    let events = objects.flat_map(|hooks| hooks.value.members());
    let groups =
        events.flat_map(|event| event.value.elements().iter().map(move |group| (&*event.key, group)));
    groups.flat_map(move |(event, group)| {
        let hooks = group.members().iter().filter(move |member| has_groups && member.key == HOOKS);
        let hooks = hooks.flat_map(|hooks| hooks.value.elements());
        hooks.chain((!has_groups).then_some(group)).map(move |hook| (event, group, hook))
    })
}

/// Returns our hooks by event and matcher, in an order that does not depend on other tools' hooks.
fn entries(root: &Node, around: &Surroundings) -> Vec<(String, Option<Value>, Value)> {
    let ours = hooks_of(root, around.has_groups()).filter(|(_, _, hook)| is_wired(hook, around));
    let entry = |(event, group, hook): (&str, &Node, &Node)| {
        let matcher = group.member("matcher").map(|matcher| matcher.value.value());
        (event.to_owned(), matcher, hook.value())
    };
    let mut entries: Vec<_> = ours.map(entry).collect();
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    entries
}

/// Returns whether every hook of ours in a text has the form that Wyren writes.
fn is_as_written(text: &str, around: &Surroundings) -> bool {
    let root = jsonc::parse(text).ok().flatten();
    root.is_some_and(|root| {
        let mut hooks = hooks_of(&root, around.has_groups()).map(|(_, _, hook)| hook);
        hooks.all(|hook| !is_wired(hook, around) || around.is_as_written(hook))
    })
}

fn is_wired(hook: &Node, around: &Surroundings) -> bool {
    around.program_of(hook).is_some()
}

/// Returns the largest part that has the first hook that is meant, and nothing else.
fn first_of<'a>(root: &'a Node, is_meant: &dyn Fn(&Node) -> bool) -> Option<Spot<'a>> {
    let members = |node: &'a Node| node.members().iter().map(|member| &member.span).collect::<Vec<_>>();
    let spot = |container: &Node, spans, index| Spot { container: container.span.clone(), spans, index };
    for (in_root, hooks) in root.members().iter().enumerate().filter(|(_, member)| member.key == HOOKS) {
        for (in_hooks, event) in hooks.value.members().iter().enumerate() {
            for (in_event, group) in event.value.elements().iter().enumerate() {
                // Some agents have hooks where others have groups of them.
                if is_meant(group) {
                    let is_only = [event.value.elements().len() == 1, hooks.value.members().len() == 1];
                    return Some(match is_only {
                        [true, true] => spot(root, members(root), in_root),
                        [true, false] => spot(&hooks.value, members(&hooks.value), in_hooks),
                        [false, _] => {
                            let elements = event.value.elements().iter().map(|hook| &hook.span);
                            spot(&event.value, elements.collect(), in_event)
                        }
                    });
                }
                for of_group in group.members().iter().filter(|member| member.key == HOOKS) {
                    let list = of_group.value.elements();
                    let Some(in_list) = list.iter().position(is_meant) else { continue };
                    let is_only = [
                        list.len() == 1,
                        event.value.elements().len() == 1,
                        hooks.value.members().len() == 1,
                    ];
                    return Some(match is_only {
                        [true, true, true] => spot(root, members(root), in_root),
                        [true, true, false] => spot(&hooks.value, members(&hooks.value), in_hooks),
                        [true, false, _] => {
                            let groups = event.value.elements().iter().map(|group| &group.span);
                            spot(&event.value, groups.collect(), in_event)
                        }
                        [false, ..] => {
                            let hooks = list.iter().map(|hook| &hook.span);
                            spot(&of_group.value, hooks.collect(), in_list)
                        }
                    });
                }
            }
        }
    }
    None
}

/// Returns the text with one more element at the end of a container, whose elements are at a level of nesting.
fn added(
    text: &str,
    container: &Node,
    level: usize,
    element: impl FnOnce(&Style) -> String,
) -> Result<String, Error> {
    let style = Style::of(text, &object(text)?);
    let element = element(&style);
    let Range { start, end } = container.span;
    let (inner, close) = (start + 1, end - 1);
    let spans: Vec<&Range<usize>> = match &container.kind {
        Kind::Object(members) => members.iter().map(|member| &member.span).collect(),
        Kind::Array(elements) => elements.iter().map(|element| &element.span).collect(),
        Kind::Scalar(_) => return Err(Error::NotAnObject),
    };
    let at = end_before(text, close);
    if at == inner {
        let (before, after) = (style.line(level), style.line(level - 1));
        return Ok(format!("{}{before}{element}{after}{}", &text[..inner], &text[close..]));
    }
    let is_on_one_line = !text[inner..close].contains('\n');
    let (space, element) = match is_on_one_line {
        true => (" ".to_owned(), element.split(['\r', '\n']).map(str::trim).collect::<Vec<_>>().join(" ")),
        false => (style.line(level), element),
    };
    let Some(last) = spans.last() else {
        return Ok(format!("{}{space}{element}{}", &text[..at], &text[at..]));
    };
    // A comma after the last element is a manner of the user's, and kept.
    Ok(match comma_after(text, last.end) {
        Some(_) => format!("{}{space}{element},{}", &text[..at], &text[at..]),
        None => {
            format!("{},{}{space}{element}{}", &text[..last.end], &text[last.end..at], &text[at..])
        }
    })
}

/// Returns the text without one element: the opposite of [`added`].
fn removed(text: &str, spot: &Spot<'_>) -> String {
    let span = spot.spans[spot.index];
    let boundary = spot.index.checked_sub(1).map_or(spot.container.start + 1, |index| spot.spans[index].end);
    let comma = comma_after(text, span.end);
    let rest = &text[comma.map_or(span.end, |comma| comma + 1)..];
    let mut start = end_before(text, span.start);
    // The line break after a comment ends it. What follows must not become part of it.
    if text[boundary..start].contains("//") && !rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
        start = span.start;
    }
    if let Some(comma) = comma {
        // A comment between the two is not ours.
        return format!("{}{}{}", &text[..start], &text[span.end..comma], &text[comma + 1..]);
    }
    if let Some(before) = spot.index.checked_sub(1).map(|index| spot.spans[index])
        && let Some(comma) = comma_after(text, before.end)
    {
        return format!("{}{}{}", &text[..comma], &text[comma + 1..start], &text[span.end..]);
    }
    let close = spot.container.end - 1;
    let is_bare = start == spot.container.start + 1 && end_before(text, close) == span.end;
    format!("{}{}", &text[..start], &text[if is_bare { close } else { span.end }..])
}

#[cfg(test)]
mod tests;
