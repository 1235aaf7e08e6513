//! What the user trusts of a project: the digests of what `wyren trust` showed, and the repository that it came from.
//!
//! Trust is about content. A guard, pause, skill, directive or protocol that is new or changed has another digest, and
//! is not trusted until `wyren trust` shows it. Hooks read the file only when one of these is about to act.
//!
//! ```text
//! wyren trust 2
//! project /home/ada/app
//! remote github.com/ada/app
//! commit 9aa0800c…
//! git /home/ada/app/.git
//! guard <SHA-256> no-force-push
//! skill <SHA-256> skills/review.md
//! setting <SHA-256> core.sshcommand
//! ```

use crate::notice::{self, About, Key, Mark, Notice};
use crate::project::{Project, Repository};
use crate::{Paths, digest, files};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The first line of a trust file. A file with another first line gives no trust.
pub const HEADER: &str = "wyren trust 2";

/// How much of a skill counts, in bytes: a session reads no more of a broadcast file.
pub const SKILL_BYTES: usize = 50_000;

/// How many names a notice lists.
const MAX_NAMES: usize = 2;

/// The longest name in a notice, in characters.
const MAX_NAME_CHARS: usize = 30;

/// Something of a project that acts only when the user trusts it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// `guard`, `pause`, `directive`, `protocol`, `skill` or `setting`.
    pub kind: String,
    /// The slug of a lesson, the path of a skill below `broadcast/`, or the name of a git setting.
    pub name: String,
    /// SHA-256 of all that it does and says, in hexadecimal.
    pub digest: String,
}

impl Item {
    /// Returns the item for a team skill. `bytes` is the file as it is on disk.
    pub fn skill(path: &str, bytes: &[u8]) -> Self {
        let bytes = &bytes[..bytes.len().min(SKILL_BYTES)];
        let digest = digest::sha256_hex(&[b"skill\0", path.as_bytes(), b"\0", bytes].concat());
        Self { kind: "skill".to_owned(), name: path.to_owned(), digest }
    }

    /// Returns the item for a setting of a repository's own git configuration that decides how git connects.
    pub fn setting(name: &str, value: &str) -> Self {
        let digest = digest::sha256_hex(&[b"setting\0", name.as_bytes(), b"\0", value.as_bytes()].concat());
        Self { kind: "setting".to_owned(), name: name.to_owned(), digest }
    }
}

/// Which repository a project is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The address of the remote, without scheme, user and password.
    pub remote: Option<String>,
    /// The first commit. Only the command line knows it: finding it takes git.
    pub first_commit: Option<String>,
    /// The folder that all work trees share.
    pub git_folder: Option<String>,
}

impl Identity {
    /// Returns the identity of the project at `root`, as far as files tell it.
    pub fn of(root: &Path) -> Self {
        let project = Project::of(root);
        Self {
            remote: project.key.strip_prefix("git:").map(files::on_one_line),
            first_commit: None,
            git_folder: Repository::above(root)
                .map(|repository| files::on_one_line(&repository.common_folder.to_string_lossy())),
        }
    }

    /// Returns whether the repository that was trusted is still there, where `now` is what is there. A remote may have
    /// been added since, but not removed or replaced; a first commit counts where both are known.
    pub fn is_still(&self, now: &Self) -> bool {
        let commits = self.first_commit.as_ref().zip(now.first_commit.as_ref());
        self.git_folder == now.git_folder
            && (self.remote.is_none() || self.remote == now.remote)
            && commits.is_none_or(|(one, other)| one == other)
    }
}

/// Why a trust file gives no trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// It was written by another version, which did not say what was shown.
    OtherVersion,
    /// It is about another repository that was at the same place.
    OtherRepository,
}

impl Lapse {
    /// Returns its name in the list of what was reported and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::OtherVersion => "other version",
            Self::OtherRepository => "other repository",
        }
    }
}

