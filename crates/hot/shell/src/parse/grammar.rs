//! Lists, pipelines, compound and simple commands.
//!
//! Reserved words are taken loosely. `then`, `do` and `else` only separate commands, and what closes nothing is
//! stepped over, so that a half-written line still gives its commands.

use super::heredoc::Heredoc;
use super::{Parser, Place, assigned_name, is_name};
use crate::{Command, Redirect, Word, wrap};

/// The redirection operators, longer ones first.
const OPERATORS: [&str; 12] = ["<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">", "&>>", "&>"];

/// What ends a list of commands.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    Text,
    Parenthesis,
    /// `fi`, `done` or `}`.
    Keyword(&'static str),
    /// `;;` or `esac`.
    CaseItem,
}

impl Parser<'_, '_> {
    pub(super) fn list(&mut self, end: End) {
        loop {
            self.skip_lines();
            match self.peek() {
                None => return,
                Some(b')') if end == End::Parenthesis => {
                    self.position += 1;
                    return;
                }
                // An `if` without its `fi` ends with the enclosing parenthesis.
                Some(b')') if self.open_parentheses > 0 => return,
                Some(b';') if end == End::CaseItem && matches!(self.peek_at(1), Some(b';' | b'&')) => return,
                Some(b')' | b';') => self.position += 1,
                Some(_) => match self.bare_word() {
                    word if matches!(end, End::Keyword(closing) if closing == word) => {
                        self.position += word.len();
                        return;
                    }
                    "esac" if end == End::CaseItem => return,
                    word @ ("then" | "else" | "elif" | "do" | "fi" | "done" | "esac" | "}") => {
                        self.position += word.len();
                    }
                    _ => self.and_or_list(),
                },
            }
        }
    }

    fn and_or_list(&mut self) {
        let first = self.found.commands.len();
        loop {
            self.pipeline();
            self.skip_blanks();
            if !(self.eat("&&") || self.eat("||")) {
                break;
            }
            self.skip_lines();
        }
        if self.eat("&") {
            for command in &mut self.found.commands[first..] {
                command.is_background = true;
            }
        }
    }

    fn pipeline(&mut self) {
        let first_heredoc = self.heredocs.len();
        let mut command = Command { pipeline: self.found.pipelines, ..Command::default() };
        self.found.pipelines += 1;
        while self.bare_word() == "!" {
            self.position += 1;
            self.skip_blanks();
            command.is_negated = !command.is_negated;
        }
        let mut stages = Vec::new();
        let folder = self.context.folder.clone();
        loop {
            stages.push(self.stage(command.clone()));
            self.skip_blanks();
            if self.starts_with("||") || !(self.eat("|&") || self.eat("|")) {
                break;
            }
            self.skip_lines();
            self.context.folder.clone_from(&folder);
            command.place += 1;
        }
        if let Some(Some(last)) = stages.last() {
            self.found.commands[*last].is_last = true;
        }
        self.pass_input(&stages);
        for stage in stages.iter().flatten() {
            self.unwrap(*stage);
        }
        let end = self.found.commands.len();
        for heredoc in self.heredocs[first_heredoc..].iter_mut().filter(|heredoc| heredoc.end == 0) {
            heredoc.end = end;
        }
        self.read_by_shells(&stages, first_heredoc);
        // The commands of a longer pipeline run in shells of their own.
        if stages.len() > 1 {
            self.context.folder = folder;
        } else if let [Some(stage)] = stages[..] {
            self.change_folder(stage);
        }
    }

    /// Reads one command of a pipeline. Returns its index if it is a simple one.
    fn stage(&mut self, command: Command) -> Option<usize> {
        let word = self.bare_word();
        match word {
            "if" => self.compound(word, End::Keyword("fi")),
            "while" | "until" => self.compound(word, End::Keyword("done")),
            "{" => self.compound(word, End::Keyword("}")),
            "for" | "select" => self.for_loop(word),
            "case" => {
                self.nested(Self::case);
            }
            "[[" => self.test(),
            "function" => {
                self.position += word.len();
                self.skip_blanks();
                self.word();
                self.skip_blanks();
                self.eat_empty_parentheses();
                // The body is the next command of the list.
                return None;
            }
            "" if self.starts_with("((") => {
                self.position += 2;
                if !self.arithmetic() {
                    self.position -= 1;
                    self.nested(Self::parenthesised_list);
                }
            }
            "" if self.eat("(") => {
                self.nested(Self::parenthesised_list);
            }
            "time" | "coproc" if self.compound_follows(word) => {
                return self.nested(|parser| parser.stage(command)).flatten();
            }
            _ => return self.simple_command(command),
        }
        self.redirects_of_compound(command);
        None
    }

    /// Reads the redirections behind a compound command. Those of its output are a command without words.
    fn redirects_of_compound(&mut self, mut command: Command) {
        self.start(&mut command);
        loop {
            self.skip_blanks();
            let Some(redirect) = self.redirect() else { break };
            if redirect.operator.contains('>') && !redirect.operator.ends_with('&') {
                command.redirects.push(redirect);
            }
        }
        if !command.redirects.is_empty() {
            command.wrappers.clone_from(&self.context.wrappers);
            command.folder.clone_from(&self.context.folder);
            self.found.commands.push(command);
        }
    }

    /// Fills in where a command starts and what it has from its surroundings.
    fn start(&self, command: &mut Command) {
        command.start = self.position;
        command.origin = self.context.origin;
        command.depth = self.context.depth;
        command.is_background = self.context.is_background;
    }

    fn compound(&mut self, keyword: &str, end: End) {
        self.position += keyword.len();
        self.nested(|parser| parser.list(end));
    }

    /// Steps over `time` or `coproc` in front of a compound command. In front of a simple one, `time` is a wrapper
    /// like others.
    fn compound_follows(&mut self, keyword: &str) -> bool {
        let before = self.position;
        self.position += keyword.len();
        self.skip_blanks();
        if keyword == "time" && self.bare_word() == "-p" {
            self.position += 2;
            self.skip_blanks();
        }
        let is_compound = self.peek() == Some(b'(')
            || keyword == "coproc"
            || matches!(self.bare_word(), "{" | "if" | "while" | "until" | "for" | "case" | "[[");
        if !is_compound {
            self.position = before;
        }
        is_compound
    }

    fn for_loop(&mut self, keyword: &str) {
        self.position += keyword.len();
        self.skip_blanks();
        if self.eat("((") {
            self.arithmetic();
        } else {
            self.word();
            self.skip_lines();
            if self.bare_word() == "in" {
                self.position += 2;
                self.skip_blanks();
                while !matches!(self.peek(), None | Some(b';' | b'\n' | b')')) {
                    self.word_or_byte();
                    self.skip_blanks();
                    if self.peek() == Some(b'#') {
                        self.skip_comment();
                    }
                }
            }
        }
        self.skip_lines();
        self.eat(";");
        self.skip_lines();
        match self.bare_word() {
            "{" => self.compound("{", End::Keyword("}")),
            _ => self.compound("", End::Keyword("done")),
        }
    }

    fn case(&mut self) {
        self.position += "case".len();
        self.skip_blanks();
        self.word();
        self.skip_lines();
        if self.bare_word() == "in" {
            self.position += 2;
        }
        loop {
            self.skip_lines();
            if self.bare_word() == "esac" {
                self.position += "esac".len();
                return;
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                match self.peek() {
                    None => return,
                    Some(b')') => break,
                    Some(_) => drop(self.word_or_byte()),
                }
            }
            self.position += 1;
            self.list(End::CaseItem);
            if self.peek() == Some(b')') {
                return;
            }
            while matches!(self.peek(), Some(b';' | b'&')) {
                self.position += 1;
            }
        }
    }

    /// Reads `[[ … ]]`, which runs nothing but the substitutions in it.
    fn test(&mut self) {
        self.position += 2;
        loop {
            self.skip_blanks();
            self.eat("\n");
            if self.peek().is_none() || self.bare_word() == "]]" {
                self.eat("]]");
                return;
            }
            self.word_or_byte();
        }
    }

    fn simple_command(&mut self, mut command: Command) -> Option<usize> {
        let first_heredoc = self.heredocs.len();
        self.start(&mut command);
        self.substituted.clear();
        loop {
            self.skip_blanks();
            self.place = Place::Elsewhere;
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b')') => break,
                Some(b'&') if self.peek_at(1) != Some(b'>') => break,
                Some(b'#') => self.skip_comment(),
                Some(b'(') => {
                    if command.words.len() == 1 && self.eat_empty_parentheses() {
                        // A function's name; the body is the next command of the list.
                        return None;
                    }
                    break;
                }
                Some(_) => {
                    if let Some(redirect) = self.redirect() {
                        command.redirects.push(redirect);
                    } else if command.words.is_empty()
                        && let Some(assignment) = self.assignment()
                    {
                        command.assignments.push(assignment);
                    } else {
                        self.place = Place::Word(command.words.len());
                        let word = self.argument();
                        command.words.push(word);
                    }
                }
            }
        }
        if command.words.is_empty() && command.redirects.is_empty() {
            return None;
        }
        self.settle_substitutions(&command.words);
        command.wrappers.clone_from(&self.context.wrappers);
        command.folder.clone_from(&self.context.folder);
        if command.place == 0 && self.context.input.is_some() && wrap::may_read(command.program()) {
            command.input = self.context.input.take();
        }
        let index = self.found.commands.len();
        for heredoc in &mut self.heredocs[first_heredoc..] {
            heredoc.owner.get_or_insert(index);
        }
        self.found.commands.push(command);
        Some(index)
    }

    /// Reads a word that may be `name=(…)`, as in `declare -a names=(a b)`.
    fn argument(&mut self) -> Word {
        let mut word = self.word_or_byte();
        if self.peek() == Some(b'(') && word.text.ends_with('=') {
            let array = self.array();
            word.text.push_str(&array.text);
            word.is_quoted |= array.is_quoted;
            word.is_dynamic |= array.is_dynamic;
        }
        word
    }

    fn assignment(&mut self) -> Option<(String, String)> {
        let name = assigned_name(&self.text[self.position..])?;
        let assigned = self.text[self.position + name.len()..].find('=').map_or(0, |equals| equals + 1);
        self.position += name.len() + assigned;
        let value = if self.peek() == Some(b'(') { self.array() } else { self.word() };
        Some((name.to_owned(), value.text))
    }

    fn redirect(&mut self) -> Option<Redirect> {
        let rest = &self.text[self.position..];
        let descriptor = descriptor_length(rest);
        let operator = OPERATORS.into_iter().find(|operator| rest[descriptor..].starts_with(operator))?;
        let is_substitution = matches!(operator, "<" | ">") && rest[descriptor + 1..].starts_with('(');
        if is_substitution || (operator.starts_with('&') && descriptor > 0) {
            return None;
        }
        let length = descriptor + operator.len();
        self.position += length;
        self.skip_blanks();
        self.place = if matches!(operator, "<" | "<<<") { Place::Input } else { Place::Elsewhere };
        let target = self.word();
        if matches!(operator, "<<" | "<<-") {
            self.heredocs.push(Heredoc {
                delimiter: target.text.clone(),
                is_quoted: target.is_quoted,
                strips_tabs: operator == "<<-",
                owner: None,
                end: 0,
                body: None,
                shell: None,
            });
        }
        Some(Redirect { operator: rest[..length].to_owned(), target })
    }

    fn eat_empty_parentheses(&mut self) -> bool {
        let before = self.position;
        let is_there = self.eat("(") && {
            self.skip_blanks();
            self.eat(")")
        };
        if !is_there {
            self.position = before;
        }
        is_there
    }
}

/// Returns the length of the file descriptor in front of a redirection: `2` or `{name}`.
fn descriptor_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 || bytes.first() != Some(&b'{') {
        return digits;
    }
    let name = bytes[1..].iter().take_while(|byte| is_name(**byte)).count();
    if name > 0 && bytes.get(name + 1) == Some(&b'}') { name + 2 } else { 0 }
}
