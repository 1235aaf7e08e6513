//! Lines of PowerShell and of Windows' command prompt, written as a line of shell that has the same commands.
//!
//! Names and switches get one spelling (`RD /S`, `remove-item -rec`), backslashes stay in paths, and what is in a block
//! (`ForEach-Object { … }`, `Start-Job { … }`) becomes commands. Each character is looked at once.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dialect {
    Prompt,
    PowerShell,
}

/// Returns which of the two a line is that no other shell would understand.
pub(crate) fn dialect(line: &str) -> Option<Dialect> {
    let line = line.trim_start();
    let first = line.as_bytes().first()?;
    if !matches!(first, b'$' | b'[' | b'(' | b'A'..=b'Z' | b'a'..=b'z' | b'%' | b'"') {
        return None;
    }
    let word = line.split([' ', '\t', '\n', ';', '|', '(']).next().unwrap_or_default();
    if is_cmdlet(word) || begins_like_power_shell(line, word) {
        return Some(Dialect::PowerShell);
    }
    // Behind a pipe: `ls ~ | ForEach-Object { … }`, `"x" | Remove-Item`.
    for part in line.split('|').skip(1).take(8) {
        let word = part.trim_start().split([' ', '\t', '\n', ';', '{']).next().unwrap_or_default();
        let is_block = word == "%" && part.contains('{');
        if is_block || (word.as_bytes().first().is_some_and(u8::is_ascii_uppercase) && is_cmdlet(word)) {
            return Some(Dialect::PowerShell);
        }
    }
    let rest = line[word.len()..].trim_start();
    let has_switch = rest.strip_prefix('/').is_some_and(|rest| {
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        matches!(letters, 1..=2) && matches!(rest.as_bytes().get(letters), None | Some(b' '))
    });
    match without_exe(word).to_ascii_lowercase().as_str() {
        "rd" | "rmdir" | "del" | "erase" | "move" | "copy" | "forfiles" | "start" | "cmd" | "xcopy"
        | "takeown"
            if has_switch =>
        {
            Some(Dialect::Prompt)
        }
        "cd" | "chdir" if rest.starts_with("/d ") || rest.starts_with("/D ") => Some(Dialect::Prompt),
        "net" if line.contains(" /") && line.contains(":\\") => Some(Dialect::Prompt),
        "type" if rest.starts_with("nul ") || rest.starts_with("NUL ") => Some(Dialect::Prompt),
        _ => None,
    }
}

fn begins_like_power_shell(line: &str, word: &str) -> bool {
    if let Some(name) = word.strip_prefix('$') {
        let behind = line[word.len()..].trim_start_matches([' ', '\t']);
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        return is_name && line.as_bytes().get(word.len()) == Some(&b' ') && behind.starts_with("= ");
    }
    word.starts_with('[') && word.contains("]::")
}

/// Says whether a word is the name of a cmdlet: an approved verb and a noun, or a common one in other letters.
fn is_cmdlet(word: &str) -> bool {
    let Some((verb, noun)) = word.split_once('-') else { return false };
    if noun.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return false;
    }
    let is_capital = |text: &str| text.as_bytes()[0].is_ascii_uppercase();
    let is_spelled = !verb.is_empty() && is_capital(verb) && is_capital(noun);
    let is_verb = VERBS.split(' ').any(|known| known.eq_ignore_ascii_case(verb));
    is_verb && (is_spelled || NOUNS.split(' ').any(|known| known.eq_ignore_ascii_case(noun)))
}

const VERBS: &str = "Add Clear Copy Disable Dismount Enable Export Foreach Format Get Import Initialize Install Invoke Move \
New Out Pop Push Read Remove Rename Reset Resize Restart Restore Revoke Select Send Set Start Stop Suspend Test Unblock \
Uninstall Unregister Update Wait Where Write Disconnect Checkpoint Optimize Repair Mount Join Sort Measure Group";

/// Nouns of two words and more, and those that are known in whatever letters they are written.
const NOUNS: &str = "ChildItem Item ItemProperty Content Service Process Computer Object Location Expression Command Job \
Volume Disk Partition WebRequest RestMethod LocalUser LocalGroup LocalGroupMember NetAdapter NetFirewallRule \
NetFirewallProfile VM ADUser ADGroup ADComputer EventLog RecycleBin Variable Module AppxPackage Host Acl PSDrive \
PhysicalDisk VirtualDisk StoragePool CimInstance WmiObject ScheduledTask WindowsFeature WindowsOptionalFeature \
MpPreference ExecutionPolicy Mailbox AzResourceGroup AzVM SmbShare Website BitLocker";

