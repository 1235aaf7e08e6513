//! What commands run: the words behind a wrapper, strings of shell, and the input of a shell.

use std::mem;
use std::rc::Rc;

use super::{Context, Parser, Place};
use crate::code::{self, Language, Snippet};
use crate::wrap::{self, Inside, Reader};
use crate::{Command, MAX_INPUT, MAX_WRAPPERS, Origin, Word};

/// A folder with a longer name is not followed further.
const MAX_FOLDER: usize = 256;

/// How many of the commands behind a here-document may read it.
const MAX_READERS: usize = 64;

/// A command in a pipeline whose input is run.
#[derive(Clone)]
pub(super) struct Shell {
    pub(super) command: usize,
    pub(super) reader: Reader,
}

impl Parser<'_, '_> {
    /// Takes the wrappers off a command, and finds the commands that it runs.
    pub(super) fn unwrap(&mut self, index: usize) {
        loop {
            let command = &mut self.found.commands[index];
            if command.wrappers.len() >= MAX_WRAPPERS {
                return;
            }
            let mut runs = wrap::runs(&command.words);
            if let [run] = runs.as_mut_slice()
                && run.is_prefix
                && let Inside::Words(words) = &run.inside
            {
                command.words.drain(..words.start);
                command.wrappers.push(run.wrapper);
                command.assignments.append(&mut run.assignments);
                continue;
            }
            for run in runs {
                self.follow(index, run);
            }
            return;
        }
    }

    fn follow(&mut self, outer: usize, run: wrap::Run) {
        match run.inside {
            Inside::Words(words) => {
                let command = &self.found.commands[outer];
                match &command.input {
                    Some(input) if run.wrapper == "xargs" => {
                        let (options, words) = (&command.words[..words.start], &command.words[words]);
                        for words in wrap::xargs(options, words, input) {
                            if !self.found.spend(words.iter().map(|word| word.text.len() + 1).sum()) {
                                return;
                            }
                            self.follow_words(outer, words, run.wrapper, Vec::new());
                        }
                    }
                    _ => {
                        self.follow_words(outer, command.words[words].to_vec(), run.wrapper, run.assignments)
                    }
                }
            }
            Inside::Code(code) => {
                let start = self.found.commands[outer].start;
                let context = self.context_inside(outer, &[run.wrapper], Origin::Code);
                self.code(code.language, &code.code, start, &context);
            }
            Inside::Script { script, .. } => {
                if matches!(run.wrapper, "parallel" | "sem") && !self.found.spend(script.len()) {
                    return;
                }
                let command = &self.found.commands[outer];
                let start = command.start;
                let input = command.input.clone().filter(|_| !wrap::replaces_input(run.wrapper));
                let context = self.context_inside(outer, &[run.wrapper], Origin::ShellString);
                let context = Context { input, ..context };
                let assignments = mem::take(&mut self.found.commands[outer].assignments);
                if run.wrapper == "eval" && assignments.is_empty() {
                    self.context.folder = self.string_of_this_shell(&script, start, context);
                } else {
                    let mark = self.found.variables.open();
                    self.assign_environment(&assignments, context.scope);
                    self.string_of_this_shell(&script, start, context);
                    self.found.variables.take_back(&mark);
                }
                self.found.commands[outer].assignments = assignments;
            }
        }
    }

    fn follow_words(
        &mut self,
        outer: usize,
        words: Vec<Word>,
        wrapper: &'static str,
        assignments: Vec<(String, String)>,
    ) {
        let outer = &self.found.commands[outer];
        let mut inner = Command {
            words,
            assignments: outer.assignments.clone(),
            wrappers: outer.wrappers.clone(),
            redirects: outer.redirects.clone(),
            input: outer.input.clone().filter(|_| !wrap::replaces_input(wrapper)),
            feeds: outer.feeds.clone(),
            substituted_into: outer.substituted_into.clone(),
            folder: outer.folder.clone().filter(|_| !wrap::is_elsewhere(wrapper)),
            origin: Origin::Wrapped,
            depth: outer.depth + 1,
            ..*outer
        };
        inner.assignments.extend(assignments);
        inner.wrappers.push(wrapper);
        self.found.commands.push(inner);
        self.unwrap(self.found.commands.len() - 1);
    }

