//! Reading: from a text to the commands in it.
//!
//! A [`Parser`] walks over one text once and leaves the commands that it comes across in [`Found`], as they are
//! written (`grammar`, with `word` for quotes and expansions). When a pipeline is complete, the wrappers of its
//! commands are taken off and the strings that they run are parsed, each by a parser of its own (`follow`).
//! Here-documents wait until the end of the text: only then is it certain whether a shell reads them (`heredoc`).

mod follow;
mod grammar;
mod heredoc;
mod variables;
mod word;

use std::mem;
use std::ops::Range;
use std::rc::Rc;

use self::grammar::End;
use self::heredoc::Heredoc;
use self::variables::{Scope, Variables};
use crate::{Command, FORK_BOMB, MAX_NESTING, Origin, Word, windows};

/// How often `((` may turn out not to be arithmetic; each time, what was read of it is read again.
const MAX_RETRIES: usize = 16;

pub(crate) fn commands(script: &str) -> Vec<Command> {
    let mut found = Found {
        commands: Vec::with_capacity(FEW_COMMANDS + script.len() / BYTES_PER_COMMAND),
        extra: EXTRA_BYTES + script.len(),
        ..Found::default()
    };
    if let Some(dialect) = windows::dialect(script) {
        let script = windows::as_shell(dialect, script);
        Parser::new(&script, Context::default(), 0, &mut found).run();
        found.commands.iter_mut().for_each(|command| command.start = 0);
        return found.commands;
    }
    Parser::new(script, Context::default(), 0, &mut found).run();
    found.add_fork_bombs();
    found.commands
}

/// How many commands are expected: memory that is reserved and never touched costs nothing, growing costs a copy.
const FEW_COMMANDS: usize = 4;
const BYTES_PER_COMMAND: usize = 48;

/// How much text may be read beyond the script itself, in bytes: what repeats and values of variables put into it.
const EXTRA_BYTES: usize = 64 * 1024;

/// What all parsers of one script share.
#[derive(Default)]
struct Found {
    commands: Vec<Command>,
    pipelines: usize,
    retries: usize,
    /// How much of the additional text is left.
    extra: usize,
    variables: Variables,
    /// How many substitutions surround what is being read.
    substitutions: usize,
    bombs: Vec<Bomb>,
}

/// A function that pipes itself into itself in the background.
struct Bomb {
    name: String,
    /// How often it calls itself.
    calls: usize,
    start: usize,
}

/// How many of a function's calls of itself are looked at.
const MAX_CALLS: usize = 16;

/// How many such functions are looked at.
const MAX_BOMBS: usize = 4;

impl Found {
    /// Notes a function, whose commands are those from `first` on, if it is one to be afraid of.
    fn note_function(&mut self, name: &str, first: usize, start: usize) {
        let is_call = |command: &&Command| command.program() == name && !command.words.is_empty();
        let commands = &self.commands[first..];
        let is_piped = |call: &Command| {
            let mut others = commands.iter().filter(is_call);
            others.any(|other| call.is_piped_into(other) && call.is_background)
        };
        let mut calls = commands.iter().filter(is_call).take(MAX_CALLS);
        if self.bombs.len() < MAX_BOMBS && calls.any(is_piped) {
            let calls = commands.iter().filter(is_call).count();
            self.bombs.push(Bomb { name: name.to_owned(), calls, start });
        }
    }

    /// Adds a command for each of these functions that is called.
    fn add_fork_bombs(&mut self) {
        for Bomb { name, calls, start } in mem::take(&mut self.bombs) {
            if self.commands.iter().filter(|command| command.program() == name).count() > calls {
                let word = Word { text: String::from(FORK_BOMB), ..Word::default() };
                let at = self.commands.partition_point(|command| command.start < start);
                let pipeline = self.pipelines;
                self.pipelines += 1;
                let bomb =
                    Command { words: vec![word], start, pipeline, is_last: true, ..Command::default() };
                self.commands.insert(at, bomb);
            }
        }
    }

    /// Takes as much of the additional text as is asked for, or nothing: reading has to stay linear in the script.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.extra.checked_sub(bytes);
        self.extra = left.unwrap_or(self.extra);
        left.is_some()
    }
}

/// What a command inherits from its surroundings.
#[derive(Clone, Default)]
struct Context {
    origin: Origin,
    depth: usize,
    wrappers: Vec<&'static str>,
    is_background: bool,
    /// What the first command reads that reads anything.
    input: Option<String>,
    folder: Option<Rc<str>>,
    scope: Scope,
}

/// What a command's substitution runs, and where in the command that is.
struct Substituted {
    place: Place,
    commands: Range<usize>,
}

/// A part of a simple command.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// The word with this index.
    Word(usize),
    /// What it reads on standard input.
    Input,
    Elsewhere,
}

/// A place to go back to.
struct Checkpoint {
    position: usize,
    commands: usize,
    heredocs: usize,
    unread: usize,
}