/// Returns the one spelling of a cmdlet or of its alias.
fn canonical(word: &str) -> Cow<'_, str> {
    if !is_cmdlet(word) {
        return Cow::Borrowed(match word.to_ascii_lowercase().as_str() {
            "ri" | "del" | "erase" | "rd" => "Remove-Item",
            "gci" | "dir" => "Get-ChildItem",
            "gi" => "Get-Item",
            "cd" | "sl" | "chdir" | "pushd" => "cd",
            "iex" => "Invoke-Expression",
            "icm" => "Invoke-Command",
            "spps" => "Stop-Process",
            "gps" => "Get-Process",
            "gc" => "Get-Content",
            "%" | "foreach" => "ForEach-Object",
            "?" | "where" => "Where-Object",
            "mi" | "move" => "Move-Item",
            "cpi" | "copy" => "Copy-Item",
            "clc" => "Clear-Content",
            "rp" => "Remove-ItemProperty",
            "saps" | "start" => "Start-Process",
            "sajb" => "Start-Job",
            "spsv" => "Stop-Service",
            "gwmi" => "Get-WmiObject",
            _ => return Cow::Borrowed(without_exe(word)),
        });
    }
    let (verb, noun) = word.split_once('-').unwrap_or((word, ""));
    let title = |text: &str| text[..1].to_ascii_uppercase() + &text[1..].to_ascii_lowercase();
    let verb = match title(verb) {
        verb if verb == "Foreach" => String::from("ForEach"),
        verb => verb,
    };
    let known = NOUNS.split(' ').find(|known| known.eq_ignore_ascii_case(noun));
    match (verb.as_str(), known) {
        ("Set" | "Push", Some("Location")) => "cd".into(),
        (_, Some(noun)) => format!("{verb}-{noun}").into(),
        (_, None) => format!("{verb}-{noun}").into(),
    }
}

fn without_exe(word: &str) -> &str {
    match word.len().checked_sub(4).and_then(|at| word.split_at_checked(at)) {
        Some((name, end)) if end.eq_ignore_ascii_case(".exe") && !name.is_empty() => name,
        _ => word,
    }
}

/// Writes a line of Windows as a line of shell.
pub(crate) fn as_shell(dialect: Dialect, line: &str) -> String {
    match dialect {
        Dialect::Prompt => prompt(line),
        Dialect::PowerShell => Writer::new(line).write(),
    }
}

/// Writes a line of the command prompt.
fn prompt(line: &str) -> String {
    let looped = for_body(line.trim());
    let line = looped.as_deref().unwrap_or(line);
    let mut out = String::with_capacity(line.len() + 16);
    let mut rest = line;
    let mut is_first = true;
    let mut is_cd = false;
    while let Some(char) = rest.chars().next() {
        let length = match char {
            '"' => quoted(rest, '"', &mut out),
            '\'' if rest[1..].contains('\'') => quoted(rest, '\'', &mut out),
            '&' | '|' => {
                let is_double = rest[1..].starts_with(char);
                // A single one comes after, not behind the scenes.
                out.push_str(match (char, is_double) {
                    ('&', true) => " && ",
                    ('&', false) => " ; ",
                    (_, true) => " || ",
                    _ => " | ",
                });
                is_first = true;
                1 + usize::from(is_double)
            }
            '\n' | ';' => {
                out.push(char);
                is_first = true;
                1
            }
            '(' | ')' | '`' => {
                out.push(' ');
                1
            }
            '^' => 1,
            '>' | '<' => {
                out.push(char);
                1
            }
            _ if char.is_whitespace() => {
                out.push(char);
                char.len_utf8()
            }
            '@' if is_first => 1,
            _ => {
                let end = rest.find([' ', '\t', '\n', '"', '\'', '&', '|', '(', ')', '>', '<', '^', '`']);
                let end =
                    end.filter(|end| *end > 0).unwrap_or(rest.len().min(char.len_utf8().max(rest.len())));
                let word = &rest[..end];
                if is_first {
                    let name = without_exe(word).to_ascii_lowercase();
                    is_cd = matches!(name.as_str(), "cd" | "chdir" | "pushd");
                    push_escaped(if is_cd { "cd" } else { &name }, &mut out);
                    is_first = false;
                } else if is_cd && word.eq_ignore_ascii_case("/d") {
                } else if word.starts_with('/') && word.len() <= 3 {
                    out.push_str(&word.to_ascii_lowercase());
                } else {
                    push_escaped(word, &mut out);
                }
                end
            }
        };
        rest = &rest[length..];
    }
    out
}

