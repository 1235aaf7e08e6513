//! Documents of lessons: those that ship, the user's own, and a project's, which are data of others.

use super::{SHIPPED, letter, lines, team};
use crate::document::{Document, Kind};
use base::Paths;
use lessons::Lesson;
use lessons::layers::{Layer, Source};
use std::path::PathBuf;
use text::redact;

/// Returns the documents of the lessons at a place.
pub(super) fn documents(paths: &Paths, layer: Layer, place: PathBuf, project: &str) -> Vec<Document> {
    let (lessons, _) = Source::at(paths, layer, place).read();
    lessons.iter().map(|lesson| document(lesson, layer, project)).collect()
}

fn document(lesson: &Lesson, layer: Layer, project: &str) -> Document {
    let clean = |text: &str| redact::redact(text).into_owned();
    // What to run and what it warns of look alike: both are commands.
    let labelled = |label: &str, command: &str| format!("{label}: {command}");
    let instead = lesson.instead.as_deref().filter(|command| !command.trim().is_empty());
    let commands: Vec<String> =
        lesson.trigger.commands.iter().map(|command| labelled("applies to", command)).collect();
    let tags = lesson.tags.join(", ");
    let body = lines([
        &*clean(&lesson.problem),
        &*clean(&lesson.solution),
        &*instead.map(|command| labelled("instead", command)).unwrap_or_default(),
        &*commands.join("\n"),
        &*tags,
        // A lesson's name is what people call it.
        &*lesson.slug,
    ]);
    Document {
        key: team::key(letter::LESSON, project, layer.name(), &lesson.slug),
        kind: Some(Kind::Lesson),
        class: lesson.kind.name().to_owned(),
        project: if layer == Layer::Shipped { SHIPPED.to_owned() } else { project.to_owned() },
        title: clean(&lesson.summary),
        body,
        ..Document::default()
    }
}
