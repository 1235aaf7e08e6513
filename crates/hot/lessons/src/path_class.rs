//! Classes of paths: `<root>`, `<home>`, `<disk>`. They go by what a path means, not by
//! how it is written: `/tmp/..` is the root, and so is `*` behind `cd /`.

use crate::path_glob;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;

/// A class of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The root of the file system or of a drive.
    Root = 1,
    /// A folder of the system, or what is directly in one.
    System = 2,
    /// A user's home folder as a whole.
    Home = 4,
    /// What cannot be replaced below a home folder.
    Precious = 8,
    /// The current folder, or one above it.
    Here = 16,
    /// What is outside of the project and of the folders for temporary files.
    Outside = 32,
    /// A disk or a partition.
    Disk = 64,
    /// A path that begins with something unknown, which may be empty.
    Variable = 128,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 8] = [
        Self::Root,
        Self::System,
        Self::Home,
        Self::Precious,
        Self::Here,
        Self::Outside,
        Self::Disk,
        Self::Variable,
    ];

    /// Returns the class's name, as in a pattern.
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "<root>",
            Self::System => "<system>",
            Self::Home => "<home>",
            Self::Precious => "<precious>",
            Self::Here => "<here>",
            Self::Outside => "<outside>",
            Self::Disk => "<disk>",
            Self::Variable => "<variable>",
        }
    }

    /// Returns the class called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// Some classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes(u8);

impl Classes {
    /// Returns whether a class is among them.
    pub fn has(self, class: Class) -> bool {
        self.0 & class as u8 != 0
    }

    /// Returns whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn add(&mut self, class: Class, holds: bool) {
        if holds {
            self.0 |= class as u8;
        }
    }
}

/// The folders that a call is made in.
#[derive(Clone, Debug)]
pub struct Folders<'a> {
    project: &'a Path,
    current: &'a Path,
    home: Option<&'a Path>,
    known: OnceCell<Known>,
}

impl<'a> Folders<'a> {
    /// Returns the folders of a call: the project, the current folder, and the user's home where it is known.
    pub fn new(project: &'a Path, current: &'a Path, home: Option<&'a Path>) -> Self {
        Self { project, current, home, known: OnceCell::new() }
    }

    /// Returns the folders of the same project with others that a call is made in.
    pub(crate) fn at(&self, current: &'a Path, home: Option<&'a Path>) -> Self {
        Self::new(self.project, current, home)
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| Known::of(self))
    }
}

impl Default for Folders<'_> {
    fn default() -> Self {
        Self::new(Path::new(""), Path::new(""), None)
    }
}

/// Where a command runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) folders: &'a Folders<'a>,
    /// Where the line went before the command, as it is written.
    pub(crate) moved_to: Option<&'a str>,
}

/// A word that may be a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    pub(crate) text: &'a str,
    pub(crate) is_quoted: bool,
    pub(crate) is_dynamic: bool,
}

/// The longest word that is taken for a path, in bytes.
const MAX_PATH_BYTES: usize = 4_096;

/// Returns the classes of a path.
pub(crate) fn classes(word: Written<'_>, place: Place<'_>) -> Classes {
    if word.text.is_empty() || word.text.len() > MAX_PATH_BYTES || word.text.contains('\n') {
        return Classes::default();
    }
    if !word.is_quoted && word.text.contains('{') && word.text.contains(',') {
        let mut found = Classes::default();
        for text in path_glob::expand(word.text) {
            found.0 |= classes_of_one(Written { text: &text, ..word }, place).0;
        }
        return found;
    }
    classes_of_one(word, place)
}

