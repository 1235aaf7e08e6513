//! Answers the calls. Store and index are opened by the first of them, and for each anew: a session may go on for days.

use crate::arguments::Arguments;
use crate::sheet::{Beyond, MAX_CHARS, PER_TOKEN, Sheet, weight};
use crate::tools::Tool;
use answers::ids::{self, Whole};
use answers::notes::{self, DEFAULT_KIND, Given};
use answers::why::{Answer, Target, read_lines};
use answers::{Error, Finder, projects, rows, when};
use base::paths::PRIVATE_MARKER;
use base::project::Project;
use base::settings::Settings;
use base::{Env, Paths, Timestamp, digest, files};
use capture::{Rule, Spool};
use journal::find::Item;
use journal::recall::{self, Situation, Taste};
use journal::{Source, read};
use memory::{Memory, without_comments};
use place::Folder;
use search::highlight::Words;
use search::sources::{self, Loaded, SHIPPED, kind_named};
use search::{Filter, Kind, Query};
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use text::sanitize::{Fence, one_line};
use text::{privacy, redact};

/// In tokens.
const DEFAULT_BUDGET: usize = 2_000;
const BUDGETS: (usize, usize) = (300, MAX_CHARS / PER_TOKEN);
/// How many rows.
const DEFAULT_ROWS: usize = 10;
const ROWS: (usize, usize) = (1, 100);
const LESSON_ROWS: usize = 5;
const AROUND: usize = 5;
const SUMMARIES: usize = 10;
const MAX_IDS: usize = 50;
/// How many ids that were left out are named.
const MOST_NAMED: usize = 20;
/// How many arguments that no tool knows are named, and how many characters of each.
const MOST_UNKNOWN: usize = 5;
const MAX_NAME: usize = 40;
/// The most decisions of the journal that are looked at.
const MOST_DECISIONS: i64 = 200;
/// What counts as a decision.
const DECIDED: [&str; 2] = ["decision", "rejected"];
/// How many digits a moment in milliseconds since 1970 has at least: from 1973 on.
const MILLIS_DIGITS: usize = 12;
/// How many one in seconds has, from 2001 to 2286.
const SECONDS_DIGITS: usize = 10;
/// In characters.
const MAX_TITLE: usize = 200;
const MAX_LINE: usize = 600;
const SESSION_CHARS: usize = 8;
const FENCE_CHARS: usize = 8;
/// How many lines of a lesson, decision or note are shown.
const MAX_LINES: usize = 6;

/// What the client calls the session that it started the server for.
const SESSION_VARIABLE: &str = "CLAUDE_CODE_SESSION_ID";

/// How much the times of files may be off.
const COARSENESS: Duration = Duration::from_secs(2);

const DETAILS: &str = "`get` with ids for the whole text, `timeline` with an id for what happened around it.";

/// Who is asked, and from where.
pub struct Desk {
    pub(crate) env: Env,
    pub(crate) paths: Paths,
    pub(crate) cwd: PathBuf,
    pub(crate) clock: fn() -> Timestamp,
    began: SystemTime,
}

/// A decision; one that was superseded says by what.
enum Decision {
    /// As it is shown: it is of the team memory.
    Shared(String),
    /// The id of an entry, which is looked up once it is shown.
    Entry(String),
}

impl Desk {
    pub fn new(env: Env, paths: Paths, cwd: PathBuf, clock: fn() -> Timestamp) -> Self {
        Self { env, paths, cwd, clock, began: SystemTime::now() }
    }

    /// Answers a call, or says in words why not.
    pub fn call(&self, tool: &Tool, arguments: &Map<String, Value>) -> Result<String, String> {
        // Before anything is drained; a failure leaves it to the next call.
        let _ = store::known::note(&self.paths);
        let arguments = Arguments::new(arguments);
        let answer = (tool.run)(self, &arguments).map_err(|refusal| self.refused(&refusal))?;
        // A filter that is left out without a word would be a wrong answer.
        let is_listed = |name: &str| tool.parameters.iter().any(|parameter| parameter.name == name);
        let unknown = arguments.unknown().filter(|name| !is_listed(name));
        let unknown: Vec<String> = unknown
            .take(MOST_UNKNOWN)
            .map(|name| text::sanitize::for_model(&one_line(name, MAX_NAME)).into_owned())
            .collect();
        match &*unknown {
            [] => Ok(answer),
            unknown => Ok(format!("{answer}\nNot used: {} knows no {}.", tool.name, unknown.join(", "))),
        }
    }

    /// Returns a refusal: what it lists below its first line are titles of what is recorded, so that is fenced, too.
    fn refused(&self, refusal: &str) -> String {
        let (reason, listed) = refusal.split_once('\n').unwrap_or((refusal, ""));
        let reason = text::sanitize::for_model(reason).into_owned();
        match listed.trim() {
            "" => reason,
            _ => format!("{reason}\n{}", self.fence().around("refusal", &[], listed)),
        }
    }

    pub(crate) fn finder(&self) -> Result<Finder, String> {
        Finder::open(&self.env, &self.paths, &self.cwd).map_err(said)
    }