/// What the user trusts of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The top of the project.
    pub project: PathBuf,
    /// Which repository it is.
    pub identity: Identity,
    /// What was shown when trust was given.
    pub items: Vec<Item>,
    /// Why none of it counts any more.
    pub lapse: Option<Lapse>,
}

impl Trust {
    /// Reads what the user trusts of the project at `root`, where `identity` is now; `None` when `wyren trust` was
    /// never run for it.
    pub fn read(paths: &Paths, root: &Path, identity: impl FnOnce(&Path) -> Identity) -> Option<Self> {
        let root = files::canonical(root);
        let bytes = files::read_followed(&paths.trust_file(&root), files::cap::TEXTS).ok()?;
        let mut trust = Self::parse(&String::from_utf8_lossy(&bytes));
        if trust.lapse.is_none() && !trust.identity.is_still(&identity(&root)) {
            trust.lapse = Some(Lapse::OtherRepository);
        }
        trust.project = root;
        Some(trust)
    }

    /// Reads a trust file's text.
    pub fn parse(text: &str) -> Self {
        let mut trust = Self::default();
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            // Version 1 has the folder alone on its second line.
            trust.project = lines.next().unwrap_or_default().into();
            trust.lapse = Some(Lapse::OtherVersion);
            return trust;
        }
        for (name, value) in lines.filter_map(|line| line.split_once(' ')) {
            match name {
                "project" => trust.project = value.into(),
                "remote" => trust.identity.remote = Some(value.to_owned()),
                "commit" => trust.identity.first_commit = Some(value.to_owned()),
                "git" => trust.identity.git_folder = Some(value.to_owned()),
                kind => {
                    if let Some((digest, name)) = value.split_once(' ') {
                        trust.items.push(Item {
                            kind: kind.to_owned(),
                            name: name.to_owned(),
                            digest: digest.to_owned(),
                        });
                    }
                }
            }
        }
        trust
    }

    /// Returns the text of the trust file.
    pub fn render(&self) -> String {
        let mut text = format!("{HEADER}\nproject {}\n", files::on_one_line(&self.project.to_string_lossy()));
        let identity = &self.identity;
        let fields =
            [("remote", &identity.remote), ("commit", &identity.first_commit), ("git", &identity.git_folder)];
        for (name, value) in fields {
            if let Some(value) = value {
                text.push_str(&format!("{name} {}\n", files::on_one_line(value)));
            }
        }
        for item in &self.items {
            text.push_str(&format!("{} {} {}\n", item.kind, item.digest, files::on_one_line(&item.name)));
        }
        text
    }

    /// Writes the trust file of the project, and forgets what was reported about it.
    pub fn write(&self, paths: &Paths) -> io::Result<()> {
        files::write_atomic(&paths.trust_file(&self.project), self.render().as_bytes())?;
        // What differs from now on is news, also when it differed in the same way before.
        forget_reports(paths, &self.project);
        for key in [Key::Trust, Key::Skills] {
            notice::withdraw(paths, About::Memory(&self.project.join(files::PROJECT_FOLDER)), key);
        }
        Ok(())
    }

    /// Returns whether the user trusts what has this digest.
    pub fn covers(&self, digest: &str) -> bool {
        self.lapse.is_none() && self.items.iter().any(|item| item.digest == digest)
    }

    /// Returns what to tell the user about `untrusted` items; `None` when all of it was reported before.
    pub fn notice(&self, paths: &Paths, untrusted: &[Item]) -> Option<Notice> {
        if untrusted.is_empty() {
            return None;
        }
        let file = reported_file(paths, &self.project);
        let reported = files::read_text_followed(&file, files::cap::TEXTS).unwrap_or_default();
        let is_news = |mark: &&str| !reported.lines().any(|line| line == *mark);
        let project = project_name(&self.project);
        let (marks, text) = match self.lapse {
            Some(lapse) => {
                let reason = match lapse {
                    Lapse::OtherVersion => "was given by an earlier version of Wyren",
                    Lapse::OtherRepository => "was given to another repository at this path",
                };
                (
                    vec![lapse.name()],
                    format!("trust in {project} has lapsed: it {reason}; review: /wyren:trust"),
                )
            }
            None => {
                let new: Vec<&Item> =
                    untrusted.iter().filter(|item| is_news(&item.digest.as_str())).collect();
                let names: Vec<String> = new
                    .iter()
                    .take(MAX_NAMES)
                    .map(|item| format!("{} {}", item.kind, plain(&item.name)))
                    .collect();
                let more = new.len().saturating_sub(MAX_NAMES);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let text = format!(
                    "new or changed since you trusted {project}: {}{more}; review: /wyren:trust",
                    names.join(", ")
                );
                (new.iter().map(|item| item.digest.as_str()).collect(), text)
            }
        };
        let marks: Vec<String> = marks.into_iter().filter(|mark| is_news(mark)).map(str::to_owned).collect();
        (!marks.is_empty()).then(|| Notice::marked(Key::Trust, text, Mark::Lines(file, marks)))
    }
}