fn classes_of_one(word: Written<'_>, place: Place<'_>) -> Classes {
    let mut found = Classes::default();
    let with_default = default_of(word);
    let word = match &with_default {
        Some(text) => Written { text, is_dynamic: text.contains('$'), ..word },
        None => word,
    };
    found.add(Class::Disk, is_windows_disk(word.text));
    found.add(Class::Variable, word.is_dynamic && may_become_the_root(word.text));
    let folders = place.folders.known();
    let Some(path) = Resolved::of(word, place.moved_to, folders) else { return found };
    found.add(Class::Here, path.is_here(folders));
    let names = &path.names[..];
    if path.base == Base::Unknown {
        return found;
    }
    let below_home = below_home(names, folders);
    let is_inside = |folder: &[String]| !folder.is_empty() && names.starts_with(folder);
    let is_in_project = is_inside(&folders.project);
    found.add(Class::Home, below_home.is_some_and(<[_]>::is_empty) || is_folder_of_homes(names));
    // A project in `~/Documents` is a project all the same.
    let is_own = is_in_project && names != folders.project && folders.project != folders.home;
    found.add(Class::Precious, below_home.is_some_and(is_precious) && !is_own);
    if path.base == Base::Root {
        let is_temporary = is_temporary(names);
        found.add(Class::Root, names.is_empty() || (names.len() == 1 && is_drive(&names[0])));
        found.add(Class::System, is_system(names) && !is_temporary);
        found.add(Class::Disk, is_disk(names) && !path.is_all);
        let is_known = !folders.project.is_empty() && names.first().is_none_or(|name| !name.contains('$'));
        let is_device = names.first().is_some_and(|name| name == "dev");
        found.add(Class::Outside, is_known && !is_in_project && !is_temporary && !is_device);
    }
    found
}

/// Returns the path that a word is if its variable is not set: `/var/lib/data` for `${DIR:-/var/lib/data}`.
fn default_of(word: Written<'_>) -> Option<String> {
    let variable = word.text.strip_prefix("${").filter(|_| word.is_dynamic)?;
    let (inside, rest) = variable.split_at_checked(variable.find('}')?)?;
    let (name, default) = inside.split_once(":-").or_else(|| inside.split_once('-'))?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && default.starts_with(['/', '~'])).then(|| format!("{default}{}", &rest[1..]))
}

/// What a path begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// The root.
    Root,
    /// The home folder, which is not known otherwise: the first name is `~`.
    Home,
    /// The current folder, which is not known.
    Unknown,
}

/// The names of the folders that a call is made in; none where a folder is not known.
#[derive(Clone, Debug)]
struct Known {
    project: Vec<String>,
    current: Vec<String>,
    home: Vec<String>,
}

impl Known {
    fn of(folders: &Folders<'_>) -> Self {
        let names = |path: &Path| match path.to_str() {
            Some(text) if path.is_absolute() || text.get(..2).is_some_and(is_drive) => {
                let mut path = Resolved::at(Base::Root);
                path.push(&with_slashes(text));
                path.names
            }
            _ => Vec::new(),
        };
        Self {
            project: names(folders.project),
            current: names(folders.current),
            home: folders.home.map(names).unwrap_or_default(),
        }
    }
}

/// A path without `.`, `..` and doubled slashes.
#[derive(Clone, Debug)]
struct Resolved {
    base: Base,
    names: Vec<String>,
    /// Whether it is all that is in the folder, not the folder.
    is_all: bool,
    /// Whether it is written relative to the current folder.
    is_relative: bool,
}

impl Resolved {
    fn at(base: Base) -> Self {
        Self { base, names: Vec::new(), is_all: false, is_relative: false }
    }

