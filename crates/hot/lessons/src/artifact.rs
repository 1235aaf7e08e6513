//! Lessons of lessons-learned that hold only with something installed (`requires`), or only without it (`duplicatedBy`).
//!
//! Both are kept beside a lesson as the JSON that lessons-learned has: `{"type": "plugin", "name": "x"}`, or a list of
//! which one is enough. They are looked at when an index is made, and for lessons of the user's own and of a manifest.

use crate::layers::Layer;
use crate::lesson::Lesson;
use base::{Paths, files};
use serde_json::Value;
use std::cell::OnceCell;
use std::fmt;
use std::path::{Path, PathBuf};

/// What must be installed for a lesson to hold.
pub const REQUIRES: &str = "requires";
/// What makes a lesson needless once it is installed.
pub const DUPLICATED_BY: &str = "duplicatedBy";

/// Something that may be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// A plugin of the client, by its name.
    Plugin(String),
    /// A skill of a plugin, as `plugin:skill`.
    Skill(String, String),
    /// A server of tools in the user's settings.
    Server(String),
    /// An issue of another project, and whether it is fixed.
    Issue(bool),
}

impl fmt::Display for Artifact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plugin(name) => write!(formatter, "the plugin {name}"),
            Self::Skill(plugin, skill) => write!(formatter, "the skill {plugin}:{skill}"),
            Self::Server(name) => write!(formatter, "the MCP server {name}"),
            Self::Issue(_) => formatter.write_str("the fix of an issue"),
        }
    }
}

/// Reads what a lesson requires or is duplicated by; says what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Artifact>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) if !items.is_empty() => items.iter().map(one).collect(),
        Ok(value @ Value::Object(_)) => Ok(vec![one(&value)?]),
        _ => Err("expected an object with type and name, or a list of them".to_owned()),
    }
}

fn one(value: &Value) -> Result<Artifact, String> {
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    let (kind, name) = (text("type"), text("name"));
    // It becomes a part of a path.
    let is_plain = |name: &str| !name.is_empty() && !name.contains(['/', '\\']) && name != "..";
    match kind {
        "github-issue" => return Ok(Artifact::Issue(text("status") == "fixed")),
        "plugin" | "skill" | "mcp-server" if !is_plain(name) => {
            return Err(format!("a {kind} needs its name"));
        }
        "plugin" => return Ok(Artifact::Plugin(name.to_owned())),
        "mcp-server" => return Ok(Artifact::Server(name.to_owned())),
        "skill" => {}
        _ => return Err("type: expected plugin, skill, mcp-server or github-issue".to_owned()),
    }
    match name.split_once(':') {
        Some((plugin, skill)) if is_plain(plugin) && is_plain(skill) => {
            Ok(Artifact::Skill(plugin.to_owned(), skill.to_owned()))
        }
        _ => Err("a skill is named as plugin:skill".to_owned()),
    }
}

/// What the user has installed in the client; read when first asked for.
#[derive(Debug)]
pub struct Installed {
    client: Option<PathBuf>,
    plugins: OnceCell<Value>,
    settings: OnceCell<Value>,
}

impl Installed {
    /// Looks in the client's folder.
    pub fn of(paths: &Paths) -> Self {
        Self { client: paths.client(), plugins: OnceCell::new(), settings: OnceCell::new() }
    }

    /// Returns the files that say what is installed.
    pub(crate) fn files(paths: &Paths) -> Vec<PathBuf> {
        paths.client().map(|client| vec![client.join(PLUGINS), client.join(SETTINGS)]).unwrap_or_default()
    }

    /// Returns why a lesson has no effect here; `None` when it has. What cannot be read keeps no lesson from holding.
    pub fn what_keeps(&self, layer: Layer, lesson: &Lesson) -> Option<String> {
        if !matches!(layer, Layer::Personal | Layer::Manifest) {
            return None;
        }
        let named = |field: &str| {
            let text = lesson.extra.iter().find(|(name, _)| name == field).map(|(_, text)| text)?;
            parse(text).ok()
        };
        if let Some(required) = named(REQUIRES)
            && !required.iter().any(|artifact| self.has(artifact))
        {
            let names: Vec<String> = required.iter().map(ToString::to_string).collect();
            return Some(format!("it requires {}, which is not installed", names.join(" or ")));
        }
        let present = named(DUPLICATED_BY)?.into_iter().find(|artifact| self.has(artifact))?;
        Some(format!("{present} makes it needless"))
    }

    fn has(&self, artifact: &Artifact) -> bool {
        match artifact {
            Artifact::Plugin(name) => self.installations(name).is_some(),
            Artifact::Skill(plugin, skill) => self.installations(plugin).is_some_and(|places| {
                let has_skill = |place: &Value| {
                    let folder = place["installPath"].as_str();
                    folder.is_some_and(|folder| Path::new(folder).join("skills").join(skill).exists())
                };
                places.iter().any(has_skill)
            }),
            Artifact::Server(name) => {
                let settings = self.settings.get_or_init(|| self.read(SETTINGS));
                settings["mcpServers"].get(name).is_some()
            }
            Artifact::Issue(is_fixed) => *is_fixed,
        }
    }

