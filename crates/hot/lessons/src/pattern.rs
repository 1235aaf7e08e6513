//! Patterns of simple commands: `git push -f|--force ... main|master`.
//!
//! | part | fits |
//! |---|---|
//! | first word | the program, by its base name: `./deploy.sh` is `deploy.sh` |
//! | `-f\|--force` | one of these flags, anywhere behind the subcommand; a short one also in a bundle (`-rf`), a long one also with `=value` |
//! | `--to=x`, `-X=DELETE` | a flag with this value, however they are joined |
//! | a word | the next word that is no flag |
//! | `a\|b`, `test_*` | alternatives; a star fits any part of a word, `\*` a star |
//! | `*`, `**` | any one word |
//! | `<root>`, `of=<disk>` | a path of this class, see [`crate::path_class`] |
//! | `...` | any number of words |
//! | `$` | no further word |
//!
//! A pattern fits the beginning of a command: what follows is free, unless it ends in `$`.

use crate::options::{Role, Scan};
use crate::path_class::{self, Class, Classes, Place, Written};
use crate::wildcard;
use std::cell::OnceCell;

/// A word of a command, as patterns see it.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// The word without its quotes.
    pub text: &'a str,
    /// Whether it is prose: quoted, and with white space in it. Prose fits only a star and classes of paths.
    pub is_prose: bool,
    /// Whether some part of it is quoted.
    pub is_quoted: bool,
    /// Whether its text is not what the program will see.
    pub is_dynamic: bool,
}

impl<'a> Argument<'a> {
    /// Returns a word as a pattern sees it.
    pub(crate) fn of(word: &'a shell::Word) -> Self {
        Self {
            text: &word.text,
            is_prose: word.is_quoted && word.text.contains(char::is_whitespace),
            is_quoted: word.is_quoted,
            is_dynamic: word.is_dynamic,
        }
    }

    pub(crate) fn classes(&self, place: Place<'_>) -> Classes {
        let written = Written { text: self.text, is_quoted: self.is_quoted, is_dynamic: self.is_dynamic };
        path_class::classes(written, place)
    }
}

/// What is behind a program, sorted into flags and words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments<'a> {
    all: Vec<Argument<'a>>,
    words: Vec<Argument<'a>>,
    /// Where the flags of the command itself begin: behind a subcommand, where there is one.
    flags_from: usize,
    /// The classes of the words, made when first asked for: several lessons ask for the same.
    classes: OnceCell<Vec<Classes>>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(program: &str, all: Vec<Argument<'a>>) -> Self {
        let mut scan = Scan::new(program);
        let (mut words, mut flags_from) = (Vec::new(), 0);
        for (place, argument) in all.iter().enumerate() {
            let was_before = !scan.is_behind_subcommand();
            if scan.role(argument.text, argument.is_prose) == Role::Word {
                words.push(*argument);
                if was_before {
                    flags_from = place + 1;
                }
            }
        }
        Self { all, words, flags_from, classes: OnceCell::new() }
    }

    /// Returns whether a word fits one of the alternatives.
    fn fits(&self, word: usize, alternatives: &[Text], place: Place<'_>) -> bool {
        let Some(argument) = self.words.get(word) else { return false };
        alternatives.iter().any(|text| match text.class() {
            Some(class) => {
                let all = || self.words.iter().map(|word| word.classes(place)).collect();
                self.classes.get_or_init(all)[word].has(class)
            }
            None => text.fits(argument, place),
        })
    }

    /// Returns whether some word fits.
    pub(crate) fn has_word(&self, text: &Text, place: Place<'_>) -> bool {
        (0..self.words.len()).any(|word| self.fits(word, std::slice::from_ref(text), place))
    }

    /// Returns the words that are no flags.
    pub(crate) fn words(&self) -> &[Argument<'a>] {
        &self.words
    }

    /// Returns the flags of the command itself with what is between them, up to `--`.
    fn flags(&self, is_of_program: bool) -> &[Argument<'a>] {
        let all = &self.all[if is_of_program { 0 } else { self.flags_from }..];
        let end = all.iter().position(|argument| argument.text == "--").unwrap_or(all.len());
        &all[..end]
    }
}

/// A pattern of simple commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    programs: Vec<String>,
    flags: Vec<Vec<Flag>>,
    words: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    OneOf(Vec<Text>),
    AnyNumber,
    End,
}

/// What a word, or the value of a flag, must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Anything.
    Any,
    /// This, with stars in it.
    Like(String),
    /// A path of this class, behind this text: `of=<disk>`.
    Path { behind: String, class: Class },
}

