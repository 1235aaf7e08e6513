//! What `without` and `with` say of a command: its flags and words, its assignments, and how it is run.
//!
//! | item | holds when |
//! |---|---|
//! | `-f`, `--to=x` | the command has the flag |
//! | `word`, `*.test`, `<home>` | it has such a word |
//! | `NAME=`, `NAME=value` | the variable is assigned for this command, or is one of its words |
//! | `<` | its standard input is a file, a here-document, a here-string or a pipe |
//! | `>` | its standard output goes to a file or a pipe |
//! | `>>` | its standard output is appended to a file |
//! | `&` | it runs in the background |
//! | `@timeout` | it runs below this wrapper |

use crate::path_class::Place;
use crate::pattern::{self, Argument, Arguments, Flag, Text};
use shell::{Command, Origin};

/// One alternative of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Flag(Flag),
    Word(Text),
    Assignment { name: String, value: Option<Text> },
    Input,
    Output,
    Appends,
    Background,
    Below(String),
}

/// An item of `without` or `with`: one of its alternatives must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    alternatives: Vec<Condition>,
}

/// A command that conditions are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) command: &'a Command,
    pub(crate) arguments: &'a Arguments<'a>,
    pub(crate) place: Place<'a>,
    /// Whether it runs in the background, by the line or by the tool's own field.
    pub(crate) is_background: bool,
}

impl Item {
    /// Reads an item, or says what is wrong with it.
    pub fn parse(item: &str) -> Result<Self, String> {
        let alternatives =
            pattern::alternatives(item).map(Condition::parse).collect::<Result<Vec<_>, _>>()?;
        if alternatives.is_empty() {
            return Err("is empty".to_owned());
        }
        Ok(Self { alternatives })
    }

    /// Says whether it holds for a command.
    pub(crate) fn holds(&self, subject: Subject<'_>) -> bool {
        self.alternatives.iter().any(|condition| condition.holds(subject))
    }
}

/// Says in words that an item of `without` holds.
pub(crate) fn description(item: &str) -> String {
    match item {
        "<" => "its input comes from a file, a here-document or a pipe".to_owned(),
        ">" => "its output goes to a file or a pipe".to_owned(),
        ">>" => "its output is appended to a file".to_owned(),
        "&" => "it runs in the background".to_owned(),
        _ => match item.strip_prefix('@') {
            Some(wrapper) => format!("it runs below {}", wrapper.replace("|@", " or ")),
            None => format!("the command has {item}"),
        },
    }
}

impl Condition {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "<" => Self::Input,
            ">" => Self::Output,
            ">>" => Self::Appends,
            "&" => Self::Background,
            _ if text.starts_with('-') && text.len() > 1 => Self::Flag(Flag::parse(text)?),
            _ => {
                if let Some(wrapper) = text.strip_prefix('@') {
                    if wrapper.is_empty() {
                        return Err("@ needs the name of a wrapper behind it, such as @timeout".to_owned());
                    }
                    return Ok(Self::Below(wrapper.to_owned()));
                }
                match text.split_once('=').filter(|(name, _)| is_name(name)) {
                    Some((name, "")) => Self::Assignment { name: name.to_owned(), value: None },
                    Some((name, value)) => {
                        Self::Assignment { name: name.to_owned(), value: Some(Text::parse(value)?) }
                    }
                    None => Self::Word(Text::parse(text)?),
                }
            }
        })
    }

    fn holds(&self, subject: Subject<'_>) -> bool {
        let Subject { command, arguments, place, is_background } = subject;
        match self {
            Self::Flag(flag) => flag.is_in(arguments, place),
            Self::Word(text) => arguments.has_word(text, place),
            Self::Assignment { name, value } => {
                let fits = |text: &str, is_dynamic: bool| {
                    let word = Argument { text, is_prose: false, is_quoted: false, is_dynamic };
                    value.as_ref().is_none_or(|value| value.fits_value(&word, place))
                };
                let is_assigned =
                    |(other, text): &(String, String)| other == name && fits(text, text.contains('$'));
                let is_word = |word: &Argument<'_>| {
                    let assigned =
                        word.text.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('='));
                    assigned.is_some_and(|text| fits(text, word.is_dynamic))
                };
                command.assignments.iter().any(is_assigned) || arguments.words().iter().any(is_word)
            }
            Self::Input => {
                let is_input = |operator: &str| operator.trim_start_matches('0').starts_with('<');
                let is_given = command.place > 0 || command.input.is_some();
                is_given || command.redirects.iter().any(|redirect| is_input(&redirect.operator))
            }
            Self::Output => {
                let is_output = |operator: &str| {
                    let operator = operator.trim_start_matches(['1', '&']);
                    operator.starts_with('>') && operator != ">&"
                };
                !command.is_last
                    || command.origin == Origin::Substitution
                    || command.redirects.iter().any(|redirect| is_output(&redirect.operator))
            }
            Self::Appends => {
                let is_appended = |operator: &str| operator.trim_start_matches(['1', '&']) == ">>";
                command.redirects.iter().any(|redirect| is_appended(&redirect.operator))
            }
            Self::Background => is_background,
            Self::Below(name) => command.wrappers.iter().any(|wrapper| {
                wrapper
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            }),
        }
    }
}