    /// The same for all answers about a folder: an answer is the same when nothing has changed.
    pub(crate) fn fence(&self) -> Fence {
        let word = digest::short_hex(Project::of(&self.cwd).key.as_bytes());
        Fence::new(word.chars().take(FENCE_CHARS).collect::<String>())
    }

    pub(crate) fn sheet(&self, arguments: &Arguments<'_>) -> Result<Sheet, String> {
        Ok(Sheet::within(arguments.number(&["budget", "max_tokens"], DEFAULT_BUDGET, BUDGETS)?))
    }

    pub(crate) fn limit(arguments: &Arguments<'_>) -> Result<usize, String> {
        arguments.number(&["limit", "max_results"], DEFAULT_ROWS, ROWS)
    }

    fn projects(&self, arguments: &Arguments<'_>, finder: &Finder) -> Result<Vec<String>, String> {
        Ok(match arguments.text(&["project"]).as_deref() {
            Some("all") => sources::every_project(&finder.store).map_err(|error| said(error.into()))?,
            Some(named) => {
                let spool = Spool::new(self.paths.spool());
                vec![projects::find(named, &finder.store, &spool, "nothing is shown").map_err(said)?]
            }
            None => vec![Project::of(&self.cwd).key],
        })
    }

    fn project(&self, finder: &Finder, key: &str) -> Result<Project, String> {
        let own = Project::of(&self.cwd);
        if own.key == key {
            return Ok(own);
        }
        let root = projects::root(&finder.store, key).map_err(said)?.unwrap_or_default();
        Ok(Project { key: key.to_owned(), name: projects::name(key), root })
    }

    /// Searches, and returns what was found with the words that were looked up and what there is beyond.
    pub(crate) fn found(
        &self,
        finder: &Finder,
        text: String,
        filter: Filter,
        (limit, skip): (usize, usize),
    ) -> Result<(Vec<Loaded>, Words, Beyond), String> {
        let query = Query { text, filter, limit, skip, now: (self.clock)().millis() };
        let (found, _) = finder.search(&query, &self.env, &self.paths);
        let keys: Vec<String> = found.hits.iter().map(|hit| hit.key.clone()).collect();
        let loaded = sources::load(&finder.store, &self.paths, &keys).map_err(|error| said(error.into()))?;
        let words = Words::of(found.terms.iter().map(|(word, _)| word.as_str()));
        let beyond = match found.total {
            Some(total) => Beyond::Counted(total.saturating_sub(skip + found.hits.len())),
            None if found.hits.len() < limit => Beyond::Counted(0),
            None => Beyond::Uncounted,
        };
        Ok((loaded, words, beyond))
    }

    pub(crate) fn search(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let text = arguments.text(&["query", "q", "text"]);
        let (limit, skip) = (Self::limit(arguments)?, arguments.number(&["offset"], 0, (0, 10_000))?);
        let finder = self.finder()?;
        let types = types_in(arguments)?;
        let mut projects = self.projects(arguments, &finder)?;
        let file = arguments.text(&["file", "files"]).map(|file| self.as_recorded(&file, &finder, &projects));
        if types.iter().any(|name| kind_named(name) == Some(Kind::Lesson)) {
            projects.push(SHIPPED.to_owned());
        }
        let has_projects = projects.len() > 1;
        let moment = |names: &[&str], is_end: bool| {
            let given = arguments.text(names);
            given
                .map(|text| moment(&text, is_end).map_err(|error| format!("{}: {error}", names[0])))
                .transpose()
        };
        let filter = Filter {
            projects,
            kinds: types.iter().filter_map(|name| kind_named(name)).collect(),
            classes: types.iter().filter(|name| kind_named(name).is_none()).cloned().collect(),
            file: file.unwrap_or_default(),
            since: moment(&["since", "dateStart"], false)?,
            until: moment(&["until"], false)?.or(moment(&["dateEnd"], true)?),
            ..Filter::default()
        };
        let mut sheet = self.sheet(arguments)?;
        let (loaded, mut words, beyond) = match text {
            Some(text) => self.found(&finder, text, filter, (limit, skip))?,
            None => self.newest(&finder, &filter, (limit, skip))?,
        };
        for loaded in &loaded {
            sheet.push(row(loaded, &mut words, has_projects));
        }
        if sheet.is_empty() {
            return Ok(nothing(&finder, "Try fewer or other words, project `all`, or no filter."));
        }
        // The next page begins with the first row that is not here, whether it was looked at or not.
        let rest =
            format!("Call again with offset {}, or with a larger limit or budget.", skip + sheet.count());
        Ok(sheet.finish(&self.fence(), "search", beyond, &rest, &next(&finder)))
    }

    /// Returns a path as entries name it: relative to the root of its project. Models know files by absolute paths.
    fn as_recorded(&self, file: &str, finder: &Finder, projects: &[String]) -> String {
        let own = Project::of(&self.cwd);
        let root = |key: &String| match *key == own.key {
            true => Some(own.root.clone()),
            false => projects::root(&finder.store, key).ok().flatten(),
        };
        let path = Path::new(file);
        if path.is_absolute() {
            let names = [path.to_owned(), files::canonical(path)];
            for root in projects.iter().filter_map(root) {
                let inside = names.iter().find_map(|name| name.strip_prefix(&root).ok());
                if let Some(inside) = inside {
                    return inside.to_string_lossy().replace('\\', "/");
                }
            }
        }
        file.replace('\\', "/")
    }