impl Text {
    /// Reads the pattern of a word.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if !text.is_empty() && text.bytes().all(|byte| byte == b'*') {
            return Ok(Self::Any);
        }
        let Some(at) =
            text.find('<').filter(|at| text.ends_with('>') && (*at == 0 || text[..*at].ends_with('=')))
        else {
            return Ok(Self::Like(text.to_owned()));
        };
        let class = Class::from_name(&text[at..]).ok_or_else(|| {
            let names = Class::ALL.map(Class::name).join(", ");
            format!("{} is no class of paths; expected one of {names}", &text[at..])
        })?;
        Ok(Self::Path { behind: text[..at].to_owned(), class })
    }

    fn parse_all(token: &str) -> Result<Vec<Self>, String> {
        alternatives(token).map(Self::parse).collect()
    }

    /// Returns the one text that fits, if there is but one.
    pub(crate) fn fixed(&self) -> Option<&str> {
        match self {
            Self::Like(text) if !text.contains('*') => Some(text),
            _ => None,
        }
    }

    /// Returns the class of paths that fits.
    pub(crate) fn class(&self) -> Option<Class> {
        match self {
            Self::Path { behind, class } if behind.is_empty() => Some(*class),
            _ => None,
        }
    }

    /// Fits a word: prose is not looked into.
    pub(crate) fn fits(&self, word: &Argument<'_>, place: Place<'_>) -> bool {
        match self {
            Self::Like(text) => !word.is_prose && fits_word(text, word.text),
            _ => self.fits_value(word, place),
        }
    }

    /// Fits the value of a flag, which may be prose: a flag says what its value is.
    pub(crate) fn fits_value(&self, word: &Argument<'_>, place: Place<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Like(text) => fits_word(text, word.text),
            Self::Path { behind, class } => word.text.strip_prefix(behind.as_str()).is_some_and(|text| {
                // A tilde behind `of=` is a name.
                let is_quoted = word.is_quoted || (!behind.is_empty() && text == "~");
                Argument { text, is_quoted, ..*word }.classes(place).has(*class)
            }),
        }
    }
}

/// A flag, and what its value must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flag {
    name: String,
    value: Option<Text>,
}

impl Flag {
    /// Reads a flag: `-f`, `--force`, `--visibility=public`, `-X=DELETE`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Ok(match text.split_once('=') {
            Some((name, value)) if name.len() > 1 => {
                Self { name: name.to_owned(), value: Some(Text::parse(value)?) }
            }
            _ => Self { name: text.to_owned(), value: None },
        })
    }

    /// Says whether a command has the flag.
    pub(crate) fn is_in(&self, arguments: &Arguments<'_>, place: Place<'_>) -> bool {
        self.is_among(arguments.flags(false), place)
    }

    fn is_among(&self, arguments: &[Argument<'_>], place: Place<'_>) -> bool {
        let Some(value) = &self.value else {
            let plain = arguments.iter().filter(|argument| !argument.is_prose);
            return plain.into_iter().any(|argument| fits_flag(&self.name, argument.text));
        };
        arguments.iter().enumerate().any(|(at, argument)| match self.value_in(argument.text) {
            None => false,
            Some("") => arguments.get(at + 1).is_some_and(|next| value.fits_value(next, place)),
            Some(text) => value.fits_value(&Argument { text, ..*argument }, place),
        })
    }

    /// Returns the value in a word that is this flag: the empty text when it is the next word.
    fn value_in<'w>(&self, word: &'w str) -> Option<&'w str> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if fits_word(&self.name, name) && name.starts_with('-') {
            return Some(value.unwrap_or_default());
        }
        // A short flag has its value behind it, and may be the last of a bundle: `-XDELETE`, `-sX DELETE`.
        let letter = self.name.strip_prefix('-').filter(|letter| letter.len() == 1 && *letter != "-")?;
        let bundle = word.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'))?;
        let at = bundle.find(letter)?;
        let is_bundle = at < MAX_BUNDLE && bundle[..at].bytes().all(|byte| byte.is_ascii_alphabetic());
        is_bundle.then(|| bundle[at + 1..].trim_start_matches('='))
    }
}

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
        if program.contains(['<', '>']) {
            return Err("the program cannot be a class of paths".to_owned());
        }
        let mut programs: Vec<String> = alternatives(program).map(str::to_owned).collect();
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
                    if alternatives(token).any(|flag| !flag.starts_with('-')) {
                        return Err(format!("{token} mixes flags and words"));
                    }
                    parsed.flags.push(alternatives(token).map(Flag::parse).collect::<Result<_, _>>()?);
                }
                _ => parsed.words.push(Part::OneOf(Text::parse_all(token)?)),
            }
        }
        Ok(parsed)
    }

    /// Returns what a command that fits must begin with: programs, each with its first word where that is fixed.
    /// `None` when a program is not fixed.
    pub fn beginnings(&self) -> Option<Vec<String>> {
        if self.programs.iter().any(|program| program.contains('*')) {
            return None;
        }
        let fixed = match self.words.first() {
            Some(Part::OneOf(words)) => words.iter().map(Text::fixed).collect::<Option<Vec<&str>>>(),
            _ => None,
        };
        match fixed {
            Some(words) if self.programs.len().saturating_mul(words.len()) <= MAX_BEGINNINGS => {
                let pair = |program: &String| {
                    words.iter().map(move |word| format!("{program} {word}")).collect::<Vec<_>>()
                };
                Some(self.programs.iter().flat_map(pair).collect())
            }
            _ => Some(self.programs.clone()),
        }
    }

    /// Says whether a program, by its base name, is one that it is about.
    pub(crate) fn is_for(&self, program: &str) -> bool {
        self.programs.iter().any(|pattern| fits_word(pattern, program))
    }

    /// Says whether the arguments of a command whose program it is about fit.
    pub(crate) fn fits(&self, arguments: &Arguments<'_>, place: Place<'_>) -> bool {
        // A pattern without words is about the program, before any subcommand.
        let flags = arguments.flags(self.words.is_empty());
        self.flags.iter().all(|any| any.iter().any(|flag| flag.is_among(flags, place)))
            && fit_parts(&self.words, arguments.words().len(), |alternatives, word| {
                arguments.fits(word, alternatives, place)
            })
    }
}

