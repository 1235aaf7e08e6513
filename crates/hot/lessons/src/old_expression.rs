//! The expressions of lessons-learned over commands, said in fields of ours.
//!
//! They are JavaScript's: they may look ahead, which our engine cannot, and they see the whole line, where ours see one
//! simple command. "X, not followed by a safe flag" becomes a pattern and `without`; what is about more than one command
//! becomes `raw`. What cannot be said is returned with the reason. Used when an index is made, never for a call.

use crate::allowance::COMPILED_BYTES;
use crate::lesson::Trigger;
use regex_lite::RegexBuilder;

/// What expressions became.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// Their trigger: `commands`, `matches`, `raw` and `without` alone. Empty when none could be said.
    pub trigger: Trigger,
    /// The expressions that cannot be said, and why.
    pub untold: Vec<(String, String)>,
}

/// What the expressions of a lesson see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The line as it is, quotes included.
    Full,
    /// The line without what is quoted: a guard's.
    Executable,
}

/// Says expressions over commands in fields of a trigger.
pub fn translate(expressions: &[String], target: Target) -> Translation {
    let mut translation = Translation::default();
    let (mut rests, mut without) = (Vec::new(), Vec::new());
    for expression in expressions {
        for part in parts(expression) {
            match part.and_then(|(rest, items)| Ok((checked(rest)?, items))) {
                Ok((rest, items)) => {
                    rests.push(rest);
                    without.extend(items);
                }
                Err(reason) => translation.untold.push((expression.clone(), reason)),
            }
        }
    }
    without.sort();
    without.dedup();
    let trigger = &mut translation.trigger;
    let patterns: Option<Vec<String>> = rests.iter().map(|rest| as_pattern(rest)).collect();
    match patterns {
        _ if rests.is_empty() => return translation,
        // Plain words name a program: as a pattern they are not found in a file's name.
        Some(patterns) => trigger.commands = patterns,
        None if rests.iter().any(|rest| spans(rest, target)) => {
            // Quotes and here-documents are part of the line: a command of this program has to be there as well.
            let programs: Option<Vec<String>> = rests.iter().map(|rest| program(rest)).collect();
            let is_narrowed = target == Target::Executable || !without.is_empty();
            match programs.filter(|_| is_narrowed) {
                Some(programs) => trigger.commands = programs,
                None if !without.is_empty() => {
                    let reason = "looks ahead beyond one command, and names no program to begin with";
                    let untold = expressions.iter().map(|text| (text.clone(), reason.to_owned()));
                    translation.untold.extend(untold);
                    return translation;
                }
                None => {}
            }
            trigger.raw = rests;
        }
        None => trigger.matches = rests,
    }
    trigger.without = without;
    translation
}

