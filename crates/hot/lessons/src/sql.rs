//! The SQL statements that a command hands to a database client, each on one line of upper-case text without comments
//! and without the contents of string literals.

use crate::pattern::Argument;
use shell::Command;

/// The most bytes of SQL of one command that are looked at.
const MAX_BYTES: usize = 64 * 1024;
/// The most statements of one command that are looked at.
const MAX_STATEMENTS: usize = 256;

/// How a client is handed statements, and how it reads them.
#[derive(Clone, Copy, Debug)]
struct Client {
    /// Options whose value is SQL.
    options: &'static str,
    /// From which word on, from 0, words are SQL; `None` when no word is.
    words_from: Option<usize>,
    dialect: Dialect,
}

/// How literals, names and comments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// Double quotes are around names.
    Standard,
    /// Double quotes are around texts, a backslash escapes, `#` begins a comment.
    MySql,
}

/// Returns how a program is handed statements; `None` when it is no client.
fn client(program: &str, words: &[Argument<'_>]) -> Option<Client> {
    use Dialect::{MySql, Standard};
    let word = |place: usize| words.get(place).map_or("", |word| word.text);
    let (options, words_from, dialect) = match program {
        "psql" | "pgcli" | "ysqlsh" | "usql" | "vsql" => ("-c --command", None, Standard),
        "mysql" | "mariadb" | "mycli" | "mysqlsh" => ("-e --execute --sql", None, MySql),
        "sqlite3" | "litecli" => ("-cmd --cmd -e --execute", Some(1), Standard),
        "sqlite" | "libsql" => ("-cmd", Some(1), Standard),
        "duckdb" => ("-c -s -cmd", Some(1), Standard),
        "sqlcmd" | "mssql-cli" | "osql" => ("-Q -q --query", None, Standard),
        "clickhouse-client" | "clickhouse-local" => ("-q --query", None, Standard),
        "clickhouse" if matches!(word(0), "client" | "local") => ("-q --query", None, Standard),
        "cockroach" if word(0) == "sql" => ("-e --execute", None, Standard),
        "bq" if word(0) == "query" => ("", Some(1), MySql),
        "snowsql" => ("-q --query", None, Standard),
        "snow" if word(0) == "sql" => ("-q --query", None, Standard),
        "dolt" if word(0) == "sql" => ("-q --query", None, MySql),
        "wrangler" if word(0) == "d1" && word(1) == "execute" => ("--command", None, Standard),
        "supabase" if word(0) == "db" => ("--sql --query", Some(2), Standard),
        "turso" if word(0) == "db" && word(1) == "shell" => ("", Some(3), Standard),
        "heroku" if word(0) == "pg:psql" => ("-c --command", None, Standard),
        "trino" | "presto" => ("--execute", None, Standard),
        "hive" | "beeline" | "spark-sql" => ("-e", None, MySql),
        "influx" => ("-execute", None, Standard),
        "impala-shell" => ("-q --query", None, MySql),
        "cqlsh" => ("-e --execute", None, Standard),
        "gcloud" if word(0) == "spanner" => ("--sql", None, Standard),
        "aws" if matches!(word(0), "rds-data" | "redshift-data") => ("--sql --sqls", None, Standard),
        "aws" if word(0) == "athena" => ("--query-string", None, Standard),
        "prisma" if word(0) == "db" && word(1) == "execute" => ("", None, Standard),
        "sqlplus" | "isql" => ("", None, Standard),
        _ => return None,
    };
    Some(Client { options, words_from, dialect })
}

/// Says whether a program may be a client: what else it needs are words.
pub(crate) fn may_be_client(program: &str) -> bool {
    let needs_words = matches!(
        program,
        "aws"
            | "bq"
            | "clickhouse"
            | "cockroach"
            | "dolt"
            | "gcloud"
            | "heroku"
            | "prisma"
            | "snow"
            | "supabase"
            | "turso"
            | "wrangler"
    );
    needs_words || client(program, &[]).is_some()
}

/// Returns the statements of a command. `words` are its words that are no flags.
pub(crate) fn statements(
    command: &Command,
    arguments: &[Argument<'_>],
    words: &[Argument<'_>],
) -> Vec<String> {
    let Some(client) = client(command.program(), words) else { return Vec::new() };
    let mut found = Found { statements: Vec::new(), room: MAX_BYTES, dialect: client.dialect };
    for (place, argument) in arguments.iter().enumerate() {
        let is_option = |option: &&str| !option.is_empty() && argument.text.starts_with(*option);
        let Some(option) = client.options.split(' ').filter(is_option).max_by_key(|option| option.len())
        else {
            if client.options.split(' ').any(|option| ends_bundle(argument.text, option)) {
                found.take(arguments.get(place + 1).map_or("", |next| next.text));
            }
            continue;
        };
        let rest = &argument.text[option.len()..];
        let is_short = option.len() == 2;
        match rest.strip_prefix('=') {
            Some(text) => found.take(text),
            None if rest.is_empty() => found.take(arguments.get(place + 1).map_or("", |next| next.text)),
            None if is_short => found.take(rest),
            None => {}
        }
    }
    if let Some(from) = client.words_from {
        words.iter().skip(from).for_each(|word| found.take(word.text));
    }
    found.take(command.input.as_deref().unwrap_or_default());
    found.statements
}

/// The most letters of a bundle of short options.
const MAX_BUNDLE: usize = 6;

/// Says whether a word is a bundle of short options that ends in this one: `-Atc` in `-c`.
fn ends_bundle(word: &str, option: &str) -> bool {
    let (Some(bundle), Some(letter)) = (word.strip_prefix('-'), option.strip_prefix('-')) else {
        return false;
    };
    let is_bundle = bundle.len() <= MAX_BUNDLE && bundle.bytes().all(|byte| byte.is_ascii_alphanumeric());
    letter.len() == 1 && is_bundle && bundle.ends_with(letter)
}

struct Found {
    statements: Vec<String>,
    room: usize,
    dialect: Dialect,
}

impl Found {
    fn take(&mut self, script: &str) {
        let script = &script[..script.floor_char_boundary(self.room)];
        self.room -= script.len();
        split(script, self.dialect, &mut self.statements);
    }
}

/// Adds the statements of a script. Each byte is looked at once.
fn split(script: &str, dialect: Dialect, statements: &mut Vec<String>) {
    let bytes = script.as_bytes();
    let mut text = Statement::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &script[at..];
        match byte {
            b';' => {
                text.finish(statements);
                at += 1;
            }
            b'-' if rest.starts_with("--") && is_comment(rest.as_bytes(), dialect) => at += line_end(rest),
            b'#' if dialect == Dialect::MySql => at += line_end(rest),
            b'/' if rest.starts_with("/*") => at += text.take_comment(rest, dialect),
            b'*' if rest.starts_with("*/") => {
                // The end of a comment that MySQL runs.
                text.blank();
                at += 2;
            }
            b'\'' => {
                let escapes = dialect == Dialect::MySql || text.ends_with_escape_mark();
                at += quoted(rest, '\'', escapes).0;
                text.push_str("''");
            }
            b'"' if dialect == Dialect::MySql => {
                at += quoted(rest, '"', true).0;
                text.push_str("\"\"");
            }
            b'"' | b'`' => {
                let (length, name) = quoted(rest, byte.into(), false);
                text.push_name(name);
                at += length;
            }
            b'[' if dialect == Dialect::Standard && is_bracketed_name(rest) => {
                let (length, name) = quoted(rest, ']', false);
                text.push_name(name);
                at += length;
            }
            b'$' if dollar_tag(rest).is_some() => {
                let tag = dollar_tag(rest).unwrap_or_default();
                let body = &rest[tag.len()..];
                at += body.find(tag).map_or(rest.len(), |end| end + 2 * tag.len());
                text.push_str("''");
            }
            // What a client says to itself: `\c db`, `.tables`.
            b'\\' | b'.' if text.is_empty() => at += line_end(rest),
            b'\n' if is_go(text.last_line()) => {
                text.drop_last_line();
                text.finish(statements);
                at += 1;
            }
            byte if byte.is_ascii_whitespace() => {
                if byte == b'\n' {
                    text.begin_line();
                }
                text.blank();
                at += 1;
            }
            _ => {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                text.push_str(&rest[..length]);
                at += length;
            }
        }
        if statements.len() >= MAX_STATEMENTS {
            return;
        }
    }
    if is_go(text.last_line()) {
        text.drop_last_line();
    }
    text.finish(statements);
}

/// A statement that is being read.
#[derive(Default)]
struct Statement {
    text: String,
    /// Where its last line begins.
    line: usize,
}

impl Statement {
    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a name in one word: what it holds is no SQL.
    fn push_name(&mut self, name: &str) {
        let is_name = |character: char| character.is_alphanumeric() || "_$-".contains(character);
        self.text.extend(name.chars().map(|character| if is_name(character) { character } else { '_' }));
    }

    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    fn begin_line(&mut self) {
        self.blank();
        self.line = self.text.len();
    }

    fn last_line(&self) -> &str {
        self.text.get(self.line..).unwrap_or_default()
    }

    fn drop_last_line(&mut self) {
        self.text.truncate(self.line);
    }

    /// Returns whether an `E` of its own comes before a literal.
    fn ends_with_escape_mark(&self) -> bool {
        let bytes = self.text.as_bytes();
        let is_mark = bytes.last().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'e'));
        let before = bytes.len().checked_sub(2).map(|place| bytes[place]);
        is_mark && before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')
    }

    /// Passes over a comment, and returns its length. MySQL runs what is in `/*! … */`.
    fn take_comment(&mut self, rest: &str, dialect: Dialect) -> usize {
        self.blank();
        if dialect == Dialect::MySql && rest.starts_with("/*!") {
            return 3 + rest[3..].bytes().take_while(u8::is_ascii_digit).count();
        }
        // Comments may hold comments in some dialects and not in others: the first end counts.
        rest[2..].find("*/").map_or(rest.len(), |end| end + 4)
    }

    fn finish(&mut self, statements: &mut Vec<String>) {
        let mut text = std::mem::take(&mut self.text);
        self.line = 0;
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            statements.push(text.to_uppercase());
        }
    }
}