struct Parser<'text, 'found> {
    text: &'text str,
    position: usize,
    nesting: usize,
    open_parentheses: usize,
    context: Context,
    /// What is being read of the current simple command.
    place: Place,
    /// The substitutions in the current simple command.
    substituted: Vec<Substituted>,
    heredocs: Vec<Heredoc>,
    /// The first here-document whose body may not have been read.
    unread: usize,
    /// The first here-document that has not been looked into.
    unresolved: usize,
    /// The words of the simple commands that are being read.
    words: Vec<Word>,
    /// Where the value of a variable splits the current word.
    breaks: Vec<Range<usize>>,
    /// Whether a variable's value has been put into a word.
    was_expanded: bool,
    found: &'found mut Found,
}

impl<'text, 'found> Parser<'text, 'found> {
    fn new(text: &'text str, context: Context, nesting: usize, found: &'found mut Found) -> Self {
        Parser {
            text,
            position: 0,
            nesting,
            open_parentheses: 0,
            context,
            place: Place::Elsewhere,
            substituted: Vec::new(),
            heredocs: Vec::new(),
            unread: 0,
            unresolved: 0,
            words: Vec::new(),
            breaks: Vec::new(),
            was_expanded: false,
            found,
        }
    }

    /// Returns the folder in which the text leaves its shell.
    fn run(mut self) -> Option<Rc<str>> {
        let first = self.found.commands.len();
        self.list(End::Text);
        let folder = self.context.folder.take();
        self.finish(first);
        folder
    }

    /// Looks into the remaining here-documents and puts the commands in order.
    fn finish(mut self, first: usize) {
        self.heredocs[self.unresolved..].iter_mut().for_each(|heredoc| heredoc.is_decided = true);
        self.resolve_heredocs();
        // Substitutions are complete before the command that contains them.
        put_in_order(&mut self.found.commands[first..]);
    }

    /// Looks into the here-documents that have been read and whose readers are known.
    fn resolve_heredocs(&mut self) {
        while let Some(heredoc) = self.heredocs.get_mut(self.unresolved).filter(|heredoc| heredoc.is_decided)
        {
            let Some(body) = heredoc.body.clone() else {
                // It has no body yet; at the end of the text it never will.
                if self.position < self.text.len() {
                    return;
                }
                self.unresolved += 1;
                continue;
            };
            let heredoc = mem::take(heredoc);
            self.unresolved += 1;
            self.resolve(heredoc, body);
        }
    }

    fn resolve(&mut self, heredoc: Heredoc, body: Range<usize>) {
        let text = self.text;
        let has_expansions = !heredoc.is_quoted && text[body.clone()].contains(['$', '`']);
        let shell = heredoc.shell.as_ref();
        let is_script = shell.is_some_and(|shell| shell.reader.language.is_none());
        let mut input = heredoc.script(&text[body.clone()]);
        if !is_script && has_expansions && self.nesting < MAX_NESTING {
            let first = self.found.commands.len();
            let context = Context { input: None, ..self.context.clone() };
            let mut parser = Parser::new(&text[..body.end], context, self.nesting + 1, self.found);
            parser.position = body.start;
            let expanded = parser.expansions();
            parser.finish(first);
            if !heredoc.strips_tabs {
                input = expanded.text;
            }
        }
        if let Some(owner) = heredoc.owner {
            self.give_input(owner, heredoc.end, &input);
        }
        if let Some(shell) = shell {
            let mut context = self.context_inside(shell.command, &shell.reader.wrappers, Origin::Heredoc);
            if !heredoc.is_quoted {
                // It is the outer shell that puts in the variables.
                context.scope = self.context.scope;
            }
            match shell.reader.language {
                None => self.string(&input, body.start, context),
                Some(language) => self.code(language, &input, body.start, &context),
            }
        }
    }

    /// Reads a string that is run by a shell of its own for the command that starts at `start`.
    fn string(&mut self, script: &str, start: usize, context: Context) {
        let mark = self.found.variables.open();
        self.string_of_this_shell(script, start, context);
        self.found.variables.take_back(&mark);
    }

    /// Reads a string that the current shell runs. Returns the folder in which it leaves the shell.
    fn string_of_this_shell(&mut self, script: &str, start: usize, context: Context) -> Option<Rc<str>> {
        if self.nesting == MAX_NESTING {
            return context.folder;
        }
        let (first, first_bomb) = (self.found.commands.len(), self.found.bombs.len());
        let folder = Parser::new(script, context, self.nesting + 1, self.found).run();
        for command in &mut self.found.commands[first..] {
            command.start = start;
        }
        for bomb in &mut self.found.bombs[first_bomb..] {
            bomb.start = start;
        }
        folder
    }

    fn substituted_string(&mut self, script: &str, start: usize) {
        let first = self.found.commands.len();
        let context = Context {
            origin: Origin::Substitution,
            depth: self.context.depth + 1,
            input: None,
            ..self.context.clone()
        };
        self.found.substitutions += 1;
        self.string(script, start, context);
        self.found.substitutions -= 1;
        self.note_substitution(first);
    }

