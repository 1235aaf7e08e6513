//! Prompts that begin with `^`: which context a session works on, and which contexts end.
//!
//! The grammar alone is here; `wyren work bind` knows the contexts. A blank before `^` makes it an ordinary prompt.
//!
//! ```text
//! ^                 list the contexts
//! ^2                select the second; more text may follow
//! ^0 TEXT           begin a new one
//! ^S:QUERY ^E:QUERY select or end by the id, its beginning or a part of it
//! ^E1 ^E2+ ^E*      end one, that and all after it, all
//! ^E1S2             chains of them
//! ```

/// What a prompt that begins with `^` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caret<'a> {
    List,
    /// Begin a context with this text.
    New(&'a str),
    Chain {
        steps: Vec<Step<'a>>,
        /// The prompt after the commands.
        rest: &'a str,
    },
    /// What is none of these.
    Unknown(&'a str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    Select(Which<'a>),
    End(Which<'a>),
}

/// Which contexts are meant, by their numbers in the list, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    Number(usize),
    From(usize),
    All,
    Query(&'a str),
}

/// The fewest characters that name a new context.
pub const LEAST_CHARS: usize = 10;
/// No list is as long.
const MOST_DIGITS: usize = 6;

impl<'a> Caret<'a> {
    /// Reads a prompt; `None` where it does not begin with `^`.
    pub fn of(prompt: &'a str) -> Option<Self> {
        let typed = prompt.strip_prefix('^')?;
        if typed.trim().is_empty() {
            return Some(Self::List);
        }
        let (first, rest) = split(typed);
        if first == "0" {
            return Some(Self::New(rest.trim()));
        }
        let mut steps = Vec::new();
        let (mut token, mut rest) = (first, rest);
        loop {
            match chain(token) {
                Some(more) => steps.extend(more),
                None => return Some(Self::Unknown(first)),
            }
            // Another `^` goes on with the chain.
            let Some(next) = rest.trim_start().strip_prefix('^') else { break };
            let (next, after) = split(next);
            if chain(next).is_none() {
                break;
            }
            (token, rest) = (next, after);
        }
        Some(Self::Chain { steps, rest: rest.trim() })
    }

    /// Returns whether the prompt is answered in its place, whatever contexts there are, and never reaches the model.
    pub fn is_answered(&self) -> bool {
        match self {
            Self::List | Self::Unknown(_) => true,
            Self::New(text) => text.chars().count() < LEAST_CHARS,
            Self::Chain { steps, .. } => !steps.iter().any(|step| matches!(step, Step::Select(_))),
        }
    }
}

fn split(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

/// Reads one word of commands: a number, or a chain of `E…` and `S…`. A query ends with the word.
fn chain(token: &str) -> Option<Vec<Step<'_>>> {
    if let Some((number, "")) = number(token) {
        return Some(vec![Step::Select(Which::Number(number))]);
    }
    let mut steps = Vec::new();
    let mut rest = token;
    while let Some(verb) = rest.chars().next() {
        let ends = match verb {
            'e' | 'E' => true,
            's' | 'S' => false,
            _ => return None,
        };
        let after = &rest[1..];
        let which;
        if let Some(query) = after.strip_prefix(':') {
            (which, rest) = (Which::Query(query), "");
            if query.is_empty() {
                return None;
            }
        } else if let Some(left) = after.strip_prefix('*').filter(|_| ends) {
            (which, rest) = (Which::All, left);
        } else {
            let (count, left) = number(after)?;
            match left.strip_prefix('+').filter(|_| ends) {
                Some(left) => (which, rest) = (Which::From(count), left),
                None => (which, rest) = (Which::Number(count), left),
            }
        }
        steps.push(if ends { Step::End(which) } else { Step::Select(which) });
    }
    (!steps.is_empty()).then_some(steps)
}

/// Returns the number that a text begins with, from 1, and what follows it.
fn number(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok().filter(|number| *number > 0 && digits <= MOST_DIGITS)?;
    Some((number, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain_of(prompt: &str) -> (Vec<Step<'_>>, &str) {
        match Caret::of(prompt) {
            Some(Caret::Chain { steps, rest }) => (steps, rest),
            other => panic!("{prompt}: {other:?}"),
        }
    }

    #[test]
    fn a_prompt_is_a_command_only_when_it_begins_with_a_caret() {
        for prompt in ["", " ^", "fix ^2", "\n^"] {
            assert_eq!(Caret::of(prompt), None, "{prompt:?}");
        }
        assert_eq!(Caret::of("^"), Some(Caret::List));
        assert_eq!(Caret::of("^ \n"), Some(Caret::List));
        assert_eq!(Caret::of("^0 fix the parser"), Some(Caret::New("fix the parser")));
        assert_eq!(Caret::of("^0"), Some(Caret::New("")));
    }

    #[test]
    fn line_3_letters_e_and_s_in_a_query_are_ordinary_characters() {
        assert_eq!(chain_of("^S:beta").0, [Step::Select(Which::Query("beta"))]);
        assert_eq!(chain_of("^E:session").0, [Step::End(Which::Query("session"))]);
        assert_eq!(chain_of("^s:E1S2 go on"), (vec![Step::Select(Which::Query("E1S2"))], "go on"));
    }

    #[test]
    fn numbers_ranges_and_chains_are_read() {
        use Which::{All, From, Number, Query};
        assert_eq!(chain_of("^2 and then test it"), (vec![Step::Select(Number(2))], "and then test it"));
        assert_eq!(chain_of("^E1S2").0, [Step::End(Number(1)), Step::Select(Number(2))]);
        assert_eq!(chain_of("^e3+").0, [Step::End(From(3))]);
        assert_eq!(chain_of("^E*").0, [Step::End(All)]);
        assert_eq!(chain_of("^E1E4+S:beta x").0.len(), 3);
        let both = vec![Step::End(Query("old")), Step::Select(Query("new"))];
        assert_eq!(chain_of("^E:old ^S:new go"), (both, "go"));
        assert_eq!(chain_of("^2 ^ is xor"), (vec![Step::Select(Number(2))], "^ is xor"));
    }

    #[test]
    fn line_27_what_is_no_command_is_known_as_such_and_answered() {
        for prompt in
            ["^foo", "^S", "^S:", "^E", "^S*", "^S2+", "^00", "^E0", "^-1", "^9999999", "^^", "^ü", "^ foo"]
        {
            let caret = Caret::of(prompt).unwrap();
            assert!(matches!(caret, Caret::Unknown(_)) && caret.is_answered(), "{prompt}: {caret:?}");
        }
        for (prompt, is_answered) in
            [("^", true), ("^E1", true), ("^E1S2", false), ("^2", false), ("^0 short", true)]
        {
            assert_eq!(Caret::of(prompt).unwrap().is_answered(), is_answered, "{prompt}");
        }
    }
}