    /// Answers a question without words: the entries that pass its filter, the newest first.
    fn newest(
        &self,
        finder: &Finder,
        filter: &Filter,
        (limit, skip): (usize, usize),
    ) -> Result<(Vec<Loaded>, Words, Beyond), String> {
        let Filter { classes, file, since, until, kinds, .. } = filter;
        let is_filtered = !(classes.is_empty() && file.is_empty() && kinds.is_empty())
            || since.is_some()
            || until.is_some();
        if !is_filtered || kinds.iter().any(|kind| *kind != Kind::Entry) {
            let what = "without them, give since, until, file or a type of entries";
            return Err(format!("query: no words to search for; {what}"));
        }
        let mut rows = Vec::new();
        for key in &filter.projects {
            rows.extend(read::project_row(&finder.store, key).map_err(|error| said(error.into()))?);
        }
        let moment = |moment: u64| i64::try_from(moment).unwrap_or(i64::MAX);
        let condition = "e.project IN (SELECT value FROM json_each(?1)) AND e.is_noise = 0
             AND (?2 = '[]' OR e.kind IN (SELECT value FROM json_each(?2))) AND e.at >= ?3 AND e.at < ?4
             AND (?5 = '' OR EXISTS (SELECT 1 FROM entry_files AS f WHERE f.entry = e.row
                 AND instr('/' || f.path || '/', '/' || ?5 || '/') > 0))
             ORDER BY e.at DESC, e.id LIMIT ?6 OFFSET ?7";
        let values = (
            Value::from(rows).to_string(),
            Value::from(classes.clone()).to_string(),
            moment(since.unwrap_or_default()),
            moment(until.unwrap_or(u64::MAX)),
            file.trim_start_matches("./").trim_end_matches('/'),
            // One more, to know whether there is more.
            limit as i64 + 1,
            skip as i64,
        );
        let entries = read::entries_where(&finder.store, condition, values);
        let entries = entries.map_err(|error| said(error.into()))?;
        let keys: Vec<String> = entries.iter().take(limit).map(|entry| format!("e:{}", entry.id)).collect();
        let loaded = sources::load(&finder.store, &self.paths, &keys).map_err(|error| said(error.into()))?;
        let beyond = if entries.len() > limit { Beyond::Uncounted } else { Beyond::Counted(0) };
        Ok((loaded, Words::default(), beyond))
    }

    pub(crate) fn timeline(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let Some(anchor) = arguments.text(&["anchor", "id", "query"]) else {
            return Err("anchor: no id and no words".to_owned());
        };
        let before = arguments.number(&["before", "depth_before"], AROUND, (0, ROWS.1))?;
        let after = arguments.number(&["after", "depth_after"], AROUND, (0, ROWS.1))?;
        let finder = self.finder()?;
        let projects = self.projects(arguments, &finder)?;
        let (anchor, mut words) = match nearest(&finder, &self.paths, &anchor, &projects)? {
            Some(loaded) => (loaded, Words::default()),
            None => {
                let words: Vec<String> =
                    anchor.trim_start_matches('#').split_whitespace().map(str::to_owned).collect();
                answers::anchor(&finder, &self.paths, &words, projects.clone()).map_err(said)?
            }
        };
        let around = sources::around(&finder.store, &self.paths, &anchor, (before, after));
        let around = around.map_err(|error| said(error.into()))?;
        let mut sheet = self.sheet(arguments)?;
        let plain = |side: &[Loaded]| -> Vec<String> {
            side.iter().map(|loaded| row(loaded, &mut Words::default(), false)).collect()
        };
        // An id may be of another project than the one that was asked about; what is around it is then, too.
        let is_of_another = !projects.contains(&anchor.document.project);
        let middle = format!("> {}", row(&anchor, &mut words, is_of_another));
        sheet.push_around(plain(&around.before), middle, plain(&around.after));
        let rest = "Call again with a larger budget, or with the first or last id as the anchor.";
        Ok(sheet.finish(&self.fence(), "timeline", 0, rest, &next(&finder)))
    }

    pub(crate) fn get(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let wanted = ids_in(arguments)?;
        let finder = self.finder()?;
        let mut sheet = self.sheet(arguments)?;
        let (mut problems, mut left_out) = (Vec::new(), Vec::new());
        for id in &wanted {
            match Whole::find(&finder.store, &self.paths, &self.cwd, id) {
                Ok(found) if sheet.push(whole(&found)) => {}
                Ok(found) => left_out.push(found.id().to_owned()),
                Err(error) => problems.push((id, said(error))),
            }
        }
        if sheet.is_empty() && !problems.is_empty() {
            let mut room = sheet.room();
            let problems: Vec<String> = problems.into_iter().map(|(_, problem)| problem).collect();
            let fits = |problem: &&String| {
                let length = weight(problem) + 1;
                let fits = length <= room;
                room = room.saturating_sub(length);
                fits
            };
            let fitting = problems.iter().take_while(fits).count().max(1);
            let mut refusal = problems[..fitting].join("\n");
            if fitting < problems.len() {
                let left = answers::counted(problems.len() - fitting, "more id", "more ids");
                refusal.push_str(&format!("\nLeft out: {left}."));
            }
            return Err(refusal);
        }
        for (id, problem) in problems {
            if !sheet.push(problem) {
                left_out.push(one_line(id, MAX_NAME));
            }
        }
        let named = match &*left_out {
            [] => " with a larger budget".to_owned(),
            left_out => format!(
                " with ids {}, or with a larger budget",
                left_out[..left_out.len().min(MOST_NAMED)].join(",")
            ),
        };
        let rest = format!("Call again{named}.");
        Ok(sheet.finish(&self.fence(), "get", 0, &rest, ""))
    }

