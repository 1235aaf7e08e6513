//! `wyren edit`: changes the title, type or text of an entry. The observation that the entry was made of stays as it was; the
//! change is another one, and goes with it when it is forgotten.

use crate::database::{self, Look};
use crate::exit::{self, Ending};
use crate::terminal::{self, STRONG};
use crate::{editor, items, person};
use answers::notes;
use anyhow::{Context as _, Result, bail};
use base::{Env, Paths, files};
use clap::Args;
use journal::Entry;
use journal::find::Item;
use journal::write::{Amendment, MAX_TITLE_CHARS};
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use text::{privacy, sanitize};

const EXAMPLES: &str = "\
Examples:
  wyren edit 3f9k2m1x                                 in $VISUAL or $EDITOR
  wyren edit 3f9k2m1x --title 'Prices are integer cents' --type decision
  wyren edit 3f9k2m1x --file draft.md                 from a file as the editor shows it";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The id of an entry, or its beginning where no other id begins alike.
    #[arg(value_name = "ID")]
    id: String,
    /// Change the title.
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    title: Option<String>,
    /// Change the type.
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "file")]
    kind: Option<String>,
    /// Change the text below the title.
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    text: Option<String>,
    /// Take all of it from this file: `title: …`, `type: …`, an empty line, the text.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, env: &Env, paths: &Paths) -> Result<()> {
    person::must_be_here(env)?;
    let mut store = database::open_drained(env, paths, Look::Quick)?;
    let entry = match items::find(&store, &arguments.id, "; nothing was changed")? {
        Item::Entry(entry) => entry,
        Item::Summary(summary) => {
            let message = format!("wyren: {} is a summary; only entries can be edited", summary.id);
            return Err(Ending::failed(message).into());
        }
    };
    let Arguments { title, kind, text, file, .. } = arguments;
    let change = if let Some(file) = file {
        let text = files::read_text_followed(file, files::cap::LESSON)
            .with_context(|| format!("could not read {}", file.display()))?;
        let draft = Draft::parse(&text, &entry.kind);
        draft.map_err(|mistake| anyhow::anyhow!("{}: {mistake}; nothing was changed", file.display()))?
    } else if title.is_some() || kind.is_some() || text.is_some() {
        let present = Draft::of(&entry);
        let draft = Draft {
            title: title.clone().unwrap_or(present.title),
            kind: kind.clone().unwrap_or(present.kind),
            text: text.clone().unwrap_or(present.text),
        };
        draft
            .checked(&entry.kind)
            .map_err(|mistake| Ending::misused(format!("wyren: {mistake}; nothing was changed")))?
    } else {
        match in_editor(&entry, env, paths)? {
            Some(draft) => draft,
            None => return Ok(writeln!(terminal::errors(), "Nothing was changed.")?),
        }
    };
    let change = change.against(&entry);
    if change != Amendment::default() {
        notes::amend(&store, paths, &entry, &change).map_err(exit::of)?;
        database::drain_now(&mut store, paths);
    }
    let after = match items::find(&store, &entry.id, "")? {
        Item::Entry(after) => after,
        Item::Summary(_) => entry,
    };
    let mut output = terminal::output();
    if arguments.json {
        let is_changed = change != Amendment::default();
        let facts = json!({"id": after.id, "title": after.title, "type": after.kind, "text": after.detail.narrative, "changed": is_changed});
        return Ok(writeln!(output, "{facts:#}")?);
    }
    let done = if change == Amendment::default() { "Nothing to change in" } else { "Changed" };
    let title = sanitize::one_line(&after.title, MAX_TITLE_CHARS);
    Ok(writeln!(output, "{done} {STRONG}{}{STRONG:#}: {title}", after.id)?)
}

/// What can be edited of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Draft {
    title: String,
    kind: String,
    text: String,
}

impl Draft {
    fn of(entry: &Entry) -> Self {
        Self {
            title: entry.title.clone(),
            kind: entry.kind.clone(),
            text: entry.detail.narrative.trim().to_owned(),
        }
    }

    fn render(&self) -> String {
        format!(
            "title: {}\ntype: {}\n\n{}\n",
            sanitize::one_line(&self.title, usize::MAX),
            self.kind,
            self.text
        )
    }

