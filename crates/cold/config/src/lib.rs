//! The layered configuration of the CLI and the worker: defaults, the user's `config.toml`, the environment.
//!
//! Only changed values are stored, so that new defaults reach everyone. A file keeps its comments and its order when a
//! value is set.

use base::settings::{HOOK_SETTINGS_HEADER, KEYS, Key, Kind, key, list};
use base::{Env, Paths, files};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Table, Value};

/// Where a value came from, weakest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Default,
    User(PathBuf),
    Environment(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::User(path) => write!(formatter, "{}", path.display()),
            Self::Environment(name) => write!(formatter, "${name}"),
        }
    }
}

/// A setting with its effective value.
#[derive(Clone, Debug)]
pub struct Setting {
    pub key: &'static Key,
    pub value: String,
    pub source: Source,
}

/// A line of a configuration file without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub file: PathBuf,
    /// The name as written.
    pub name: String,
    pub reason: String,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no setting is named {name:?}{}", nearest.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default())]
    UnknownKey {
        name: String,
        /// The setting with the most similar name.
        nearest: Option<&'static str>,
    },
    #[error("{name} cannot be {value:?}: {reason}")]
    BadValue {
        name: &'static str,
        value: String,
        /// What the setting accepts.
        reason: String,
    },
    #[error("{} is not valid TOML; it was left as it is: {reason}", path.display())]
    Syntax { path: PathBuf, reason: String },
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] files::Error),
}

/// The configuration in force for one user.
#[derive(Debug)]
pub struct Config {
    settings: Vec<Setting>,
    complaints: Vec<Complaint>,
}

impl Config {
    /// Reads the files and the environment; invalid values are skipped and reported by [`Self::complaints`].
    pub fn load(env: &Env, paths: &Paths) -> Self {
        let defaults =
            |key: &'static Key| Setting { key, value: key.default.to_owned(), source: Source::Default };
        let mut config = Self { settings: KEYS.iter().map(defaults).collect(), complaints: Vec::new() };
        let user = paths.config_file();
        config.read_file(&user);
        for setting in &mut config.settings {
            if let Some((value, variable)) = setting.key.from_env(env) {
                setting.value = value;
                setting.source = Source::Environment(variable);
            }
        }
        config
    }

    /// Sorted by name.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    pub fn get(&self, name: &str) -> Result<&Setting, Error> {
        let known = self.settings.iter().find(|setting| setting.key.name == name);
        known.ok_or_else(|| unknown(name))
    }

    pub fn complaints(&self) -> &[Complaint] {
        &self.complaints
    }

    fn read_file(&mut self, file: &Path) {
        let document = match read_document(file) {
            Ok(Some(document)) => document,
            Ok(None) => return,
            Err(error) => return self.complain(file, "", &error.to_string()),
        };
        for (name, value) in flatten(document.as_table(), "") {
            let Some(key) = key(&name) else {
                self.complain(file, &name, "no such setting");
                continue;
            };
            match key.check(&value) {
                Ok(value) => {
                    let place = self.settings.iter_mut().find(|setting| setting.key.name == name);
                    place.into_iter().for_each(|setting| {
                        setting.value.clone_from(&value);
                        setting.source = Source::User(file.to_owned());
                    });
                }
                Err(reason) => self.complain(file, &name, &reason),
            }
        }
    }

    fn complain(&mut self, file: &Path, name: &str, reason: &str) {
        let complaint = Complaint { file: file.to_owned(), name: name.to_owned(), reason: reason.to_owned() };
        self.complaints.push(complaint);
    }
}

/// Sets a value in the user's file (`None` removes it) and generates `cache/hooks.conf`.
pub fn set(paths: &Paths, name: &str, value: Option<&str>) -> Result<(), Error> {
    replace(paths, Some(&text_with(paths, &[(name, value)])?))
}