    pub(super) fn context_inside(
        &mut self,
        outer: usize,
        wrappers: &[&'static str],
        origin: Origin,
    ) -> Context {
        let is_elsewhere = wrappers.iter().any(|wrapper| wrap::is_elsewhere(wrapper));
        let is_this_shell = matches!(wrappers, ["eval" | "trap" | "env"]);
        let scope =
            if is_this_shell { self.context.scope } else { self.found.variables.new_shell(!is_elsewhere) };
        let outer = &self.found.commands[outer];
        Context {
            origin,
            depth: outer.depth + 1,
            wrappers: outer.wrappers.iter().chain(wrappers).copied().take(MAX_WRAPPERS).collect(),
            is_background: outer.is_background,
            input: None,
            folder: outer.folder.as_deref().filter(|_| !is_elsewhere).map(Rc::from),
            scope,
        }
    }

    /// Tells the commands of a pipeline what they read, as far as here-strings, `echo` and `printf` say so.
    pub(super) fn pass_input(&mut self, stages: &[Option<usize>]) {
        if let [Some(only)] = *stages
            && self.found.commands[only].redirects.is_empty()
        {
            return;
        }
        let mut piped: Option<String> = None;
        for stage in stages {
            let Some(index) = *stage else {
                piped = None;
                continue;
            };
            let command = &mut self.found.commands[index];
            let own = command.redirects.iter().rev().find(|redirect| redirect.operator.starts_with('<'));
            match own {
                Some(redirect) if redirect.operator == "<<<" => {
                    command.input = Some(shortened(&redirect.target.text).to_owned());
                }
                Some(_) => {}
                None => command.input = piped.take().or(command.input.take()),
            }
            piped = match wrap::echoed(command) {
                Some(text) => Some(shortened(&text).to_owned()),
                None if wrap::copies_input(&command.words) => command.input.clone(),
                None => None,
            };
        }
    }

    /// Tells the owner of a here-document what it reads, and those that it runs or pipes it to.
    pub(super) fn give_input(&mut self, owner: usize, end: usize, text: &str) {
        let text = shortened(text);
        let Command { pipeline, place, .. } = self.found.commands[owner];
        // The last command of the pipeline that the text gets to.
        let mut reached = place;
        let mut is_read = false;
        for index in owner..end.min(owner + MAX_READERS) {
            let command = &mut self.found.commands[index];
            let is_reader = if command.pipeline == pipeline {
                command.place <= reached
            } else {
                // The first command of a string that reads anything.
                !is_read
                    && command.place == 0
                    && command.origin == Origin::ShellString
                    && wrap::may_read(command.program())
            };
            if !is_reader
                || command.input.is_some()
                || command.wrappers.iter().any(|wrapper| wrap::replaces_input(wrapper))
            {
                continue;
            }
            is_read |= command.pipeline != pipeline;
            command.input = Some(text.to_owned());
            if command.pipeline == pipeline && wrap::copies_input(&command.words) {
                reached = reached.max(command.place + 1);
            }
        }
    }

    /// Notes the folder that a command changes to.
    pub(super) fn change_folder(&mut self, index: usize) {
        let command = &self.found.commands[index];
        let (program, target) = match command.words.first().map_or("", |word| &word.text) {
            program @ ("cd" | "pushd") => {
                let is_option = |word: &&Word| word.text.len() > 1 && word.text.starts_with('-');
                (program, command.words[1..].iter().find(|word| !is_option(word)))
            }
            "popd" => ("popd", None),
            _ => return,
        };
        self.context.folder = match target.map(|word| word.text.as_str()) {
            None if program == "cd" => Some(Rc::from("~")),
            Some("-") => Some(Rc::from("$OLDPWD")),
            None => None,
            Some(target) => Some(joined(self.context.folder.as_deref(), target).into()),
        };
    }

    /// Tells the commands in a command's substitutions what becomes of their output.
    pub(super) fn settle_substitutions(&mut self, words: &[Word]) {
        for substituted in mem::take(&mut self.substituted) {
            let Some(receiver) = wrap::receiver(words, substituted.place) else { continue };
            // What was read again is not there any more.
            let commands = self.found.commands.get_mut(substituted.commands).unwrap_or_default();
            for command in commands {
                let is_passed_on =
                    matches!(command.substituted_into.as_deref(), None | Some("echo" | "printf" | "cat"));
                if is_passed_on && receiver.runs_it && command.feeds.is_none() {
                    command.feeds = Some(receiver.program.to_owned());
                }
                if substituted.place != Place::Input && command.substituted_into.is_none() {
                    command.substituted_into = Some(receiver.program.to_owned());
                }
            }
        }
    }

    /// Finds out which input of a pipeline's commands is read by a shell: the here-document of `cat <<X | sh`, the
    /// here-string of `bash <<< 'x'` and the arguments of `echo x | sh`.
    pub(super) fn read_by_shells(&mut self, stages: &[Option<usize>], first_heredoc: usize) {
        if let [Some(only)] = *stages
            && self.found.commands[only].redirects.is_empty()
        {
            return;
        }
        let mut shell: Option<Shell> = None;
        // The commands whose input ends up in a shell, last one first.
        let mut readers: Vec<(usize, Shell)> = Vec::new();
        for stage in stages.iter().rev() {
            let Some(index) = *stage else {
                shell = None;
                continue;
            };
            let command = &self.found.commands[index];
            let has_input = command.place > 0
                || command.redirects.iter().any(|redirect| redirect.operator.contains("<<"));
            if has_input && let Some(reader) = wrap::reader(&command.words) {
                shell = Some(Shell { command: index, reader });
            } else if !wrap::passes_input_on(command.program())
                && let Some(shell) = shell.take()
                && let Some(script) = wrap::echoed(command)
            {
                let start = command.start;
                self.run_by_reader(&shell, &script, start, Origin::ShellString);
            }
            readers.extend(shell.clone().map(|shell| (index, shell)));
        }
        for (index, shell) in &readers {
            let command = &mut self.found.commands[*index];
            let start = command.start;
            let redirects = mem::take(&mut command.redirects);
            for redirect in redirects.iter().filter(|redirect| redirect.operator == "<<<") {
                self.run_by_reader(shell, &redirect.target.text, start, Origin::Heredoc);
            }
            self.found.commands[*index].redirects = redirects;
        }
        if readers.is_empty() {
            return;
        }
        for heredoc in &mut self.heredocs[first_heredoc..] {
            let reader = readers.binary_search_by(|(index, _)| heredoc.owner.cmp(&Some(*index)));
            heredoc.shell = reader.ok().map(|reader| readers[reader].1.clone()).or(heredoc.shell.take());
        }
    }

    /// Reads what a shell or another interpreter gets on its standard input.
    fn run_by_reader(&mut self, shell: &Shell, script: &str, start: usize, origin: Origin) {
        let Shell { command, reader } = shell;
        let context = self.context_inside(*command, &reader.wrappers, origin);
        match reader.language {
            None => self.string(script, start, context),
            Some(language) => self.code(language, script, start, &context),
        }
    }

    /// Finds the commands in code of another language.
    pub(super) fn code(&mut self, language: Language, code: &str, start: usize, context: &Context) {
        let context = Context { origin: Origin::Code, ..context.clone() };
        for snippet in code::snippets(language, code) {
            match snippet {
                Snippet::Script(script) => self.string(&script, start, context.clone()),
                Snippet::Words(words) => {
                    let pipeline = self.found.pipelines;
                    self.found.pipelines += 1;
                    self.found.commands.push(Command {
                        words,
                        wrappers: context.wrappers.clone(),
                        pipeline,
                        is_last: true,
                        is_background: context.is_background,
                        origin: Origin::Code,
                        depth: context.depth,
                        folder: context.folder.as_deref().map(str::to_owned),
                        start,
                        ..Command::default()
                    });
                    self.unwrap(self.found.commands.len() - 1);
                }
            }
        }
    }
}

/// Returns as much of a text as is kept of a command's input.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_INPUT)]
}

/// Returns where `cd target` goes from a folder.
fn joined(folder: Option<&str>, target: &str) -> String {
    let is_relative = !target.starts_with(['/', '~', '$', '\\']) && target.as_bytes().get(1) != Some(&b':');
    match folder {
        Some(folder) if is_relative && folder.len() + target.len() < MAX_FOLDER => {
            let slash = if folder.ends_with('/') { "" } else { "/" };
            format!("{folder}{slash}{target}")
        }
        Some(folder) if is_relative => folder.to_owned(),
        _ => target[..target.floor_char_boundary(MAX_FOLDER)].to_owned(),
    }
}