    /// Reads a draft of an entry of this type, or says what is wrong with it.
    fn parse(text: &str, present: &str) -> Result<Self, String> {
        let text = text.replace("\r\n", "\n");
        let (head, body) = text.split_once("\n\n").unwrap_or((text.trim_end(), ""));
        let (mut title, mut kind) = (None, None);
        for line in head.lines().filter(|line| !line.trim().is_empty()) {
            match line.split_once(':').map(|(name, value)| (name.trim(), value.trim().to_owned())) {
                Some(("title", value)) => title = Some(value),
                Some(("type", value)) => kind = Some(value),
                _ => {
                    let line = sanitize::one_line(line, 60);
                    return Err(format!(
                        "{line:?} is neither `title: …` nor `type: …`; the text comes after an empty line"
                    ));
                }
            }
        }
        let draft = Self {
            title: title.ok_or("`title: …` is missing")?,
            kind: kind.ok_or("`type: …` is missing")?,
            text: body.trim().to_owned(),
        };
        draft.checked(present)
    }

    /// A type that is not ours may stay.
    fn checked(self, present: &str) -> Result<Self, String> {
        let length = self.title.chars().count();
        if self.title.trim().is_empty() {
            return Err("the title is empty".to_owned());
        }
        if self.title.contains('\n') {
            return Err("the title has more than one line".to_owned());
        }
        if length > MAX_TITLE_CHARS {
            return Err(format!("the title has {length} characters, {MAX_TITLE_CHARS} at most fit"));
        }
        if privacy::strip(&self.title).wholly_private {
            return Err("all of the title is marked as private".to_owned());
        }
        if self.kind != present {
            notes::kind(&self.kind)?;
        }
        Ok(self)
    }

    /// Returns what it changes about an entry.
    fn against(self, entry: &Entry) -> Amendment {
        let before = Self::of(entry);
        Amendment {
            pinned: None,
            title: (self.title != before.title).then_some(self.title),
            kind: (self.kind != before.kind).then_some(self.kind),
            text: (self.text != before.text).then_some(self.text),
        }
    }
}

/// Has the entry edited; `None` when nothing was changed. A draft with a mistake is kept.
fn in_editor(entry: &Entry, env: &Env, paths: &Paths) -> Result<Option<Draft>> {
    let Some(editor) = editor::of(env) else {
        bail!("no editor: set $EDITOR, or use --title, --type, --text or --file");
    };
    let before = Draft::of(entry).render();
    let file = paths.cache().join("drafts").join(format!("entry-{}.md", entry.id));
    files::write_atomic(&file, before.as_bytes())
        .with_context(|| format!("could not write {}", file.display()))?;
    editor::open(&editor, &file)?;
    let text = files::read_text_followed(&file, files::cap::LESSON)
        .with_context(|| format!("could not read {}", file.display()))?;
    let draft = if text == before { Ok(None) } else { Draft::parse(&text, &entry.kind).map(Some) };
    match draft {
        Ok(draft) => {
            let _ = fs::remove_file(&file);
            Ok(draft)
        }
        Err(mistake) => {
            let (id, file) = (&entry.id, file.display());
            let message = format!(
                "wyren: {mistake}. The entry was left as it is; your draft is {file}: fix it and run `wyren edit {id} --file {file}`"
            );
            Err(Ending::failed(message).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_reads_as_it_is_shown_and_says_what_is_wrong() {
        let draft = Draft { title: "Prices: cents".into(), kind: "decision".into(), text: "a\n\nb".into() };
        assert_eq!(Draft::parse(&draft.render(), ""), Ok(draft.clone()));
        let bare = Draft { text: String::new(), ..draft };
        assert_eq!(Draft::parse(&bare.render(), ""), Ok(bare));
        assert!(Draft::parse("title: a\ntype: how-to\n", "how-to").is_ok());
        for (text, mistake) in [
            ("", "`title: …` is missing"),
            ("title: a\n\nb", "`type: …` is missing"),
            ("title:\ntype: fix\n", "the title is empty"),
            ("title: a\ntype: frob\n", "\"frob\" is no type"),
            ("title: a\ntype: fix\nmore\n\nb", "\"more\" is neither"),
            (&format!("title: {}\ntype: fix\n", "x".repeat(200)), "200 characters"),
        ] {
            let found = Draft::parse(text, "").unwrap_err();
            assert!(found.contains(mistake), "{text:?}: {found}");
        }
    }
}