/// Returns what the user's file would hold with other values; `None` removes one.
pub fn text_with(paths: &Paths, values: &[(&str, Option<&str>)]) -> Result<String, Error> {
    let mut document = read_document(&paths.config_file())?.unwrap_or_default();
    for (name, value) in values {
        let key = key(name).ok_or_else(|| unknown(name))?;
        let (section, field) = name.split_once('.').unwrap_or(("", name));
        match value {
            Some(value) => {
                let checked = key.check(value).map_err(|reason| Error::BadValue {
                    name: key.name,
                    value: (*value).to_owned(),
                    reason,
                })?;
                let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
                if !table.is_table_like() {
                    *table = Item::Table(Table::new());
                }
                table[field] = Item::Value(to_toml(key, &checked));
            }
            None => {
                if let Some(table) = document.get_mut(section).and_then(Item::as_table_like_mut) {
                    table.remove(field);
                }
            }
        }
    }
    Ok(document.to_string())
}

/// Replaces the user's file whole, or removes it, and generates `cache/hooks.conf`.
pub fn replace(paths: &Paths, text: Option<&str>) -> Result<(), Error> {
    let file = paths.config_file();
    match text {
        Some(text) => write(&file, text.as_bytes())?,
        None => {
            files::remove_if_there(&file).map_err(files::Error::at(&file))?;
        }
    }
    flatten_for_hooks(paths)
}

/// Generates `cache/hooks.conf` from the user's file, if it would change.
pub fn flatten_for_hooks(paths: &Paths) -> Result<(), Error> {
    // Without the environment: each hook reads its own.
    let config = Config::load(&Env::fixed::<String, String>([]), paths);
    let changed = config.settings.iter().filter(|setting| setting.source != Source::Default);
    let flattened = changed.fold(format!("{HOOK_SETTINGS_HEADER}\n"), |text, setting| {
        text + setting.key.name + "=" + &setting.value + "\n"
    });
    let file = paths.hook_settings();
    let current = files::read_text_followed(&file, files::cap::CONFIG).unwrap_or_default();
    let only_defaults = flattened.lines().count() == 1 && current.is_empty();
    if current == flattened || only_defaults { Ok(()) } else { write(&file, flattened.as_bytes()) }
}

fn write(path: &Path, contents: &[u8]) -> Result<(), Error> {
    Ok(files::write_atomic(path, contents).map_err(files::Error::at(path))?)
}

fn read_document(path: &Path) -> Result<Option<DocumentMut>, Error> {
    let text = match files::read_text_followed(path, files::cap::CONFIG) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(files::Error::at(path)(error).into()),
    };
    let syntax = |error: toml_edit::TomlError| Error::Syntax {
        path: path.to_owned(),
        reason: error.message().to_owned(),
    };
    text.parse().map(Some).map_err(syntax)
}

/// Returns the values of a table as `section.name` and text.
fn flatten(table: &dyn toml_edit::TableLike, prefix: &str) -> Vec<(String, String)> {
    let mut values = Vec::new();
    for (name, item) in table.iter() {
        let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        match item.as_table_like() {
            Some(table) => values.extend(flatten(table, &name)),
            None => values.extend(item.as_value().map(|value| (name, to_text(value)))),
        }
    }
    values
}