/// Returns an expression that our engine takes, or why it does not.
pub fn checked(expression: String) -> Result<String, String> {
    // Only JavaScript needs a slash escaped.
    let expression = expression.replace(r"\/", "/");
    match RegexBuilder::new(&expression).size_limit(COMPILED_BYTES).build() {
        Ok(_) => Ok(expression),
        Err(_) if looks(&expression) => Err(LOOKS.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Why an expression that looks ahead or behind is left out.
const LOOKS: &str = "looks ahead or behind for something that `without` cannot say";

fn looks(expression: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| expression.contains(look))
}

/// An expression without what it looks ahead for, and that as items of `without`.
type Part = (String, Vec<String>);

/// Returns the alternatives of an expression, each by itself where it looks ahead.
fn parts(expression: &str) -> Vec<Result<Part, String>> {
    if !looks(expression) {
        return vec![Ok((at_its_start(expression), Vec::new()))];
    }
    let (flags, body) = match expression.strip_prefix("(?i)") {
        Some(body) => ("(?i)", body),
        None => ("", expression),
    };
    let part = |alternative: &str| {
        let (rest, items) = without_looks(alternative).ok_or_else(|| LOOKS.to_owned())?;
        Ok((format!("{flags}{}", at_its_start(&rest)), items))
    };
    alternatives(body).into_iter().map(part).collect()
}

/// Takes what an expression looks ahead for out of it; `None` when that is more than flags, words and assignments.
fn without_looks(expression: &str) -> Option<Part> {
    let (mut rest, mut items) = (String::new(), Vec::new());
    let mut remaining = expression;
    while let Some(at) = next_group(remaining) {
        let end = at + closing(&remaining[at + 1..])? + 1;
        let (group, after) = (&remaining[at..=end], &remaining[end + 1..]);
        rest.push_str(&remaining[..at]);
        if let Some(inside) = group.strip_prefix("(?!") {
            let inside = &inside[..inside.len() - 1];
            if after.is_empty() && is_class(inside) {
                // Not before one of these characters: another one follows, or none.
                rest.push_str(&format!("(?:{}|$)", negated(inside)));
            } else {
                items.extend(safe(inside)?);
            }
        } else if let Some(inside) = group.strip_prefix("(?=") {
            // At the end, what follows may as well be a part of the match.
            if !after.trim_start_matches(".*").is_empty() || looks(inside) {
                return None;
            }
            rest.push_str(&format!("(?:{inside}"));
        } else if looks(group) {
            return None;
        } else {
            rest.push_str(group);
        }
        remaining = after;
    }
    rest.push_str(remaining);
    let rest = rest.strip_suffix(".*").unwrap_or(&rest).to_owned();
    (!rest.is_empty()).then_some((rest, items))
}

/// Returns what makes a command harmless when it follows, as items of `without`.
fn safe(inside: &str) -> Option<Vec<String>> {
    let mut items = Vec::new();
    for alternative in alternatives(inside) {
        let (gap, rest) = Gap::before(alternative, Gap::default());
        let (group, has_end) = without_end(rest);
        match whole_group(group) {
            Some(group) => {
                for inner in alternatives(group) {
                    let (gap, rest) = Gap::before(inner, gap);
                    items.extend(item(rest, gap, has_end)?);
                }
            }
            None => items.extend(item(rest, gap, false)?),
        }
    }
    Some(items)
}

/// What is between the end of a match and what it looks ahead for.
#[derive(Clone, Copy, Default)]
struct Gap {
    /// Anything may be.
    is_far: bool,
    /// A word begins after it.
    is_word: bool,
}

impl Gap {
    fn before(text: &str, gap: Self) -> (Self, &str) {
        let (mut gap, mut rest) = (gap, text);
        loop {
            let far = [".*?", ".*", r"[\s\S]*", r"\S*"].iter().find_map(|part| rest.strip_prefix(part));
            let far = far.or_else(|| {
                let class = rest.strip_prefix("[^")?;
                class[class.find(']')? + 1..].strip_prefix('*')
            });
            let word =
                [r"\s+", r"\s*", r"\s", r"\b", " +", " "].iter().find_map(|part| rest.strip_prefix(part));
            match (far, word) {
                (Some(after), _) => (gap, rest) = (Self { is_far: true, is_word: false }, after),
                (_, Some(after)) => (gap, rest) = (Self { is_word: true, ..gap }, after),
                _ => return (gap, rest),
            }
        }
    }
}

/// Takes what ends a word off the end of a text.
fn without_end(text: &str) -> (&str, bool) {
    const ENDS: [&str; 8] = [r"\b", r"(?:\s|$)", r"(\s|$)", r"(?=\s|$)", r"(?!\S)", r"(?![\w-])", r"\s", "$"];
    match ENDS.iter().find_map(|end| text.strip_suffix(end)) {
        Some(text) => (text, true),
        None => (text, false),
    }
}

/// Returns one thing that makes a command harmless as items of `without`.
fn item(text: &str, gap: Gap, has_end: bool) -> Option<Vec<String>> {
    // Whatever value a flag has.
    let any = [r"\S+", r"\S*", r"\w+", r"\d+", ".+", ".*"];
    let text = any.iter().find_map(|value| text.strip_suffix(value)).unwrap_or(text);
    let (text, has_own_end) = without_end(text);
    let has_end = has_end || has_own_end;
    let plain = literally(text)?.trim_end().to_owned();
    if plain.contains(',') || plain.is_empty() {
        return None;
    }
    let is_name =
        |name: &str| name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if plain.starts_with('-') {
        let (name, value) = plain.split_once([' ', '=']).unwrap_or((&plain, ""));
        let value = value.trim();
        return (is_name(name) && !value.contains(' '))
            .then(|| vec![if value.is_empty() { name.to_owned() } else { format!("{name}={value}") }]);
    }
    if plain.starts_with('<') {
        return Some(vec!["<".to_owned()]);
    }
    if plain.contains(' ') {
        return None;
    }
    if let Some((name, _)) = plain.split_once('=') {
        let is_variable = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        return (!name.is_empty() && is_variable).then(|| vec![plain]);
    }
    let is_word = plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:./@".contains(&byte));
    let end = if has_end { "" } else { "*" };
    match gap {
        _ if !is_word => None,
        Gap { is_word: true, .. } => Some(vec![format!("{plain}{end}")]),
        // A part of any word, of a flag as well.
        Gap { is_far: true, .. } => Some(vec![format!("*{plain}{end}"), format!("-*{plain}{end}")]),
        // It would continue the word that was matched.
        _ => None,
    }
}

/// Returns the text that an expression without choices means; white space is one blank.
fn literally(expression: &str) -> Option<String> {
    let spaced = [r"[=\s]", r"[\s=]", "[= ]", "[ =]", r"\s+", r"\s*", r"\s"]
        .iter()
        .fold(expression.to_owned(), |text, space| text.replace(space, " "));
    let mut text = String::new();
    let mut characters = spaced.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.push(characters.next().filter(char::is_ascii_punctuation)?),
            '[' | ']' | '(' | ')' | '{' | '}' | '*' | '+' | '?' | '^' | '$' | '|' => return None,
            _ => text.push(character),
        }
    }
    Some(text)
}

