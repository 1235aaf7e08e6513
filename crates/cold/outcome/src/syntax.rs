//! How the commands of a line of shell are joined: lists, `&&`, `||`, pipelines, groups, `if`, loops.
//!
//! The commands themselves are read by the crate `shell`, which does not say what is between them. Here only their places are
//! kept. What is not understood gives no tree.

use std::ops::Range;

/// Deeper nesting, and longer lines, give no tree.
const MOST_DEPTH: usize = 24;
const MOST_LEAVES: usize = 200;
const MOST_COMMANDS: usize = 2 * MOST_LEAVES;

/// A part of a line. Leaves are simple commands, by their place in [`Tree::leaves`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Leaf(usize),
    Not(Box<Node>),
    Pipe(Vec<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    List(Vec<Statement>),
    Subshell(Box<Node>),
    /// Conditions with what follows each, and what is behind `else`.
    If(Vec<(Node, Node)>, Option<Box<Node>>),
    /// `while` and `until` have a condition.
    Loop(Option<Box<Node>>, Box<Node>),
    Case(Vec<Node>),
    Function(Box<Node>),
}

/// A part of a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) node: Node,
    pub(crate) is_background: bool,
}

/// A line that was read.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: Node,
    /// Where the simple commands are in the script, in its order.
    pub(crate) leaves: Vec<Range<usize>>,
}

impl Tree {
    pub(crate) fn read(script: &str) -> Option<Self> {
        let mut reader = Reader {
            bytes: script.as_bytes(),
            at: 0,
            leaves: Vec::new(),
            heredocs: Vec::new(),
            depth: 0,
            commands: 0,
        };
        let root = reader.list(&[])?;
        (reader.at >= script.len()).then_some(Self { root, leaves: reader.leaves })
    }
}

impl Node {
    /// Returns whether more than a simple command feeds a pipe somewhere.
    pub(crate) fn pipes_group(&self) -> bool {
        match self {
            Self::Leaf(_) => false,
            Self::Pipe(nodes) => {
                let is_group = |node: &Self| !matches!(node, Self::Leaf(_));
                let fed = nodes.len().saturating_sub(1);
                nodes[..fed].iter().any(is_group) || nodes.iter().any(Self::pipes_group)
            }
            Self::Not(node) | Self::Subshell(node) | Self::Function(node) => node.pipes_group(),
            Self::And(one, other) | Self::Or(one, other) => one.pipes_group() || other.pipes_group(),
            Self::List(statements) => statements.iter().any(|statement| statement.node.pipes_group()),
            Self::If(branches, otherwise) => {
                branches.iter().any(|(condition, body)| condition.pipes_group() || body.pipes_group())
                    || otherwise.as_ref().is_some_and(|node| node.pipes_group())
            }
            Self::Loop(condition, body) => {
                condition.as_ref().is_some_and(|node| node.pipes_group()) || body.pipes_group()
            }
            Self::Case(nodes) => nodes.iter().any(Self::pipes_group),
        }
    }

    /// Calls `look` with each leaf.
    pub(crate) fn each(&self, look: &mut dyn FnMut(usize)) {
        match self {
            Self::Leaf(leaf) => look(*leaf),
            Self::Not(node) | Self::Subshell(node) | Self::Function(node) => node.each(look),
            Self::Pipe(nodes) | Self::Case(nodes) => nodes.iter().for_each(|node| node.each(look)),
            Self::And(one, other) | Self::Or(one, other) => {
                one.each(look);
                other.each(look);
            }
            Self::List(statements) => statements.iter().for_each(|statement| statement.node.each(look)),
            Self::If(branches, otherwise) => {
                for (condition, body) in branches {
                    condition.each(look);
                    body.each(look);
                }
                otherwise.iter().for_each(|node| node.each(look));
            }
            Self::Loop(condition, body) => {
                condition.iter().for_each(|node| node.each(look));
                body.each(look);
            }
        }
    }
}