    pub(crate) fn decisions(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let limit = Self::limit(arguments)?;
        let finder = self.finder()?;
        let mut sheet = self.sheet(arguments)?;
        let projects = self.projects(arguments, &finder)?;
        let beyond = if let Some(text) = arguments.text(&["query", "about"]) {
            let classes = DECIDED.map(str::to_owned).into();
            let filter = Filter { projects, classes, ..Filter::default() };
            let (loaded, mut words, beyond) = self.found(&finder, text, filter, (limit, 0))?;
            for loaded in &loaded {
                sheet.push(told(loaded, &mut words));
            }
            beyond
        } else {
            let mut latest = Vec::new();
            for key in &projects {
                latest.extend(self.latest_decisions(&finder, key)?);
            }
            // What has no date is not known to be new.
            latest.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
            let beyond = latest.len().saturating_sub(limit);
            for (_, decision) in latest.into_iter().take(limit) {
                sheet.push(match decision {
                    Decision::Shared(text) => text,
                    Decision::Entry(id) => {
                        whole(&Whole::find(&finder.store, &self.paths, &self.cwd, &id).map_err(said)?)
                    }
                });
            }
            Beyond::Counted(beyond)
        };
        if sheet.is_empty() {
            return Ok(nothing(&finder, "`search` also finds what was never called a decision."));
        }
        let rest = "Call again with a query, or with a larger limit or budget.";
        Ok(sheet.finish(&self.fence(), "decisions", beyond, rest, &next(&finder)))
    }

    /// Returns the decisions of a project, each with its moment: those of its team memory, and the latest of the journal.
    fn latest_decisions(&self, finder: &Finder, key: &str) -> Result<Vec<(u64, Decision)>, String> {
        let root = match Project::of(&self.cwd) {
            own if own.key == key => Some(self.cwd.clone()),
            _ => projects::root(&finder.store, key).map_err(said)?,
        };
        let folder = root.and_then(|root| Folder::find(&root));
        let shared = folder.map(|folder| sources::of_team_memory(&folder.memory(), key)).unwrap_or_default();
        let mut latest: Vec<(u64, Decision)> = shared
            .iter()
            .filter(|loaded| DECIDED.contains(&loaded.document.class.as_str()))
            .map(|loaded| (loaded.document.at, Decision::Shared(told(loaded, &mut Words::default()))))
            .collect();
        let row = read::project_row(&finder.store, key).map_err(|error| said(error.into()))?;
        let Some(project) = row else { return Ok(latest) };
        let condition = "e.project = ?1 AND e.kind = 'decision' ORDER BY e.at DESC, e.id LIMIT ?2";
        let entries = read::entries_where(&finder.store, condition, (project, MOST_DECISIONS));
        let entries = entries.map_err(|error| said(error.into()))?;
        latest.extend(entries.into_iter().map(|entry| (entry.at, Decision::Entry(entry.id))));
        Ok(latest)
    }

    pub(crate) fn lessons(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let Some(text) = arguments.text(&["about", "query", "tool", "path", "error"]) else {
            return Err("about: no tool, path or error".to_owned());
        };
        let finder = self.finder()?;
        let filter = Filter {
            projects: vec![Project::of(&self.cwd).key, SHIPPED.to_owned()],
            kinds: vec![Kind::Lesson],
            ..Filter::default()
        };
        let mut sheet = self.sheet(arguments)?;
        let limit = arguments.number(&["limit", "max_results"], LESSON_ROWS, ROWS)?;
        let (loaded, mut words, beyond) = self.found(&finder, text, filter, (limit, 0))?;
        for loaded in &loaded {
            sheet.push(told(loaded, &mut words));
        }
        if sheet.is_empty() {
            return Ok(nothing(&finder, "No lesson is about this."));
        }
        let rest = "Call again with a larger limit or budget.";
        Ok(sheet.finish(&self.fence(), "lessons", beyond, rest, &next(&finder)))
    }