    /// Remembers that the commands from `first` on are in a substitution of the current command.
    fn note_substitution(&mut self, first: usize) {
        self.note_substituted(first..self.found.commands.len());
    }

    fn note_substituted(&mut self, commands: Range<usize>) {
        if !commands.is_empty() {
            self.substituted.push(Substituted { place: self.place, commands });
        }
    }

    /// Reads the inside of `$( … )`, from behind the opening parenthesis to behind the closing one.
    fn substitution(&mut self) {
        let first = self.found.commands.len();
        let place = self.place;
        let substituted = mem::take(&mut self.substituted);
        let was_expanded = self.was_expanded;
        self.found.substitutions += 1;
        self.nested(|parser| {
            let origin = mem::replace(&mut parser.context.origin, Origin::Substitution);
            let unread = mem::replace(&mut parser.unread, parser.heredocs.len());
            parser.context.depth += 1;
            parser.parenthesised_list();
            parser.context.depth -= 1;
            parser.unread = unread;
            parser.context.origin = origin;
        });
        self.found.substitutions -= 1;
        self.place = place;
        self.substituted = substituted;
        self.was_expanded = was_expanded;
        self.note_substitution(first);
    }

    fn parenthesised_list(&mut self) {
        let folder = self.context.folder.clone();
        let mark = self.found.variables.open();
        self.open_parentheses += 1;
        self.list(End::Parenthesis);
        self.open_parentheses -= 1;
        self.found.variables.take_back(&mark);
        self.context.folder = folder;
    }

    /// Parses one level deeper; at the bottom, gives up on the rest of the text.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.nesting == MAX_NESTING {
            self.position = self.text.len();
            return None;
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        Some(result)
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            position: self.position,
            commands: self.found.commands.len(),
            heredocs: self.heredocs.len(),
            unread: self.unread,
        }
    }

    /// Goes back, unless that has happened too often for reading to stay linear.
    fn go_back(&mut self, checkpoint: &Checkpoint) -> bool {
        if self.found.retries == MAX_RETRIES {
            return false;
        }
        self.found.retries += 1;
        self.position = checkpoint.position;
        self.found.commands.truncate(checkpoint.commands);
        self.heredocs.truncate(checkpoint.heredocs);
        self.unresolved = self.unresolved.min(checkpoint.heredocs);
        self.unread = checkpoint.unread;
        true
    }

    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.position += 1,
                b'\\' if self.peek_at(1) == Some(b'\n') => self.position += 2,
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and line ends, and reads the here-documents that start behind a line end.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'#') => self.skip_comment(),
                Some(b'\n') => {
                    self.position += 1;
                    self.read_heredocs();
                }
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.find('\n').unwrap_or(rest.len());
    }

    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.position + offset).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.text.as_bytes()[self.position..].starts_with(text.as_bytes())
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_there = self.starts_with(text);
        if is_there {
            self.position += text.len();
        }
        is_there
    }

    /// Returns the word that starts here if it is short and plain enough to be a reserved word.
    fn bare_word(&self) -> &'text str {
        const LONGEST: usize = "function".len();
        let text = self.text;
        let rest = &text.as_bytes()[self.position..];
        // Most words begin otherwise than any that is reserved.
        if !matches!(
            rest.first(),
            Some(b'!' | b'-' | b'[' | b']' | b'{' | b'}' | b'c'..=b'f' | b'i' | b's'..=b'u' | b'w')
        ) {
            return "";
        }
        for (length, byte) in rest.iter().enumerate().take(LONGEST + 1) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => {
                    return &text[self.position..self.position + length];
                }
                b'\'' | b'"' | b'$' | b'`' | b'\\' => return "",
                _ => {}
            }
        }
        if rest.len() <= LONGEST { &text[self.position..] } else { "" }
    }
}

/// Sorts commands by their start. They are nearly in order: a command has only its substitutions in front of it, so
/// that moving it past these is less than sorting all of them.
fn put_in_order(commands: &mut [Command]) {
    let mut moves = commands.len() * MAX_NESTING;
    for index in 1..commands.len() {
        let start = commands[index].start;
        if commands[index - 1].start <= start {
            continue;
        }
        let place = commands[..index].partition_point(|command| command.start <= start);
        let Some(left) = moves.checked_sub(index - place) else {
            commands.sort_by_key(|command| command.start);
            return;
        };
        moves = left;
        commands[place..=index].rotate_right(1);
    }
}

/// Returns whether a byte may be part of a variable's name.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the name in front of `name=`, `name+=` or `name[…]=`.
pub(crate) fn assigned_name(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let length = bytes.iter().take_while(|byte| is_name(**byte)).count();
    if length == 0 || bytes[0].is_ascii_digit() {
        return None;
    }
    let mut rest = &text[length..];
    if rest.starts_with('[') {
        let end = rest.find(|char: char| "]= \t\n;&|<>()".contains(char))?;
        rest = rest[end..].strip_prefix(']')?;
    }
    (rest.starts_with('=') || rest.starts_with("+=")).then(|| &text[..length])
}
