//! Reads what project identity needs from a git `config` file, without a git process.
//!
//! Not a full reader: includes are not followed and values are not expanded. What it misses costs a project
//! its shared key, never more.

/// One `name = value` of a git configuration, with its section.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The section, in lower case: `remote`.
    pub(crate) section: String,
    /// The subsection as written: `origin`.
    pub(crate) subsection: String,
    /// The name, in lower case: `url`.
    pub(crate) name: String,
    /// The value, unquoted.
    pub(crate) value: String,
}

/// Returns the variables of a configuration in the order in which they stand.
pub(crate) fn parse(text: &str) -> Vec<Variable> {
    let mut variables = Vec::new();
    let (mut section, mut subsection) = (String::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start();
        if let Some(header) = line.strip_prefix('[') {
            let Some((name, quoted, rest)) = parse_header(header) else { continue };
            (section, subsection) = (name, quoted);
            // Git allows a variable on the line of its section header.
            line = rest.trim_start();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        variables.push(Variable {
            section: section.clone(),
            subsection: subsection.clone(),
            name: name.trim().to_ascii_lowercase(),
            value: parse_value(value, &mut lines),
        });
    }
    variables
}

/// Splits `remote "origin"] rest` into section, subsection and rest.
fn parse_header(header: &str) -> Option<(String, String, &str)> {
    let (mut section, mut subsection) = (String::new(), String::new());
    let mut characters = header.char_indices();
    let mut quoted = false;
    while let Some((at, character)) = characters.next() {
        match character {
            ']' if !quoted => return Some((section.trim().to_owned(), subsection, &header[at + 1..])),
            '"' => quoted = !quoted,
            '\\' if quoted => subsection.extend(characters.next().map(|(_, escaped)| escaped)),
            _ if quoted => subsection.push(character),
            _ => section.push(character.to_ascii_lowercase()),
        }
    }
    None
}

/// Unquotes a value, drops a comment and joins lines that end in a backslash.
fn parse_value(first: &str, lines: &mut std::str::Lines<'_>) -> String {
    let mut value = String::new();
    let mut kept = 0;
    let mut quoted = false;
    let mut line = first.trim_start();
    'line: loop {
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match character {
                '"' => quoted = !quoted,
                '#' | ';' if !quoted => break 'line,
                '\\' => match characters.next() {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some(escaped) => value.push(escaped),
                    None => match lines.next() {
                        Some(next) => {
                            line = next;
                            continue 'line;
                        }
                        None => break 'line,
                    },
                },
                _ => value.push(character),
            }
            // White space counts only inside quotes or before something else.
            if quoted || !character.is_whitespace() {
                kept = value.len();
            }
        }
        break;
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str, &str, &str)]) {
        let found = parse(text);
        let found: Vec<_> = found
            .iter()
            .map(|variable| (&*variable.section, &*variable.subsection, &*variable.name, &*variable.value))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sections_subsections_and_comments() {
        check(
            "# top\n[core]\n\tbare = false ; no\n[Remote \"up\\\"stream\"]\n\tURL = git@h:a/b.git # c\n",
            &[("core", "", "bare", "false"), ("remote", "up\"stream", "url", "git@h:a/b.git")],
        );
    }

    #[test]
    fn quotes_continuations_and_one_line_sections() {
        check(
            "[a] x = \"  kept # here \"  \n[b]\n y = one \\\n two\n z",
            &[("a", "", "x", "  kept # here "), ("b", "", "y", "one  two"), ("b", "", "z", "")],
        );
    }

    #[test]
    fn a_broken_file_gives_what_is_whole() {
        check("[remote \"x\n url = 1\n[b]\nc = 2", &[("", "", "url", "1"), ("b", "", "c", "2")]);
    }
}