/// Says whether a text is one character or a class of them.
fn is_class(text: &str) -> bool {
    match text.as_bytes() {
        [b'\\', b'w' | b's' | b'd' | b'S' | b'.' | b'-'] => true,
        [b'[', .., b']'] => text[1..].find(']') == Some(text.len() - 2) && !text.starts_with("[^"),
        [byte] => byte.is_ascii_alphanumeric() || b"-_/:=@".contains(byte),
        _ => false,
    }
}

fn negated(class: &str) -> String {
    format!("[^{}]", class.trim_start_matches('[').trim_end_matches(']'))
}

/// Says the beginning of a command in the way of one simple command: no separator is before it.
fn at_its_start(expression: &str) -> String {
    let Some(rest) = expression.strip_prefix("(?:^|").or_else(|| expression.strip_prefix("(^|")) else {
        return expression.to_owned();
    };
    let Some(end) = closing(rest) else { return expression.to_owned() };
    let (inside, after) = (&rest[..end], &rest[end + 1..]);
    let is_separator = |byte: u8| b"[];&|\\sn({`$!*+?) \t".contains(&byte);
    if !inside.contains(['&', ';', '|']) || !inside.bytes().all(is_separator) {
        return expression.to_owned();
    }
    // Within a class, white space is a separator as well; behind one, it only follows.
    let has_blank =
        inside.split('[').skip(1).any(|class| class.split(']').next().unwrap_or("").contains(r"\s"));
    format!("{}{after}", if has_blank { r"(?:^|\s)" } else { "^" })
}

/// Says whether an expression is about more than one simple command, or about quotes: only the whole text shows that.
fn spans(expression: &str, target: Target) -> bool {
    let mut rest = expression;
    while let Some(character) = rest.chars().next() {
        if let Some(class) = rest.strip_prefix("[^") {
            // Whatever it is not about.
            rest = class.find(']').map_or("", |end| &class[end + 1..]);
            continue;
        }
        if let Some(group) = rest.strip_prefix("(?<") {
            rest = group.find('>').map_or("", |end| &group[end + 1..]);
            continue;
        }
        let is_substitution =
            [r"\$\(", r"\$(", "\\`", "`"].iter().any(|beginning| rest.starts_with(beginning));
        let is_variable = target == Target::Full && rest.starts_with(r"\$");
        if is_substitution || is_variable || rest.starts_with(r"\|") || rest.starts_with(r"\n") {
            return true;
        }
        if character == '[' {
            let class = rest[1..].split(']').next().unwrap_or_default();
            if class.contains('|') {
                return true;
            }
        }
        if [';', '&', '"', '\'', '<', '>'].contains(&character) {
            return true;
        }
        rest = &rest[character.len_utf8()..];
    }
    false
}

/// Returns the program that an expression begins with, as a pattern.
fn program(expression: &str) -> Option<String> {
    let rest =
        expression.strip_prefix(r"(?:^|\s)").or_else(|| expression.strip_prefix('^')).unwrap_or(expression);
    let rest = rest.strip_prefix(r"\b").unwrap_or(rest);
    let (name, after) = if let Some(group) = rest.strip_prefix('(') {
        let end = closing(group)? + 1;
        (whole_group(&rest[..=end])?.to_owned(), &rest[end + 1..])
    } else {
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
        let end = rest.bytes().position(|byte| !is_name(&byte)).unwrap_or(rest.len());
        (rest[..end].to_owned(), &rest[end..])
    };
    let is_whole =
        after.is_empty() || [r"\b", r"\s", " ", ".*", "[^"].iter().any(|end| after.starts_with(end));
    let is_plain =
        |name: &str| name.starts_with(|first: char| first.is_ascii_alphanumeric()) && is_plain_word(name);
    (is_whole && name.split('|').all(is_plain)).then_some(name)
}