/// Returns the length of what is in quotes, with them, and its inside. A doubled quote is one of the inside.
fn quoted(rest: &str, quote: char, escapes: bool) -> (usize, &str) {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        if escapes && byte == b'\\' {
            at += 2;
        } else if byte == quote as u8 {
            if bytes.get(at + 1) != Some(&byte) {
                return (at + 1, &rest[1..at]);
            }
            at += 2;
        } else {
            at += 1;
        }
    }
    (rest.len(), rest.get(1..).unwrap_or_default())
}

/// Returns whether two dashes begin a comment: MySQL wants a blank behind them.
fn is_comment(rest: &[u8], dialect: Dialect) -> bool {
    dialect != Dialect::MySql || rest.get(2).is_none_or(u8::is_ascii_whitespace)
}

/// Returns whether a bracket begins a name, not a subscript or a list.
fn is_bracketed_name(rest: &str) -> bool {
    rest[1..].starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn line_end(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// Returns `$$` or `$tag$` when a text begins with it.
fn dollar_tag(rest: &str) -> Option<&str> {
    let end = rest[1..].find('$')? + 2;
    let tag = &rest[1..end - 1];
    let is_tag = tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !tag.starts_with(|first: char| first.is_ascii_digit());
    is_tag.then(|| &rest[..end])
}

/// Says whether a line ends a batch of statements.
fn is_go(line: &str) -> bool {
    line.trim().eq_ignore_ascii_case("go")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Arguments;

    fn of(script: &str) -> Vec<String> {
        let commands = shell::commands(script);
        let statements = |command: &Command| {
            let arguments: Vec<Argument<'_>> = command.words.iter().skip(1).map(Argument::of).collect();
            let sorted = Arguments::new(command.program(), arguments.clone());
            super::statements(command, &arguments, sorted.words())
        };
        commands.iter().flat_map(statements).collect()
    }

    fn split_as(dialect: Dialect, script: &str) -> Vec<String> {
        let mut statements = Vec::new();
        split(script, dialect, &mut statements);
        statements
    }

    #[test]
    fn item_14_statements_are_where_each_client_takes_them() {
        for (script, expected) in [
            ("psql -c 'drop table users'", "DROP TABLE USERS"),
            ("psql -Atc 'drop table users'", "DROP TABLE USERS"),
            ("mysql -sNe 'drop table users' app", "DROP TABLE USERS"),
            ("influx -execute 'drop database x'", "DROP DATABASE X"),
            ("psql app --command='drop table users;'", "DROP TABLE USERS"),
            ("mysql -u root -e\"drop table users\" app", "DROP TABLE USERS"),
            ("sqlite3 app.db 'drop table users'", "DROP TABLE USERS"),
            ("sqlite3 -cmd '.mode box' app.db 'drop table users'", "DROP TABLE USERS"),
            ("sqlcmd -S db -Q 'drop table users'", "DROP TABLE USERS"),
            ("clickhouse-client --query 'drop table users'", "DROP TABLE USERS"),
            ("cockroach sql --insecure -e 'drop table users'", "DROP TABLE USERS"),
            ("bq query --use_legacy_sql=false 'drop table users'", "DROP TABLE USERS"),
            ("psql app <<E\ndrop table users;\nE", "DROP TABLE USERS"),
            ("psql <<< 'drop table users'", "DROP TABLE USERS"),
            ("echo 'drop table users' | mysql app", "DROP TABLE USERS"),
            ("wrangler d1 execute app --remote --command 'drop table users'", "DROP TABLE USERS"),
        ] {
            assert_eq!(of(script), [expected], "{script}");
        }
        for script in
            ["echo 'drop table users'", "psql app", "cockroach node -e 'drop table users'", "psql -f x.sql"]
        {
            assert!(of(script).is_empty(), "{script}");
        }
    }

    #[test]
    fn item_22_what_is_in_a_literal_is_no_statement() {
        for (dialect, script, expected) in [
            (Dialect::MySql, "insert into log values ('truncate table x')", "INSERT INTO LOG VALUES ('')"),
            (Dialect::Standard, "select \"delete from users\"", "SELECT DELETE_FROM_USERS"),
            (Dialect::MySql, "select \"it\\\"s; drop\", 'don''t; drop'", "SELECT \"\", ''"),
            (Dialect::Standard, "select 'a\\'; drop table x", "SELECT ''|DROP TABLE X"),
            (Dialect::Standard, "select E'a\\'; drop' from t", "SELECT E'' FROM T"),
            (Dialect::Standard, "do $$ begin drop table x; end $$; select 1", "DO ''|SELECT 1"),
            (Dialect::Standard, "do $a$ $$ ; $a$", "DO ''"),
            (Dialect::Standard, "select $1, $2", "SELECT $1, $2"),
            (Dialect::Standard, "drop table \"users\", `b`, [c d]", "DROP TABLE USERS, B, C_D"),
            (Dialect::Standard, "select a[1]", "SELECT A[1]"),
        ] {
            assert_eq!(split_as(dialect, script).join("|"), expected, "{script}");
        }
    }

    #[test]
    fn comments_and_white_space_are_taken_out() {
        for (dialect, script, expected) in [
            (Dialect::Standard, "delete -- where x\n  from\tt", "DELETE FROM T"),
            (Dialect::Standard, "delete/* where */from t /* open", "DELETE FROM T"),
            (Dialect::MySql, "delete from t # where x\n; select 5--1", "DELETE FROM T|SELECT 5--1"),
            (Dialect::MySql, "/*!40000 drop table x */; select 1", "DROP TABLE X|SELECT 1"),
            (Dialect::Standard, "select a #> b", "SELECT A #> B"),
            (Dialect::Standard, "\\c app\n.tables\ndrop table x;", "DROP TABLE X"),
            (Dialect::Standard, "use app\ngo\ndrop table x\nGO\n", "USE APP|DROP TABLE X"),
            (Dialect::Standard, ";; ;", ""),
        ] {
            assert_eq!(split_as(dialect, script).join("|"), expected, "{script}");
        }
    }

    #[test]
    fn a_large_script_is_cut_and_takes_no_longer_than_its_length() {
        for odd in ["'", "\"", "`", "$a", "$$", "/*", "--", "[a", "$$a$b", "é'", "\\", "E'\\", ";", "\n"] {
            let script = odd.repeat(MAX_BYTES);
            let mut found = Found { statements: Vec::new(), room: MAX_BYTES, dialect: Dialect::Standard };
            found.take(&script);
            found.take("x");
            assert!(found.statements.len() <= MAX_STATEMENTS && found.room < odd.len(), "{odd}");
        }
    }
}