/// Returns what to tell the user about what waits for trust in a project that was never trusted; `None` when all of it was
/// reported before.
pub fn waiting(paths: &Paths, root: &Path, untrusted: &[Item]) -> Option<Notice> {
    if untrusted.is_empty() {
        return None;
    }
    let root = files::canonical(root);
    let mark = unreported(paths, &root, untrusted.iter().map(|item| item.digest.as_str()))?;
    let wait = if untrusted.len() == 1 { "waits" } else { "wait" };
    let text =
        format!("{} of {} {wait} for your review: /wyren:trust", kinds(untrusted), project_name(&root));
    Some(Notice::marked(Key::Trust, text, mark))
}

/// Returns what to tell the user about the skills at these paths, in a project that was never trusted; `None` when all of
/// them were reported before.
pub fn waiting_skills(paths: &Paths, root: &Path, skills: &[&str]) -> Option<Notice> {
    if skills.is_empty() {
        return None;
    }
    let lines: Vec<String> =
        skills.iter().map(|path| format!("skill {}", files::on_one_line(path))).collect();
    let mark = unreported(paths, &files::canonical(root), lines.iter().map(String::as_str))?;
    let name = |path: &&str| plain(path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md"));
    let names: Vec<String> = skills.iter().take(MAX_NAMES).map(name).collect();
    let (names, more) = (names.join(", "), if skills.len() > MAX_NAMES { ", …" } else { "" });
    let text = match skills.len() {
        1 => format!("1 team skill ({names}) is shown to Claude; /wyren:trust lets Claude follow it"),
        count => {
            format!(
                "{count} team skills ({names}{more}) are shown to Claude; /wyren:trust lets Claude follow them"
            )
        }
    };
    Some(Notice::marked(Key::Skills, text, mark))
}

/// Returns the mark for the lines that were not reported yet; `None` when all were.
fn unreported<'a>(paths: &Paths, root: &Path, lines: impl Iterator<Item = &'a str>) -> Option<Mark> {
    let file = reported_file(paths, root);
    let reported = files::read_text_capped(&file, files::cap::STATE).unwrap_or_default();
    let is_news = |line: &&str| !reported.lines().any(|known| known == *line);
    let lines: Vec<String> = lines.filter(is_news).map(str::to_owned).collect();
    (!lines.is_empty()).then_some(Mark::Lines(file, lines))
}

