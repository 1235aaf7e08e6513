//! `wyren update`: puts another version in place, in the way in which this one was installed.

mod installer;
mod way;

use super::doctor::versions::order;
use super::install::{self as installation, Client, Scope, agent, registry, say};
use super::version::VERSION;
use crate::bounded;
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, SUCCESS, WARNING};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use base::{Env, Paths, Timestamp, digest, files};
use clap::Args;
use install::machine::Machine;
use install::plugin;
use queue::Wish;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use text::sanitize;
use way::Way;

/// How long the new program may take to say what it is: a virus scanner may look at it first.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long unpacking an archive, and the new program's part of the work, may take.
const WORK_PATIENCE: Duration = Duration::from_secs(120);

/// How much of another program's words is shown, in characters.
const SHOWN_CHARS: usize = 400;

const EXAMPLES: &str = "\
Examples:
  wyren update                              update in the way that Wyren was installed
  wyren update --check                      show the version, and how it is updated
  wyren update --from wyren.tar.xz          from an archive that you downloaded
  wyren update --from target/plugin         from a folder, in a checkout after cargo xtask plugin";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Take the new version from this archive, or from this folder of a plugin.
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,
    /// Show what is installed and how it is updated, and change nothing.
    #[arg(long)]
    check: bool,
    /// Print JSON.
    #[arg(long, requires = "check")]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    let way = Way::find(env, paths);
    if arguments.check {
        return check(arguments, &way, env, paths);
    }
    person::must_be_here(env)?;
    if let Some(from) = &arguments.from {
        return from_path(from, &way, env, paths);
    }
    match (&way, installer::base(env)) {
        (Way::Registry { id, marketplace, .. }, _) => from_registry(id, marketplace, env, paths),
        (Way::Copied(folder), Some(base)) => from_installer(&base, folder, env, paths),
        _ => Err(Ending::failed(format!("wyren: nothing was updated. {}", way.advice(env))).into()),
    }
}

/// Says what is installed, and how it is updated.
fn check(arguments: &Arguments, way: &Way, env: &Env, paths: &Paths) -> Result<()> {
    let (offered, problem) = match &arguments.from {
        Some(from) => (Some(Source::open(from, paths)?.facts()?.version), None),
        None => match way.offered(env, paths) {
            Ok(offered) => (offered, None),
            Err(error) => (None, Some(format!("{error:#}"))),
        },
    };
    let advice = match &arguments.from {
        Some(from) if way.is_replaced() => {
            let from = from.to_string_lossy();
            format!(
                "To update: wyren update --from {}",
                shlex::try_quote(&from).unwrap_or_else(|_| from.clone())
            )
        }
        _ => way.advice(env),
    };
    let installed = way.folder().and_then(plugin::version).unwrap_or_else(|| VERSION.to_owned());
    let is_newer = offered.as_ref().map(|offered| order(offered) > order(&installed));
    let mut output = terminal::output();
    if arguments.json {
        let facts = json!({
            "version": installed, "way": way.name(), "folder": way.folder(), "offered": offered, "newer": is_newer,
            "how": advice, "problem": problem,
        });
        return Ok(writeln!(output, "{facts:#}")?);
    }
    match way {
        Way::None => writeln!(output, "This is Wyren {installed}; Claude Code does not run it.")?,
        _ => writeln!(output, "Wyren {installed} is installed{}.", way.place())?,
    }
    match (offered, is_newer) {
        (Some(offered), Some(true)) => writeln!(output, "{SUCCESS}Newer{SUCCESS:#}: {offered}")?,
        (Some(offered), _) if order(&offered) == order(&installed) => {
            writeln!(output, "{offered} is offered: up to date.")?
        }
        (Some(offered), _) => writeln!(output, "{offered} is offered, which is older.")?,
        (None, _) => {}
    }
    if let Some(problem) = problem {
        writeln!(output, "{WARNING}The newest version is not known{WARNING:#}: {problem}")?;
    }
    Ok(writeln!(output, "{advice}")?)
}

