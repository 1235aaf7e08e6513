//! The plugin in the user's settings, where the client's own program puts it: a marketplace that is a folder, and the plugin
//! switched on.
//!
//! `claude plugin` writes the whole file anew: it sorts the members, loses the layout, and leaves empty objects behind. Here are
//! the same two entries as edits, so that the file can have them without the rest.

use super::{Error, Spot, added, object, removed};
use crate::jsonc::{self, Kind};
use crate::wiring::Style;
use serde_json::{Value, json};
use std::path::Path;

/// The plugins that are switched on or off, by id.
const ENABLED: &str = "enabledPlugins";

/// The marketplaces that the user added, by name.
const MARKETPLACES: &str = "extraKnownMarketplaces";

/// The name of our plugin and of our marketplace.
const NAME: &str = "wyren";

/// Returns the text with our marketplace in a folder, and our plugin switched on.
pub fn with_plugin(text: &str, folder: &Path) -> Result<String, Error> {
    let text = with_marketplace(text, folder)?;
    with_member(&text, ENABLED, &format!("{NAME}@{NAME}"), &Value::Bool(true))
}

/// Returns the text with our marketplace in a folder.
pub fn with_marketplace(text: &str, folder: &Path) -> Result<String, Error> {
    let folder = folder.to_str().ok_or_else(|| Error::Folder(folder.display().to_string()))?;
    let marketplace = json!({"source": {"source": "directory", "path": folder}});
    let text = if jsonc::parse(text)?.is_none() { format!("{text}{{}}\n") } else { text.to_owned() };
    with_member(&text, MARKETPLACES, NAME, &marketplace)
}

/// Returns the text without either, nor the objects that are empty then.
pub fn without_plugin(text: &str) -> Result<String, Error> {
    let mut text = text.to_owned();
    loop {
        let Some(root) = jsonc::parse(&text)? else { return Ok(text) };
        let members = root.members();
        let found = members.iter().enumerate().find_map(|(at, member)| {
            let ours = member.value.members().iter().position(|one| is_ours(&member.key, &one.key));
            let is_empty = matches!(&member.value.kind, Kind::Object(members) if members.is_empty());
            let is_of_plugins = [ENABLED, MARKETPLACES].contains(&&*member.key);
            (is_of_plugins && (is_empty || ours.is_some())).then_some((at, ours))
        });
        let Some((at, ours)) = found else { return Ok(text) };
        let inner = members[at].value.members();
        let (container, members, index) = match ours {
            Some(ours) if inner.len() > 1 => (&members[at].value, inner, ours),
            _ => (&root, members, at),
        };
        let spans = members.iter().map(|member| &member.span).collect();
        text = removed(&text, &Spot { container: container.span.clone(), spans, index });
    }
}

/// Returns whether a text has the plugin, on or off, or the marketplace.
pub fn has_plugin(text: &str) -> bool {
    let root = jsonc::parse(text).ok().flatten();
    root.is_some_and(|root| {
        let members = root.members().iter();
        members
            .flat_map(|member| member.value.members().iter().map(|one| (&*member.key, &*one.key)))
            .any(|(member, key)| is_ours(member, key))
    })
}

fn is_ours(member: &str, key: &str) -> bool {
    match member {
        ENABLED => key.strip_prefix(NAME).is_some_and(|rest| rest.starts_with('@')),
        MARKETPLACES => key == NAME,
        _ => false,
    }
}

/// Returns the text with a member of an object of the settings; what has another value there gets this one.
fn with_member(text: &str, object_name: &str, key: &str, value: &Value) -> Result<String, Error> {
    let root = object(text)?;
    let style = Style::of(text, &root);
    let quoted = Value::from(key).to_string();
    let Some(outer) = root.member(object_name) else {
        let whole = json!({key: value});
        return added(text, &root, 1, |style| format!("\"{object_name}\": {}", style.pretty(&whole, 1)));
    };
    if !matches!(outer.value.kind, Kind::Object(_)) {
        return Err(Error::Odd(object_name.to_owned()));
    }
    match outer.value.member(key) {
        Some(member) if member.value.value() == *value => Ok(text.to_owned()),
        Some(member) => {
            let span = &member.value.span;
            Ok(format!("{}{}{}", &text[..span.start], style.pretty(value, 2), &text[span.end..]))
        }
        None => added(text, &outer.value, 2, |style| format!("{quoted}: {}", style.pretty(value, 2))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str) -> String {
        let with = with_plugin(text, Path::new("/opt/a \"b\"/wyren")).unwrap();
        let value = jsonc::value(&with).unwrap();
        assert_eq!(value[ENABLED]["wyren@wyren"], true, "{with}");
        assert_eq!(value[MARKETPLACES][NAME]["source"]["path"], "/opt/a \"b\"/wyren", "{with}");
        assert!(has_plugin(&with) && !has_plugin(text));
        assert_eq!(with_plugin(&with, Path::new("/opt/a \"b\"/wyren")).unwrap(), with);
        assert_eq!(without_plugin(&with).unwrap(), text, "{with}");
        with
    }

    #[test]
    fn the_two_entries_go_in_and_out_and_everything_else_stays() {
        let with = check("{\n    \"z\": 1, // mine\n    \"a\": [1,2]\n}\n");
        assert!(
            with.contains("\n    \"enabledPlugins\": {\n        \"wyren@wyren\": true\n    }\n}\n"),
            "{with}"
        );
        check("{\"a\":1}");
        check("{\r\n\t\"enabledPlugins\": {\r\n\t\t\"other@x\": true\r\n\t}\r\n}\r\n");
        check(
            "{\"extraKnownMarketplaces\": {\"wyren-of-others\": {}}, \"enabledPlugins\": {\"wyrens@wyren\": true}}",
        );
    }

    #[test]
    fn what_the_client_leaves_behind_is_taken_out() {
        let left = "{\n  \"a\": 1,\n  \"enabledPlugins\": {},\n  \"extraKnownMarketplaces\": {}\n}\n";
        assert_eq!(without_plugin(left).unwrap(), "{\n  \"a\": 1\n}\n");
        let off = "{\"enabledPlugins\": {\"a@b\": true, \"wyren@elsewhere\": false}}";
        assert_eq!(without_plugin(off).unwrap(), "{\"enabledPlugins\": {\"a@b\": true}}");
    }

    #[test]
    fn another_folder_replaces_the_old_one() {
        let old = with_plugin("{}", Path::new("/opt/old")).unwrap();
        assert_eq!(
            with_plugin(&old, Path::new("/opt/new")).unwrap(),
            with_plugin("{}", Path::new("/opt/new")).unwrap()
        );
        assert!(with_plugin("{\"enabledPlugins\": []}", Path::new("/opt/new")).is_err());
    }
}