impl CommandPattern {
    /// Returns which words of a command that fits are of a class that the pattern names: `/tmp/.. is <root>`.
    pub(crate) fn explained(&self, arguments: &Arguments<'_>, place: Place<'_>) -> Option<String> {
        let texts = self.words.iter().flat_map(|part| match part {
            Part::OneOf(texts) => &texts[..],
            _ => &[],
        });
        let classes: Vec<Class> = texts.filter_map(Text::class).collect();
        let of_word = |word: &Argument<'_>| {
            let found = word.classes(place);
            let class = classes.iter().find(|class| found.has(**class))?;
            Some(format!("{} is {}", word.text, class.name()))
        };
        if classes.is_empty() { None } else { arguments.words().iter().find_map(of_word) }
    }
}

/// Returns the first word behind a program that is no flag, and no value of one.
pub(crate) fn first_word<'a>(program: &str, words: impl Iterator<Item = Argument<'a>>) -> Option<&'a str> {
    let mut scan = Scan::new(program);
    words.into_iter().find(|word| scan.role(word.text, word.is_prose) == Role::Word).map(|word| word.text)
}

/// Returns the parts of a token between bars.
pub(crate) fn alternatives(token: &str) -> impl Iterator<Item = &str> {
    token.split('|').filter(|part| !part.is_empty())
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
fn fit_parts(parts: &[Part], words: usize, fits: impl Fn(&[Text], usize) -> bool) -> bool {
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
            Some(Part::End) if in_words == words || gap.is_some_and(|(after, _)| after == at) => {
                return true;
            }
            Some(Part::End) => false,
            Some(Part::OneOf(alternatives)) => fits(alternatives, in_words),
        };
        if is_fitting {
            at += 1;
            in_words += 1;
        } else if let Some((after, reached)) = gap
            && reached < words
        {
            gap = Some((after, reached + 1));
            (at, in_words) = (after, reached + 1);
        } else {
            return false;
        }
    }
}

/// Returns the bytes that the names of a pattern's programs begin with; `None` when that can be any.
pub(crate) fn initials(pattern: &str) -> Option<impl Iterator<Item = u8>> {
    let programs = || {
        let names = alternatives(pattern.split_whitespace().next().unwrap_or_default());
        // Commands are known by the base name of their program.
        names.map(|name| name.rsplit('/').next().and_then(|name| name.bytes().next()))
    };
    let is_fixed = |byte: Option<u8>| byte.is_some_and(|byte| !matches!(byte, b'*' | b'\\'));
    programs().all(is_fixed).then(|| programs().flatten())
}