/// Runs the installer of the newest version, which puts it in place of this one.
fn from_installer(base: &str, folder: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let spinner = terminal::spinner("asking for the newest version");
    let installer = installer::Installer::fetch(base);
    spinner.finish_and_clear();
    let installer = installer.map_err(|error| anyhow!("{error:#}. Nothing was changed"))?;
    let before = plugin::version(folder).unwrap_or_else(|| VERSION.to_owned());
    if let Some(offered) = installer.version().filter(|offered| order(offered) <= order(&before)) {
        return say(format_args!("Wyren {before} is up to date: {offered} is the newest."));
    }
    installer.run(paths)?;
    settle(folder, folder, env, paths)
}

/// Has the client update the plugin from its marketplace.
fn from_registry(id: &str, marketplace: &str, env: &Env, paths: &Paths) -> Result<()> {
    let old = Way::find(env, paths);
    let before = old.folder().and_then(plugin::version);
    registry::update(id, marketplace, env, paths)?;
    let new = Way::find(env, paths);
    let after = new.folder().and_then(plugin::version);
    // The version before keeps its folder, so its worker would not notice.
    relieve(paths)?;
    let shown = |version: Option<String>| version.unwrap_or_else(|| "unknown".to_owned());
    if before == after {
        return say(format_args!("{id} is up to date: {}.", shown(after)));
    }
    say(format_args!(
        "{SUCCESS}Updated{SUCCESS:#} {id} from {} to {}. New sessions use it.",
        shown(before),
        shown(after)
    ))?;
    match (old.folder(), new.folder()) {
        (Some(old), Some(new)) => settle(new, old, env, paths),
        _ => Ok(()),
    }
}

/// Asks a worker of the version before to make room once its job is done.
fn relieve(paths: &Paths) -> Result<()> {
    if queue::is_running(paths)? {
        queue::wish_for(paths, Wish::Relief, Timestamp::now())?;
        say("The background worker finishes its job with the old version; the next one is of the new.")?;
    }
    Ok(())
}

/// Puts the plugin from a folder or an archive in place of the installed one.
fn from_path(from: &Path, way: &Way, env: &Env, paths: &Paths) -> Result<()> {
    let target = match way {
        Way::Copied(folder) | Way::InPlace(folder) => folder.clone(),
        Way::Registry { .. } | Way::None => bail!("nothing was updated. {}", way.advice(env)),
    };
    let source = Source::open(from, paths)?;
    let facts = source.facts()?;
    facts.check_formats(paths)?;
    if let Some(other) = not_of_the_plugin(&target, &source.folder)? {
        bail!(
            "{} has {other}, which is not the plugin's, and would be lost. Nothing was changed. In a checkout: git pull, then \
             cargo xtask plugin. Elsewhere, move it out of the folder, and try again",
            target.display()
        );
    }
    let before = plugin::version(&target).unwrap_or_else(|| VERSION.to_owned());
    let lock = installation::lock(paths)?;
    let spinner = terminal::spinner("copying the plugin");
    let copied = plugin::copy(&source.folder, &target);
    spinner.finish_and_clear();
    let shown = target.display();
    let is_changed =
        copied.with_context(|| format!("could not replace {shown}. The plugin from before is in place"))?;
    drop(lock);
    drop(source);
    if !is_changed {
        return say(format_args!("{shown} is up to date: {before}."));
    }
    let is_older = order(&facts.version) < order(&before);
    let how = if is_older { "Went back" } else { "Updated" };
    say(format_args!("{SUCCESS}{how}{SUCCESS:#} from {before} to {} in {shown}", facts.version))?;
    settle(&target, &target, env, paths)?;
    if queue::is_running(paths)? {
        say("The background worker finishes its job with the old version; the next one is of the new.")?;
    }
    say(
        "Running sessions use the new hooks from their next event on; new commands come with the next session.",
    )
}

