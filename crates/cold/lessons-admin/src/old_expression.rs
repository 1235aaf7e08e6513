//! Between our patterns and the regular expressions of JavaScript that lessons-learned goes by.

use lessons::Trigger;
use lessons::path_class::Class;

/// Takes "not followed by one of these flags" out of an expression, which we say as `without`.
///
/// Returns the expression without it, and the flags; `None` when there is no such part, or none that is only that.
pub(super) fn without_lookahead(expression: &str) -> Option<(String, Vec<String>)> {
    let (before, rest) = expression.split_once("(?!")?;
    let end = closing(rest)?;
    let (inside, after) = (&rest[..end], &rest[end + 1..]);
    if after.contains("(?") && !after.contains("(?:") || before.contains("(?=") {
        return None;
    }
    let inside = [".*", r"\s*", r"\s+", "[^|;&]*", "[^|]*", "[^;|&]*"]
        .iter()
        .find_map(|gap| inside.strip_prefix(gap))
        .unwrap_or(inside);
    let inside = inside.strip_prefix(r"\s").or_else(|| inside.strip_prefix(r"\b")).unwrap_or(inside);
    let inside = inside
        .strip_prefix("(?:")
        .or_else(|| inside.strip_prefix('('))
        .map_or(inside, |inner| inner.strip_suffix(')').unwrap_or(inner));
    let is_flag = |text: &&str| {
        text.starts_with('-') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let flags: Vec<&str> = inside.split('|').map(|flag| flag.trim_end_matches(r"\b")).collect();
    let trimmed = format!("{}{}", before.trim_end_matches(".*"), after.trim_start_matches(".*"));
    (flags.iter().all(is_flag) && !trimmed.is_empty())
        .then(|| (trimmed, flags.iter().map(|flag| (*flag).to_owned()).collect()))
}

/// Returns where the parenthesis ends that is open at the beginning.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns expressions that fit, as nearly as an expression over the whole text can, what a trigger's commands fit.
pub(super) fn of_commands(trigger: &Trigger) -> Vec<String> {
    // How a command is run cannot be said there.
    let is_word = |item: &&String| !item.starts_with(['<', '>', '&', '@']);
    let words = trigger.without.iter().filter(is_word);
    let without: String = words.map(|item| format!(r"(?![^|;&]*\s{})", flags(item))).collect();
    let patterns = trigger.commands.iter().map(|pattern| of_command(pattern, &without));
    let expressions = trigger.matches.iter().map(|expression| format!("{}{without}", plain(expression)));
    let mut all: Vec<String> = patterns.chain(expressions).collect();
    all.extend(trigger.raw.iter().map(|expression| plain(expression)));
    if all.is_empty() {
        // Other fields narrow patterns that lessons-learned has; these are all there is.
        all.extend(trigger.writes.iter().map(|targets| format!(r">\s*{}", alternatives(targets))));
        let statement = |expression: &String| {
            let inside = plain(expression);
            format!(r"{CLIENTS}\b.*{}", inside.trim_start_matches('^').trim_end_matches('$'))
        };
        all.extend(trigger.sql.iter().map(statement));
    }
    all
}

/// The clients that statements are handed to.
const CLIENTS: &str = "(?:psql|mysql|mariadb|sqlite3|sqlcmd|clickhouse-client|duckdb)";

/// Returns an expression that fits a text literally, in either language.
pub(super) fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, character| {
        if r"\.+*?()|[]{}^$".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
        escaped
    })
}

/// JavaScript has no flags within an expression.
pub(super) fn plain(expression: &str) -> String {
    expression.strip_prefix("(?i)").unwrap_or(expression).to_owned()
}

fn of_command(pattern: &str, without: &str) -> String {
    let mut tokens = pattern.split_whitespace();
    let program = alternatives(tokens.next().unwrap_or_default());
    let (mut looks, mut words) = (String::new(), String::new());
    for token in tokens {
        match token {
            "..." => words.push_str(r"(?:\s+\S+)*?"),
            "$" => words.push_str(r"(?:\s+-\S+)*\s*(?:$|[|;&)])"),
            _ if token.starts_with('-') && token.len() > 1 => {
                looks.push_str(&format!(r"(?=[^|;&]*\s{})", flags(token)));
            }
            _ => words.push_str(&format!(r"(?:\s+-\S+)*\s+{}(?![\w-])", alternatives(token))),
        }
    }
    format!(r"(?:^|[\s;&|(/]){program}(?![\w.-]){without}{looks}{words}")
}

