//! Our patterns as the regular expressions of JavaScript that lessons-learned goes by.
//!
//! The other way is `lessons::old_expression`, which a hook needs as well.

use lessons::Trigger;

/// Returns expressions that fit, as nearly as an expression over the whole text can, what a trigger's commands fit.
pub(super) fn of_commands(trigger: &Trigger) -> Vec<String> {
    let without: String =
        trigger.without.iter().map(|item| format!(r"(?![^|;&]*\s{})", flags(item))).collect();
    let patterns = trigger.commands.iter().map(|pattern| of_command(pattern, &without));
    let expressions = trigger.matches.iter().map(|expression| format!("{}{without}", plain(expression)));
    patterns.chain(expressions).chain(trigger.raw.iter().map(|expression| plain(expression))).collect()
}

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
    let parts: Vec<String> = token.split('|').map(star).collect();
    format!("(?:{})", parts.join("|"))
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
}
