//! Patterns of simple commands: `git push -f|--force ... main|master`.
//!
//! | part | fits |
//! |---|---|
//! | first word | the program, by its base name: `./deploy.sh` is `deploy.sh` |
//! | `-f\|--force` | one of these flags, anywhere; a short one also in a bundle (`-rf`), a long one also with `=value` |
//! | a word | the next word that is no flag |
//! | `a\|b`, `test_*` | alternatives; a star fits any part of a word, `\*` a star |
//! | `*` | any one word |
//! | `...` | any number of words |
//! | `$` | no further word |
//!
//! A pattern fits the beginning of a command: what follows is free, unless it ends in `$`.

use crate::wildcard;

/// A word of a command, as patterns see it.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// The word without its quotes.
    pub text: &'a str,
    /// Whether it is prose: quoted, and with white space in it. Prose fits only a star.
    pub is_prose: bool,
}

/// A pattern of simple commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    programs: Vec<String>,
    flags: Vec<Vec<String>>,
    words: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    OneOf(Vec<String>),
    AnyNumber,
    End,
}

/// Options before the subcommand that take the next word as their value, so that it is not taken for the subcommand.
const VALUED_OPTIONS: [(&str, &[&str]); 17] = [
    ("git", &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"]),
    ("docker", &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"]),
    ("podman", &["--connection", "-c", "--url", "--root"]),
    ("kubectl", &["-n", "--namespace", "--context", "--cluster", "--kubeconfig", "-s", "--server", "--user"]),
    ("helm", &["-n", "--namespace", "--kube-context", "--kubeconfig"]),
    ("npm", &["--prefix", "-w", "--workspace", "-C"]),
    ("pnpm", &["-C", "--dir", "--filter", "-F"]),
    ("yarn", &["--cwd"]),
    ("cargo", &["--manifest-path", "-Z", "--config", "-C", "--color"]),
    ("make", &["-C", "-f", "--file", "--directory", "-j"]),
    ("gh", &["-R", "--repo"]),
    ("aws", &["--profile", "--region", "--output", "--endpoint-url"]),
    (
        "ssh",
        &[
            "-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-E", "-m", "-S", "-W",
            "-w",
        ],
    ),
    (
        "psql",
        &["-h", "--host", "-p", "--port", "-U", "--username", "-d", "--dbname", "-v", "--set", "-F", "-P"],
    ),
    ("mysql", &["-h", "--host", "-P", "--port", "-u", "--user", "-D", "--database", "-S", "--socket"]),
    ("mariadb", &["-h", "--host", "-P", "--port", "-u", "--user", "-D", "--database", "-S", "--socket"]),
    ("redis-cli", &["-h", "-p", "-a", "-n", "-u", "-s", "--user", "--pass"]),
];

/// The most pairs of program and first word that a pattern is looked up by; one with more is looked up by its programs.
const MAX_BEGINNINGS: usize = 256;

/// The most letters that short flags are bundled to.
const MAX_BUNDLE: usize = 5;

impl CommandPattern {
    /// Reads a pattern, or says what is wrong with it.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        let mut tokens = pattern.split_whitespace();
        let program = tokens.next().ok_or("the pattern is empty")?;
        if program.starts_with('-') || matches!(program, "..." | "$" | "*") {
            return Err("the first word must be the program".to_owned());
        }
        let mut programs = alternatives(program);
        for program in &mut programs {
            // Commands are matched by base name, so a folder in the pattern would keep it from ever fitting.
            if let Some(name) = program.rfind('/') {
                program.drain(..=name);
            }
        }
        if programs.iter().any(String::is_empty) {
            return Err("the program has no name after its folder".to_owned());
        }
        let mut parsed = Self { programs, flags: Vec::new(), words: Vec::new() };
        for token in tokens {
            if parsed.words.last() == Some(&Part::End) {
                return Err("nothing may follow $".to_owned());
            }
            match token {
                "..." => parsed.words.push(Part::AnyNumber),
                "$" => parsed.words.push(Part::End),
                _ if token.starts_with('-') && token.len() > 1 => {
                    let flags = alternatives(token);
                    if flags.iter().any(|flag| !flag.starts_with('-')) {
                        return Err(format!("{token} mixes flags and words"));
                    }
                    parsed.flags.push(flags);
                }
                _ => parsed.words.push(Part::OneOf(alternatives(token))),
            }
        }
        Ok(parsed)
    }

    /// Returns what a command that fits must begin with: programs, each with its first word where that is fixed.
    /// `None` when a program is not fixed.
    pub fn beginnings(&self) -> Option<Vec<String>> {
        let is_fixed = |words: &[String]| words.iter().all(|word| !word.contains('*'));
        if !is_fixed(&self.programs) {
            return None;
        }
        match self.words.first() {
            Some(Part::OneOf(words))
                if is_fixed(words) && self.programs.len().saturating_mul(words.len()) <= MAX_BEGINNINGS =>
            {
                let pair = |program: &String| {
                    words.iter().map(move |word| format!("{program} {word}")).collect::<Vec<_>>()
                };
                Some(self.programs.iter().flat_map(pair).collect())
            }
            _ => Some(self.programs.clone()),
        }
    }

    /// Says whether a command fits: its program by base name, then its arguments.
    pub fn fits(&self, program: &str, arguments: &[Argument<'_>]) -> bool {
        self.programs.iter().any(|pattern| fits_word(pattern, program))
            && self.flags.iter().all(|flags| flags.iter().any(|flag| has_flag(arguments, flag)))
            && fit_parts(&self.words, &words(program, arguments))
    }
}

/// Says whether a command has a flag, or a word, or (`NAME=`) an assignment.
pub fn has(item: &str, program: &str, arguments: &[Argument<'_>], assignments: &[&str]) -> bool {
    if let Some(name) = item.strip_suffix('=')
        && !item.starts_with('-')
    {
        return assignments.contains(&name);
    }
    alternatives(item).iter().any(|item| {
        if item.starts_with('-') && item.len() > 1 {
            has_flag(arguments, item)
        } else {
            words(program, arguments).iter().any(|word| !word.is_prose && fits_word(item, word.text))
        }
    })
}

/// Returns the program's first word that is no flag, and no value of a flag before it.
pub fn first_word<'a>(program: &str, arguments: &[Argument<'a>]) -> Option<&'a str> {
    words(program, arguments).first().map(|word| word.text)
}