/// Returns what `for … %f in (…) do …` runs, with the folder or the list in the place of the variable.
fn for_body(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    if !lower.starts_with("for ") {
        return None;
    }
    let (head, body) = (line.get(..lower.find(" do ")?)?, line.get(lower.find(" do ")? + 4..)?);
    let name = &head[head.find('%')?..];
    let name = &name[..name.find([' ', '\t']).unwrap_or(name.len())];
    let list = head.get(head.find('(')? + 1..head.rfind(')')?)?;
    let folder = head.split_whitespace().nth(2).filter(|word| !word.starts_with('%'));
    let value = match folder {
        Some(folder) if lower.starts_with("for /r ") || lower.starts_with("for /d ") => folder,
        _ => list,
    };
    let depth = if lower.starts_with("for /r ") { " /s" } else { "" };
    (value.len() <= 256).then(|| body.replacen(name, value, 4) + depth)
}

/// Copies a quoted text; backslashes in it are no escapes. Returns its length.
fn quoted(rest: &str, quote: char, out: &mut String) -> usize {
    let end = rest[1..].find(quote).map_or(rest.len(), |end| end + 2);
    let inside = &rest[1..if end == rest.len() && !rest[1..].ends_with(quote) { end } else { end - 1 }];
    out.push(quote);
    if quote == '"' {
        push_escaped(inside, out);
    } else {
        out.push_str(inside);
    }
    out.push(quote);
    end
}

fn push_escaped(text: &str, out: &mut String) {
    for char in text.chars() {
        if char == '\\' {
            out.push('\\');
        }
        out.push(char);
    }
}

/// How far the `in` of a loop is looked for, in bytes: further would cost its length for every loop.
const MAX_LOOP_HEAD: usize = 256;

/// What the end of a bracket becomes.
#[derive(Clone, Copy)]
enum Close {
    Blank,
    Separator,
    Substitution,
    /// The list of a loop, which is piped into what the loop runs.
    List,
}

/// Writes a line of PowerShell.
struct Writer<'line> {
    line: &'line str,
    at: usize,
    out: String,
    open: Vec<Close>,
    /// Whether the next word is a command's name.
    is_first: bool,
    command: String,
    /// Where the current command begins.
    start: usize,
    /// Whether the next block is what a list is piped into.
    is_piped: bool,
}

impl<'line> Writer<'line> {
    fn new(line: &'line str) -> Self {
        Writer {
            line,
            at: 0,
            out: String::with_capacity(line.len() + 16),
            open: Vec::new(),
            is_first: true,
            command: String::new(),
            start: 0,
            is_piped: false,
        }
    }

    fn write(mut self) -> String {
        while let Some(char) = self.rest().chars().next() {
            match char {
                '"' => self.double_quoted(),
                '\'' => {
                    let (rest, out) = (&self.line[self.at..], &mut self.out);
                    self.at += quoted(rest, '\'', out);
                    self.is_first = false;
                }
                '`' => {
                    self.at += 1;
                    if let Some(escaped) = self.rest().chars().next() {
                        self.at += escaped.len_utf8();
                        if escaped != '\n' {
                            self.out.push('\\');
                            self.out.push(escaped);
                        }
                    }
                }
                '{' => self.open_block(),
                '(' => self.open_parenthesis(),
                ')' | '}' => self.close(),
                '|' | ';' | '\n' => {
                    self.out.push(char);
                    self.at += 1;
                    self.is_first = true;
                    self.command.clear();
                }
                '&' => {
                    // In front of a command it calls it.
                    self.out.push(if self.is_first { ' ' } else { '&' });
                    self.at += 1;
                    if self.rest().starts_with('&') {
                        self.out.push('&');
                        self.at += 1;
                        self.is_first = true;
                    }
                }
                ',' => {
                    self.out.push(' ');
                    self.at += 1;
                }
                '#' if self.out.is_empty() || self.out.ends_with([' ', '\n', ';']) => {
                    let rest = self.rest();
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                '<' | '>' => {
                    self.out.push(char);
                    self.at += 1;
                }
                _ if char.is_whitespace() => {
                    self.out.push(char);
                    self.at += char.len_utf8();
                }
                _ => self.word(),
            }
        }
        while let Some(close) = self.open.pop() {
            self.out.push(if matches!(close, Close::Substitution) { ')' } else { ' ' });
        }
        self.out
    }

    fn rest(&self) -> &'line str {
        &self.line[self.at..]
    }