    pub(crate) fn why(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let Some(named) = arguments.text(&["file", "path", "file_path"]) else {
            return Err("file: no path".to_owned());
        };
        let named = match arguments.text(&["line", "lines"]) {
            Some(line) => format!("{named}:{}", line.replace(' ', "")),
            None => named,
        };
        let target = Target::parse(&named, |path| self.cwd.join(path).is_file()).map_err(said)?;
        let file = self.cwd.join(&target.file);
        let lines = read_lines(&file, &target.file).map_err(said)?;
        let range = target.range(lines.len()).map_err(said)?;
        let open = || answers::open_drained(&self.env, &self.paths).map(|(store, _)| store);
        let answer = Answer::of(&file, lines, range.clone(), &self.env, open).map_err(said)?;
        let asked = range.unwrap_or(1..=answer.lines.len());
        let edit = |at: usize| answer.origins[at].map(|origin| origin.edit);
        let mut sheet = self.sheet(arguments)?;
        for block in answer.blocks(&asked, |at| (edit(at), answer.commit_of[at])) {
            let mut text = match block.to - block.from {
                0 => format!("{}:{}", target.file, block.from + 1),
                _ => format!("{}:{}-{}", target.file, block.from + 1, block.to + 1),
            };
            // A line that nothing is known of is not the memory's to show: the client asks the user before a file is read.
            if answer.known(block.from).is_some() || answer.commit_of[block.from].is_some() {
                let code = redact::redact(&answer.lines[block.from]).into_owned();
                text.push_str(&format!("\n  code: {}", one_line(&code, MAX_TITLE)));
            }
            for (name, fact) in answer.facts(&block) {
                // A moment is the same whenever it is asked for; an age is not.
                let fact = if name == "when" { known_at(&answer, block.from).unwrap_or(fact) } else { fact };
                text.push_str(&format!("\n  {name}: {}", one_line(&redact::redact(&fact), MAX_LINE)));
            }
            sheet.push(text);
        }
        if sheet.is_empty() {
            return Ok(format!("{} is empty.", one_line(&target.file, MAX_TITLE)));
        }
        let next = "`get` with the ids in brackets for the whole entries.";
        Ok(sheet.finish(&self.fence(), "why", 0, "Call again with a line or a range of lines.", next))
    }

    pub(crate) fn remember(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let text = arguments.text(&["text", "note", "content"]).unwrap_or_default();
        let text = match arguments.text(&["title"]) {
            Some(title) if !text.is_empty() => format!("{title}\n{text}"),
            Some(title) => title,
            None => text,
        };
        let kind = notes::kind(&arguments.text(&["type"]).unwrap_or_else(|| DEFAULT_KIND.to_owned()))?;
        let files: Vec<PathBuf> =
            arguments.list(&["files", "file"])?.into_iter().map(PathBuf::from).collect();
        if self.is_under_private() {
            return Err("nothing was kept: a prompt that is being worked on is marked as private".to_owned());
        }
        let given = Given {
            text: &text,
            kind: &kind,
            files: &files,
            is_pinned: arguments.flag(&["pin", "pinned"]),
            is_by_model: true,
            // The one in the environment is stale after `/clear`.
            session: None,
        };
        let kept = notes::remember(&given, &self.cwd, &self.env, &self.paths, reason);
        let kept = kept.map_err(|refusal| refusal.to_string())?;
        let pinned = if given.is_pinned { " and pinned" } else { "" };
        let private = if kept.words.has_private { " What is marked as private was left out." } else { "" };
        let shortened =
            if kept.words.is_shortened { " It was too long: its middle was left out." } else { "" };
        let secrets = match kept.words.secrets {
            0 => String::new(),
            secrets => format!(" {} left out.", answers::counted(secrets, "secret was", "secrets were")),
        };
        let project = projects::name(&kept.project.key);
        let title = text::sanitize::for_model(&kept.words.title).into_owned();
        Ok(format!(
            "Remembered{pinned} as {}: {title}\nKept on this machine, for {project}.{secrets}{private}{shortened}",
            kept.id
        ))
    }

    pub(crate) fn pin(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let wanted = ids_in(arguments)?;
        let (mut store, _) = answers::open_drained(&self.env, &self.paths).map_err(said)?;
        let entries = notes::pin(&mut store, &self.paths, &self.cwd, &wanted, true).map_err(said)?;
        let mut sheet = self.sheet(arguments)?;
        for entry in &entries {
            let done = if entry.is_pinned { "Pinned before" } else { "Pinned" };
            sheet.push(format!("{done} {}: {}", entry.id, one_line(&entry.title, MAX_TITLE)));
        }
        Ok(sheet.finish(&self.fence(), "pin", 0, "They are pinned as well.", ""))
    }

    /// The index that a session is shown at its start, as claude-mem's `session_start_context` has it.
    pub(crate) fn recent(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let finder = self.finder()?;
        let budget = arguments.number(&["budget", "max_tokens"], DEFAULT_BUDGET, BUDGETS)?;
        let settings = Settings::read(&self.env, &self.paths.hook_settings());
        let mut taste = Taste::of(&settings);
        taste.max_bytes = taste.max_bytes.min(budget * PER_TOKEN);
        let project = match &*self.projects(arguments, &finder)? {
            [key] => self.project(&finder, key)?,
            _ => return Err("project: one at a time; `search` takes `all`".to_owned()),
        };
        let past = recall::look(&finder.store, &project, &taste, |_| Situation::default());
        let past = past.map_err(|error| said(error.into()))?;
        let text = past.map(|past| recall::index(&past, &taste, &self.fence(), &recall::local).text);
        let text = text.filter(|text| !text.is_empty());
        Ok(text.unwrap_or_else(|| "Nothing is recorded in this project yet.".to_owned()))
    }

