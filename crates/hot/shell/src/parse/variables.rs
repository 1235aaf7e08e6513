//! Variables that the script itself assigns.
//!
//! What a line assigns literally is followed to where the line uses it: `D=/; rm -rf "$D"` removes `/`. Nothing is
//! made up: what a substitution, `read` or the environment decides is unknown and stays as it is written. Of several
//! values, the last one in the order of the text counts; a loop's variable has all of its values.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Parser, assigned_name, is_name};
use crate::{Command, Word};

/// How many values of a loop's variable are followed.
const MAX_VALUES: usize = 16;

/// A longer value is not followed, in bytes.
const MAX_VALUE: usize = 4 * 1024;

/// How many variables are followed.
const MAX_VARIABLES: usize = 4 * 1024;

/// The variables of all shells that a script starts.
#[derive(Default)]
pub(super) struct Variables {
    by_name: BTreeMap<String, Variable>,
    /// What variables were before the assignments that end with a subshell.
    journal: Vec<(String, Option<Variable>)>,
    /// How many subshells are open.
    open: usize,
    shells: usize,
    /// Which of its values a loop's variable has.
    pub(super) choice: usize,
    /// The most values that a variable of the current pipeline has.
    pub(super) choices: usize,
}

#[derive(Clone, Default)]
struct Variable {
    /// None when a substitution decides it.
    values: Vec<Value>,
    /// The commands in that substitution.
    from: Range<usize>,
    is_array: bool,
    is_exported: bool,
    shell: usize,
}

#[derive(Clone, Default)]
pub(super) struct Value {
    text: String,
    is_dynamic: bool,
}

/// Which variables a shell sees.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope {
    shell: usize,
    has_environment: bool,
}

/// Where assignments begin that may be taken back.
pub(super) struct Mark(usize);

impl Value {
    /// Returns the value that a word has, if that is known. What everybody has in the environment may be part of it.
    fn of(word: &Word) -> Option<Value> {
        Value::new(&word.text, word.is_dynamic)
    }

    fn new(text: &str, is_dynamic: bool) -> Option<Value> {
        let is_known = |rest: &str| {
            ["HOME", "{HOME}", "PWD", "{PWD}", "TMPDIR", "{TMPDIR}", "USER", "{USER}"].iter().any(|name| {
                let behind = rest.strip_prefix(name).and_then(|rest| rest.bytes().next());
                rest.starts_with(name) && !behind.is_some_and(|byte| name.len() > 1 && is_name(byte))
            })
        };
        let is_literal = !is_dynamic || text.split('$').skip(1).all(is_known) && !text.contains("<()");
        (is_literal && text.len() <= MAX_VALUE).then(|| Value { text: text.to_owned(), is_dynamic })
    }
}

impl Variables {
    /// Starts a shell of its own, with or without the environment of the current one.
    pub(super) fn new_shell(&mut self, has_environment: bool) -> Scope {
        self.shells += 1;
        Scope { shell: self.shells, has_environment }
    }

    /// Lets the assignments from here on end together.
    pub(super) fn open(&mut self) -> Mark {
        self.open += 1;
        Mark(self.journal.len())
    }

    /// Takes back what was assigned since the mark.
    pub(super) fn take_back(&mut self, mark: &Mark) {
        self.open -= 1;
        for (name, before) in self.journal.drain(mark.0..).rev() {
            match before {
                Some(variable) => self.by_name.insert(name, variable),
                None => self.by_name.remove(&name),
            };
        }
    }

    /// Keeps what was assigned since the mark.
    pub(super) fn keep(&mut self) {
        self.open -= 1;
        if self.open == 0 {
            self.journal.clear();
        }
    }

    fn get(&self, name: &str, scope: Scope) -> Option<&Variable> {
        if self.by_name.is_empty() {
            return None;
        }
        let variable = self.by_name.get(name)?;
        let is_visible = variable.shell == scope.shell || (variable.is_exported && scope.has_environment);
        is_visible.then_some(variable)
    }

    fn set(&mut self, name: &str, variable: Option<Variable>) {
        let is_full = self.by_name.len() >= MAX_VARIABLES && !self.by_name.contains_key(name);
        if is_full || (variable.is_none() && !self.by_name.contains_key(name)) {
            return;
        }
        let before = match variable {
            Some(variable) => self.by_name.insert(name.to_owned(), variable),
            None => self.by_name.remove(name),
        };
        if self.open > 0 {
            self.journal.push((name.to_owned(), before));
        }
    }

    fn assign(&mut self, name: &str, value: Option<Value>, is_added: bool, scope: Scope) {
        let before = self.get(name, scope);
        let is_exported = before.is_some_and(|before| before.is_exported);
        let mut values = Vec::new();
        match (before, value) {
            (_, None) => return self.set(name, None),
            (Some(before), Some(value)) if is_added => {
                let known = before.values.get(self.choice).or(before.values.last());
                let Some(known) = known.filter(|_| !before.is_array) else { return self.set(name, None) };
                let text = known.text.clone() + &value.text;
                if text.len() > MAX_VALUE {
                    return self.set(name, None);
                }
                values.push(Value { text, is_dynamic: known.is_dynamic || value.is_dynamic });
            }
            (None, Some(_)) if is_added => return self.set(name, None),
            // The same assignment with the next value of a loop's variable.
            (Some(before), Some(value)) if self.choice > 0 => {
                values.extend(before.values.iter().take(self.choice).cloned());
                values.push(value);
            }
            (_, Some(value)) => values.push(value),
        }
        let variable = Variable { values, is_exported, shell: scope.shell, ..Variable::default() };
        self.set(name, Some(variable));
    }

