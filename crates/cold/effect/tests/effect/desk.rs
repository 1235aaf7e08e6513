//! Lessons about `make`, and sessions in which they were shown, as hooks record them.

use base::{Env, Paths, Timestamp};
use capture::{Data, Observation, Refused, SessionEnd, SessionStart, Spool, Told, ToolCall};
use effect::Effect;
use lessons::{Kind, Lesson, Trigger, format};
use serde_json::value::RawValue;
use std::fs;
use store::Store;
use store::observations::Drain;
use tempfile::TempDir;

pub(crate) const SESSION: &str = "s";
pub(crate) const MINUTE: u64 = 60_000;
pub(crate) const DAY: u64 = 24 * 60 * MINUTE;

/// One observation of a session, to be written in any order.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at: u64,
    pub(crate) session: &'static str,
    pub(crate) agent: Option<&'static str>,
    pub(crate) what: Kept,
}

#[derive(Clone, Debug)]
pub(crate) enum Kept {
    Ran { id: &'static str, command: &'static str, error: bool, interrupted: bool },
    Refused { id: &'static str, command: &'static str, by: &'static str, lesson: &'static str },
    Hint { id: &'static str, lesson: &'static str },
    Start(&'static str),
    End,
}

pub(crate) fn ran(at: u64, id: &'static str, command: &'static str) -> Seen {
    Seen {
        at,
        session: SESSION,
        agent: None,
        what: Kept::Ran { id, command, error: false, interrupted: false },
    }
}

pub(crate) fn failed(at: u64, id: &'static str, command: &'static str) -> Seen {
    Seen {
        at,
        session: SESSION,
        agent: None,
        what: Kept::Ran { id, command, error: true, interrupted: false },
    }
}

pub(crate) fn hint(at: u64, id: &'static str, lesson: &'static str) -> Seen {
    Seen { at, session: SESSION, agent: None, what: Kept::Hint { id, lesson } }
}

pub(crate) fn paused(at: u64, id: &'static str, command: &'static str) -> Seen {
    Seen {
        at,
        session: SESSION,
        agent: None,
        what: Kept::Refused { id, command, by: "pause", lesson: "pause-it" },
    }
}

pub(crate) fn guarded(at: u64, id: &'static str, command: &'static str) -> Seen {
    Seen {
        at,
        session: SESSION,
        agent: None,
        what: Kept::Refused { id, command, by: "guard", lesson: "guard-it" },
    }
}

pub(crate) fn end(at: u64) -> Seen {
    Seen { at, session: SESSION, agent: None, what: Kept::End }
}

impl Seen {
    fn write(&self, spool: &Spool) {
        let input =
            |command: &str| RawValue::from_string(serde_json::json!({"command": command}).to_string());
        let kept;
        let (id, data) = match &self.what {
            Kept::Ran { id, command, error, interrupted } => {
                kept = input(command).unwrap();
                let data = ToolCall {
                    tool: "Bash".into(),
                    tool_use_id: Some((*id).into()),
                    input: Some(&kept),
                    error: error.then(|| "exit code 1".into()),
                    interrupted: *interrupted,
                    ..ToolCall::default()
                };
                (format!("t:{id}"), Data::Tool(data))
            }
            Kept::Refused { id, command, by, lesson } => {
                kept = input(command).unwrap();
                let data = Refused {
                    tool: "Bash".into(),
                    tool_use_id: Some((*id).into()),
                    input: Some(&kept),
                    by: (*by).into(),
                    lesson: Some((*lesson).into()),
                    reason: None,
                };
                (format!("r:{id}"), Data::Refused(data))
            }
            Kept::Hint { id, lesson } => {
                let data = Told {
                    hook: "lesson-inject".into(),
                    form: "context".into(),
                    text: "…".into(),
                    lesson: Some((*lesson).into()),
                    tool_use_id: Some((*id).into()),
                };
                (format!("n:{}", self.at), Data::Told(data))
            }
            Kept::Start(source) => {
                let data = SessionStart { source: Some((*source).into()), model: None };
                (format!("n:{}", self.at), Data::SessionStart(data))
            }
            Kept::End => {
                let data = SessionEnd { reason: None, transcript: None };
                (format!("n:{}", self.at), Data::SessionEnd(data))
            }
        };
        let observation = Observation {
            cwd: "/home/dev/app".into(),
            agent: self.agent.map(Into::into),
            ..Observation::new(self.session, id, self.at, data)
        };
        spool.append(&observation).unwrap();
    }
}

/// Lessons about `make` without `-j1`, and what was recorded.
pub(crate) struct Desk {
    pub(crate) folder: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        for (slug, kind) in [("hint-it", Kind::Hint), ("pause-it", Kind::Pause), ("guard-it", Kind::Guard)] {
            desk.lesson("data/lessons", slug, kind, "make", 80);
        }
        desk
    }

    /// Writes a lesson about a program without `-j1`.
    pub(crate) fn lesson(&self, folder: &str, slug: &str, kind: Kind, program: &str, confidence: u8) {
        let trigger =
            Trigger { commands: vec![program.into()], without: vec!["-j1".into()], ..Trigger::default() };
        let lesson = Lesson {
            slug: slug.into(),
            summary: format!("{program} runs out of memory"),
            problem: "The linker takes all memory with one job per core.".into(),
            solution: format!("Run {program} -j1 instead, which takes longer and ends."),
            kind,
            trigger,
            confidence,
            ..Lesson::default()
        };
        let folder = self.folder.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{slug}.md")), format::render(&lesson)).unwrap();
    }

    pub(crate) fn env(&self) -> Env {
        Env::fixed([
            ("WYREN_DATA_DIR", self.folder.path().join("data")),
            ("CLAUDE_PLUGIN_ROOT", self.folder.path().join("plugin")),
        ])
    }

    pub(crate) fn paths(&self) -> Paths {
        Paths::of(&self.env())
    }

    pub(crate) fn effects(&self, seen: &[Seen], now: u64) -> Vec<Effect> {
        let spool = Spool::new(self.paths().spool());
        seen.iter().for_each(|seen| seen.write(&spool));
        let mut store = Store::open(&self.folder.path().join("wyren.db"), store::TABLES).unwrap();
        Drain::unbounded(&spool).run(&mut store, Timestamp::now()).unwrap();
        effect::effects(&store, &self.env(), &self.paths(), Timestamp::from_millis(now)).unwrap()
    }
}