    /// Returns where a plugin is installed.
    fn installations(&self, plugin: &str) -> Option<&Vec<Value>> {
        let plugins = self.plugins.get_or_init(|| self.read(PLUGINS));
        let is_it = |name: &str| name.split('@').next() == Some(plugin);
        let entries = plugins["plugins"].as_object()?;
        let places =
            entries.iter().filter(|(name, _)| is_it(name)).filter_map(|(_, places)| places.as_array());
        places.into_iter().find(|places| !places.is_empty())
    }

    fn read(&self, name: &str) -> Value {
        let file = self.client.as_ref().map(|client| client.join(name));
        let text = file.and_then(|file| files::read_text_followed(&file, files::cap::STATE).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

/// Which plugins are installed, within the client's folder.
const PLUGINS: &str = "plugins/installed_plugins.json";
/// The user's settings, within the client's folder.
const SETTINGS: &str = "settings.json";

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;
    use serde_json::json;

    #[test]
    fn item_20_a_lesson_holds_with_what_it_requires_and_without_what_duplicates_it() {
        let folder = tempfile::tempdir().unwrap();
        let client = folder.path().join(".claude");
        std::fs::create_dir_all(client.join("plugins")).unwrap();
        std::fs::create_dir_all(folder.path().join("frob/skills/apply")).unwrap();
        let places = json!([{"installPath": folder.path().join("frob")}]);
        let plugins = json!({"plugins": {"frob@market": places, "gone@market": []}});
        std::fs::write(client.join(PLUGINS), plugins.to_string()).unwrap();
        std::fs::write(client.join(SETTINGS), json!({"mcpServers": {"db": {}}}).to_string()).unwrap();
        let installed = Installed::of(&Paths::of(&Env::fixed([("HOME", folder.path())])));
        let kept = |field: &str, value: Value| {
            let lesson = Lesson { extra: vec![(field.to_owned(), value.to_string())], ..Lesson::default() };
            installed.what_keeps(Layer::Personal, &lesson)
        };
        let plugin = |name: &str| json!({"type": "plugin", "name": name});
        let present = [
            plugin("frob"),
            json!({"type": "skill", "name": "frob:apply"}),
            json!({"type": "mcp-server", "name": "db"}),
            json!({"type": "github-issue", "url": "u", "status": "fixed"}),
        ];
        let missing = [
            plugin("gone"),
            plugin("frob@market"),
            json!({"type": "skill", "name": "frob:other"}),
            json!({"type": "mcp-server", "name": "other"}),
            json!({"type": "github-issue", "url": "u", "status": "closed"}),
        ];
        for artifact in present.clone() {
            assert_eq!(kept(REQUIRES, artifact.clone()), None, "{artifact}");
            assert!(kept(DUPLICATED_BY, artifact.clone()).is_some(), "{artifact}");
        }
        for artifact in missing {
            assert!(kept(REQUIRES, artifact.clone()).is_some(), "{artifact}");
            assert_eq!(kept(DUPLICATED_BY, artifact.clone()), None, "{artifact}");
        }
        assert_eq!(kept(REQUIRES, json!([plugin("gone"), plugin("frob")])), None);
        assert_eq!(
            kept(REQUIRES, json!([plugin("gone"), plugin("lost")])).as_deref(),
            Some("it requires the plugin gone or the plugin lost, which is not installed")
        );
        assert_eq!(kept(DUPLICATED_BY, plugin("frob")).as_deref(), Some("the plugin frob makes it needless"));
        // A repository's lessons and what cannot be read are as they were.
        assert_eq!(kept(REQUIRES, json!({"type": "unknown", "name": "x"})), None);
        let extra = vec![(REQUIRES.to_owned(), plugin("gone").to_string())];
        assert_eq!(installed.what_keeps(Layer::Project, &Lesson { extra, ..Lesson::default() }), None);
    }

    #[test]
    fn what_is_malformed_is_named() {
        for (text, reason) in [
            ("x", "expected an object"),
            ("[]", "expected an object"),
            (r#"{"type":"unknown","name":"foo"}"#, "type: expected plugin"),
            (r#"{"type":"plugin"}"#, "a plugin needs its name"),
            (r#"{"type":"skill","name":"frob"}"#, "a skill is named as"),
            (r#"{"type":"skill","name":"frob:../../x"}"#, "a skill needs its name"),
        ] {
            assert!(parse(text).unwrap_err().starts_with(reason), "{text}: {:?}", parse(text));
        }
    }
}
