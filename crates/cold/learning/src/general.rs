//! Takes out of a text what only holds on one machine: folders, hashes, names, addresses, secrets.

use std::collections::BTreeSet;
use std::path::Path;

/// What is particular about where a text comes from.
#[derive(Clone, Debug, Default)]
pub struct Particulars {
    /// The project's folder.
    root: String,
    /// The user's home.
    home: String,
    /// Names that stand for themselves: of the project, of the user.
    names: Vec<(String, &'static str)>,
}

/// The shortest name that is replaced: shorter ones are words.
const MIN_NAME: usize = 3;
/// Names that say nothing about anyone.
const PLAIN_NAMES: [&str; 18] = [
    "app", "api", "web", "src", "lib", "test", "tests", "dev", "main", "root", "home", "user", "work",
    "code", "project", "repo", "server", "client",
];

/// Hosts of repositories that say nothing about whose they are.
const PUBLIC_HOSTS: [&str; 5] =
    ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com"];

impl Particulars {
    /// Returns what is particular about a session in `cwd` of the project at `root`.
    pub fn new(root: &Path, home: Option<&Path>) -> Self {
        let name_of = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let home = home.map(|home| home.to_string_lossy().into_owned());
        let of_path = home_of(&root.to_string_lossy()).map(str::to_owned);
        let home = of_path.or(home).unwrap_or_default();
        let names = [(name_of(root), "app"), (name_of(Path::new(&home)), "dev")];
        let mut here = Self { root: root.to_string_lossy().into_owned(), home, names: Vec::new() };
        for (name, general) in names {
            here.add(&name.unwrap_or_default(), general);
        }
        here
    }

    /// Adds the names in a project's key: of the machine that has its repository, of who owns it, and of the repository.
    pub fn with_remote(mut self, key: &str) -> Self {
        let Some(mut parts) = key.strip_prefix("git:").map(|address| address.split('/')) else { return self };
        let host = parts.next().unwrap_or_default().split(':').next().unwrap_or_default();
        if !PUBLIC_HOSTS.contains(&host) {
            self.add(host, "git.example.com");
        }
        let names: Vec<&str> = parts.collect();
        for (place, name) in names.iter().enumerate() {
            self.add(name, if place + 1 == names.len() { "app" } else { "team" });
        }
        self
    }

    fn add(&mut self, name: &str, general: &'static str) {
        if is_name(name) && !self.names.iter().any(|(known, _)| known == name) {
            self.names.push((name.to_owned(), general));
        }
    }

    /// Keeps what is also the name of a program that was run: the repository of docker is called `docker`.
    pub fn without_programs(mut self, programs: &BTreeSet<String>) -> Self {
        self.names.retain(|(name, _)| !programs.contains(name));
        self
    }

    /// Returns a text without what is particular.
    pub fn generalise(&self, text: &str) -> String {
        let mut text = text::redact::redact(text).into_owned();
        if self.root.len() > 1 {
            text = text.replace(&format!("{}/", self.root), "").replace(&self.root, ".");
        }
        if self.home.len() > 1 {
            text = text.replace(&self.home, "~");
        }
        self.by_word(&text)
    }

    /// Replaces word by word, where a word ends at white space, quotes and brackets.
    fn by_word(&self, text: &str) -> String {
        let mut general = String::with_capacity(text.len());
        let is_inside =
            |character: char| !character.is_whitespace() && !"\"'`()[]{}<>,;|&=".contains(character);
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|character| !is_inside(character)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            general.push_str(&self.word(word));
            let next = after.find(is_inside).unwrap_or(after.len());
            general.push_str(&after[..next]);
            rest = &after[next..];
        }
        general
    }

    fn word(&self, word: &str) -> String {
        if word.is_empty() {
            return String::new();
        }
        let bare = word.trim_end_matches([':', '.', '!', '?']);
        let tail = &word[bare.len()..];
        if is_mail(bare) {
            return format!("dev@example.com{tail}");
        }
        let word = match home_of(bare) {
            Some(home) => bare.replacen(home, "~", 1),
            None => bare.to_owned(),
        };
        let word = if word.starts_with("/tmp/") || word.starts_with("/var/folders/") {
            format!("/tmp/{}", word.rsplit('/').next().unwrap_or("x"))
        } else {
            word
        };
        // A name of several parts goes as a whole.
        let word = self
            .names
            .iter()
            .filter(|(name, _)| name.contains(JOINTS))
            .fold(word, |word, (name, general)| replace_word(&word, name, general));
        let parts: Vec<String> = split_keeping(&word).map(|part| self.part(part)).collect();
        format!("{}{tail}", parts.concat())
    }