    /// The team memory, as it may be shown.
    pub(crate) fn team_memory(&self) -> String {
        let memory = self.memory();
        if memory.sections().is_empty() {
            return "There is no team memory in this project. A person starts one: wyren init".to_owned();
        }
        let rendered = memory.render();
        let mut sheet = Sheet::within(BUDGETS.1);
        for line in rendered.lines() {
            sheet.push(line.to_owned());
        }
        sheet.finish(&self.fence(), "memory.md", 0, "`search` finds the rest.", "")
    }

    pub(crate) fn summaries(&self) -> Result<String, String> {
        let (store, _) = answers::open_drained(&self.env, &self.paths).map_err(said)?;
        let mut sheet = Sheet::within(BUDGETS.1);
        let row =
            read::project_row(&store, &Project::of(&self.cwd).key).map_err(|error| said(error.into()))?;
        if let Some(project) = row {
            let condition = "s.project = ?1 ORDER BY s.at DESC, s.id LIMIT ?2";
            let summaries = read::summaries_where(&store, condition, (project, SUMMARIES as i64));
            for summary in summaries.map_err(|error| said(error.into()))? {
                let found = Whole::find(&store, &self.paths, &self.cwd, &summary.id).map_err(said)?;
                sheet.push(whole(&found));
            }
        }
        if sheet.is_empty() {
            return Ok("No turn of this project was summed up yet.".to_owned());
        }
        Ok(sheet.finish(&self.fence(), "recent summaries", 0, "`search` finds the rest.", ""))
    }