fn alternatives(token: &str) -> String {
    let parts: Vec<String> = token.split('|').map(|part| class(part).unwrap_or_else(|| star(part))).collect();
    format!("(?:{})", parts.join("|"))
}

/// Returns an expression that fits the plainest paths of a class.
fn class(word: &str) -> Option<String> {
    let at = word.find('<').filter(|_| word.ends_with('>'))?;
    let path = match Class::from_name(&word[at..])? {
        Class::Root => r"/+[*.]?",
        Class::System => r"/(?:etc|usr|var|boot|bin|sbin|lib|lib64|opt|root|System|Library)(?:/[^\s/]*)?",
        Class::Home => r"(?:~|\$HOME|\$\{HOME\}|/(?:home|Users)/[^\s/]+)/?\*?",
        Class::Precious => r"(?:~|\$HOME)/\.?[A-Za-z]\S*",
        Class::Here => r"(?:\.{1,2}/?\*?|\*)",
        Class::Outside => r"(?:/|\.\./)\S*",
        Class::Disk => r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk|md)\S*",
        Class::Variable => r"\$\S+/\S*",
    };
    Some(format!("{}{path}", escape(&word[..at])))
}

fn star(word: &str) -> String {
    escape(&word.replace(r"\*", "\0").replace('*', "\x01")).replace('\0', r"\*").replace('\x01', r"\S*")
}

fn flags(token: &str) -> String {
    let one = |flag: &str| match flag.strip_prefix('-') {
        // A short flag may stand in a bundle of letters.
        Some(letter) if letter.len() == 1 && letter != "-" => format!("-[A-Za-z]*{letter}[A-Za-z]*"),
        _ => star(flag),
    };
    let parts: Vec<String> = token.split('|').map(one).collect();
    format!(r"(?:{})(?![\w-])", parts.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_followed_by_a_flag_becomes_without() {
        let check = |expression: &str, rest: &str, flags: &[&str]| {
            let (found, found_flags) =
                without_lookahead(expression).unwrap_or_else(|| panic!("{expression}"));
            assert_eq!(
                (found.as_str(), found_flags),
                (rest, flags.iter().map(|flag| (*flag).to_owned()).collect())
            );
        };
        check(r"\bpytest\b(?!.*--timeout)", r"\bpytest\b", &["--timeout"]);
        check(r"git push(?!.*(?:--dry-run|-n\b))", "git push", &["--dry-run", "-n"]);
    }

    #[test]
    fn other_lookaheads_stay_as_they_are() {
        for expression in [r"git(?! stash)", r"a(?=b)", "plain", r"x(?!.*(unclosed"] {
            assert_eq!(without_lookahead(expression), None, "{expression}");
        }
    }

    #[test]
    fn a_pattern_becomes_an_expression_of_javascript() {
        let trigger = Trigger {
            commands: vec!["git push -f|--force ... main".into()],
            without: vec!["--dry-run".into()],
            ..Trigger::default()
        };
        assert_eq!(
            of_commands(&trigger),
            [concat!(
                r"(?:^|[\s;&|(/])(?:git)(?![\w.-])(?![^|;&]*\s(?:--dry-run)(?![\w-]))",
                r"(?=[^|;&]*\s(?:-[A-Za-z]*f[A-Za-z]*|--force)(?![\w-]))",
                r"(?:\s+-\S+)*\s+(?:push)(?![\w-])(?:\s+\S+)*?(?:\s+-\S+)*\s+(?:main)(?![\w-])"
            )]
        );
    }

    #[test]
    fn what_only_we_can_say_becomes_the_nearest_expression() {
        let trigger = Trigger {
            commands: vec!["rm -r ... <root>|build".into()],
            without: vec!["@timeout".into(), "<".into(), "-n".into()],
            ..Trigger::default()
        };
        let [expression] = &of_commands(&trigger)[..] else { panic!("one expression") };
        assert!(expression.contains(r"(?:/+[*.]?|build)") && !expression.contains("timeout"), "{expression}");
        let writes = Trigger { writes: vec!["<disk>".into()], ..Trigger::default() };
        assert!(of_commands(&writes)[0].starts_with(r">\s*(?:/dev/(?:sd|"));
        let sql = Trigger { sql: vec!["^DROP TABLE".into()], ..Trigger::default() };
        assert!(of_commands(&sql)[0].ends_with(r"\b.*DROP TABLE"));
    }
}