    fn double_quoted(&mut self) {
        self.out.push('"');
        self.at += 1;
        self.is_first = false;
        while let Some(char) = self.rest().chars().next() {
            self.at += char.len_utf8();
            match char {
                '"' => break,
                '\\' => self.out.push_str("\\\\"),
                '`' => self.out.push('\\'),
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }

    fn open_block(&mut self) {
        self.at += 1;
        if self.out.ends_with('$') {
            let end = self.rest().find('}').map_or(self.line.len(), |end| self.at + end + 1);
            self.out.push('{');
            self.out.push_str(&self.line[self.at..end]);
            self.at = end;
            return;
        }
        if self.out.ends_with('@') {
            self.out.pop();
            self.open.push(Close::Blank);
            return;
        }
        let close = match self.command.as_str() {
            _ if std::mem::take(&mut self.is_piped) => Close::Separator,
            "ForEach-Object" => {
                self.out.truncate(self.start);
                Close::Blank
            }
            "Where-Object" | "Sort-Object" | "Select-Object" | "Group-Object" | "Measure-Object" => {
                self.open.push(Close::Blank);
                return;
            }
            _ => {
                self.out.push_str(" ; ");
                Close::Separator
            }
        };
        self.open.push(close);
        self.is_first = true;
        self.command.clear();
    }

    fn open_parenthesis(&mut self) {
        self.at += 1;
        let is_method = self.out.ends_with(|last: char| last.is_ascii_alphanumeric() || last == ']');
        let close = match self.command.as_str() {
            "foreach" if self.is_first => {
                let rest = self.rest();
                let head = &rest[..rest.floor_char_boundary(MAX_LOOP_HEAD)];
                self.at += head.find(" in ").map_or(0, |at| at + 4);
                self.command.clear();
                Close::List
            }
            _ if self.is_first => Close::Separator,
            _ if is_method => {
                self.out.push(' ');
                self.open.push(Close::Blank);
                return;
            }
            _ => {
                if self.out.ends_with(['$', '@']) {
                    self.out.pop();
                }
                self.out.push_str("$(");
                Close::Substitution
            }
        };
        self.open.push(close);
        self.is_first = true;
    }

    fn close(&mut self) {
        self.at += 1;
        let text = match self.open.pop() {
            Some(Close::Substitution) => ")",
            Some(Close::Separator) => " ; ",
            Some(Close::List) => {
                self.is_piped = true;
                " | "
            }
            Some(Close::Blank) | None => " ",
        };
        self.out.push_str(text);
        self.is_first = matches!(text, " ; " | " | ");
    }

    fn word(&mut self) {
        let rest = self.rest();
        if self.is_first && rest.starts_with('[') && self.static_call(rest) {
            return;
        }
        let end = rest
            .find([' ', '\t', '\n', '\r', '\'', '"', ';', '|', '&', '(', ')', '{', '}', ',', '<', '>', '`']);
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let end = end.unwrap_or(rest.len()).max(first);
        let word = &rest[..end];
        self.at += end;
        if !self.is_first {
            match self.option(word) {
                Some(option) => self.out.push_str(option),
                None => push_escaped(word, &mut self.out),
            }
            return;
        }
        let behind = self.rest().trim_start_matches([' ', '\t']);
        let sign =
            behind.strip_prefix("+=").or(behind.strip_prefix('=')).filter(|rest| !rest.starts_with('='));
        if let Some(value) = sign.filter(|_| word.starts_with('$') || word.starts_with('[')) {
            self.at = self.line.len() - value.len();
            return;
        }
        match word {
            "foreach" if behind.starts_with('(') => {
                self.command = String::from("foreach");
                return;
            }
            "if" | "else" | "elseif" | "while" | "do" | "until" | "try" | "catch" | "finally"
            | "function" | "switch" | "return" | "throw" | "process" | "begin" | "end" | "param" | "for" => {
                return;
            }
            _ => {}
        }
        let name = canonical(word);
        self.start = self.out.len();
        push_escaped(&name, &mut self.out);
        self.command = name.into_owned();
        self.is_first = false;
    }

    /// Writes what a call of .NET deletes.
    fn static_call(&mut self, rest: &str) -> bool {
        let end = rest.find('(').unwrap_or(0);
        let text =
            match rest[..end].to_ascii_lowercase().trim_start_matches("[system.").trim_start_matches('[') {
                "io.directory]::delete" => "Remove-Item -Recurse -Force ",
                "io.file]::delete" => "Remove-Item -Force ",
                _ => return false,
            };
        self.out.push_str(text);
        self.command = String::from("Remove-Item");
        self.is_first = false;
        self.at += end + 1;
        self.open.push(Close::Blank);
        true
    }

    /// Returns the one spelling of a parameter that lessons ask for; PowerShell takes any beginning of it.
    fn option(&self, word: &str) -> Option<&'static str> {
        let name = word.strip_prefix('-')?.to_ascii_lowercase();
        let is_of_items = matches!(self.command.as_str(), "Remove-Item" | "Get-ChildItem" | "Copy-Item");
        Some(match name.as_str() {
            // On other systems it is the program.
            "recurse" | "rec" if self.command == "rm" => "-r",
            "force" | "fo" if self.command == "rm" => "-f",
            "whatif" | "wi" => "-WhatIf",
            "force" => "-Force",
            "recurse" => "-Recurse",
            "r" | "re" | "rec" | "recu" | "recur" | "recurs" if is_of_items => "-Recurse",
            "fo" | "for" | "forc" if is_of_items => "-Force",
            _ => return None,
        })
    }
}
