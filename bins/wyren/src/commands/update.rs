//! `wyren update`: puts another version in place, in the way in which this one was installed.

mod installer;
mod way;

use super::doctor::versions::numbers;
use super::install::{self as installation, Client, Scope, registry, say};
use super::version::VERSION;
use crate::bounded;
use crate::exit::Ending;
use crate::person;
use crate::terminal::{self, SUCCESS, WARNING};
use anyhow::{Context as _, Result, bail, ensure};
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
        (Way::Copied(folder), Some(base)) => from_installer(&base, folder, paths),
        _ => Err(Ending::failed(format!("wyren: nothing was updated. {}", way.advice(env))).into()),
    }
}

/// Says what is installed, and how it is updated.
fn check(arguments: &Arguments, way: &Way, env: &Env, paths: &Paths) -> Result<()> {
    let source = arguments.from.as_ref().map(|from| Source::open(from, paths)).transpose()?;
    let offered = match &source {
        Some(source) => Some(source.facts()?.version),
        None => way.offered(env, paths),
    };
    let installed = way.folder().and_then(plugin::version).unwrap_or_else(|| VERSION.to_owned());
    let is_newer = offered.as_ref().map(|offered| numbers(offered) > numbers(&installed));
    let mut output = terminal::output();
    if arguments.json {
        let facts = json!({
            "version": installed, "way": way.name(), "folder": way.folder(), "offered": offered, "newer": is_newer,
            "how": way.advice(env),
        });
        return Ok(writeln!(output, "{facts:#}")?);
    }
    writeln!(output, "Wyren {installed} is installed{}.", way.place())?;
    match (offered, is_newer) {
        (Some(offered), Some(true)) => writeln!(output, "{SUCCESS}Newer{SUCCESS:#}: {offered}")?,
        (Some(offered), _) if numbers(&offered) == numbers(&installed) => {
            writeln!(output, "{offered} is offered: up to date.")?
        }
        (Some(offered), _) => writeln!(output, "{offered} is offered, which is older.")?,
        (None, _) => {}
    }
    Ok(writeln!(output, "{}", way.advice(env))?)
}

/// Runs the installer of the newest version, which puts it in place of this one.
fn from_installer(base: &str, folder: &Path, paths: &Paths) -> Result<()> {
    let spinner = terminal::spinner("asking for the newest version");
    let installer = installer::Installer::fetch(base);
    spinner.finish_and_clear();
    let installer = installer?;
    let before = plugin::version(folder).unwrap_or_else(|| VERSION.to_owned());
    if let Some(offered) = installer.version().filter(|offered| numbers(offered) <= numbers(&before)) {
        return say(format_args!("Wyren {before} is up to date: {offered} is the newest."));
    }
    installer.run(paths)
}

/// Has the client update the plugin from its marketplace.
fn from_registry(id: &str, marketplace: &str, env: &Env, paths: &Paths) -> Result<()> {
    let before = Way::find(env, paths).folder().and_then(plugin::version);
    registry::update(id, marketplace, env, paths)?;
    let after = Way::find(env, paths).folder().and_then(plugin::version);
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
    ))
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
    let is_older = numbers(&facts.version) < numbers(&before);
    let how = if is_older { "Went back" } else { "Updated" };
    say(format_args!("{SUCCESS}{how}{SUCCESS:#} from {before} to {} in {shown}", facts.version))?;
    settle(&target, way, env, paths)?;
    if queue::is_running(paths)? {
        say("The background worker finishes its job with the old version; the next one is of the new.")?;
    }
    say(
        "Running sessions use the new hooks from their next event on; new commands come with the next session.",
    )
}

/// Has the new program wire what the one before had wired: it knows its own hooks and commands.
fn settle(target: &Path, way: &Way, env: &Env, paths: &Paths) -> Result<()> {
    let wyren = program_in(target);
    let client = Client::of(env, paths)?;
    let mut calls: Vec<Vec<&str>> = Vec::new();
    if matches!(way, Way::Copied(_)) && registry::is_known(client.folder(Scope::User), paths) {
        calls.push(vec!["install"]);
    }
    for (scope, name) in [(Scope::User, "user"), (Scope::Project, "project"), (Scope::Local, "local")] {
        let is_of_target = |program: &PathBuf| program.starts_with(target);
        if client.wired(scope).iter().any(is_of_target) {
            calls.push(vec!["install", "--settings", name]);
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

/// A plugin to update from.
#[derive(Debug)]
struct Source {
    folder: PathBuf,
    /// Where an archive was unpacked, which goes with this.
    unpacked: Option<PathBuf>,
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Some(unpacked) = &self.unpacked {
            let _ = fs::remove_dir_all(unpacked);
        }
    }
}

impl Source {
    /// Opens a folder, or unpacks an archive; fails for what is no plugin of Wyren for this machine.
    fn open(from: &Path, paths: &Paths) -> Result<Self> {
        let from = std::path::absolute(from)?;
        let shown = from.display().to_string();
        let source = match fs::metadata(&from) {
            Err(error) => bail!("could not read {shown}: {error}. Nothing was changed"),
            Ok(found) if found.is_dir() => Self { folder: from, unpacked: None },
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
        let folder = paths.data().join("plugin.unpacked");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        files::create_private_folder(&folder)?;
        let mut source = Self { folder: folder.clone(), unpacked: Some(folder.clone()) };
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
