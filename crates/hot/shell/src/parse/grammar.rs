//! Lists, pipelines, compound and simple commands.
//!
//! Reserved words are taken loosely. `then`, `do` and `else` only separate commands, and what closes nothing is
//! stepped over, so that a half-written line still gives its commands.

use std::mem;
use std::ops::Range;

use super::heredoc::Heredoc;
use super::variables::Mark;
use super::{Parser, Place, assigned_name, is_name};
use crate::{Command, Redirect, Word, wrap};

/// The redirection operators, longer ones first.
const OPERATORS: [&str; 12] = ["<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">", "&>>", "&>"];

/// What the commands of a pipeline have in common.
#[derive(Clone, Copy)]
struct Seed {
    pipeline: usize,
    place: usize,
    is_negated: bool,
}

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
            if self.unresolved < self.heredocs.len() {
                self.resolve_heredocs();
            }
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

    /// Reads a pipeline, once for each value that a loop's variable in it has.
    fn pipeline(&mut self) {
        let start = self.position;
        let choices = mem::replace(&mut self.found.variables.choices, 0);
        let is_simple = self.pipeline_once();
        let used = self.found.variables.choices;
        self.found.variables.choices = choices;
        if self.found.substitutions > 0 {
            // The pipeline around the substitution is the one to repeat.
            self.found.variables.choices = choices.max(used);
        } else if used > 1 && is_simple && self.found.variables.choice == 0 {
            let (end, heredocs, unread) = (self.position, self.heredocs.len(), self.unread);
            for choice in 1..used {
                if !self.found.spend(end - start) {
                    break;
                }
                self.found.variables.choice = choice;
                self.position = start;
                self.pipeline_once();
                self.heredocs.truncate(heredocs);
                self.unresolved = self.unresolved.min(heredocs);
            }
            self.found.variables.choice = 0;
            self.found.variables.choices = choices;
            self.position = end;
            self.unread = unread;
        }
    }

    /// Returns whether the pipeline consists of simple commands.
    fn pipeline_once(&mut self) -> bool {
        let first_heredoc = self.heredocs.len();
        let mut seed = Seed { pipeline: self.found.pipelines, place: 0, is_negated: false };
        self.found.pipelines += 1;
        while self.peek() == Some(b'!') && self.bare_word() == "!" {
            self.position += 1;
            self.skip_blanks();
            seed.is_negated = !seed.is_negated;
        }
        let mut is_simple = true;
        let folder = self.context.folder.clone();
        let only = [self.stage(seed, &mut is_simple)];
        let mut several = Vec::new();
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.starts_with("||") {
                break;
            }
            self.position += if self.starts_with("|&") { 2 } else { 1 };
            self.skip_lines();
            self.context.folder.clone_from(&folder);
            seed.place += 1;
            if several.is_empty() {
                several.extend(only);
            }
            several.push(self.stage(seed, &mut is_simple));
        }
        let stages = if several.is_empty() { &only[..] } else { &several };
        if let Some(Some(last)) = stages.last() {
            self.found.commands[*last].is_last = true;
        }
        self.pass_input(stages);
        for stage in stages.iter().flatten() {
            self.unwrap(*stage);
        }
        let end = self.found.commands.len();
        for heredoc in self.heredocs[first_heredoc..].iter_mut().filter(|heredoc| !heredoc.is_decided) {
            heredoc.end = end;
            heredoc.is_decided = true;
        }
        self.read_by_shells(stages, first_heredoc);
        // The commands of a longer pipeline run in shells of their own.
        if stages.len() > 1 {
            self.context.folder = folder;
        } else if let [Some(stage)] = only {
            self.change_folder(stage);
        }
        is_simple
    }

    /// Reads one command of a pipeline. Returns its index if it is a simple one.
    fn stage(&mut self, seed: Seed, is_simple: &mut bool) -> Option<usize> {
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
                let name = self.word().text;
                self.skip_blanks();
                self.eat_empty_parentheses();
                self.function(&name);
                *is_simple = false;
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
                return self.nested(|parser| parser.stage(seed, is_simple)).flatten();
            }
            _ => return self.simple_command(seed, is_simple),
        }
        *is_simple = false;
        self.redirects_of_compound(seed);
        None
    }

    /// Reads the redirections behind a compound command. Those of its output are a command without words.
    fn redirects_of_compound(&mut self, seed: Seed) {
        self.skip_blanks();
        if !matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'{' | b'0'..=b'9')) {
            return;
        }
        let mut command = self.start(seed);
        loop {
            self.skip_blanks();
            let Some(redirect) = self.redirect() else { break };
            if redirect.operator.contains('>') && !redirect.operator.ends_with('&') {
                command.redirects.push(redirect);
            }
        }
        if !command.redirects.is_empty() {
            command.wrappers.clone_from(&self.context.wrappers);
            command.folder = self.context.folder.as_deref().map(str::to_owned);
            self.found.commands.push(command);
        }
    }

    /// Returns a command that starts here, with what it has from its surroundings.
    fn start(&self, seed: Seed) -> Command {
        Command {
            pipeline: seed.pipeline,
            place: seed.place,
            is_negated: seed.is_negated,
            start: self.position,
            origin: self.context.origin,
            depth: self.context.depth,
            is_background: self.context.is_background,
            ..Command::default()
        }
    }

    /// Reads the body of a function, from behind its name. A folder that it changes to is not the line's.
    fn function(&mut self, name: &str) {
        let (first, start) = (self.found.commands.len(), self.position);
        self.skip_lines();
        let folder = self.context.folder.clone();
        match self.bare_word() {
            "{" => self.compound("{", End::Keyword("}")),
            "" if self.eat("(") => {
                self.nested(Self::parenthesised_list);
            }
            // Whatever it is, it is the next command of the list.
            _ => return,
        }
        self.context.folder = folder;
        self.found.note_function(name, first, start);
        self.redirects_of_compound(Seed { pipeline: self.found.pipelines, place: 0, is_negated: false });
        self.found.pipelines += 1;
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
        let mut name = String::new();
        if self.eat("((") {
            self.arithmetic();
        } else {
            name = self.word().text;
            self.skip_lines();
            let first_value = self.words.len();
            if self.bare_word() == "in" {
                self.position += 2;
                self.skip_blanks();
                while !matches!(self.peek(), None | Some(b';' | b'\n' | b')')) {
                    self.argument();
                    self.skip_blanks();
                    if self.peek() == Some(b'#') {
                        self.skip_comment();
                    }
                }
            }
            let values: Vec<Word> = self.words.drain(first_value..).collect();
            self.assign_choices(&name, &values);
        }
        self.found.variables.choices = 0;
        self.skip_lines();
        self.eat(";");
        self.skip_lines();
        match self.bare_word() {
            "{" => self.compound("{", End::Keyword("}")),
            _ => self.compound("", End::Keyword("done")),
        }
        self.end_choices(&name);
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

    fn simple_command(&mut self, seed: Seed, is_simple: &mut bool) -> Option<usize> {
        let first_heredoc = self.heredocs.len();
        let mut command = self.start(seed);
        let first_word = self.words.len();
        self.substituted.clear();
        let mut assigned = None;
        loop {
            self.skip_blanks();
            self.place = Place::Elsewhere;
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b')') => break,
                Some(b'&') if self.peek_at(1) != Some(b'>') => break,
                Some(b'#') => self.skip_comment(),
                Some(b'(') => {
                    if self.words.len() == first_word + 1 && self.eat_empty_parentheses() {
                        let name = self.words.pop().unwrap_or_default().text;
                        self.function(&name);
                        *is_simple = false;
                        return None;
                    }
                    break;
                }
                Some(_) => {
                    if let Some(redirect) = self.redirect() {
                        command.redirects.push(redirect);
                    } else if self.words.len() == first_word
                        && let Some(assignment) = self.assignment(&mut assigned)
                    {
                        command.assignments.push(assignment);
                    } else {
                        // What is assigned in front of a command is not assigned in the shell.
                        if let Some(mark) = assigned.take() {
                            self.found.variables.take_back(&mark);
                        }
                        self.place = Place::Word(self.words.len() - first_word);
                        self.argument();
                    }
                }
            }
        }
        if assigned.is_some() {
            self.found.variables.keep();
        }
        command.words = self.words.drain(first_word..).collect();
        if command.words.is_empty() && command.redirects.is_empty() {
            return None;
        }
        self.follow_builtin(&command);
        self.settle_substitutions(&command.words);
        command.wrappers.clone_from(&self.context.wrappers);
        command.folder = self.context.folder.as_deref().map(str::to_owned);
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

    /// Reads a word that may be `name=(…)`, as in `declare -a names=(a b)`, or several words in the value of a variable.
    fn argument(&mut self) {
        let first_break = self.breaks.len();
        self.was_expanded = false;
        let mut word = self.splitting_word_or_byte();
        if self.peek() == Some(b'(') && word.text.ends_with('=') {
            let (array, _) = self.array();
            word.text.push_str(&array.text);
            word.is_quoted |= array.is_quoted;
            word.is_dynamic |= array.is_dynamic;
        }
        if self.breaks.len() > first_break {
            let mut start = 0;
            let breaks: Vec<Range<usize>> = self.breaks.drain(first_break..).collect();
            let end = word.text.len();
            for gap in breaks.into_iter().chain(std::iter::once(end..end)) {
                let text = word.text.get(start..gap.start).unwrap_or_default();
                if !text.is_empty() || gap.is_empty() && word.is_quoted {
                    self.words.push(Word { text: text.to_owned(), ..word });
                }
                start = gap.end;
            }
        } else if !(word.text.is_empty() && self.was_expanded && !word.is_quoted) {
            self.words.push(word);
        }
    }

    fn assignment(&mut self, assigned: &mut Option<Mark>) -> Option<(String, String)> {
        let text = self.text;
        let name = assigned_name(&text[self.position..])?;
        let behind = &text[self.position + name.len()..];
        let operator = behind.find('=').map_or(0, |equals| equals + 1);
        let is_element = behind.starts_with('[');
        self.position += name.len() + operator;
        let (first, substituted) = (self.found.commands.len(), self.substituted.len());
        let (value, elements) = if self.peek() == Some(b'(') {
            let (array, elements) = self.array();
            (array, Some(elements))
        } else {
            (self.word(), None)
        };
        if assigned.is_none() {
            *assigned = Some(self.found.variables.open());
        }
        // Those that are only passed on in a variable are no arguments.
        self.substituted.truncate(substituted);
        match elements {
            Some(elements) if operator == 1 => self.assign_array(name, &elements),
            None if !is_element && value.text == "$()" && self.found.commands.len() > first => {
                self.assign_output(name, first..self.found.commands.len());
            }
            None if !is_element => self.assign(name, &value, operator == 2),
            _ => self.assign_array(name, &[]),
        }
        Some((name.to_owned(), value.text))
    }

    fn redirect(&mut self) -> Option<Redirect> {
        if !matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'{' | b'0'..=b'9')) {
            return None;
        }
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
                ..Heredoc::default()
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