    /// Resolves a word behind `cd moved_to`; `None` when it begins with something unknown.
    fn of(word: Written<'_>, moved_to: Option<&str>, folders: &Known) -> Option<Self> {
        let text = with_slashes(word.text);
        let mut path = if let Some((base, rest)) = Self::absolute(&text, word, folders) {
            let mut path = base;
            path.push(rest);
            path
        } else {
            let rest = ["$PWD", "${PWD}", "~+"].iter().find_map(|name| behind(&text, name)).unwrap_or(&text);
            if rest.split('/').next().is_some_and(|name| word.is_dynamic && name.contains('$')) {
                return None;
            }
            let mut path = match moved_to {
                None => Self::current(folders),
                Some("-") => return None,
                Some(folder) => {
                    let is_dynamic = folder.contains('$');
                    Self::of(Written { text: folder, is_quoted: false, is_dynamic }, None, folders)?
                }
            };
            path.push(rest);
            path
        };
        // In quotes, a star that is all there is is a name.
        while path.names.last().is_some_and(|name| is_all(name) && !(word.is_quoted && word.text == *name)) {
            path.names.pop();
            path.is_all = true;
        }
        Some(path)
    }

    /// Returns where a path that is not relative begins, and the rest of it.
    fn absolute<'t>(text: &'t str, word: Written<'_>, folders: &Known) -> Option<(Self, &'t str)> {
        const HOMES: [&str; 8] = [
            "~",
            "$HOME",
            "${HOME}",
            "${HOME:?}",
            "$USERPROFILE",
            "$env:USERPROFILE",
            "$env:HOME",
            "%USERPROFILE%",
        ];
        let is_meant = |name: &&&str| match name.as_bytes()[0] {
            b'~' => !(word.is_quoted && text == "~"),
            b'$' => word.is_dynamic,
            _ => true,
        };
        if let Some(rest) = HOMES.iter().filter(is_meant).find_map(|name| behind(text, name)) {
            let mut path = Self::at(if folders.home.is_empty() { Base::Home } else { Base::Root });
            path.names = if folders.home.is_empty() { vec!["~".to_owned()] } else { folders.home.clone() };
            return Some((path, rest));
        }
        if text.starts_with('/') || text.get(..2).is_some_and(is_drive) {
            return Some((Self::at(Base::Root), text));
        }
        let user = text
            .strip_prefix('~')
            .filter(|user| user.starts_with(|first: char| first.is_ascii_alphabetic()))?;
        let (user, rest) = user.split_once('/').unwrap_or((user, ""));
        let names =
            if user == "root" { vec![user.to_owned()] } else { vec!["home".to_owned(), user.to_owned()] };
        Some((Self { names, ..Self::at(Base::Root) }, rest))
    }

    fn current(folders: &Known) -> Self {
        let base = if folders.current.is_empty() { Base::Unknown } else { Base::Root };
        Self { names: folders.current.clone(), is_relative: true, ..Self::at(base) }
    }

    fn push(&mut self, path: &str) {
        for name in path.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(self.names.pop()),
                name => self.names.push(name.to_owned()),
            }
        }
    }

    /// Returns whether it is the current folder, or one above it that is written relative to it.
    fn is_here(&self, folders: &Known) -> bool {
        if self.is_relative {
            return folders.current.starts_with(&self.names);
        }
        let is_it = |folder: &Vec<String>| !folder.is_empty() && self.names == *folder;
        is_it(&folders.current) || is_it(&folders.project)
    }
}

/// Returns what follows a name that a path begins with.
fn behind<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Writes a path of Windows with slashes.
fn with_slashes(text: &str) -> Cow<'_, str> {
    let is_windows = text.get(..2).is_some_and(is_drive)
        || text.starts_with('%')
        || text.starts_with("$env:")
        || ["~\\", ".\\", "..\\", "$HOME\\", "$PWD\\"].iter().any(|start| text.starts_with(start));
    if is_windows && text.contains('\\') { Cow::Owned(text.replace('\\', "/")) } else { Cow::Borrowed(text) }
}

/// Says whether a name is a drive: `C:`.
fn is_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

/// Says whether a name fits everything in a folder, or all that is hidden in it.
fn is_all(name: &str) -> bool {
    matches!(name, "*" | "**" | ".*" | "*.*" | ".[!.]*" | ".??*" | "..?*")
}