/// Returns how many there are of each kind: `2 guards and 1 directive`.
fn kinds(items: &[Item]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for item in items {
        match counts.iter_mut().find(|(kind, _)| *kind == item.kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((&item.kind, 1)),
        }
    }
    counts.sort_unstable();
    let words: Vec<String> = counts
        .iter()
        .map(|(kind, count)| format!("{count} {kind}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn project_name(root: &Path) -> String {
    plain(&root.file_name().unwrap_or_default().to_string_lossy())
}

/// Forgets what was reported about the project at `root`.
pub fn forget_reports(paths: &Paths, root: &Path) {
    let _ = fs::remove_file(reported_file(paths, root));
}

fn reported_file(paths: &Paths, root: &Path) -> PathBuf {
    let name = paths.trust_file(root);
    paths.cache().join("untrusted").join(name.file_name().unwrap_or_default())
}

/// Returns a name of a repository's choosing as it may be shown: plain characters alone.
fn plain(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./ ".contains(character);
    let shown = name.chars().take(MAX_NAME_CHARS);
    shown.map(|character| if is_plain(character) { character } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Env;

    fn item(name: &str, digest: &str) -> Item {
        Item { kind: "guard".to_owned(), name: name.to_owned(), digest: digest.to_owned() }
    }

    fn identity(remote: Option<&str>, commit: Option<&str>, folder: &str) -> Identity {
        Identity {
            remote: remote.map(str::to_owned),
            first_commit: commit.map(str::to_owned),
            git_folder: Some(folder.to_owned()),
        }
    }

    fn desk() -> (tempfile::TempDir, Paths, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::of(&Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]));
        let root = fs::canonicalize(folder.path()).unwrap();
        (folder, paths, root)
    }

    #[test]
    fn a_file_reads_as_it_was_written() {
        let trust = Trust {
            project: "/home/ada/my app".into(),
            identity: identity(Some("host/ada/app"), Some("c0ffee"), "/home/ada/my app/.git"),
            items: vec![item("no-force", "00"), Item::skill("skills/a b.md", b"x")],
            lapse: None,
        };
        assert_eq!(Trust::parse(&trust.render()), trust);
    }

    #[test]
    fn a_hostile_name_adds_no_line() {
        let trust = Trust { items: vec![item("a\nguard 11 b", "00")], ..Trust::default() };
        assert!(!Trust::parse(&trust.render()).covers("11"));
    }

    #[test]
    fn what_another_version_wrote_gives_no_trust() {
        let (_folder, paths, root) = desk();
        let file = paths.trust_file(&root);
        for text in ["wyren trust 1\n/home/ada/app\n", "wyren trust 3\nguard 00 a\n", ""] {
            files::write_atomic(&file, text.as_bytes()).unwrap();
            let trust = Trust::read(&paths, &root, Identity::of).unwrap();
            assert_eq!((trust.lapse, trust.covers("00")), (Some(Lapse::OtherVersion), false), "{text}");
        }
        assert_eq!(Trust::parse("wyren trust 1\n/home/ada/app\n").project, Path::new("/home/ada/app"));
    }

    #[test]
    fn another_repository_at_the_same_place_is_not_trusted() {
        let (_folder, paths, root) = desk();
        assert_eq!(Trust::read(&paths, &root, Identity::of), None);
        let given = identity(Some("host/a"), Some("c1"), "/r/.git");
        let trust =
            Trust { project: root.clone(), identity: given, items: vec![item("a", "00")], lapse: None };
        trust.write(&paths).unwrap();
        let covers = |now: Identity| Trust::read(&paths, &root, |_| now).unwrap().covers("00");
        assert!(covers(identity(Some("host/a"), None, "/r/.git")));
        assert!(!covers(identity(None, None, "/r/.git")));
        assert!(!covers(identity(Some("host/b"), None, "/r/.git")));
        assert!(!covers(identity(Some("host/a"), Some("c2"), "/r/.git")));
        assert!(!covers(identity(Some("host/a"), Some("c1"), "/other/.git")));

        Trust { identity: identity(None, Some("c1"), "/r/.git"), ..trust }.write(&paths).unwrap();
        assert!(covers(identity(None, None, "/r/.git")), "hooks do not know the first commit");
        assert!(covers(identity(Some("host/a"), None, "/r/.git")), "a remote was added");
        assert!(!covers(identity(None, Some("c2"), "/r/.git")));
    }

    #[test]
    fn each_change_is_reported_once() {
        let (_folder, paths, root) = desk();
        let trust = Trust { project: root.clone(), ..Trust::default() };
        let first = [item("a", "01")];
        let notice = trust.notice(&paths, &first).unwrap();
        assert!(notice.text.contains("guard a"), "{}", notice.text);
        // Until the answer is out, it was not said.
        assert!(trust.notice(&paths, &first).is_some());
        notice.remember().unwrap();
        assert!(trust.notice(&paths, &first).is_none());
        let both = [item("a", "01"), item("b\u{1b}[2J", "02")];
        let text = trust.notice(&paths, &both).unwrap().text;
        assert!(text.contains("guard b??2J;") && !text.contains("guard a"), "{text}");
        trust.write(&paths).unwrap();
        assert!(trust.notice(&paths, &first).is_some());
        assert!(trust.notice(&paths, &[]).is_none());
    }

    #[test]
    fn what_waits_for_trust_is_reported_once() {
        let (_folder, paths, root) = desk();
        let root = root.join("shop\u{1b}[2J");
        let directive = Item { kind: "directive".to_owned(), ..item("c", "03") };
        let notice = waiting(&paths, &root, &[item("a", "01"), directive, item("b", "02")]).unwrap();
        assert_eq!(notice.text, "1 directive and 2 guards of shop??2J wait for your review: /wyren:trust");
        notice.remember().unwrap();
        assert!(waiting(&paths, &root, &[item("a", "01")]).is_none());
        assert!(waiting(&paths, &root, &[item("d", "04")]).is_some());
        assert!(waiting(&paths, &root, &[]).is_none());
    }

    #[test]
    fn text_7_skills_that_are_shown_and_not_followed_are_reported_once() {
        let (_folder, paths, root) = desk();
        let notice = waiting_skills(&paths, &root, &["skills/deploy.md"]).unwrap();
        assert_eq!(
            notice.text,
            "1 team skill (deploy) is shown to Claude; /wyren:trust lets Claude follow it"
        );
        notice.remember().unwrap();
        assert!(waiting_skills(&paths, &root, &["skills/deploy.md"]).is_none());
        let notice = waiting_skills(&paths, &root, &["skills/a.md", "skills/b.md", "skills/c.md"]).unwrap();
        assert!(notice.text.starts_with("3 team skills (a, b, …) are shown"), "{}", notice.text);
        assert!(waiting_skills(&paths, &root, &[]).is_none());
    }

    #[test]
    fn review_15_every_notice_names_the_command_of_a_session() {
        let (_folder, paths, root) = desk();
        let items = [item("a", "01")];
        let trust = Trust { project: root.clone(), ..Trust::default() };
        let lapsed = Trust { lapse: Some(Lapse::OtherRepository), ..trust.clone() };
        let notices = [
            trust.notice(&paths, &items),
            lapsed.notice(&paths, &items),
            waiting(&paths, &root, &items),
            waiting_skills(&paths, &root, &["skills/a.md"]),
            waiting_skills(&paths, &root, &["skills/a.md", "skills/b.md"]),
        ];
        for notice in notices {
            let text = notice.unwrap().text;
            assert!(text.contains("/wyren:trust") && !text.contains("wyren trust"), "{text}");
        }
    }

    #[test]
    fn a_lapse_is_reported_once_and_as_a_whole() {
        let (_folder, paths, root) = desk();
        let trust = Trust { project: root, lapse: Some(Lapse::OtherVersion), ..Trust::default() };
        let notice = trust.notice(&paths, &[item("a", "01")]).unwrap();
        assert!(notice.text.contains("lapsed") && notice.text.contains("/wyren:trust"), "{}", notice.text);
        notice.remember().unwrap();
        assert!(trust.notice(&paths, &[item("b", "02")]).is_none());
    }

    #[test]
    fn a_skill_is_its_path_and_what_a_session_reads_of_it() {
        let long = [b'x'; SKILL_BYTES + 1];
        assert_eq!(Item::skill("a", &long), Item::skill("a", &long[..SKILL_BYTES]));
        assert_ne!(Item::skill("a", &long), Item::skill("a", &long[1..SKILL_BYTES]));
        assert_ne!(Item::skill("a", b"x"), Item::skill("b", b"x"));
    }
}