struct Reader<'s> {
    bytes: &'s [u8],
    at: usize,
    leaves: Vec<Range<usize>>,
    /// The delimiters of here-documents whose bodies begin on the next line; whether tabs before them are left out.
    heredocs: Vec<(Vec<u8>, bool)>,
    depth: usize,
    /// How many commands were begun: functions and empty groups have no leaf of their own.
    commands: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn is_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn begins(&self, text: &str) -> bool {
        self.bytes[self.at.min(self.bytes.len())..].starts_with(text.as_bytes())
    }

    fn take(&mut self, text: &str) -> bool {
        let is_there = self.begins(text);
        self.at += if is_there { text.len() } else { 0 };
        is_there
    }

    /// Skips blanks and comments; with `lines` also ends of lines.
    fn blank(&mut self, lines: bool) {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.begins("\\\n") || self.begins("\\\r\n") => self.at += 2,
                b'\n' if lines => self.line_end(),
                b'#' => {
                    while !self.is_end() && self.peek() != b'\n' {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips an end of line, and the here-documents that begin behind it.
    fn line_end(&mut self) {
        self.at += 1;
        for (delimiter, has_tabs) in std::mem::take(&mut self.heredocs) {
            while !self.is_end() {
                let rest = &self.bytes[self.at..];
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let line = &rest[..length];
                let tabs = if has_tabs { line.iter().take_while(|byte| **byte == b'\t').count() } else { 0 };
                let is_last = line[tabs..] == delimiter[..];
                self.at = (self.at + length + 1).min(self.bytes.len());
                if is_last {
                    break;
                }
            }
        }
    }

    /// Returns the bare word that begins here.
    fn keyword(&self) -> &[u8] {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || b";&|()<>".contains(byte));
        &rest[..end.unwrap_or(rest.len())]
    }

    fn is_keyword(&self, words: &[&str]) -> bool {
        words.iter().any(|word| word.as_bytes() == self.keyword())
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let is_there = self.is_keyword(&[word]);
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    fn list(&mut self, ends: &[&str]) -> Option<Node> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return None;
        }
        let mut statements = Vec::new();
        loop {
            self.blank(true);
            if self.is_end() || self.peek() == b')' || self.begins(";;") || self.is_keyword(ends) {
                break;
            }
            let node = self.and_or()?;
            self.blank(false);
            let is_background = self.peek() == b'&';
            statements.push(Statement { node, is_background });
            if self.begins(";;") {
                break;
            }
            match self.peek() {
                b';' | b'&' => self.at += 1,
                b'\n' | b')' => {}
                _ if self.is_end() || self.is_keyword(ends) => {}
                _ => return None,
            }
        }
        self.depth -= 1;
        Some(Node::List(statements))
    }

    fn and_or(&mut self) -> Option<Node> {
        let mut node = self.pipeline()?;
        loop {
            self.blank(false);
            if self.take("&&") {
                self.blank(true);
                node = Node::And(Box::new(node), Box::new(self.pipeline()?));
            } else if self.take("||") {
                self.blank(true);
                node = Node::Or(Box::new(node), Box::new(self.pipeline()?));
            } else {
                return Some(node);
            }
        }
    }

    fn pipeline(&mut self) -> Option<Node> {
        let mut is_negated = false;
        loop {
            self.blank(false);
            if self.take_keyword("!") {
                is_negated = !is_negated;
            } else if !self.take_keyword("time") {
                break;
            }
        }
        let mut nodes = vec![self.command()?];
        loop {
            self.blank(false);
            if self.peek() != b'|' || self.begins("||") {
                break;
            }
            self.at += 1;
            self.take("&");
            self.blank(true);
            nodes.push(self.command()?);
        }
        let node = if nodes.len() == 1 { nodes.pop()? } else { Node::Pipe(nodes) };
        Some(if is_negated { Node::Not(Box::new(node)) } else { node })
    }

    fn command(&mut self) -> Option<Node> {
        self.commands += 1;
        if self.commands > MOST_COMMANDS {
            return None;
        }
        self.blank(false);
        if self.peek() == b'(' && !self.begins("((") {
            self.at += 1;
            let node = self.list(&[])?;
            let is_closed = self.take(")");
            self.redirects();
            return is_closed.then(|| Node::Subshell(Box::new(node)));
        }
        let node = match self.keyword() {
            b"{" => {
                self.at += 1;
                let node = self.list(&["}"])?;
                self.take_keyword("}").then_some(node)?
            }
            b"if" => self.condition()?,
            b"while" | b"until" => {
                self.at += 5;
                let condition = self.list(&["do"])?;
                let body = self.body()?;
                Node::Loop(Some(Box::new(condition)), Box::new(body))
            }
            b"for" | b"select" => {
                while !self.is_end() && !matches!(self.peek(), b';' | b'\n') {
                    self.skip_piece();
                }
                self.blank(true);
                self.take(";");
                Node::Loop(None, Box::new(self.body()?))
            }
            b"case" => self.cases()?,
            b"function" => {
                self.at += "function".len();
                self.blank(false);
                self.at += self.keyword().len();
                self.take("()");
                self.blank(true);
                Node::Function(Box::new(self.command()?))
            }
            b"then" | b"else" | b"elif" | b"fi" | b"do" | b"done" | b"esac" | b"}" => return None,
            _ => return self.simple(),
        };
        self.redirects();
        Some(node)
    }

    fn condition(&mut self) -> Option<Node> {
        let mut branches = Vec::new();
        self.at += 2;
        loop {
            let condition = self.list(&["then"])?;
            self.take_keyword("then").then_some(())?;
            let body = self.list(&["elif", "else", "fi"])?;
            branches.push((condition, body));
            if branches.len() > MOST_LEAVES {
                return None;
            }
            if self.take_keyword("fi") {
                return Some(Node::If(branches, None));
            }
            if self.take_keyword("else") {
                let otherwise = self.list(&["fi"])?;
                self.take_keyword("fi").then_some(())?;
                return Some(Node::If(branches, Some(Box::new(otherwise))));
            }
            self.take_keyword("elif").then_some(())?;
        }
    }

    fn body(&mut self) -> Option<Node> {
        self.blank(true);
        self.take_keyword("do").then_some(())?;
        let body = self.list(&["done"])?;
        self.take_keyword("done").then_some(body)
    }

    fn cases(&mut self) -> Option<Node> {
        while !self.is_end() && !self.is_keyword(&["in"]) {
            self.skip_piece();
        }
        self.take_keyword("in").then_some(())?;
        let mut arms = Vec::new();
        loop {
            self.blank(true);
            if self.take_keyword("esac") {
                return Some(Node::Case(arms));
            }
            self.take("(");
            while !self.is_end() && self.peek() != b')' {
                self.skip_piece();
            }
            self.take(")").then_some(())?;
            arms.push(self.list(&["esac"])?);
            while self.take(";") || self.take("&") {}
        }
    }

    /// Reads a simple command.
    fn simple(&mut self) -> Option<Node> {
        let start = self.at;
        if self.begins("((") || self.is_keyword(&["[["]) {
            let end = if self.begins("((") { "))" } else { "]]" };
            while !self.is_end() && !self.take(end) {
                self.skip_piece();
            }
        }
        loop {
            self.blank(false);
            match self.peek() {
                _ if self.is_end() => break,
                b'\n' | b';' | b'|' | b')' => break,
                b'&' if self.begins("&>") => self.redirect(),
                b'&' => break,
                b'<' | b'>' if !self.begins("<(") && !self.begins(">(") => self.redirect(),
                b'(' if self.begins("()") || self.begins("( )") => {
                    self.at += if self.begins("()") { 2 } else { 3 };
                    self.blank(true);
                    return Some(Node::Function(Box::new(self.command()?)));
                }
                b'(' => return None,
                _ => self.word(),
            }
        }
        if self.at == start || self.leaves.len() == MOST_LEAVES {
            return None;
        }
        self.leaves.push(start..self.at);
        Some(Node::Leaf(self.leaves.len() - 1))
    }

    fn redirects(&mut self) {
        loop {
            self.blank(false);
            let has_number = self.peek().is_ascii_digit()
                && self.bytes.get(self.at + 1).is_some_and(|byte| matches!(byte, b'<' | b'>'));
            match self.peek() {
                _ if has_number => self.at += 1,
                b'<' | b'>' => self.redirect(),
                b'&' if self.begins("&>") => self.redirect(),
                _ => return,
            }
        }
    }

    /// Reads a redirection with its target.
    fn redirect(&mut self) {
        self.take("&");
        let is_heredoc = self.begins("<<") && !self.begins("<<<");
        while matches!(self.peek(), b'<' | b'>') && !self.begins("<(") && !self.begins(">(") {
            self.at += 1;
        }
        let has_tabs = is_heredoc && self.take("-");
        if !is_heredoc && !self.take("&") {
            self.take("|");
        }
        self.blank(false);
        let start = self.at;
        if !self.is_end() && !b"\n;|&)".contains(&self.peek()) {
            self.word();
        }
        if is_heredoc {
            let quotes = |byte: &u8| !matches!(byte, b'\'' | b'"' | b'\\');
            let delimiter = self.bytes[start..self.at].iter().copied().filter(quotes).collect();
            self.heredocs.push((delimiter, has_tabs));
        }
    }

    /// Reads a word up to what ends one.
    fn word(&mut self) {
        let start = self.at;
        while !self.is_end() {
            match self.peek() {
                b' ' | b'\t' | b'\r' | b'\n' => break,
                b';' | b'|' | b'&' | b')' => break,
                b'<' | b'>' if !matches!(self.bytes.get(self.at + 1), Some(b'(')) => break,
                // An array, or what `(` of a pattern begins.
                b'(' if self.at == start || self.bytes[self.at - 1] != b'=' => break,
                _ => self.skip_piece(),
            }
        }
    }

    /// Skips one character, or what quotes and parentheses hold together.
    fn skip_piece(&mut self) {
        match self.peek() {
            b'\\' => self.at += 2,
            b'\'' => self.skip_until(b'\''),
            b'`' => self.skip_until(b'`'),
            b'"' => {
                self.at += 1;
                while !self.is_end() && self.peek() != b'"' {
                    match self.peek() {
                        b'$' if self.begins("$(") => self.skip_piece(),
                        b'\\' => self.at += 2,
                        b'`' => self.skip_until(b'`'),
                        _ => self.at += 1,
                    }
                }
                self.at += 1;
            }
            b'$' if self.begins("$(") || self.begins("${") => {
                self.at += 1;
                self.skip_brackets();
            }
            b'<' | b'>' if self.begins("<(") || self.begins(">(") => {
                self.at += 1;
                self.skip_brackets();
            }
            b'(' => self.skip_brackets(),
            _ => self.at += 1,
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn skip_until(&mut self, quote: u8) {
        self.at += 1;
        while !self.is_end() && self.peek() != quote {
            self.at += if quote == b'`' && self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.bytes.len());
    }

    /// Skips from an opening bracket to the one that closes it.
    fn skip_brackets(&mut self) {
        let close = if self.peek() == b'{' { b'}' } else { b')' };
        self.at += 1;
        self.depth += 1;
        while !self.is_end() && self.peek() != close && self.depth <= MOST_DEPTH {
            self.skip_piece();
        }
        self.depth -= 1;
        self.at = (self.at + 1).min(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a tree as text: leaves by the first word.
    fn shown(node: &Node, script: &str, tree: &Tree) -> String {
        let one = |node: &Node| shown(node, script, tree);
        let all = |nodes: &[Node], mark: &str| nodes.iter().map(&one).collect::<Vec<_>>().join(mark);
        match node {
            Node::Leaf(leaf) => {
                script[tree.leaves[*leaf].clone()].split_whitespace().next().unwrap_or_default().to_owned()
            }
            Node::Not(node) => format!("!{}", one(node)),
            Node::Pipe(nodes) => all(nodes, "|"),
            Node::And(left, right) => format!("{}&&{}", one(left), one(right)),
            Node::Or(left, right) => format!("{}||{}", one(left), one(right)),
            Node::List(statements) => {
                let one = |at: &Statement| one(&at.node) + if at.is_background { "&" } else { "" };
                statements.iter().map(one).collect::<Vec<_>>().join(";")
            }
            Node::Subshell(node) => format!("({})", one(node)),
            Node::If(branches, otherwise) => {
                let branches: Vec<String> = branches
                    .iter()
                    .map(|(condition, body)| format!("{}?{}", one(condition), one(body)))
                    .collect();
                let otherwise = otherwise.as_ref().map(|node| format!(":{}", one(node))).unwrap_or_default();
                format!("[{}{otherwise}]", branches.join(":"))
            }
            Node::Loop(condition, body) => {
                let condition = condition.as_ref().map(|node| one(node)).unwrap_or_default();
                format!("{condition}*{}", one(body))
            }
            Node::Case(arms) => format!("<{}>", all(arms, "/")),
            Node::Function(node) => format!("fn {}", one(node)),
        }
    }

    #[test]
    fn what_joins_commands_is_read() {
        for (script, expected) in [
            ("a", "a"),
            ("a 2>&1 | tail -5", "a|tail"),
            ("a && b || c; d & e", "a&&b||c;d&;e"),
            ("a |& tee 'x | y; z' && b \"$(c; d)\" # e && f", "a|tee&&b"),
            ("(cd x && a) > log 2>&1 || { b; exit 1; }", "(cd&&a)||b;exit"),
            ("if ! a; then b; elif c; then d; else e; fi; f", "[!a?b:c?d:e];f"),
            ("for x in 1 2; do a $x || break; done | tail", "*a||break|tail"),
            ("while ! a; do sleep 1; done && b", "!a*sleep&&b"),
            ("case $x in a|b) c;; *) d && e ;; esac\nf", "<c/d&&e>;f"),
            ("cat > f <<'E'\nif (( broken\nE\na && \\\n  b", "cat;a&&b"),
            ("run() { a; }; run &> log", "fn a;run"),
            ("x=$(a | b) && y=(1 2 3) && [[ -f a && $b ]] && c", "x=$(a&&y=(1&&[[&&c"),
            ("a <(b) >(c) ${d:-;} `e; f` \\; $'g;h'", "a"),
            ("a&&b >/dev/null&c", "a&&b&;c"),
            // A form feed is no blank for a shell.
            ("cd C:\u{c}rontend; a", "cd;a"),
            ("", ""),
        ] {
            let tree = Tree::read(script).unwrap_or_else(|| panic!("no tree: {script}"));
            assert_eq!(shown(&tree.root, script, &tree), expected, "{script}");
        }
    }

    #[test]
    fn what_is_not_understood_gives_no_tree() {
        for script in [
            "if a; then b",
            "a )",
            "for x in 1; a",
            "a && ;",
            &"( ".repeat(100),
            "x (y) z",
            &"a()".repeat(20_000),
            &"function a ".repeat(20_000),
            &"()&&".repeat(20_000),
        ] {
            assert!(Tree::read(script).is_none(), "{script}");
        }
    }
}