/// Returns the names below a home folder; none for the folder itself.
fn below_home<'n>(names: &'n [String], folders: &Known) -> Option<&'n [String]> {
    if !folders.home.is_empty() && names.starts_with(&folders.home) {
        return Some(&names[folders.home.len()..]);
    }
    let count = match names {
        [first, ..] if first == "~" || first == "root" => 1,
        [first, user, ..] if (first == "home" || first == "Users") && user != "Shared" => 2,
        [drive, users, user, ..]
            if is_drive(drive) && users.eq_ignore_ascii_case("users") && user != "Public" =>
        {
            3
        }
        _ => return None,
    };
    Some(&names[count..])
}

/// Says whether a path holds the homes of all users.
fn is_folder_of_homes(names: &[String]) -> bool {
    match names {
        [folder] => folder == "home" || folder == "Users",
        [drive, users] => is_drive(drive) && users.eq_ignore_ascii_case("users"),
        _ => false,
    }
}

/// Says whether the path below a home is one that people cannot replace.
fn is_precious(below: &[String]) -> bool {
    let Some(first) = below.first() else { return false };
    let second = below.get(1).map(String::as_str).unwrap_or_default();
    match first.as_str() {
        ".ssh" | ".gnupg" | ".aws" | ".azure" | ".kube" | ".docker" | ".config" | ".password-store"
        | ".mozilla" | ".thunderbird" | ".netrc" | ".git-credentials" | ".gitconfig" | ".npmrc"
        | ".pypirc" | ".pgpass" | ".my.cnf" | ".bashrc" | ".bash_profile" | ".bash_history"
        | ".bash_aliases" | ".profile" | ".zshrc" | ".zshenv" | ".zprofile" | ".zsh_history" | ".vimrc"
        | ".vim" | ".emacs" | ".emacs.d" | ".tmux.conf" | ".inputrc" | ".gitignore_global" | "Documents"
        | "Desktop" | "Pictures" | "Downloads" | "Music" | "Movies" | "Videos" | "Dropbox" | "OneDrive"
        | "Google Drive" | "iCloudDrive" => true,
        ".local" => !(second == "share" && below.get(2).is_some_and(|name| name == "Trash")),
        // What tools can make again.
        "Library" => !matches!(second, "Caches" | "Developer" | "Logs"),
        "AppData" => !(second == "Local" && below.get(2).is_some_and(|name| name == "Temp")),
        _ => false,
    }
}

/// Says whether a path is a folder of the system, or directly in one.
fn is_system(names: &[String]) -> bool {
    let Some(first) = names.first() else { return false };
    match first.as_str() {
        "etc" | "usr" | "var" | "boot" | "bin" | "sbin" | "lib" | "lib32" | "lib64" | "libx32" | "sys"
        | "proc" | "nix" | "snap" | "System" | "Library" | "Applications" => names.len() <= 2,
        // What is in these is as often the user's own.
        "dev" | "opt" | "srv" | "mnt" | "media" | "root" | "home" | "Users" | "Volumes" | "run" | "cores" => {
            names.len() == 1
        }
        "private" => match names.get(1).map(String::as_str) {
            None => true,
            Some("etc" | "var") => names.len() <= 3,
            Some(_) => false,
        },
        drive if is_drive(drive) => match names.get(1).map(|name| name.to_ascii_lowercase()).as_deref() {
            Some("windows" | "program files" | "program files (x86)" | "programdata") => names.len() <= 3,
            Some("users") => names.len() == 2,
            _ => false,
        },
        _ => false,
    }
}

