//! A team of three for thirty rounds, with distillation on: sessions, edits by hand, everybody's own git, and times without a
//! network, in an order that a seed decides. `WYREN_TEAM_SEED` runs another one.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use wyren_tests::sandbox::feed;

use super::{Member, Mode, Remote};
use crate::torture::Random;

const NAMES: [&str; 3] = ["ada", "bob", "cyd"];
const ROUNDS: u64 = 30;
const SEED: u64 = 3;

/// The fewest entries that decisions to remove leave.
const FEWEST: usize = 5;

/// The most rounds that a member is without a network.
const LONGEST_OUTAGE: u64 = 4;

/// How often a push of a person's is tried: others may be first.
const MOST_PUSHES: u32 = 5;

/// Where sessions put what they decide, in turns.
const SECTIONS: [&str; 4] = ["Rejected paths", "Live workarounds", "Known broken state", "Scope changes"];

const FILE: &str = ".wyren/memory.md";

/// A member, and what the test knows about them.
struct Player {
    member: Member,
    name: &'static str,
    /// Entries that were written into the tracked file or taken out of it, and that this member's git has not pushed.
    unpushed: BTreeSet<String>,
    /// For how many rounds the remote cannot be reached.
    outage: u64,
    /// How many commits of code this member has made.
    commits: u64,
}

/// The team, and what everybody has decided.
struct Team {
    remote: Remote,
    players: Vec<Player>,
    random: Random,
    mode: Mode,
    /// Entries that were added, and not removed.
    live: BTreeSet<String>,
    removed: BTreeSet<String>,
    made: u64,
    sessions: u64,
    log: Vec<String>,
}

/// Returns four words that no other entry has, so that none is taken for another wording of one.
fn words(number: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ka", "lo", "mi", "re", "tu", "ba", "ne", "so", "fi", "gu", "da", "pe", "vo", "zi", "ha", "ju"];
    let word = |part: u64| -> String {
        let mut code = number * 4 + part + 273;
        let mut word = String::new();
        for _ in 0..4 {
            word.push_str(SYLLABLES[(code % 16) as usize]);
            code = code / 16 + code % 16 * 7;
        }
        word
    };
    let mut entry = format!("{} {} {} {}", word(0), word(1), word(2), word(3));
    entry[..1].make_ascii_uppercase();
    format!("{entry} {number}")
}

/// Returns the entries of a memory, without what follows in brackets.
fn entries(memory: &str) -> Vec<String> {
    let texts = memory.lines().filter_map(|line| line.strip_prefix("- "));
    texts.map(|line| line.split_once(" [").map_or(line, |(text, _)| text).to_owned()).collect()
}

impl Player {
    fn file(&self) -> PathBuf {
        self.member.clone_folder().join(FILE)
    }

    /// Waits until nothing of this member runs.
    fn wait(&self) -> Result<()> {
        crate::worker::wait_for("no process", || Ok(self.member.sandbox.processes().is_empty()))
    }

    fn is_dirty(&self) -> Result<bool> {
        Ok(!self.member.git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty())
    }

    fn commit(&self, message: &str) -> Result<()> {
        if self.is_dirty()? {
            self.member.git(&["commit", "--quiet", "--all", "--message", message])?;
        }
        Ok(())
    }

