//! What commands run: the words behind a wrapper, strings of shell, and the input of a shell.

use std::mem;

use super::{Context, Parser};
use crate::wrap::{self, Inside};
use crate::{Command, MAX_WRAPPERS, Origin};

/// A command in a pipeline whose input is run as shell.
#[derive(Clone)]
pub(super) struct Shell {
    pub(super) command: usize,
    /// What has to be taken off that command to get to the shell, and the shell itself.
    pub(super) wrappers: Vec<&'static str>,
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
                let outer = &self.found.commands[outer];
                let mut inner = Command {
                    words: outer.words[words].to_vec(),
                    assignments: outer.assignments.clone(),
                    wrappers: outer.wrappers.clone(),
                    redirects: outer.redirects.clone(),
                    origin: Origin::Wrapped,
                    depth: outer.depth + 1,
                    ..*outer
                };
                inner.assignments.extend(run.assignments);
                inner.wrappers.push(run.wrapper);
                self.found.commands.push(inner);
                self.unwrap(self.found.commands.len() - 1);
            }
            Inside::Script(script) => {
                let start = self.found.commands[outer].start;
                let context = self.context_inside(outer, &[run.wrapper], Origin::ShellString);
                self.string(&script, start, context);
            }
        }
    }

    pub(super) fn context_inside(&self, outer: usize, wrappers: &[&'static str], origin: Origin) -> Context {
        let outer = &self.found.commands[outer];
        Context {
            origin,
            depth: outer.depth + 1,
            wrappers: outer.wrappers.iter().chain(wrappers).copied().take(MAX_WRAPPERS).collect(),
            is_background: outer.is_background,
        }
    }

    /// Finds out which input of a pipeline's commands is read by a shell: the here-document of `cat <<X | sh`, the
    /// here-string of `bash <<< 'x'` and the arguments of `echo x | sh`.
    pub(super) fn read_by_shells(&mut self, stages: &[Option<usize>], first_heredoc: usize) {
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
            if has_input && let Some(wrappers) = wrap::shell_reading_input(&command.words) {
                shell = Some(Shell { command: index, wrappers });
            } else if !wrap::passes_input_on(command.program())
                && let Some(shell) = shell.take()
                && let Some(script) = wrap::echoed(command)
            {
                let context = self.context_inside(shell.command, &shell.wrappers, Origin::ShellString);
                self.string(&script, command.start, context);
            }
            readers.extend(shell.clone().map(|shell| (index, shell)));
        }
        for (index, shell) in &readers {
            let context = self.context_inside(shell.command, &shell.wrappers, Origin::Heredoc);
            let command = &mut self.found.commands[*index];
            let start = command.start;
            let redirects = mem::take(&mut command.redirects);
            for redirect in redirects.iter().filter(|redirect| redirect.operator == "<<<") {
                self.string(&redirect.target.text, start, context.clone());
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
}