/// Says whether a path is for temporary files.
fn is_temporary(names: &[String]) -> bool {
    let mut names = names.iter().map(String::as_str);
    match (names.next(), names.next(), names.next()) {
        (Some("tmp"), ..) | (Some("var"), Some("tmp" | "folders"), _) | (Some("dev"), Some("shm"), _) => true,
        (Some("private"), Some("tmp"), _) | (Some("private"), Some("var"), Some("tmp" | "folders")) => true,
        (Some(drive), Some(folder), below) if is_drive(drive) => {
            let is_named = |name: Option<&str>| name.is_some_and(|name| name.eq_ignore_ascii_case("temp"));
            let is_windows = folder.eq_ignore_ascii_case("windows") && is_named(below);
            // C:\\Users\\ada\\AppData\\Local\\Temp
            let is_users = folder.eq_ignore_ascii_case("users") && is_named(names.nth(2));
            is_named(Some(folder)) || is_windows || is_users
        }
        _ => false,
    }
}

/// Says whether a path is a disk, a partition or a volume.
fn is_disk(names: &[String]) -> bool {
    let [folder, name, rest @ ..] = names else { return false };
    if folder != "dev" {
        return false;
    }
    let is_glob = |byte: u8| b"*?[".contains(&byte);
    let begins = |name: &str, prefix: &str, fits: fn(&u8) -> bool| {
        let next = name.strip_prefix(prefix).and_then(|rest| rest.bytes().next());
        next.is_some_and(|byte| fits(&byte) || is_glob(byte))
    };
    if let [below, ..] = rest {
        return (name == "mapper" && below != "control")
            || (name == "disk" && below.starts_with("by-"))
            || name == "zvol";
    }
    ["sd", "hd", "vd", "xvd"].iter().any(|prefix| begins(name, prefix, u8::is_ascii_lowercase))
        || ["nvme", "mmcblk", "disk", "rdisk", "md", "dm-", "nbd", "pmem", "bcache", "zd", "da", "ada"]
            .iter()
            .any(|prefix| begins(name, prefix, u8::is_ascii_digit))
}

fn is_windows_disk(text: &str) -> bool {
    let name = text.trim_start_matches(['\\', '/', '.']);
    const DISK: &str = "PhysicalDrive";
    name.len() < text.len() && name.get(..DISK.len()).is_some_and(|name| name.eq_ignore_ascii_case(DISK))
}

/// Says whether a path begins with expansions that may be empty, and what follows would then be at the root: `$x/y`,
/// `${x}/*`, `/$x`. `${x:?}` and `${x:-y}` are never empty.
fn may_become_the_root(text: &str) -> bool {
    let (is_absolute, mut rest) = match text.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut has_expansion = false;
    while let Some(behind) = rest.strip_prefix('$') {
        let length = match behind.as_bytes().first() {
            Some(b'{') => match behind.find('}') {
                Some(end) if may_be_empty(&behind[1..end]) => end + 1,
                _ => return false,
            },
            Some(b'(') => match behind.find(')') {
                Some(end) => end + 1,
                None => return false,
            },
            _ => {
                let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let length = behind.bytes().take_while(is_name).count();
                if length == 0 || !may_be_empty(&behind[..length]) {
                    return false;
                }
                length
            }
        };
        has_expansion = true;
        rest = &behind[length..];
    }
    let is_behind =
        |below: &str| !is_absolute || below.split('/').all(|name| name.is_empty() || is_all(name));
    has_expansion && (rest.strip_prefix('/').is_some_and(is_behind) || (is_absolute && rest.is_empty()))
}