    /// Returns the team memory without what is private or secret; an empty one where there is none.
    pub(crate) fn memory(&self) -> Memory {
        let file = Folder::find(&self.cwd).map(|folder| folder.memory());
        let bytes =
            file.and_then(|file| files::read_capped(&file, files::cap::SHARED).ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let public = redact::redact(&privacy::strip_memory(&text)).into_owned();
        Memory::parse(&without_comments(&public))
    }

    /// Returns whether a prompt is marked as private that this call may be made under: that of the session that the client started
    /// the server for, or one that was sent since. Which session calls is not known after `/clear`.
    fn is_under_private(&self) -> bool {
        let own = self.env.text(SESSION_VARIABLE);
        if own.is_some_and(|session| Spool::new(self.paths.spool()).is_private(&session)) {
            return true;
        }
        let since = self.began.checked_sub(COARSENESS).unwrap_or(self.began);
        let is_recent = |marker: PathBuf| {
            // That of a subagent has a word in it: the prompt that it began under has a mark of its own.
            let of_prompt = fs::symlink_metadata(marker).ok().filter(|metadata| metadata.len() == 0);
            of_prompt.is_some_and(|metadata| metadata.modified().is_ok_and(|changed| changed >= since))
        };
        let sessions = fs::read_dir(self.paths.spool()).into_iter().flatten().flatten();
        sessions.map(|session| session.path().join(PRIVATE_MARKER)).any(is_recent)
    }
}

fn ids_in(arguments: &Arguments<'_>) -> Result<Vec<String>, String> {
    let listed = arguments.list(&["ids", "id"])?;
    // No id has a space in it.
    let mut wanted: Vec<String> = Vec::new();
    let all = listed.iter().flat_map(|ids| ids.split_whitespace()).map(|id| id.trim_start_matches('#'));
    for id in all.filter(|id| !id.is_empty()) {
        if !wanted.iter().any(|known| known == id) {
            wanted.push(id.to_owned());
        }
    }
    if wanted.is_empty() {
        return Err("ids: none were given; `search` returns them".to_owned());
    }
    if wanted.len() > MAX_IDS {
        return Err(format!("ids: {} at most, not {}", MAX_IDS, wanted.len()));
    }
    Ok(wanted)
}

pub(crate) fn said(error: Error) -> String {
    match error {
        Error::Store(error) if error.is_corrupt() => {
            "the memory cannot be read now: its database is damaged. A person can repair it: wyren repair"
                .to_owned()
        }
        error => base::error::with_causes(&error),
    }
}

fn nothing(finder: &Finder, advice: &str) -> String {
    let is_partial =
        if finder.is_complete { "" } else { " The index is still being made: ask again in a moment." };
    format!("Nothing found. {advice}{is_partial}")
}

/// Returns what to call for more, and what the answer may lack.
fn next(finder: &Finder) -> String {
    let is_partial = if finder.is_complete {
        ""
    } else {
        " The index is still being made: some records are missing from this answer."
    };
    format!("{DETAILS}{is_partial}")
}

/// Returns the kinds and types that were asked for. claude-mem has `type` for the first and `obs_type` for the second, in its words;
/// a type says more than the kind that it is of.
fn types_in(arguments: &Arguments<'_>) -> Result<Vec<String>, String> {
    let named = |names: &[&str]| -> Result<Vec<String>, String> {
        let names = arguments.list(names)?;
        Ok(names.iter().map(|name| in_our_words(&name.to_lowercase()).to_owned()).collect())
    };
    let (mut types, of_entries) = (named(&["type"])?, named(&["obs_type"])?);
    if !of_entries.is_empty() {
        types.retain(|name| name != "entry");
    }
    types.extend(of_entries);
    // What claude-mem wrote down keeps its own word.
    if types.iter().any(|name| name == "bugfix") {
        types.push("fix".to_owned());
    }
    Ok(types)
}

fn in_our_words(name: &str) -> &str {
    match name {
        "observations" | "observation" => "entry",
        "sessions" | "session" => "summary",
        "prompts" => "prompt",
        name => name,
    }
}

/// Reads a moment: milliseconds or seconds since 1970, or as a person writes it. A day lasts to its end.
fn moment(text: &str, is_end: bool) -> Result<u64, when::NotATime> {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    if let Ok(number) = text.parse::<u64>() {
        match text.len() {
            SECONDS_DIGITS => return Ok(number * 1_000),
            MILLIS_DIGITS.. => return Ok(number),
            _ => {}
        }
    }
    let is_day = text.len() == "2026-11-18".len() && text.starts_with(|first: char| first.is_ascii_digit());
    Ok(when::parse(text)?.millis() + if is_end && is_day { DAY } else { 0 })
}

/// Returns the last thing that was recorded at or before a moment; `None` for what is no moment.
fn nearest(
    finder: &Finder,
    paths: &Paths,
    anchor: &str,
    projects: &[String],
) -> Result<Option<Loaded>, String> {
    // `yesterday` and `3d` are words, too.
    let is_moment =
        anchor.len() >= "2026-11-18".len() && anchor.starts_with(|first: char| first.is_ascii_digit());
    let at = match is_moment.then(|| moment(anchor, true)) {
        Some(Ok(at)) => at,
        Some(Err(error @ when::NotATime::NoSuchDay(_))) => return Err(format!("anchor: {error}")),
        Some(Err(_)) | None => return Ok(None),
    };
    let mut found: Vec<(u64, String)> = Vec::new();
    for key in projects {
        let row = read::project_row(&finder.store, key).map_err(|error| said(error.into()))?;
        let Some(project) = row else { continue };
        let condition = "e.project = ?1 AND e.at <= ?2 ORDER BY e.at DESC, e.id LIMIT 1";
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        let entries = read::entries_where(&finder.store, condition, (project, at));
        found.extend(
            entries.map_err(|error| said(error.into()))?.into_iter().map(|entry| (entry.at, entry.id)),
        );
    }
    let Some((_, id)) = found.into_iter().max() else {
        return Err(format!("nothing was recorded before {}", one_line(anchor, MAX_TITLE)));
    };
    let loaded = sources::load(&finder.store, paths, &[format!("e:{id}")]);
    Ok(loaded.map_err(|error| said(error.into()))?.pop())
}

fn reason(rule: Rule<'_>) -> String {
    match rule {
        Rule::Off => "recording is off (capture.enabled)".to_owned(),
        Rule::Excluded(_) => "this project is excluded from recording (capture.excluded_projects)".to_owned(),
        Rule::Paused(_) => "recording is paused in this project".to_owned(),
    }
}

/// Returns a moment to the minute, in UTC; the day alone where there is no time.
pub(crate) fn minute(at: u64) -> String {
    if at == 0 {
        return "–".to_owned();
    }
    let text = Timestamp::from_millis(at).to_string();
    if search::noon_of_a_day(at) {
        return text.get(..10).unwrap_or(&text).to_owned();
    }
    format!("{}Z", text.get(..16).unwrap_or(&text))
}

fn known_at(answer: &Answer, at: usize) -> Option<String> {
    answer.known(at).map(|known| minute(known.call.at))
}

/// Returns the line of a document, the passage that was found, and where it comes from.
fn row(loaded: &Loaded, words: &mut Words, has_projects: bool) -> String {
    let mut text = headline(loaded);
    // A title may say what was asked for.
    if let Some(passage) = rows::passage(loaded, words)
        && !loaded.document.title.contains(passage.trim_matches('…'))
    {
        text.push_str(&format!("\n  {passage}"));
    }
    text + &from(loaded, has_projects)
}

/// Returns a document with its text, in a few lines.
pub(crate) fn told(loaded: &Loaded, words: &mut Words) -> String {
    let mut text = headline(loaded);
    let lines: Vec<&str> = loaded.document.body.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown: Vec<String> = lines.iter().take(MAX_LINES).map(|line| one_line(line, MAX_LINE)).collect();
    for line in &shown {
        text.push_str(&format!("\n  {line}"));
    }
    if lines.len() > MAX_LINES
        && let Some(passage) = rows::passage(loaded, words)
        && !shown.iter().any(|line| line.contains(passage.trim_matches('…')))
    {
        text.push_str(&format!("\n  … {passage}"));
    }
    text + &from(loaded, false)
}

fn headline(loaded: &Loaded) -> String {
    let document = &loaded.document;
    let title = one_line(&document.title, MAX_TITLE);
    format!("{}  {}  {}  {title}", sources::id_of(&document.key), minute(document.at), rows::kind(loaded))
}

/// Returns where a document comes from, as a line of its own.
fn from(loaded: &Loaded, has_projects: bool) -> String {
    let document = &loaded.document;
    let mut facts = Vec::new();
    if !document.author.is_empty() {
        facts.push(format!("by {}", document.author));
    }
    if !document.session.is_empty() && !is_by_hand(&document.session) {
        let session: String = document.session.chars().take(SESSION_CHARS).collect();
        facts.push(format!("session {session}"));
    }
    if !document.branch.is_empty() {
        facts.push(format!("branch {}", document.branch));
    }
    if has_projects && !document.project.is_empty() {
        facts.push(projects::name(&document.project));
    }
    if document.project == SHIPPED {
        facts.push("ships with Wyren".to_owned());
    }
    facts.extend(document.files.iter().take(3).cloned());
    if loaded.times > 1 {
        facts.push(format!("{} times", loaded.times));
    }
    if let Some(by) = &loaded.replaced_by {
        facts.push(format!("superseded by {by}"));
    }
    if facts.is_empty() {
        String::new()
    } else {
        format!("\n  from: {}", one_line(&facts.join(" · "), MAX_LINE))
    }
}

/// Returns whether a session is the one of what was done outside of any.
fn is_by_hand(session: &str) -> bool {
    session.starts_with(work::contexts::write::BY_HAND)
}

/// Returns everything that is known of something with an id.
fn whole(found: &Whole) -> String {
    let mut lines: Vec<String> = Vec::new();
    let field = |lines: &mut Vec<String>, name: &str, text: &str| {
        let text = one_line(text, MAX_CHARS);
        if !text.is_empty() {
            lines.push(format!("  {name}: {text}"));
        }
    };
    match found {
        Whole::Document(loaded) => {
            lines.push(headline(loaded));
            // A title that was too long is the beginning of the first line, which is shown whole then.
            let text = ids::text_of(&loaded.document);
            let title = &loaded.document.title;
            let is_whole = text.lines().next().is_none_or(|first| first.trim() == title)
                && title.chars().count() <= MAX_TITLE;
            lines.extend(text.lines().skip(usize::from(is_whole)).map(|line| format!("  {line}")));
            let from = from(loaded, true);
            lines.extend(from.lines().filter(|line| !line.is_empty()).map(str::to_owned));
        }
        Whole::Item(both) => {
            let (item, origin) = &**both;
            let source = match item {
                Item::Entry(entry) => {
                    let pinned = if entry.is_pinned { ", pinned" } else { "" };
                    let title = one_line(&entry.title, MAX_TITLE);
                    lines.push(format!(
                        "{}  {}  {}{pinned}  {title}",
                        entry.id,
                        minute(entry.at),
                        entry.kind
                    ));
                    let detail = &entry.detail;
                    field(&mut lines, "about", &detail.subtitle);
                    lines.extend(detail.narrative.lines().map(|line| format!("  {line}")));
                    detail.facts.iter().for_each(|fact| field(&mut lines, "fact", fact));
                    detail.commands.iter().for_each(|command| field(&mut lines, "command", command));
                    detail.failed.iter().for_each(|failed| field(&mut lines, "failed", failed));
                    field(&mut lines, "outcome", &detail.outcome);
                    for file in &entry.files {
                        field(&mut lines, if file.is_changed { "changed" } else { "read" }, &file.path);
                    }
                    if let Some(by) = &entry.replaced_by {
                        let title = origin.replaced_by.as_deref().unwrap_or_default();
                        field(&mut lines, "superseded by", &format!("{by} {title}"));
                    }
                    origin
                        .replaces
                        .iter()
                        .for_each(|(id, title)| field(&mut lines, "supersedes", &format!("{id} {title}")));
                    field(&mut lines, "branch", entry.branch.as_deref().unwrap_or_default());
                    match (entry.source, entry.detail.by == "model") {
                        (Source::Rules, _) => "the calls of its turn",
                        (Source::ByHand, false) => "a person, by hand",
                        (Source::ByHand, true) => "the model, by `remember`",
                        (Source::Model, _) => "a model",
                        (Source::ClaudeMem, _) => "claude-mem",
                    }
                }
                Item::Summary(summary) => {
                    lines.push(format!("{}  {}  summary", summary.id, minute(summary.at)));
                    for (name, text) in [
                        ("request", &summary.request),
                        ("investigated", &summary.investigated),
                        ("learned", &summary.learned),
                        ("completed", &summary.completed),
                        ("next steps", &summary.next_steps),
                        ("notes", &summary.notes),
                    ] {
                        field(&mut lines, name, text);
                    }
                    summary.files_edited.iter().for_each(|file| field(&mut lines, "changed", file));
                    "the calls of its turn"
                }
            };
            if let Some((number, prompt)) = &origin.prompt {
                field(&mut lines, &format!("prompt {number}"), &one_line(prompt, MAX_LINE));
            }
            let session: String = origin.session.chars().take(SESSION_CHARS).collect();
            let session = (!is_by_hand(&origin.session)).then(|| format!("session {session}"));
            let by = origin.author.iter().map(|author| format!("by {author}"));
            let project = format!("in {}", projects::name(&origin.project));
            let about: Vec<String> = session.into_iter().chain([project]).chain(by).collect();
            field(&mut lines, "from", &format!("{source} · {}", about.join(" · ")));
        }
    }
    lines.join("\n")
}