fn is_plain_word(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Returns the pattern of commands that an expression of plain words means: `\bgit\s+(add|commit)\b` is `git add|commit`.
pub fn as_pattern(expression: &str) -> Option<String> {
    let text = expression.strip_prefix('^').unwrap_or(expression);
    let text = text.replace(r"\b", "").replace(r"\s+", " ").replace(r"\s*", " ").replace(r"\s", " ");
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let choices = if word.starts_with('(') { whole_group(word)? } else { word };
        let is_choice = choices.len() < word.len();
        if !choices.split('|').all(is_plain_word) || (!is_choice && choices.contains('|')) {
            return None;
        }
        words.push(choices);
    }
    let starts_with_name = words.first()?.split('|').all(|name| !name.starts_with('-'));
    // A pattern does not mix flags and words.
    let is_mixed = |word: &&&str| word.split('|').any(|part| part.starts_with('-') != word.starts_with('-'));
    (starts_with_name && !words.iter().any(|word| is_mixed(&word))).then(|| words.join(" "))
}

/// Splits an expression where it has alternatives that are in no group.
fn alternatives(expression: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut depth = 0_usize;
    each(expression, |at, byte| match byte {
        b'(' => depth += 1,
        b')' => depth = depth.saturating_sub(1),
        b'|' if depth == 0 => {
            found.push(&expression[start..at]);
            start = at + 1;
        }
        _ => {}
    });
    found.push(&expression[start..]);
    found
}

/// Returns what is in the parentheses that are all of a text.
fn whole_group(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("(?:").or_else(|| text.strip_prefix('('))?;
    let end = closing(inside)?;
    (end + 1 == inside.len() && !inside.starts_with('?')).then(|| &inside[..end])
}

/// Returns where the next parenthesis opens.
fn next_group(text: &str) -> Option<usize> {
    let mut first = None;
    each(text, |at, byte| {
        if byte == b'(' && first.is_none() {
            first = Some(at);
        }
    });
    first
}

/// Returns where the parenthesis ends that is open at the beginning.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut end) = (0, None);
    each(text, |at, byte| match byte {
        b'(' => depth += 1,
        b')' if depth == 0 => end = end.or(Some(at)),
        b')' => depth -= 1,
        _ => {}
    });
    end
}