    fn part(&self, part: &str) -> String {
        if let Some((_, general)) = self.names.iter().find(|(name, _)| name == part) {
            return (*general).to_owned();
        }
        if is_hash(part) {
            return "abc1234".to_owned();
        }
        if part.len() >= 6 && part.bytes().all(|byte| byte.is_ascii_digit()) {
            return "123456".to_owned();
        }
        part.to_owned()
    }
}

/// Returns the home folder that a path begins with.
fn home_of(path: &str) -> Option<&str> {
    for base in ["/home/", "/Users/", "C:\\Users\\", "c:\\Users\\"] {
        if let Some(rest) = path.strip_prefix(base) {
            let end = rest.find(['/', '\\']).unwrap_or(rest.len());
            return (end > 0).then(|| &path[..base.len() + end]);
        }
    }
    let is_root = path == "/root" || path.starts_with("/root/");
    is_root.then(|| &path[..5])
}

fn is_mail(word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && !name.contains('/') && !host.contains('/')
    })
}

/// Says whether a word is a hash or an id: hexadecimal, with letters and digits mixed, or a part of a UUID.
fn is_hash(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) && digits > 0 && digits < word.len()
}

fn is_name(name: &str) -> bool {
    name.len() >= MIN_NAME && !PLAIN_NAMES.contains(&name)
}

/// Replaces a name where it is not a part of a longer one.
fn replace_word(text: &str, name: &str, general: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let is_inside = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let is_part = is_inside(before.chars().next_back().or_else(|| replaced.chars().next_back()))
            || is_inside(after.chars().next());
        replaced.push_str(before);
        replaced.push_str(if is_part { name } else { general });
        rest = after;
    }
    replaced + rest
}

/// The characters that join names.
const JOINTS: [char; 7] = ['/', '.', '-', '_', ':', '@', '\\'];

/// Splits a word at the characters that join names, which are parts of their own.
fn split_keeping(word: &str) -> impl Iterator<Item = &str> {
    word.split_inclusive(JOINTS).flat_map(|part| {
        let (body, joint) = match part.char_indices().last() {
            Some((at, last)) if JOINTS.contains(&last) => part.split_at(at),
            _ => (part, ""),
        };
        [body, joint]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let here = Particulars::new(Path::new("/home/ada/engine"), Some(Path::new("/home/ada")));
        assert_eq!(here.generalise(text), expected);
    }

    #[test]
    fn folders_names_hashes_and_addresses_are_taken_out() {
        check("cd /home/ada/engine/web && npm test", "cd web && npm test");
        check("cat /home/ada/.ssh/config /home/bob/x", "cat ~/.ssh/config ~/x");
        check("git show 3f2a9c1d:src/a.rs", "git show abc1234:src/a.rs");
        check("engine-cli --user ada", "app-cli --user dev");
        check("mail ada@corp.example", "mail dev@example.com");
        check("fatal: bad object 9f86d081884c7d65", "fatal: bad object abc1234");
        check("kill 1234567", "kill 123456");
        check("ls /tmp/tmp.Xy/out", "ls /tmp/out");
        check("cargo test --no-capture", "cargo test --no-capture");
    }

    #[test]
    fn names_of_the_remote_and_names_with_hyphens_are_taken_out() {
        let here = Particulars::new(Path::new("/home/ada/pay-roll"), None)
            .with_remote("git:git.acme.internal/acme-corp/billing/pay-roll");
        for (text, expected) in [
            ("docker push registry/acme-corp/pay-roll:1", "docker push registry/team/app:1"),
            (
                "git clone git@git.acme.internal:acme-corp/billing/x.git",
                "git clone git@git.example.com:team/team/x.git",
            ),
            ("kubectl -n pay-roll-staging get pods", "kubectl -n app-staging get pods"),
            ("pay-rolls", "pay-rolls"),
        ] {
            assert_eq!(here.generalise(text), expected);
        }
        let public = Particulars::default().with_remote("git:github.com/acme/shop");
        assert_eq!(
            public.generalise("gh repo view github.com/acme/shop"),
            "gh repo view github.com/team/app"
        );
    }

    #[test]
    fn a_program_keeps_its_name_in_a_folder_of_that_name() {
        let programs = BTreeSet::from(["docker".to_owned()]);
        let here = Particulars::new(Path::new("/home/ada/docker"), None).without_programs(&programs);
        assert_eq!(here.generalise("docker ps --al"), "docker ps --al");
    }

    #[test]
    fn secrets_do_not_pass() {
        let here = Particulars::default();
        let key = format!("ghp_{}", "a1B2".repeat(9));
        assert!(!here.generalise(&format!("curl -H 'Authorization: token {key}'")).contains(&key));
    }
}
