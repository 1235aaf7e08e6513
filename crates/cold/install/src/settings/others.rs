//! Hooks and plugins of other tools in the client's `settings.json`: taken out and put back, at a user's word.

use super::{Error, HOOKS, Spot, added, hooks_of, object, removed, with_wiring, without};
use crate::jsonc::{self, Kind, Member, Node};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The member of the settings that says which plugins are on.
const PLUGINS: &str = "enabledPlugins";

/// A hook with all that it takes to wire it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The event that it is wired to.
    pub event: String,
    /// The matcher of its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<Value>,
    /// The hook itself.
    pub hook: Value,
}

/// Returns the hooks that are meant, in their order.
pub fn entries(text: &str, is_meant: impl Fn(&Value) -> bool) -> Result<Vec<Entry>, Error> {
    let Some(root) = jsonc::parse(text)? else { return Ok(Vec::new()) };
    let entry = |(event, group, hook): (&str, &Node, &Node)| Entry {
        event: event.to_owned(),
        matcher: group.member("matcher").map(|matcher| matcher.value.value()),
        hook: hook.value(),
    };
    Ok(hooks_of(&root, true).map(entry).filter(|entry| is_meant(&entry.hook)).collect())
}

/// Returns the text without the hooks that are meant, nor the lists that held nothing else.
pub fn without_entries(text: &str, is_meant: impl Fn(&Value) -> bool) -> Result<String, Error> {
    without(text, &|hook| is_meant(&hook.value()))
}

/// Returns the text with hooks that it does not have, each in a group of its own at the end of its event.
pub fn with_entries(text: &str, wanted: &[Entry]) -> Result<String, Error> {
    let present = entries(text, |_| true)?;
    let mut events: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for entry in wanted.iter().filter(|entry| !present.contains(entry)) {
        let mut group = json!({ HOOKS: [entry.hook] });
        if let Some(matcher) = &entry.matcher {
            group["matcher"] = matcher.clone();
        }
        events.entry(&entry.event).or_default().push(group);
    }
    if events.is_empty() {
        return Ok(text.to_owned());
    }
    let wiring = of_value(&json!({ HOOKS: events }))?;
    match jsonc::parse(text)? {
        Some(_) => with_wiring(text.to_owned(), &wiring),
        None => Ok(format!("{text}{}", wiring.text)),
    }
}

/// Returns a member of the settings.
pub fn member(text: &str, key: &str) -> Result<Option<Value>, Error> {
    let root = jsonc::parse(text)?;
    Ok(root.and_then(|root| root.member(key).map(|member| member.value.value())))
}

/// Returns the text without a member.
pub fn without_member(text: &str, key: &str) -> Result<String, Error> {
    match jsonc::parse(text)? {
        Some(root) => Ok(without_key(text, &root, key)),
        None => Ok(text.to_owned()),
    }
}

/// Returns the text with a member that it does not have. One that it has stays.
pub fn with_member(text: &str, key: &str, value: &Value) -> Result<String, Error> {
    if member(text, key)?.is_some() { Ok(text.to_owned()) } else { with_first(text, &json!({ key: value })) }
}

/// Returns what a text says about plugins, by their ids.
pub fn plugins(text: &str) -> Result<Map<String, Value>, Error> {
    match member(text, PLUGINS)? {
        Some(Value::Object(plugins)) => Ok(plugins),
        _ => Ok(Map::new()),
    }
}

/// Returns the text with another word about a plugin; `None` takes the word out, and the list if it held nothing else.
pub fn with_plugin(text: &str, id: &str, value: Option<&Value>) -> Result<String, Error> {
    let root = jsonc::parse(text)?;
    let list = root.as_ref().and_then(|root| root.member(PLUGINS));
    let Some(list) = list else {
        return value.map_or_else(
            || Ok(text.to_owned()),
            |value| with_first(text, &json!({ PLUGINS: { id: value } })),
        );
    };
    if !matches!(list.value.kind, Kind::Object(_)) {
        return Err(Error::Odd(PLUGINS.to_owned()));
    }
    match (list.value.member(id), value) {
        (Some(member), Some(value)) => {
            let span = &member.value.span;
            Ok(format!("{}{value}{}", &text[..span.start], &text[span.end..]))
        }
        (None, Some(value)) => {
            let wiring = of_value(&json!({ PLUGINS: { id: value } }))?;
            let part = wiring.root.member(PLUGINS).and_then(|list| list.value.member(id));
            let part = part.ok_or(Error::NotAnObject)?;
            added(text, &list.value, 2, |style| wiring.part(&part.span, style))
        }
        (Some(_), None) if list.value.members().len() == 1 => without_member(text, PLUGINS),
        (Some(_), None) => Ok(without_key(text, &list.value, id)),
        (None, None) => Ok(text.to_owned()),
    }
}