/// Goes through the bytes of an expression that are neither escaped nor in a class.
fn each(expression: &str, mut see: impl FnMut(usize, u8)) {
    let (mut is_escaped, mut in_class) = (false, false);
    for (at, byte) in expression.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b']' => in_class = false,
            _ if in_class => {}
            b'[' => in_class = true,
            _ => see(at, byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(expressions: &[&str], target: Target) -> Translation {
        translate(&expressions.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), target)
    }

    #[track_caller]
    fn check(expression: &str, field: &str, rest: &str, without: &[&str]) {
        let Translation { trigger, untold } = of(&[expression], Target::Executable);
        assert_eq!(untold, [], "{expression}");
        let found = match field {
            "command" => &trigger.commands,
            "match" => &trigger.matches,
            _ => &trigger.raw,
        };
        assert_eq!(found, &[rest], "{expression}");
        assert_eq!(trigger.without, without, "{expression}");
    }

    #[test]
    fn item_9_not_followed_by_something_safe_becomes_without() {
        check(r"\bpytest\b(?!.*--timeout)", "command", "pytest", &["--timeout"]);
        check(r"git push(?!.*(?:--dry-run|-n\b))", "command", "git push", &["--dry-run", "-n"]);
        let tests = r"\bpytest\b(?!.*(--no-header|-p no:cacheprovider|TERM=dumb))";
        check(tests, "command", "pytest", &["--no-header", "-p=no:cacheprovider", "TERM=dumb"]);
        let stash = r"\bgit\s+stash(?!\s+-u|\s+pop\b|\s+(?:list|show)\b)";
        check(stash, "command", "git stash", &["-u", "list", "pop", "show"]);
        check(r"\bvitest\b(?!\s+run)", "command", "vitest", &["run*"]);
        check(r"(?!.*--yes)terraform\s+apply", "command", "terraform apply", &["--yes"]);
        check(r"^(?!.*timeout)ssh\b", "command", "ssh", &["*timeout*", "-*timeout*"]);
        check(
            r"claude\s+-p\b(?![^|;&]*--model[= ]\S*)(?!.*<\s*/dev/null)",
            "command",
            "claude -p",
            &["--model", "<"],
        );
        let alternatives = r"\bjest\b(?!.*--ci)|\bvitest\b(?!\s+run\b)";
        let Translation { trigger, untold } = of(&[alternatives], Target::Full);
        assert_eq!((&trigger.commands, untold.len()), (&vec!["jest".to_owned(), "vitest".to_owned()], 0));
        assert_eq!(trigger.without, ["--ci", "run"]);
        // What follows as a part of the same word is no word of the command.
        check(r"\bpython(?!3)", "match", r"\bpython(?:[^3]|$)", &[]);
        check(r"\bnpm\s+i(?![\w-])", "match", r"\bnpm\s+i(?:[^\w-]|$)", &[]);
        check(r"git\s+push(?=.*--force)", "match", r"git\s+push(?:.*--force)", &[]);
        // What is between two parts stays between them.
        check(r"curl(?!.*--fail).*http:", "match", "curl.*http:", &["--fail"]);
    }

    #[test]
    fn item_9_what_spans_commands_becomes_raw() {
        check(r"grep.*-c.*\|\|.*echo", "raw", r"grep.*-c.*\|\|.*echo", &[]);
        let quiet = of(&[r"\bgit\s+[^|]*2>\s*/dev/null"], Target::Executable).trigger;
        assert_eq!((quiet.commands, quiet.raw.len()), (vec!["git".to_owned()], 1));
        let hint = of(&[r"\bgit\s+[^|]*2>\s*/dev/null"], Target::Full).trigger;
        assert_eq!((hint.commands.len(), hint.raw.len()), (0, 1));
        let piped = of(&[r"(curl|wget)\b(?!.*--fail).*\|\s*jq"], Target::Full).trigger;
        assert_eq!(
            (&piped.commands[..], &piped.without[..]),
            (&["curl|wget".to_owned()][..], &["--fail".to_owned()][..])
        );
        // Not beyond the command is the opposite.
        check(r"git\s+push[^;&|]*--force", "match", r"git\s+push[^;&|]*--force", &[]);
        check(r"(?:^|[;&|]\s*)rm\s+-rf", "command", "rm -rf", &[]);
        check(r"(^|&&\s*)cd\b.*\.\.", "match", r"^cd\b.*\.\.", &[]);
        let variable = r"\bawk\b.*\$";
        assert_eq!(of(&[variable], Target::Full).trigger.raw, [variable]);
        assert_eq!(of(&[variable], Target::Executable).trigger.matches, [variable]);
    }

    #[test]
    fn item_9_what_cannot_be_said_is_named() {
        for expression in [
            r"x(?!.*(unclosed",
            r"(?<!sudo )rm",
            r"a(?=b)c",
            r"(git(?! push))+",
            r"git(?!\s+push\s+origin)",
            r"a(?!b{2}c)",
            r"(a)\1",
            r"a(?!.*x,y)",
        ] {
            let Translation { trigger, untold } = of(&[expression], Target::Full);
            assert_eq!(untold.len(), 1, "{expression}: {trigger:?}");
            assert_eq!(untold[0].0, expression);
            assert_eq!(trigger, Trigger::default(), "{expression}");
        }
        // The others still hold.
        let Translation { trigger, untold } = of(&["(?<!x)y", r"\bmake\b"], Target::Full);
        assert_eq!((trigger.commands, untold.len()), (vec!["make".to_owned()], 1));
    }

    #[test]
    fn plain_words_become_patterns_of_commands() {
        for (expression, pattern) in [
            (r"\bpytest\b", Some("pytest")),
            (r"\bgit\s+push\b", Some("git push")),
            ("npm install", Some("npm install")),
            (r"\bgit\s+(add|commit)\b", Some("git add|commit")),
            (r"\b(?:uv|pip)\s+install", Some("uv|pip install")),
            (r"git push (?!--dry)", None),
            ("--force", None),
            (r"a|b", None),
            (r"git (push|-f)", None),
            (r"git(push)", None),
            ("", None),
        ] {
            assert_eq!(as_pattern(expression).as_deref(), pattern, "{expression}");
        }
    }

    #[test]
    fn javascript_escapes_more_than_our_engine_needs() {
        check(r"rm\s+-rf\s+\/tmp\/x", "match", r"rm\s+-rf\s+/tmp/x", &[]);
    }
}