/// Says whether a text can be a variable's name.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A value of `writes`: one of these must be what output is redirected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    alternatives: Vec<Text>,
}

impl Targets {
    /// Reads a value of `writes`, or says what is wrong with it.
    pub fn parse(targets: &str) -> Result<Self, String> {
        let alternatives = pattern::alternatives(targets).map(Text::parse).collect::<Result<Vec<_>, _>>()?;
        if alternatives.is_empty() {
            return Err("is empty".to_owned());
        }
        Ok(Self { alternatives })
    }

    /// Returns whether a file is one of them.
    pub(crate) fn fit(&self, file: &Argument<'_>, place: Place<'_>) -> bool {
        self.alternatives.iter().any(|text| text.fits(file, place))
    }

    pub(crate) fn alternatives(&self) -> &[Text] {
        &self.alternatives
    }
}

/// Returns the files that a command's output is redirected to.
pub(crate) fn written_files(command: &Command) -> impl Iterator<Item = Argument<'_>> {
    let is_file = |redirect: &&shell::Redirect| {
        let operator = redirect.operator.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let target = redirect.target.text.as_str();
        // `>&` is followed by a descriptor or by a file.
        let is_descriptor = target == "-" || target.bytes().all(|byte| byte.is_ascii_digit());
        operator.contains('>')
            && !operator.starts_with('<')
            && target != "/dev/null"
            && !(operator.ends_with('&') && is_descriptor)
    };
    command.redirects.iter().filter(is_file).map(|redirect| Argument::of(&redirect.target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_class::Folders;

    #[track_caller]
    fn check(item: &str, fitting: &[&str], others: &[&str]) {
        let parsed = Item::parse(item).unwrap();
        for (scripts, expected) in [(fitting, true), (others, false)] {
            for script in scripts {
                let commands = shell::commands(script);
                let command = commands.iter().find(|command| command.program() == "it").unwrap();
                let words = command.words.iter().skip(1).map(Argument::of).collect();
                let arguments = Arguments::new("it", words);
                let place = Place { folders: &Folders::default(), moved_to: None };
                let is_background = command.is_background;
                let subject = Subject { command, arguments: &arguments, place, is_background };
                assert_eq!(parsed.holds(subject), expected, "{item} for {script}");
            }
        }
    }

    #[test]
    fn item_16_conditions_are_about_the_command_itself() {
        check(
            "<",
            &["it < x", "ls | it", "it <<E\nx\nE", "it <<< x"],
            &["it", "it > x", "ls | wc; it", "it 2< x"],
        );
        check(
            ">",
            &["it > x", "it >> x", "it &> x", "it | cat", "a=$(it)"],
            &["it", "it 2> x", "it 2>&1", "ls | it"],
        );
        check(">>", &["it >> x", "it &>> x", "it 1>> x"], &["it > x", "it 2>> x", "it < x", "it"]);
        check("&", &["it &", "(it) &"], &["it && ls", "ls & it", "it 2>&1"]);
    }

    #[test]
    fn item_21_wrappers_can_be_told_apart() {
        check("@timeout", &["timeout 5 it", "sudo timeout 5 it"], &["it", "timeout 5 ls; it", "nice it"]);
        check("@sudo|@xargs", &["sudo it", "ls | xargs it"], &["it"]);
    }

    #[test]
    fn item_1_assignments_have_values() {
        check("CI=", &["CI=1 it", "env CI=1 it", "it CI=1"], &["it", "CI=1; it", "XCI=1 it"]);
        check(
            "RAILS_ENV=test|RAILS_ENV=dev*",
            &["RAILS_ENV=test it", "RAILS_ENV=development it", "it RAILS_ENV=test"],
            &["RAILS_ENV=production it", "RAILS_ENV= it", "it test", "RAILS_ENV=test ls; it"],
        );
    }

    #[test]
    fn flags_words_and_paths() {
        check("--env=test", &["it --env=test", "it --env test"], &["it --env=production"]);
        check("-n|--dry-run", &["it -n", "it -an", "it --dry-run=all"], &["it n", "it -- -n"]);
        check("*_test", &["it my_test"], &["it 'my db_test'", "it test"]);
        check("<home>", &["it ~", "it a $HOME"], &["it ~/x"]);
    }

    #[test]
    fn a_bad_item_gets_a_reason() {
        for item in ["", "|", "@", "<nowhere>", "--to=<nowhere>"] {
            assert!(Item::parse(item).is_err(), "{item}");
        }
    }
}