/// Returns the text with the one member of an object.
fn with_first(text: &str, object_of_one: &Value) -> Result<String, Error> {
    let wiring = of_value(object_of_one)?;
    if jsonc::parse(text)?.is_none() {
        return Ok(format!("{text}{}", wiring.text));
    }
    let root = object(text)?;
    if !matches!(root.kind, Kind::Object(_)) {
        return Err(Error::NotAnObject);
    }
    let part = wiring.root.members().first().ok_or(Error::NotAnObject)?;
    added(text, &root, 1, |style| wiring.part(&part.span, style))
}

fn without_key(text: &str, container: &Node, key: &str) -> String {
    let members = container.members();
    let Some(index) = members.iter().rposition(|member| member.key == key) else { return text.to_owned() };
    let spans = members.iter().map(|member: &Member| &member.span).collect();
    removed(text, &Spot { container: container.span.clone(), spans, index })
}

fn of_value(value: &Value) -> Result<Wiring, Error> {
    Wiring::of_value(value).ok_or(Error::NotAnObject)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  // mine
  "model": "opus",
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "old stop"}, {"type": "command", "command": "say done"}]}],
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "old look", "timeout": 5}]}, // theirs
    ],
  },
  "statusLine": {"type": "command", "command": "old line"},
  "enabledPlugins": {"a@x": true, "b@y": true},
}
"#;

    fn is_old(hook: &Value) -> bool {
        hook["command"].as_str().is_some_and(|command| command.starts_with("old"))
    }

    #[test]
    fn hooks_that_are_meant_come_out_and_others_and_comments_stay() {
        let old = entries(TEXT, is_old).unwrap();
        let events: Vec<&str> = old.iter().map(|entry| &*entry.event).collect();
        assert_eq!(events, ["Stop", "PreToolUse"]);
        let without = without_entries(TEXT, is_old).unwrap();
        assert!(entries(&without, is_old).unwrap().is_empty());
        assert!(without.contains("say done") && without.contains("// mine"), "{without}");
        assert_eq!(without_entries(&without, is_old).unwrap(), without);
        let again = with_entries(&without, &old).unwrap();
        let mut back = entries(&again, is_old).unwrap();
        back.sort_by(|one, other| other.event.cmp(&one.event));
        assert_eq!(back, old, "{again}");
        assert!(again.contains("// mine") && again.contains("say done"), "{again}");
        assert_eq!(with_entries(&again, &old).unwrap(), again, "twice adds something");
    }

    #[test]
    fn hooks_go_back_into_settings_that_have_none() {
        let old = entries(TEXT, is_old).unwrap();
        for text in ["", "{}", "{\"model\": \"opus\"}", "{\r\n\t\"model\": \"opus\"\r\n}\r\n"] {
            let with = with_entries(text, &old).unwrap();
            assert_eq!(entries(&with, is_old).unwrap().len(), 2, "{with}");
        }
    }

    #[test]
    fn a_plugin_is_switched_in_place_and_back_byte_for_byte() {
        let off = with_plugin(TEXT, "a@x", Some(&json!(false))).unwrap();
        assert_eq!(off, TEXT.replace("\"a@x\": true", "\"a@x\": false"));
        assert_eq!(with_plugin(&off, "a@x", Some(&json!(true))).unwrap(), TEXT);
    }

    #[test]
    fn a_word_about_a_plugin_is_added_where_there_is_none_and_comes_out_again() {
        for text in ["{}", TEXT, "{\n  \"model\": \"opus\"\n}\n"] {
            let off = with_plugin(text, "new@z", Some(&json!(false))).unwrap();
            assert_eq!(plugins(&off).unwrap()["new@z"], json!(false), "{off}");
            assert_eq!(with_plugin(&off, "new@z", None).unwrap(), text);
        }
        let made = with_plugin("", "new@z", Some(&json!(false))).unwrap();
        assert_eq!(made, "{\n  \"enabledPlugins\": {\n    \"new@z\": false\n  }\n}\n");
        assert!(with_plugin("{\"enabledPlugins\": []}", "a", Some(&json!(true))).is_err());
        assert!(with_plugin("{\"enabledPlugins\": ", "a", Some(&json!(true))).is_err());
    }

    #[test]
    fn a_member_comes_out_and_goes_back() {
        let line = member(TEXT, "statusLine").unwrap().unwrap();
        let without = without_member(TEXT, "statusLine").unwrap();
        assert!(member(&without, "statusLine").unwrap().is_none() && without.contains("// theirs"));
        let again = with_member(&without, "statusLine", &line).unwrap();
        assert_eq!(member(&again, "statusLine").unwrap(), Some(line.clone()));
        assert_eq!(with_member(&again, "statusLine", &json!("other")).unwrap(), again);
    }
}