    fn export(&mut self, name: &str, scope: Scope) {
        if let Some(variable) = self.get(name, scope).cloned() {
            self.set(name, Some(Variable { is_exported: true, ..variable }));
        }
    }
}

impl Parser<'_, '_> {
    /// Follows `name=value`.
    pub(super) fn assign(&mut self, name: &str, value: &Word, is_added: bool) {
        let scope = self.context.scope;
        self.found.variables.assign(name, Value::of(value), is_added, scope);
    }

    /// Follows `name=$( … )`: which commands decide it is known.
    pub(super) fn assign_output(&mut self, name: &str, from: Range<usize>) {
        let from = from.start..from.end.min(from.start + MAX_VALUES);
        let variable = Variable { from, shell: self.context.scope.shell, ..Variable::default() };
        self.found.variables.set(name, Some(variable));
    }

    /// Follows `name=( … )`.
    pub(super) fn assign_array(&mut self, name: &str, elements: &[Word]) {
        let values: Option<Vec<Value>> = elements.iter().map(Value::of).collect();
        let shell = self.context.scope.shell;
        let variable = values
            .filter(|values| (1..=MAX_VALUES).contains(&values.len()))
            .map(|values| Variable { values, is_array: true, shell, ..Variable::default() });
        self.found.variables.set(name, variable);
    }

    /// Gives a loop's variable all of its values.
    pub(super) fn assign_choices(&mut self, name: &str, words: &[Word]) {
        let unknown = || Value { text: format!("${name}"), is_dynamic: true };
        let values: Vec<Option<Value>> = words.iter().take(MAX_VALUES).map(Value::of).collect();
        let shell = self.context.scope.shell;
        let variable = values.iter().any(Option::is_some).then(|| {
            let values = values.into_iter().map(|value| value.unwrap_or_else(unknown)).collect();
            Variable { values, shell, ..Variable::default() }
        });
        self.found.variables.set(name, variable);
    }

    /// Leaves a loop's variable with the last of its values.
    pub(super) fn end_choices(&mut self, name: &str) {
        let scope = self.context.scope;
        let Some(variable) = self.found.variables.get(name, scope) else { return };
        if variable.values.len() > 1 {
            let mut variable = variable.clone();
            variable.values.drain(..variable.values.len() - 1);
            self.found.variables.set(name, Some(variable));
        }
    }

    /// Assigns what is in front of a command to the shell that the command starts.
    pub(super) fn assign_environment(&mut self, assignments: &[(String, String)], scope: Scope) {
        for (name, value) in assignments {
            let value = Value::new(value, value.contains('$'));
            self.found.variables.assign(name, value, false, scope);
        }
    }

    /// Follows commands that assign: `export A=1`, `read a`, `unset a`.
    pub(super) fn follow_builtin(&mut self, command: &Command) {
        let scope = self.context.scope;
        let Some((program, words)) = command.words.split_first() else { return };
        let (declares, exports) = match program.text.as_str() {
            "export" => (true, true),
            "declare" | "local" | "readonly" | "typeset" => {
                (true, words.iter().any(|word| word.text.starts_with('-') && word.text.contains('x')))
            }
            "read" | "unset" | "mapfile" | "readarray" | "getopts" | "printf" => (false, false),
            _ => return,
        };
        if program.text == "printf" && words.first().is_none_or(|word| word.text != "-v") {
            return;
        }
        let is_nameref =
            declares && words.iter().any(|word| matches!(word.text.as_str(), "-n" | "-i" | "-A"));
        for word in words {
            let variables = &mut self.found.variables;
            match assigned_name(&word.text) {
                Some(name) if declares => {
                    let value = &word.text[name.len()..];
                    match value.strip_prefix("+=").or(value.strip_prefix('=')) {
                        Some(text) if !is_nameref && !text.starts_with('(') => {
                            let value_of = Value::new(text, word.is_dynamic);
                            variables.assign(name, value_of, value.starts_with('+'), scope);
                        }
                        _ => variables.set(name, None),
                    }
                    if exports {
                        variables.export(name, scope);
                    }
                }
                _ if exports => variables.export(&word.text, scope),
                _ if program.text == "readonly" => {}
                _ => variables.set(&word.text, None),
            }
        }
    }

    /// Puts the value of a variable into a word. Returns `false` when it is not known.
    pub(super) fn expand(&mut self, name: &str, word: &mut Word) -> bool {
        let variables = &mut self.found.variables;
        let Some(variable) = variables.get(name, self.context.scope) else { return false };
        let value = if variable.is_array {
            variable.values.first()
        } else {
            variable.values.get(variables.choice).or(variable.values.last())
        };
        let Some(value) = value else {
            let from = variable.from.clone();
            self.note_substituted(from);
            return false;
        };
        if self.found.extra < value.text.len() {
            return false;
        }
        self.found.extra -= value.text.len();
        word.text.push_str(&value.text);
        word.is_dynamic |= value.is_dynamic;
        if !variable.is_array {
            variables.choices = variables.choices.max(variable.values.len());
        }
        self.was_expanded = true;
        true
    }

    /// Puts the elements of an array into a word, as words of their own.
    pub(super) fn expand_array(&mut self, name: &str, word: &mut Word) -> bool {
        let variables = &self.found.variables;
        let Some(variable) = variables.get(name, self.context.scope).filter(|variable| variable.is_array)
        else {
            return false;
        };
        let bytes = variable.values.iter().map(|value| value.text.len()).sum();
        let Some(extra) = self.found.extra.checked_sub(bytes) else { return false };
        for (place, value) in variable.values.iter().enumerate() {
            if place > 0 {
                let end = word.text.len();
                self.breaks.push(end..end);
            }
            word.text.push_str(&value.text);
            word.is_dynamic |= value.is_dynamic;
        }
        self.found.extra = extra;
        true
    }
}
