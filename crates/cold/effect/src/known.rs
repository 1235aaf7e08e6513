//! The lessons that showings are about, ready to be asked.

use crate::judge::Asked;
use crate::recorded::{Call, Session};
use base::Paths;
use lessons::call;
use lessons::index::{self, Fingerprint, Index};
use lessons::layers::{Layer, Source};
use lessons::trigger::{Simple, Verdict};
use lessons::{Kind, Lesson};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is before the name of a repository's lesson.
pub const SHARED: &str = "project:";

/// Programs that say nothing about what a call is for.
const INCIDENTAL: [&str; 10] =
    ["cd", "echo", "export", "false", "printf", "pwd", "set", "sleep", "source", "true"];

/// A lesson that there is.
#[derive(Clone, Debug)]
pub struct Known {
    /// The lesson.
    pub lesson: Lesson,
    /// Who it comes from.
    pub layer: Layer,
    /// The folder or manifest that it is in.
    pub place: PathBuf,
    index: Vec<u8>,
}

/// The lessons of a user, and those of the repositories that sessions were in.
#[derive(Debug)]
pub struct Lessons {
    own: BTreeMap<String, Known>,
    shared: BTreeMap<PathBuf, BTreeMap<String, Known>>,
    paths: Paths,
    home: Option<PathBuf>,
}

impl Lessons {
    /// Reads the user's own lessons, those that ship and those of a manifest.
    pub fn read(paths: &Paths, home: Option<PathBuf>, manifest: Option<PathBuf>) -> Self {
        let mut own = BTreeMap::new();
        let manifest = manifest.map(|file| Source::at(paths, Layer::Manifest, file));
        // Of one name, the user's own lesson counts.
        for source in manifest.into_iter().chain(Source::own(paths)) {
            own.extend(known(&source));
        }
        Self { own, shared: BTreeMap::new(), paths: paths.clone(), home }
    }

    /// Returns the lesson that a session was shown by this name; `None` where it is no more.
    pub fn find(&mut self, session: &Session, name: &str) -> Option<&Known> {
        let Some(slug) = name.strip_prefix(SHARED) else { return self.own.get(name) };
        let source = Source::others(&self.paths, &session.root, None).into_iter().next()?;
        let lessons = self.shared.entry(source.place.clone()).or_insert_with(|| known(&source).collect());
        lessons.get(slug)
    }

    /// Returns a lesson as something that can be asked.
    pub fn ask<'a>(&'a self, known: &'a Known) -> Ask<'a> {
        Ask { known, home: self.home.as_deref(), paths: &self.paths }
    }
}

fn known(source: &Source) -> impl Iterator<Item = (String, Known)> {
    let (layer, place) = (source.layer, source.place.clone());
    source.read().0.into_iter().filter(|lesson| lesson.kind.is_about_calls()).map(move |lesson| {
        let enabled = Lesson { is_disabled: false, ..lesson.clone() };
        let (index, _) = index::build(&[enabled], Fingerprint::default());
        (lesson.slug.clone(), Known { lesson, layer, place: place.clone(), index })
    })
}

impl Known {
    /// Returns its name, as recorded.
    pub fn name(&self) -> String {
        let prefix = if self.layer == Layer::Project { SHARED } else { "" };
        format!("{prefix}{}", self.lesson.slug)
    }

    /// Returns what it does.
    pub fn kind(&self) -> Kind {
        self.lesson.kind
    }
}

/// A lesson that can be asked about recorded calls.
#[derive(Debug)]
pub struct Ask<'a> {
    known: &'a Known,
    home: Option<&'a Path>,
    paths: &'a Paths,
}

impl Ask<'_> {
    /// Calls `with` with a recorded call as hooks see it, and the simple commands of it.
    fn judged<T>(
        &self,
        session: &Session,
        recorded: &Call,
        with: impl FnOnce(&dyn Fn(&[Simple<'_>]) -> bool, &[Simple<'_>]) -> T,
    ) -> T {
        let mut call = read(session, recorded, &session.root).at(&recorded.cwd, self.home);
        call.name_data_folder(self.paths);
        let commands = shell::commands(script(&call));
        let simples = Simple::all(&commands);
        let index = Index::new(&self.known.index[..]).ok();
        let entry = index.as_ref().and_then(|index| index.entry(0).ok());
        let applies = |simples: &[Simple<'_>]| {
            entry.as_ref().is_some_and(|entry| matches!(entry.judge(&call, simples), Verdict::Applies { .. }))
        };
        with(&applies, &simples)
    }
}

impl Asked for Ask<'_> {
    fn applies(&self, session: &Session, call: &Call) -> bool {
        self.judged(session, call, |applies, simples| applies(simples))
    }

    fn programs(&self, session: &Session, call: &Call) -> BTreeSet<String> {
        self.judged(session, call, |applies, simples| {
            let each = simples.iter().enumerate();
            let alone = each.filter(|(place, _)| applies(&simples[*place..=*place]));
            let programs = named(alone.map(|(_, simple)| simple.program));
            // A pattern over the whole line, or over a pipe, is about all of it.
            if programs.is_empty() { named(simples.iter().map(|simple| simple.program)) } else { programs }
        })
    }
}

/// Returns the programs that a call runs; none for a tool that is no shell.
pub fn programs(session: &Session, recorded: &Call) -> BTreeSet<String> {
    let call = read(session, recorded, &session.root);
    let commands = shell::commands(script(&call));
    named(Simple::all(&commands).iter().map(|simple| simple.program))
}

/// Returns the program of a line that runs one; `None` for several.
pub fn only_program(script: &str) -> Option<String> {
    let commands = shell::commands(script);
    let mut programs = named(Simple::all(&commands).iter().map(|simple| simple.program));
    if programs.len() == 1 { programs.pop_first() } else { None }
}

fn named<'a>(programs: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let counts = |program: &&str| !program.is_empty() && !INCIDENTAL.contains(program);
    programs.filter(counts).map(str::to_owned).collect()
}

fn read<'a>(session: &'a Session, recorded: &'a Call, root: &'a Path) -> call::Call<'a> {
    let input: Option<&RawValue> = recorded.input.as_deref();
    call::Call::read(&recorded.tool, input, session.platform, root)
}

fn script<'a>(call: &'a call::Call<'_>) -> &'a str {
    call.command.as_deref().filter(|_| call.is_shell()).unwrap_or_default()
}