/// Fits a word to a pattern in which `*` fits anything and `\*` a star.
pub(crate) fn fits_word(pattern: &str, word: &str) -> bool {
    let is_special = |byte: u8| matches!(byte, b'*' | b'\\');
    // Most words differ in their first letter, and a long script asks for very many of them.
    let first = pattern.as_bytes().first();
    if first != word.as_bytes().first() && first.is_some_and(|byte| !is_special(*byte)) {
        return false;
    }
    if !pattern.bytes().any(is_special) {
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
    use crate::path_class::Folders;

    fn arguments(command: &str) -> (&str, Arguments<'_>) {
        let mut words = command.split(' ');
        let program = words.next().unwrap();
        let argument = |text: &'_ str| Argument {
            text: Box::leak(text.to_owned().into_boxed_str()),
            is_prose: text.starts_with('"'),
            is_quoted: text.starts_with('"'),
            is_dynamic: text.contains('$'),
        };
        (program, Arguments::new(program, words.map(argument).collect()))
    }

    fn fits(pattern: &CommandPattern, command: &str) -> bool {
        let (program, arguments) = arguments(command);
        let place = Place { folders: &Folders::default(), moved_to: None };
        pattern.is_for(program) && pattern.fits(&arguments, place)
    }

    #[track_caller]
    fn check(pattern: &str, fitting: &[&str], others: &[&str]) {
        let parsed = CommandPattern::parse(pattern).unwrap();
        for (commands, expected) in [(fitting, true), (others, false)] {
            for command in commands {
                assert_eq!(fits(&parsed, command), expected, "{pattern} on {command}");
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
        let long: String = (0..2_000).map(|number| format!(" d{number}/..")).collect();
        check("x ... <root>|<system>|<home>|<precious>|<disk> y", &[], &[&format!("x{long}")]);
        let pattern = CommandPattern::parse(&format!("{} {}", many("p"), many("w"))).unwrap();
        assert_eq!(pattern.beginnings().unwrap().len(), 300);
    }

    #[test]
    fn item_2_global_options_are_no_flags_of_the_subcommand() {
        check("git commit -C", &["git commit -C HEAD"], &["git -C dir commit", "git -c a=b commit"]);
        check("docker compose down -v", &["docker compose -f x down -v"], &["docker compose -v down"]);
        check("docker run -c", &["docker run -c 5 x"], &["docker -c ctx run x"]);
        // Options of these may be anywhere.
        check(
            "kubectl delete --all",
            &["kubectl --all delete x", "kubectl delete x --all"],
            &["kubectl delete"],
        );
        // Without a word it is about the program itself.
        check("git --version", &["git --version"], &["git status"]);
    }

    #[test]
    fn item_17_a_flag_may_have_a_value() {
        check(
            "gh repo edit --visibility=public",
            &[
                "gh repo edit --visibility=public",
                "gh repo edit --visibility public",
                "gh repo edit -x --visibility public",
            ],
            &[
                "gh repo edit --visibility=private",
                "gh repo edit --visibility",
                "gh repo edit public --visibility x",
            ],
        );
        check(
            "curl -X=DELETE|--request=DELETE",
            &[
                "curl -X DELETE u",
                "curl -XDELETE u",
                "curl -X=DELETE u",
                "curl -sX DELETE u",
                "curl -sXDELETE u",
                "curl u --request=DELETE",
                "curl --request DELETE",
            ],
            &[
                "curl -X GET u",
                "curl DELETE",
                "curl -- -X DELETE",
                "curl --requests DELETE",
                "curl -X DELETED",
            ],
        );
        check(
            "x --env=prod*",
            &["x --env=production", "x --env prod"],
            &["x --env=test", "x --env-file prod"],
        );
        check("curl -H=*token*", &["curl -H \"x-token:y"], &["curl -H a:b"]);
        check("x -o=<disk>", &["x -o /dev/sda", "x -o/dev/sda"], &["x -o disk.img"]);
    }

    #[test]
    fn words_may_be_classes_of_paths() {
        check(
            "rm -r ... <root>|<system>|build",
            &["rm -r x /tmp/..", "rm -rf /etc", "rm -r build"],
            &["rm -r x", "rm /"],
        );
        check("dd of=<disk>", &["dd of=/dev/sda"], &["dd if=/dev/sda", "dd of=/dev/null", "dd /dev/sda"]);
        check("x <here> $", &["x .", "x *"], &["x a", "x . a"]);
        assert!(CommandPattern::parse("rm <rooot>").unwrap_err().contains("<rooot> is no class of paths"));
        assert!(CommandPattern::parse("<root>").is_err());
    }

    #[test]
    fn item_25_a_word_of_only_stars_is_any_word() {
        check("ssh ** $", &["ssh h", "ssh \"a"], &["ssh", "ssh h ls"]);
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
        assert_eq!(beginnings("rm <root>|x"), Some(vec!["rm".into()]));
    }

    #[test]
    fn a_bad_pattern_gets_a_reason() {
        for pattern in ["", "-f", "... x", "a $ b", "a -f|b"] {
            assert!(CommandPattern::parse(pattern).is_err(), "{pattern}");
        }
    }
}