    /// Pulls as a person does who has committed their edits, and resolves what conflicts.
    fn pull(&self, arguments: &[&str]) -> Result<()> {
        self.commit("Edit the memory by hand")?;
        let mut result = self.member.git(&[&["pull", "--quiet"], arguments].concat());
        while result.is_err() {
            let unmerged = self.member.git(&["diff", "--name-only", "--diff-filter=U"])?;
            if unmerged != FILE {
                return result.map(|_| ()).context(unmerged);
            }
            self.resolve()?;
            let is_rebase = self.member.clone_folder().join(".git/rebase-merge").exists();
            let next = if is_rebase { "rebase" } else { "merge" };
            result = self.member.git(&["-c", "core.editor=true", next, "--continue"]);
            let is_over = !["rebase-merge", "MERGE_HEAD"]
                .iter()
                .any(|part| self.member.clone_folder().join(".git").join(part).exists());
            if is_over {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Resolves a conflict entry by entry: what either side added stays, what either side removed goes.
    fn resolve(&self) -> Result<()> {
        let side = |stage: u32| self.member.git(&["cat-file", "blob", &format!(":{stage}:{FILE}")]);
        let (base, ours, theirs) = (side(1)?, side(2)?, side(3)?);
        let (base, ours, theirs) = (by_section(&base), by_section(&ours), by_section(&theirs));
        let mut text = "# Wyren Memory\n".to_owned();
        for section in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
            let part = |side: &BTreeMap<String, Vec<String>>| side.get(section).cloned().unwrap_or_default();
            let (base, ours, theirs) = (part(&base), part(&ours), part(&theirs));
            let has = |lines: &[String], line: &String| lines.iter().any(|it| entries(it) == entries(line));
            text.push_str(&format!("\n{section}\n"));
            let kept = ours.iter().filter(|line| has(&theirs, line) || !has(&base, line));
            let added = theirs.iter().filter(|line| !has(&ours, line) && !has(&base, line));
            kept.chain(added).for_each(|line| text.push_str(&format!("{line}\n")));
        }
        fs::write(self.file(), text)?;
        self.member.git(&["add", FILE]).map(|_| ())
    }
}

/// Returns the lines with entries of each section.
fn by_section(memory: &str) -> BTreeMap<String, Vec<String>> {
    let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in memory.lines() {
        if line.starts_with("## ") {
            line.clone_into(&mut section);
        } else if line.starts_with("- ") {
            sections.entry(section.clone()).or_default().push(line.to_owned());
        }
    }
    sections
}

impl Team {
    fn new(mode: Mode, seed: u64) -> Result<Option<Self>> {
        let remote = Remote::new(mode)?;
        let mut players = Vec::new();
        for name in NAMES {
            let Some(member) = Member::set_up(&remote, name, mode)? else { return Ok(None) };
            member.wyren(&["sync"])?;
            players.push(Player { member, name, unpushed: BTreeSet::new(), outage: 0, commits: 0 });
        }
        let live = entries(&remote.memory(mode)).into_iter().collect();
        let random = Random::new(seed);
        let removed = BTreeSet::new();
        Ok(Some(Self { remote, players, random, mode, live, removed, made: 0, sessions: 0, log: Vec::new() }))
    }

    fn new_entry(&mut self) -> String {
        self.made += 1;
        let entry = words(self.made);
        self.live.insert(entry.clone());
        entry
    }

    /// Lets a member do something at random.
    fn act(&mut self, at: usize) -> Result<()> {
        let away = self.remote.path().with_extension("away");
        let is_offline = self.players[at].outage > 0;
        if is_offline {
            self.players[at].outage -= 1;
            fs::rename(self.remote.path(), &away)?;
        } else if self.random.below(8) == 0 {
            self.players[at].outage = 1 + self.random.below(LONGEST_OUTAGE);
        }
        let choice = self.random.below(12);
        let player = self.players[at].name;
        self.log.push(format!("{player}{}: {choice}", if is_offline { " (offline)" } else { "" }));
        let done = match choice {
            0..=2 => self.distill(at, true),
            3 => self.distill(at, false),
            4 | 5 => self.edit_by_hand(at),
            6 => self.code(at),
            7 if !is_offline => self.pull(at),
            8 if !is_offline => self.push(at),
            9 => self.decide(at),
            10 => self.remove(at),
            _ => self.sync(at),
        };
        self.players[at].wait()?;
        if is_offline {
            fs::rename(&away, self.remote.path())?;
        }
        done
    }

    /// Runs something of Wyren's, which must leave the user's git alone.
    fn untouched(&self, at: usize, action: impl FnOnce(&Member) -> Result<()>) -> Result<()> {
        let player = &self.players[at];
        let before = player.member.footprint()?;
        let file = fs::read(player.file())?;
        action(&player.member)?;
        player.wait()?;
        ensure!(player.member.footprint()? == before, "the git of {} was touched", player.name);
        ensure!(
            self.mode == Mode::Side || fs::read(player.file())? == file,
            "the file of {} was written",
            player.name
        );
        Ok(())
    }

    /// A session decides something, and is distilled by the worker or by hand.
    fn distill(&mut self, at: usize, is_by_hook: bool) -> Result<()> {
        let entry = self.new_entry();
        let section = SECTIONS[self.sessions as usize % SECTIONS.len()];
        self.sessions += 1;
        let session = format!("{:08}-0000-4000-8000-000000000000", self.sessions);
        let folder = self.players[at].member.sandbox.folder().to_owned();
        let (script, transcript) =
            (folder.join(format!("{session}.script")), folder.join(format!("{session}.jsonl")));
        let operation =
            json!({"do": "add", "section": section, "text": entry, "confidence": 0.9, "turns": [1]});
        let answer = json!({"do": "answer", "answer": {"operations": [operation]}, "cost_usd": 0.001});
        fs::write(&script, answer.to_string())?;
        let said = json!({
            "type": "user", "uuid": "00000000-0000-4000-8000-000000000001", "sessionId": session, "parentUuid": null,
            "isSidechain": false, "userType": "external", "timestamp": "2026-11-16T02:26:41.123Z",
            "message": {"role": "user", "content": format!("We decided: {entry}. Agreed, that is settled on.")},
        });
        fs::write(&transcript, format!("{said}\n"))?;
        let player = &self.players[at];
        self.untouched(at, |member| {
            let run = |program: &str, arguments: &[&str], input: &str| -> Result<()> {
                let mut command = member.command(program);
                command.args(arguments).env_remove("WYREN_MODEL_PROVIDER");
                command.env("WYREN_MODEL_SCRIPT", &script).env("WYREN_TURNS_THRESHOLD", "1");
                let output = feed(&mut command, input.as_bytes())?;
                ensure!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
                player.wait()
            };
            if is_by_hook {
                run("stop-distill", &[], &member.event("stop-distill", &session, &json!({})))?;
                // The hook starts no worker when it has just started one.
                return run("wyren", &["worker", "run", "--until-idle"], "");
            }
            let transcript = transcript.display().to_string();
            run("wyren", &["distill", "--push", "--force", "--transcript", &transcript], "")
        })?;
        let memory = self.players[at].member.memory()?;
        ensure!(entries(&memory).contains(&entry), "{entry} was not distilled: {memory}");
        Ok(())
    }

    /// A person writes into the tracked file, and may commit that.
    fn edit_by_hand(&mut self, at: usize) -> Result<()> {
        let is_added = self.random.below(3) > 0;
        let file = self.players[at].file();
        let text = fs::read_to_string(&file)?;
        let lines: Vec<&str> = text.lines().collect();
        let text = if is_added {
            let entry = self.new_entry();
            let Some(heading) = lines.iter().position(|line| *line == "## Decisions") else {
                return Ok(fs::write(&file, format!("{text}\n## Decisions\n- {entry}\n"))?);
            };
            let count = lines[heading + 1..].iter().take_while(|line| line.starts_with("- ")).count();
            let place = heading + 1 + self.random.below(count as u64 + 1) as usize;
            let added = format!("- {entry}");
            self.players[at].unpushed.insert(entry);
            [&lines[..place], &[&*added], &lines[place..]].concat().join("\n") + "\n"
        } else {
            let Some(entry) = self.removable(&entries(&text)) else { return Ok(()) };
            self.live.remove(&entry);
            self.removed.insert(entry.clone());
            let kept = lines.iter().filter(|line| entries(line) != [entry.clone()]).copied();
            let text = kept.collect::<Vec<_>>().join("\n") + "\n";
            self.players[at].unpushed.insert(entry);
            text
        };
        fs::write(&file, text)?;
        if self.mode == Mode::Branch && self.random.below(2) == 0 {
            self.players[at].commit("Edit the memory by hand")?;
        }
        Ok(())
    }

    /// Returns an entry of a memory that a decision may remove. One that a person's unpushed commit has is not among them: with
    /// the push it would come back, as in any file.
    fn removable(&mut self, memory: &[String]) -> Option<String> {
        let is_free = |entry: &&String| {
            self.live.contains(*entry) && !self.players.iter().any(|player| player.unpushed.contains(*entry))
        };
        let candidates: Vec<&String> = memory.iter().filter(is_free).collect();
        if self.live.len() <= FEWEST || candidates.is_empty() {
            return None;
        }
        let chosen = self.random.below(candidates.len() as u64) as usize;
        Some(candidates[chosen].clone())
    }

    /// A commit that has nothing to do with the memory.
    fn code(&mut self, at: usize) -> Result<()> {
        let player = &mut self.players[at];
        player.commits += 1;
        let name = format!("code-of-{}", player.name);
        let path = player.member.clone_folder().join(&name);
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{text}line {}\n", player.commits))?;
        player.member.git(&["add", &name])?;
        player.member.git(&["commit", "--quiet", "--message", "Write code", "--", &name]).map(|_| ())
    }

    fn pull(&mut self, at: usize) -> Result<()> {
        let how: [&[&str]; 2] = [&["--rebase"], &["--no-rebase", "--no-edit"]];
        self.players[at].pull(how[self.random.below(2) as usize])
    }

    /// A person pushes their commits, and pulls first when others have pushed.
    fn push(&mut self, at: usize) -> Result<()> {
        let player = &mut self.players[at];
        for _ in 0..MOST_PUSHES {
            player.pull(&["--rebase"])?;
            if player.member.git(&["push", "--quiet", "origin", "HEAD:main"]).is_ok() {
                player.unpushed.clear();
                return Ok(());
            }
        }
        bail!("{} could not push", player.name)
    }

    fn decide(&mut self, at: usize) -> Result<()> {
        let entry = self.new_entry();
        self.untouched(at, |member| member.decide(&entry))
    }

    /// A person takes an entry out with `wyren memory edit`.
    fn remove(&mut self, at: usize) -> Result<()> {
        let memory = entries(&self.players[at].member.memory()?);
        let Some(entry) = self.removable(&memory) else { return Ok(()) };
        self.live.remove(&entry);
        self.removed.insert(entry.clone());
        self.untouched(at, |member| {
            let mut command = member.command("wyren");
            command.args(["memory", "edit"]).env_remove("VISUAL");
            command.env("EDITOR", format!("sed -i '/^- {entry}/d'"));
            let output = feed(&mut command, b"")?;
            ensure!(output.status.success(), "{output:?}");
            Ok(())
        })
    }

    /// A sync by hand, at the start of a session or at a prompt.
    fn sync(&mut self, at: usize) -> Result<()> {
        let (way, session) = (self.random.below(3), format!("session-{}", self.sessions));
        self.untouched(at, |member| {
            match way {
                0 => {
                    let output = member.try_wyren(&["sync"])?;
                    ensure!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
                }
                1 => drop(member.start(&session)?),
                _ => drop(member.prompt(&session)?),
            }
            Ok(())
        })
    }

    /// Returns what happened, and what the clones know about removed entries that no decision removed.
    fn told(&self, seed: u64) -> String {
        let mut told = format!("seed {seed}: {:?}", self.log);
        for player in &self.players {
            let history = player.member.wyren(&["memory", "history", "--json"]).unwrap_or_default();
            let history: Value = serde_json::from_str(&history).unwrap_or_default();
            let is_unknown = |it: &&Value| it["text"].as_str().is_some_and(|text| self.live.contains(text));
            for removal in history["removals"].as_array().into_iter().flatten().filter(is_unknown) {
                told.push_str(&format!("\n{}: {removal}", player.name));
            }
        }
        told
    }

    /// Returns what is wrong with a memory: entries that are not there once, and ones that decisions removed.
    fn flaws(&self, memory: &str) -> Vec<String> {
        let found = entries(memory);
        let count = |entry: &String| found.iter().filter(|it| *it == entry).count();
        let lost = self
            .live
            .iter()
            .filter(|entry| count(entry) != 1)
            .map(|entry| format!("{} × {entry}", count(entry)));
        let back = self.removed.iter().filter(|entry| count(entry) > 0).map(|entry| format!("back: {entry}"));
        lost.chain(back).collect()
    }
}

fn check(mode: Mode) -> Result<()> {
    let seed = env::var("WYREN_TEAM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let begun = Instant::now();
    let Some(mut team) = Team::new(mode, seed)? else { return Ok(()) };
    for round in 0..ROUNDS {
        for at in 0..NAMES.len() {
            team.log.push(format!("round {round}"));
            team.act(at).with_context(|| format!("seed {seed}: {:?}", team.log))?;
        }
    }
    // Everybody pushes, and gets what the others have.
    for at in 0..NAMES.len() {
        team.push(at).with_context(|| format!("seed {seed}"))?;
    }
    for _ in 0..2 {
        for player in &team.players {
            player.member.wyren(&["sync"])?;
        }
    }
    let told = team.told(seed);
    assert_eq!(team.flaws(&team.remote.memory(mode)), [""; 0], "on the remote, {told}");
    for player in &team.players {
        assert_eq!(team.flaws(&player.member.memory()?), [""; 0], "{}, {told}", player.name);
        player.member.git(&["pull", "--quiet", "--ff-only"])?;
        assert_eq!(player.member.git(&["status", "--porcelain"])?, "", "{}, {told}", player.name);
        assert_eq!(
            team.flaws(&fs::read_to_string(player.file())?),
            [""; 0],
            "the file of {}, {told}",
            player.name
        );
        for owner in &team.players {
            let path = player.member.clone_folder().join(format!("code-of-{}", owner.name));
            let lines = fs::read_to_string(path).unwrap_or_default().lines().count();
            assert_eq!(lines as u64, owner.commits, "the code of {} at {}", owner.name, player.name);
        }
    }
    // Not `println`: the figures are worth seeing when the test passes, too.
    writeln!(
        io::stderr(),
        "{mode:?}, seed {seed}: {} entries added, {} removed, {} sessions distilled, {:.0} s",
        team.made,
        team.removed.len(),
        team.sessions,
        begun.elapsed().as_secs_f64()
    )?;
    Ok(())
}

#[test]
fn issue_12_three_clones_in_side_mode_lose_no_entry_in_thirty_rounds_with_distillation_on() -> Result<()> {
    check(Mode::Side)
}

#[test]
fn issue_12_three_clones_lose_no_entry_in_thirty_rounds_with_distillation_on() -> Result<()> {
    check(Mode::Branch)
}