/// Returns something in a plugin's folder that no plugin has: the folder is replaced whole.
fn not_of_the_plugin(folder: &Path, new: &Path) -> Result<Option<String>> {
    let read = |folder: &Path| -> Result<Vec<String>> {
        let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    if !folder.exists() {
        return Ok(None);
    }
    let known = read(new)?;
    let mut others = read(folder)?;
    others.retain(|name| *name == ".git" || !(known.contains(name) || plugin::is_known(name)));
    others.sort();
    Ok(others.into_iter().next())
}

/// Has the new program in `new` wire what the one in `old` had wired: it knows its own hooks and commands.
fn settle(new: &Path, old: &Path, env: &Env, paths: &Paths) -> Result<()> {
    let wyren = program_in(new);
    let client = Client::of(env, paths)?;
    let is_of_us = |program: &PathBuf| program.starts_with(new) || program.starts_with(old);
    let scopes = [(Scope::User, "user"), (Scope::Project, "project"), (Scope::Local, "local")];
    let wired = scopes.into_iter().filter(|(scope, _)| client.wired(*scope).iter().any(is_of_us));
    let wired: Vec<&str> = wired.map(|(_, name)| name).collect();
    let mut calls: Vec<Vec<&str>> = Vec::new();
    // The command and the links; where settings have the hooks, it registers nothing.
    let is_known = registry::is_known(client.folder(Scope::User), paths);
    if new == paths.installed_plugin() && (is_known || !wired.is_empty()) {
        calls.push(vec!["install"]);
    }
    calls.extend(wired.into_iter().map(|name| vec!["install", "--settings", name]));
    for agent in agent::named(None) {
        for wired in agent::wired(agent, env) {
            let project = (wired.scope == Scope::Project).then_some("--project");
            calls.push(["install", "--agent", agent.name].into_iter().chain(project).collect());
        }
    }
    for call in calls {
        let finished = bounded::run(Command::new(&wyren).args(&call), WORK_PATIENCE);
        let problem = match finished {
            Ok(Some(finished)) if finished.status.success() => continue,
            Ok(Some(finished)) => words(&finished.stderr),
            Ok(None) => format!("it took longer than {} s", WORK_PATIENCE.as_secs()),
            Err(error) => error.to_string(),
        };
        say(format_args!(
            "{WARNING}Not finished{WARNING:#}: `{} {}` failed: {problem}. The hooks of before still run",
            wyren.display(),
            call.join(" ")
        ))?;
    }
    Ok(())
}

fn program_in(plugin: &Path) -> PathBuf {
    plugin.join("bin").join(format!("wyren{}", std::env::consts::EXE_SUFFIX))
}

fn words(bytes: &[u8]) -> String {
    sanitize::one_line(String::from_utf8_lossy(bytes).trim(), SHOWN_CHARS)
}

/// A folder of this process's own below the data folder, which goes with this. There is room for a plugin.
#[derive(Debug)]
struct Unpacked(PathBuf);

impl Unpacked {
    fn new(paths: &Paths) -> Result<Self> {
        let folder = paths.data().join("plugin.unpacked").join(std::process::id().to_string());
        if folder.exists() {
            // Of a process that was killed.
            fs::remove_dir_all(&folder)?;
        }
        files::create_private_folder(&folder)
            .with_context(|| format!("could not create {}", folder.display()))?;
        Ok(Self(folder))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        // Only where no other process has one.
        let _ = self.0.parent().map(fs::remove_dir);
    }
}

/// A plugin to update from.
#[derive(Debug)]
struct Source {
    folder: PathBuf,
    /// Where an archive was unpacked.
    _unpacked: Option<Unpacked>,
}

impl Source {
    /// Opens a folder, or unpacks an archive; fails for what is no plugin of Wyren for this machine.
    fn open(from: &Path, paths: &Paths) -> Result<Self> {
        let from = std::path::absolute(from)?;
        let shown = from.display().to_string();
        let source = match fs::metadata(&from) {
            Err(error) => bail!("could not read {shown}: {error}. Nothing was changed"),
            Ok(found) if found.is_dir() => Self { folder: from, _unpacked: None },
            Ok(_) => Self::unpack(&from, paths)?,
        };
        ensure!(
            plugin::is_ours(&source.folder),
            "{shown} is not a plugin of Wyren: it has no .claude-plugin/plugin.json. Nothing was changed"
        );
        let (program, ours) = (program_in(&source.folder), Machine::of_this_program());
        match Machine::of(&program) {
            Ok(Some(found)) if found == ours => Ok(source),
            Ok(Some(found)) => {
                bail!("{shown} is for {found}, and this machine is {ours}. Nothing was changed")
            }
            Ok(None) => bail!("bin/wyren of {shown} is not a program. Nothing was changed"),
            Err(error) => bail!("could not read bin/wyren of {shown}: {error}. Nothing was changed"),
        }
    }

    /// Unpacks an archive beside the installed plugin, where there is room for it.
    fn unpack(archive: &Path, paths: &Paths) -> Result<Self> {
        let shown = archive.display();
        check_sum(archive)?;
        let unpacked = Unpacked::new(paths)?;
        let folder = unpacked.path().to_owned();
        let mut source = Self { folder: folder.clone(), _unpacked: Some(unpacked) };
        let spinner = terminal::spinner("unpacking");
        let unpacked =
            bounded::run(Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(&folder), WORK_PATIENCE);
        spinner.finish_and_clear();
        match unpacked {
            Ok(Some(finished)) if finished.status.success() => {}
            Ok(Some(finished)) => {
                bail!("could not unpack {shown}: {}. Nothing was changed", words(&finished.stderr))
            }
            Ok(None) => {
                bail!("unpacking {shown} took longer than {} s. Nothing was changed", WORK_PATIENCE.as_secs())
            }
            Err(error) => bail!("could not start tar, which unpacks {shown}: {error}. Nothing was changed"),
        }
        // An archive has one folder, and the plugin is that or in that.
        let folders = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
        let mut places = folders.flat_map(|folder| [folder.join("plugin"), folder]);
        if let Some(place) = places.find(|place| plugin::is_ours(place)) {
            source.folder = place;
        }
        Ok(source)
    }

    /// Asks the new program what it is.
    fn facts(&self) -> Result<Facts> {
        let program = program_in(&self.folder);
        let shown = program.display();
        let finished = bounded::run(Command::new(&program).args(["version", "--json"]), PATIENCE)
            .with_context(|| format!("{shown} does not run on this machine. Nothing was changed"))?;
        let Some(finished) = finished else {
            bail!("{shown} did not say its version within {} s. Nothing was changed", PATIENCE.as_secs())
        };
        let said: Value = serde_json::from_slice(&finished.stdout).unwrap_or_default();
        let Some(version) = said["version"].as_str().filter(|_| finished.status.success()) else {
            bail!("{shown} does not say its version: {}. Nothing was changed", words(&finished.stderr))
        };
        // The manifest's is the one that the client shows.
        let version = plugin::version(&self.folder).unwrap_or_else(|| version.to_owned());
        let formats = said["formats"].as_object().into_iter().flatten();
        let formats = formats.filter_map(|(owner, number)| Some((owner.clone(), number.as_u64()?)));
        Ok(Facts { version, formats: formats.collect() })
    }
}

/// What a new program says about itself.
#[derive(Debug)]
struct Facts {
    version: String,
    /// The formats of the database that it knows, by owner.
    formats: Vec<(String, u64)>,
}

impl Facts {
    /// Fails where the database is of a later format than the new program knows: it could only read it.
    fn check_formats(&self, paths: &Paths) -> Result<()> {
        refuse_older_than_data(&self.version, &self.formats, paths)
    }
}

/// Fails where the database is of a later format than a version of Wyren knows: it could only read it.
pub(super) fn refuse_older_than_data(version: &str, formats: &[(String, u64)], paths: &Paths) -> Result<()> {
    // One that cannot be read is for `wyren doctor` and `wyren repair`, which a new version may be needed for.
    let taken = store::formats_of(paths).unwrap_or_default();
    for (owner, number) in taken {
        let known = formats.iter().find(|(known, _)| *known == owner).map_or(0, |(_, number)| *number);
        ensure!(
            u64::from(number) <= known,
            "Wyren {version} is older than your data: it knows format {known} of {owner}, and {} has format {number}. It would \
             record nothing there. Nothing was changed. Install a later version, or name another data folder with WYREN_DATA_DIR",
            paths.database().display()
        );
    }
    Ok(())
}

/// Compares an archive with the checksum beside it, where there is one.
fn check_sum(archive: &Path) -> Result<()> {
    let file = archive.with_added_extension("sha256");
    let Ok(expected) = files::read_text_followed(&file, files::cap::POINTER) else { return Ok(()) };
    let expected = expected.split_whitespace().next().unwrap_or_default().to_lowercase();
    let bytes = files::read_followed(archive, MAX_ARCHIVE)
        .with_context(|| format!("could not read {}", archive.display()))?;
    ensure!(
        digest::sha256_hex(&bytes) == expected,
        "{} is damaged: its checksum is not that in {}. Nothing was changed. Download it again",
        archive.display(),
        file.display()
    );
    Ok(())
}

/// The most bytes of an archive that are read.
const MAX_ARCHIVE: usize = 256 * 1024 * 1024;