fn alternatives(token: &str) -> Vec<String> {
    token.split('|').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the arguments that are no flags.
fn words<'a>(program: &str, arguments: &[Argument<'a>]) -> Vec<Argument<'a>> {
    let valued =
        VALUED_OPTIONS.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, options)| options);
    let mut words = Vec::new();
    let mut skips_value = false;
    let mut only_words = false;
    for argument in arguments {
        if std::mem::take(&mut skips_value) {
            continue;
        }
        let is_flag =
            !only_words && argument.text.len() > 1 && argument.text.starts_with('-') && !argument.is_prose;
        if is_flag && argument.text == "--" {
            only_words = true;
        } else if is_flag {
            skips_value = words.is_empty() && valued.contains(&argument.text);
        } else {
            words.push(*argument);
        }
    }
    words
}

fn has_flag(arguments: &[Argument<'_>], flag: &str) -> bool {
    let before_terminator = arguments.iter().take_while(|argument| argument.text != "--");
    before_terminator.filter(|argument| !argument.is_prose).any(|argument| fits_flag(flag, argument.text))
}

fn fits_flag(flag: &str, word: &str) -> bool {
    if flag.contains('*') {
        return word.starts_with('-') && fits_word(flag, word);
    }
    match word.strip_prefix(flag) {
        Some("") => return true,
        Some(rest) if rest.starts_with('=') => return true,
        _ => {}
    }
    let mut letters = flag.chars().skip(1);
    match (letters.next(), letters.next()) {
        // A short flag may stand in a bundle: `-f` in `-rf`. What is longer is a name, as in `-newkey`.
        (Some(letter), None) if letter != '-' => word.strip_prefix('-').is_some_and(|bundle| {
            bundle.len() <= MAX_BUNDLE
                && bundle.starts_with(|first: char| first.is_ascii_alphabetic())
                && bundle.chars().all(|other| other.is_ascii_alphanumeric())
                && bundle.contains(letter)
        }),
        _ => false,
    }
}

/// Fits parts to the beginning of the words, and to all of them where the last part says so.
///
/// Works without recursion, as [`wildcard::fits`] does: on a mismatch the last gap takes one word more.
fn fit_parts(parts: &[Part], words: &[Argument<'_>]) -> bool {
    let (mut at, mut in_words) = (0, 0);
    let mut gap = None;
    loop {
        let is_fitting = match parts.get(at) {
            None => return true,
            Some(Part::AnyNumber) => {
                gap = Some((at + 1, in_words));
                at += 1;
                continue;
            }
            // Nothing follows it, so it holds with the last gap as large as can be, too.
            Some(Part::End) if in_words == words.len() || gap.is_some_and(|(after, _)| after == at) => {
                return true;
            }
            Some(Part::End) => false,
            Some(Part::OneOf(alternatives)) => {
                words.get(in_words).is_some_and(|word| fits_one_of(alternatives, word))
            }
        };
        if is_fitting {
            at += 1;
            in_words += 1;
        } else if let Some((after, reached)) = gap
            && reached < words.len()
        {
            gap = Some((after, reached + 1));
            (at, in_words) = (after, reached + 1);
        } else {
            return false;
        }
    }
}

fn fits_one_of(alternatives: &[String], word: &Argument<'_>) -> bool {
    alternatives.iter().any(|pattern| pattern == "*" || (!word.is_prose && fits_word(pattern, word.text)))
}

/// Fits a word to a pattern in which `*` fits anything and `\*` a star.
fn fits_word(pattern: &str, word: &str) -> bool {
    if !pattern.contains(['*', '\\']) {
        return pattern == word;
    }
    wildcard::fits(pattern.as_bytes(), word.as_bytes(), |pattern, byte| match pattern {
        [b'\\', literal, ..] => (*literal == byte).then_some(2),
        [literal, ..] => (*literal == byte).then_some(1),
        [] => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(command: &str) -> (&str, Vec<Argument<'_>>) {
        let mut words = command.split(' ');
        let program = words.next().unwrap();
        let is_prose = |word: &str| word.starts_with('"');
        (program, words.map(|text| Argument { text, is_prose: is_prose(text) }).collect())
    }

    #[track_caller]
    fn check(pattern: &str, fitting: &[&str], others: &[&str]) {
        let parsed = CommandPattern::parse(pattern).unwrap();
        for (commands, expected) in [(fitting, true), (others, false)] {
            for command in commands {
                let (program, arguments) = arguments(command);
                assert_eq!(parsed.fits(program, &arguments), expected, "{pattern} on {command}");
            }
        }
    }

    #[test]
    fn the_program_and_its_first_words() {
        check("pytest", &["pytest", "pytest -x tests"], &["pytest-watch", "git add pytest.ini"]);
        check(
            "git push",
            &["git push", "git -C dir push origin", "git -c a=b push"],
            &["git add push", "git", "git pull"],
        );
        check("npm|pnpm install|i", &["npm i", "pnpm install x"], &["npm ci", "yarn install"]);
        check(
            "python3* setup.py",
            &["python3 setup.py", "python3.12 setup.py install"],
            &["python setup.py"],
        );
        // Commands come with the base name of their program.
        check(
            "./deploy.sh|bin/release prod",
            &["deploy.sh prod", "release prod"],
            &["deploy.sh", "./deploy.sh prod"],
        );
        assert!(CommandPattern::parse("./bin/ x").is_err());
    }

    #[test]
    fn flags_stand_anywhere_and_in_bundles() {
        check(
            "rm -r|-R|--recursive -f|--force",
            &["rm -rf x", "rm -fR x", "rm x -r --force"],
            &["rm -r x", "rm f"],
        );
        check(
            "git push -f|--force",
            &["git push -f", "git push origin main --force", "git push -uf o"],
            &["git push --force-with-lease", "git push origin feature-f", "git push --follow-tags"],
        );
        check("top -b", &["top -bn1", "top -b"], &["top -n1", "top -nobundle"]);
        check("find -delete", &["find . -name x -delete"], &["find . -name delete"]);
        check("curl -o|--output", &["curl --output=x u", "curl -o x u"], &["curl -- -o"]);
    }

    #[test]
    fn gaps_ends_and_stars() {
        check(
            "git push ... main|master",
            &["git push origin main", "git push -u origin master"],
            &["git push origin dev"],
        );
        check("git stash $", &["git stash", "git stash -q"], &["git stash list"]);
        check("git checkout *", &["git checkout x", "git checkout \"a b\""], &["git checkout"]);
        check(
            "x ... a ... b $",
            &["x a b", "x 1 a 2 b", "x a b a b", "x b a b b"],
            &["x a", "x b a", "x a b c", "x"],
        );
        check("x ... $", &["x", "x 1 2"], &["y"]);
        check("x ... a b ... c", &["x a a b c", "x 1 a b 2 c 3"], &["x a c b", "x a b"]);
        check(r"rm -r \*|./\*", &["rm -r *", "rm -r ./*"], &["rm -r x"]);
        check("pytest test_*", &["pytest test_a.py"], &["pytest a_test.py", "pytest \"test_a b\""]);
    }

    #[test]
    fn hostile_patterns_end() {
        let words = "a ".repeat(2_000);
        check(&format!("x {}zzz", "... a ".repeat(40)), &[], &[&format!("x {}", words.trim_end())]);
        let many = |prefix: &str| (0..300).map(|n| format!("{prefix}{n}|")).collect::<String>();
        let pattern = CommandPattern::parse(&format!("{} {}", many("p"), many("w"))).unwrap();
        assert_eq!(pattern.beginnings().unwrap().len(), 300);
    }

    #[test]
    fn what_makes_a_command_harmless() {
        let (program, arguments) = arguments("git push origin --force-with-lease=x");
        assert!(has("--force-with-lease", program, &arguments, &[]));
        assert!(has("origin", program, &arguments, &[]));
        assert!(has("upstream|origin", program, &arguments, &[]));
        assert!(!has("-n", program, &arguments, &[]));
        assert!(has("CI=", program, &arguments, &["CI"]) && !has("CI=", program, &arguments, &[]));
    }

    #[test]
    fn beginnings_are_what_an_index_can_look_up() {
        let beginnings = |pattern| CommandPattern::parse(pattern).unwrap().beginnings();
        assert_eq!(
            beginnings("npm|pnpm i|install"),
            Some(vec!["npm i".into(), "npm install".into(), "pnpm i".into(), "pnpm install".into(),])
        );
        assert_eq!(beginnings("rm -rf /"), Some(vec!["rm /".into()]));
        assert_eq!(beginnings("rm -rf ... /"), Some(vec!["rm".into()]));
        assert_eq!(beginnings("git stash* x"), Some(vec!["git".into()]));
        assert_eq!(beginnings("python3* x"), None);
    }

    #[test]
    fn a_bad_pattern_gets_a_reason() {
        for pattern in ["", "-f", "... x", "a $ b", "a -f|b"] {
            assert!(CommandPattern::parse(pattern).is_err(), "{pattern}");
        }
    }
}