fn to_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.value().clone(),
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => number.value().to_string(),
        Value::Boolean(switch) => switch.value().to_string(),
        Value::Array(items) => items.iter().map(to_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn to_toml(key: &Key, checked: &str) -> Value {
    match key.kind {
        Kind::Switch => (checked == "true").into(),
        Kind::Number { .. } => checked.parse::<i64>().map_or_else(|_| checked.to_owned().into(), Into::into),
        Kind::Amount { .. } | Kind::Share => {
            checked.parse::<f64>().map_or_else(|_| checked.to_owned().into(), Into::into)
        }
        Kind::Choice(_) | Kind::Text => checked.to_owned().into(),
        Kind::List => list(checked).collect(),
    }
}

fn unknown(name: &str) -> Error {
    let distance = |known: &str| {
        let common = known.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        let ending = known.rsplit('.').next().unwrap_or(known);
        if name.ends_with(ending) { usize::MAX } else { common }
    };
    let nearest = KEYS.iter().map(|key| key.name).max_by_key(|known| distance(known));
    Error::UnknownKey { name: name.to_owned(), nearest: nearest.filter(|known| distance(known) > 2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::settings::Settings;

    fn paths(folder: &tempfile::TempDir) -> Paths {
        Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path())]))
    }

    fn no_env() -> Env {
        Env::fixed::<String, String>([])
    }

    #[test]
    fn a_value_says_where_it_came_from() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        let source = |env: &Env| Config::load(env, &paths).get("log.level").unwrap().source.clone();
        assert_eq!(source(&no_env()), Source::Default);
        set(&paths, "log.level", Some("WARN")).unwrap();
        assert_eq!(source(&no_env()), Source::User(paths.config_file()));
        let env = Env::fixed([("HOOK_LOG_LEVEL", "error")]);
        assert_eq!(source(&env), Source::Environment("HOOK_LOG_LEVEL"));
        set(&paths, "log.level", None).unwrap();
        assert_eq!(source(&no_env()), Source::Default);
    }

    #[test]
    fn amounts_and_text_come_back_as_they_were_set() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        let value = |name: &str| Config::load(&no_env(), &paths).get(name).unwrap().value.clone();
        for amount in ["0", "1", "0.5", "0.000001", "9999.999999"] {
            set(&paths, "model.daily_budget_usd", Some(amount)).unwrap();
            assert_eq!(value("model.daily_budget_usd"), amount);
        }
        set(&paths, "model.command", Some("/opt/my tools/claude")).unwrap();
        assert_eq!(value("model.command"), "/opt/my tools/claude");
        std::fs::write(paths.config_file(), "[model]\ndaily_budget_usd = 0.25 # enough\n").unwrap();
        assert_eq!(value("model.daily_budget_usd"), "0.25");
    }

    #[test]
    fn hooks_see_a_value_as_soon_as_it_is_set() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        let env = no_env();
        set(&paths, "hooks.disabled", Some("prompt-sync, stop-distill")).unwrap();
        let value = Settings::read(&env, &paths.hook_settings()).get("hooks.disabled");
        assert_eq!(value, "prompt-sync,stop-distill");
        set(&paths, "hooks.disabled", None).unwrap();
        assert_eq!(Settings::read(&env, &paths.hook_settings()).get("hooks.disabled"), "");
    }

    #[test]
    fn comments_and_foreign_keys_survive_a_set() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        std::fs::write(paths.config_file(), "# mine\n[log]\nlevel = \"info\" # quiet\n[other]\nx = 1\n")
            .unwrap();
        set(&paths, "log.max_bytes", Some("100000")).unwrap();
        let text = std::fs::read_to_string(paths.config_file()).unwrap();
        assert!(text.contains("# mine") && text.contains("# quiet") && text.contains("x = 1"), "{text}");
        assert!(text.contains("max_bytes = 100000"), "{text}");
    }

    #[test]
    fn what_has_no_effect_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        std::fs::write(paths.config_file(), "[log]\nlevle = 1\nlevel = \"loud\"\n").unwrap();
        let config = Config::load(&no_env(), &paths);
        let names: Vec<&str> = config.complaints().iter().map(|complaint| &*complaint.name).collect();
        assert_eq!(names, ["log.levle", "log.level"]);
        assert_eq!(config.get("log.level").unwrap().value, "debug");
    }

    #[test]
    fn a_broken_file_is_left_alone_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        std::fs::write(paths.config_file(), "[log\n").unwrap();
        assert_eq!(Config::load(&no_env(), &paths).complaints().len(), 1);
        assert!(matches!(set(&paths, "log.level", Some("info")), Err(Error::Syntax { .. })));
        assert_eq!(std::fs::read_to_string(paths.config_file()).unwrap(), "[log\n");
    }

    #[test]
    fn a_mistyped_name_gets_a_suggestion_and_a_bad_value_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(&folder);
        let error = set(&paths, "log.levels", Some("info")).unwrap_err().to_string();
        assert_eq!(error, "no setting is named \"log.levels\"; did you mean \"log.level\"?");
        let error = set(&paths, "log.level", Some("loud")).unwrap_err().to_string();
        assert_eq!(error, "log.level cannot be \"loud\": expected one of debug, info, warn, error, alert");
        assert!(!paths.config_file().exists());
    }
}