/// Says whether a variable, as between braces, may be empty.
fn may_be_empty(variable: &str) -> bool {
    let name = variable.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, operator) = variable.split_at(name);
    let operator = operator.strip_prefix(':').unwrap_or(operator);
    let has_default = operator.starts_with(['-', '=']) && operator.len() > 1;
    !matches!(name, "HOME" | "PWD" | "USERPROFILE") && !operator.starts_with('?') && !has_default
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, moved_to: Option<&str>, home: Option<&str>) -> Vec<&'static str> {
        let app = Path::new("/home/dev/app");
        let folders = Folders::new(app, app, home.map(Path::new));
        let word = Written { text, is_quoted: false, is_dynamic: text.contains('$') };
        let found = classes(word, Place { folders: &folders, moved_to });
        Class::ALL.into_iter().filter(|class| found.has(*class)).map(Class::name).collect()
    }

    #[track_caller]
    fn check(class: &str, fitting: &[&str], others: &[&str]) {
        for home in [Some("/home/dev"), None] {
            for (words, expected) in [(fitting, true), (others, false)] {
                for word in words {
                    assert_eq!(of(word, None, home).contains(&class), expected, "{class} {word} {home:?}");
                }
            }
        }
    }

    #[test]
    fn item_4_the_root_however_it_is_spelled() {
        check(
            "<root>",
            &[
                "/", "/*", "/.", "//", "/./", "/tmp/..", "/*/", "/**", "C:\\", "C:/", "c:\\*", "/etc/../",
                "/{*,.*}", "../../..",
            ],
            &["/etc", "/tmp", "/x", ".", "~", "$x", "/$x", "D:\\x"],
        );
    }

    #[test]
    fn item_4_folders_of_the_system_and_what_is_directly_in_them() {
        check(
            "<system>",
            &[
                "/etc",
                "/etc/",
                "/etc/*",
                "/etc/nginx",
                "/usr/local",
                "/usr/*/",
                "/var/lib",
                "/boot",
                "/bin",
                "/lib64",
                "/opt",
                "/root",
                "/home",
                "/home/*",
                "/tmp/../etc",
                "/System",
                "/Library",
                "/Applications/X.app",
                "C:\\Windows",
                "C:\\Program Files",
                "C:/Windows/System32",
                "/private/etc",
                "/{bin,sbin}",
                "//etc",
            ],
            &[
                "/etc/nginx/sites-enabled",
                "/usr/local/go",
                "/var/tmp",
                "/var/tmp/x",
                "/tmp",
                "/tmp/x",
                "/private/tmp/x",
                "/opt/app",
                "/var/lib/apt/lists/*",
                "/dev/null",
                "/home/dev",
                "etc",
                "./etc",
                "/data",
                "C:\\Users\\ada\\x",
            ],
        );
    }

    #[test]
    fn item_4_homes_as_a_whole() {
        check(
            "<home>",
            &[
                "~",
                "~/",
                "~/*",
                "~/.",
                "~/.*",
                "$HOME",
                "${HOME}",
                "$HOME/",
                "$HOME/*",
                "/home/dev",
                "/home/ada/",
                "/Users/dev",
                "~ada",
                "~root",
                "/root",
                "~/x/..",
                "%USERPROFILE%",
                "C:\\Users\\ada",
            ],
            &["~/x", "~/.ssh", "/home/dev/app", "/home/dev/*.log", "/Users/Shared", "$HOMES", "home", "."],
        );
        assert!(of("/srv/me", None, Some("/srv/me")).contains(&"<home>"));
    }

    #[test]
    fn item_4_what_cannot_be_replaced() {
        check(
            "<precious>",
            &[
                "~/.ssh",
                "~/.ssh/id_ed25519",
                "~/.aws/*",
                "$HOME/Documents",
                "~/Documents/tax/2024",
                "~/.config/x",
                "~/.local/share/x",
                "~/.bashrc",
                "/home/ada/.gnupg",
                "/root/.kube/config",
                "~/Library/Mail",
                "$HOME/Library/Application Support",
            ],
            &[
                "~",
                "~/x",
                "~/.cache",
                "~/.npm",
                "~/Library/Caches/x",
                "~/.local/share/Trash/files",
                "Documents",
                "/srv/.ssh",
            ],
        );
        let app = Path::new("/home/dev/Documents/app");
        let folders = Folders::new(app, app, Some(Path::new("/home/dev")));
        let is_precious = |text: &str| {
            let word = Written { text, is_quoted: false, is_dynamic: false };
            classes(word, Place { folders: &folders, moved_to: None }).has(Class::Precious)
        };
        assert!(!is_precious("target") && !is_precious("~/Documents/app/target") && is_precious(".."));
    }

    #[test]
    fn item_3_here_is_the_current_folder_and_those_above() {
        check(
            "<here>",
            &[".", "./", "*", "./*", "..", "../..", "../*", "$PWD", "$PWD/*", "build/..", "/home/dev/app"],
            &["build", "*.log", "./build/*", "../other", "/", "/home/dev", "~"],
        );
        for (folder, expected) in
            [("build", false), ("..", true), ("/home/dev/app", true), ("/tmp", false), ("$x", false)]
        {
            assert_eq!(of("*", Some(folder), None).contains(&"<here>"), expected, "cd {folder}");
        }
    }

    #[test]
    fn item_3_a_path_is_where_the_line_went() {
        let home = Some("/home/dev");
        assert_eq!(of("*", Some("/"), home), ["<root>", "<outside>"]);
        assert_eq!(of(".", Some("~"), home), ["<home>", "<outside>"]);
        assert_eq!(of("*", Some("/etc"), home), ["<system>", "<outside>"]);
        assert_eq!(of(".ssh", Some("$HOME"), home), ["<precious>", "<outside>"]);
        assert!(of("*", Some("build"), home).is_empty() && of("/etc/x/y", Some("/"), home) == ["<outside>"]);
        assert!(of("*", Some("-"), home).is_empty() && of("*", Some("$dir"), home).is_empty());
    }

    #[test]
    fn outside_is_what_leaves_the_project() {
        check(
            "<outside>",
            &["/srv/data", "../other", "/home/dev/x", "/", "/etc", "/home/dev/app-2"],
            &[
                "build",
                "./x/../y",
                "/home/dev/app/x",
                "/tmp/x",
                "/var/folders/a/T/x",
                "/dev/null",
                "$x",
                "$x/y",
                "/$x",
            ],
        );
    }

    #[test]
    fn item_5_disks_and_partitions() {
        check(
            "<disk>",
            &[
                "/dev/sda",
                "/dev/sdb1",
                "/dev/nvme0n1",
                "/dev/mmcblk0p1",
                "/dev/disk2",
                "/dev/rdisk2",
                "/dev/vda",
                "/dev/xvda",
                "/dev/md0",
                "/dev/mapper/root",
                "/dev/disk/by-id/x",
                "//dev//sda",
                "/dev/sd*",
                "\\\\.\\PhysicalDrive0",
            ],
            &[
                "/dev/null",
                "/dev/zero",
                "/dev/loop0",
                "/dev/ram0",
                "/dev/stdout",
                "/dev/tty",
                "/dev/shm",
                "/dev/shm/x",
                "/dev/mapper/control",
                "/dev",
                "dev/sda",
                "/dev/*",
            ],
        );
        assert!(of("sda", Some("/dev"), None).contains(&"<disk>"));
    }

    #[test]
    fn a_variable_that_may_be_empty() {
        check(
            "<variable>",
            &["$x/", "$x/*", "${x}/y", "$()/y", "$a$b/*", "/$x", "/${x}/*", "$1/x"],
            &[
                "$x",
                "${x:?}/*",
                "${x:?not set}/y",
                "${x:-/tmp}/y",
                "$HOME/x",
                "$PWD/*",
                "/tmp/$x",
                "/$x/y",
                "a$x/y",
                "x",
            ],
        );
    }

    #[test]
    fn odd_words_are_tolerated() {
        for word in [
            "", "~~", "$", "${", "$(", "${x", "é:", "~é", "/\u{0}", "{", "{,", "\\", "%", "C:", "..",
            "////..//",
        ] {
            let _ = of(word, Some(word), None);
        }
        let quoted = |text| {
            let word = Written { text, is_quoted: true, is_dynamic: false };
            classes(word, Place { folders: &Folders::default(), moved_to: None })
        };
        assert!(quoted("*").is_empty() && quoted("~").is_empty() && quoted("$HOME").is_empty());
        assert!(!quoted("/").is_empty());
    }
}
