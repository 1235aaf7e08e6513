//! Keeps candidates: one file for each mistake, and where it was seen.

use crate::candidate::{self, Candidate, Fact, Scoring, Tier};
use crate::quiet;
use lessons::Lesson;
use lessons::layers::Layer;
use lessons_admin::catalogue::{Catalogue, Item, Places, State};
use lessons_admin::change::Change;
use lessons_admin::{similar, slug};
use store::sightings::{self, Sighting};
use store::{Error as StoreError, Store};

/// What a second session adds to the confidence, in percent.
const SEEN_AGAIN: u8 = 10;

/// What could not be kept, and why.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Lessons(#[from] lessons_admin::Error),
    #[error(transparent)]
    File(#[from] base::files::Error),
    /// Another process searches.
    #[error("another scan is running; try again when it has finished")]
    Busy,
    /// A folder cannot be listed.
    #[error(transparent)]
    Transcript(#[from] transcript::Error),
}

/// What became of candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The names of candidates that are new.
    pub new: Vec<String>,
    /// The names of lessons whose mistake was seen in another session.
    pub again: Vec<String>,
    /// What is like a lesson that was archived: it stays away.
    pub archived: usize,
    /// What a full scan left for the next: there are too many at once.
    pub over: usize,
    /// Candidates that a model withdrew.
    pub withdrawn: Vec<String>,
    /// Candidates that were put to work without a person's word, as the user's setting has it.
    pub promoted: Vec<String>,
    /// Facts about a project that are new.
    pub facts: usize,
}

impl Kept {
    fn add(&mut self, other: Self) {
        self.new.extend(other.new);
        self.again.extend(other.again);
        self.archived += other.archived;
        self.over += other.over;
        self.withdrawn.extend(other.withdrawn);
        self.promoted.extend(other.promoted);
        self.facts += other.facts;
    }
}

/// Keeps candidates, up to a number of new ones.
pub struct Keeper<'a> {
    pub places: &'a Places,
    pub scoring: Scoring,
    /// Whether what a model reported and a second session showed is put to work at once.
    pub is_promoting: bool,
    /// How many more may be new.
    pub left: usize,
    pub kept: Kept,
}

impl Keeper<'_> {
    /// Keeps what one conversation gave. Returns whether all of it was kept: what is over the bound waits for the next scan.
    pub fn keep(
        &mut self,
        store: &mut Store,
        change: &mut Change<'_>,
        candidates: Vec<Candidate>,
        withdrawn: &[(String, String)],
    ) -> Result<bool, Error> {
        let mut kept = Kept::default();
        for candidate in candidates {
            self.keep_one(store, change, candidate, &mut kept)?;
        }
        for (session, beginning) in withdrawn {
            kept.withdrawn.extend(withdraw(store, change, session, beginning)?);
        }
        let is_all = kept.over == 0;
        self.kept.add(kept);
        Ok(is_all)
    }

    /// Keeps facts about projects until a person puts them into the team memory.
    pub fn keep_facts(&mut self, store: &mut Store, facts: Vec<Fact>) -> Result<(), Error> {
        for fact in facts {
            let digest = base::digest::sha256_hex(format!("{}\n{}", fact.project, fact.text).as_bytes());
            let sighting = Sighting {
                lesson: format!("fact-{}", &digest[..16]),
                session: fact.session,
                project: fact.project,
                at: fact.at,
                tier: sightings::FACT.to_owned(),
                failing: fact.text,
                fix: String::new(),
            };
            let is_new = store.write(|transaction| sightings::put(transaction, &sighting))?;
            self.kept.facts += usize::from(is_new);
        }
        Ok(())
    }

    fn keep_one(
        &mut self,
        store: &mut Store,
        change: &mut Change<'_>,
        found: Candidate,
        kept: &mut Kept,
    ) -> Result<(), Error> {
        let lesson = scoped(&found);
        let stays = stays(&found);
        let like = like(&change.catalogue.items, &lesson, stays).cloned();
        let (slug, is_candidate) = match &like {
            Some(item) if item.state == State::Archived => {
                kept.archived += 1;
                return Ok(());
            }
            Some(item) => {
                (item.lesson.slug.clone(), item.state == State::Candidate && item.layer == Layer::Personal)
            }
            None if self.left == 0 => {
                kept.over += 1;
                return Ok(());
            }
            None => {
                let is_taken =
                    |slug: &str| change.catalogue.items.iter().any(|item| item.lesson.slug == slug);
                (slug::free(&lesson.slug, is_taken), true)
            }
        };
        let known = sightings::counts(store.connection(), &slug)?;
        let sighting = Sighting {
            lesson: slug.clone(),
            session: found.session.clone(),
            project: found.project.clone(),
            at: found.at,
            tier: found.tier.name().to_owned(),
            failing: found.failing.clone(),
            fix: found.fix.clone(),
        };
        let is_new_sighting = store.write(|transaction| sightings::put(transaction, &sighting))?;
        let counts = sightings::counts(store.connection(), &slug)?;
        if like.is_none() {
            self.left -= 1;
            kept.new.push(slug.clone());
        } else if !is_new_sighting {
            return Ok(());
        } else {
            kept.again.push(slug.clone());
        }
        if !is_candidate {
            return Ok(());
        }
        // The file comes after the sighting: a process that is killed in between writes it with the next scan.
        let old = like.map(|item| item.lesson);
        let mut better = match old.clone() {
            Some(old) => merged(old, &lesson, found.tier),
            None => lesson,
        };
        better.slug = slug;
        if counts.projects > 1
            && !stays
            && quiet::disturbed(&Lesson { scope: None, ..better.clone() }).is_none()
        {
            better.scope = None;
        }
        if counts.sessions > 1 && known.sessions <= 1 {
            better.confidence = better.confidence.saturating_add(SEEN_AGAIN).min(100);
        }
        better.priority = self.scoring.priority(&better, found.tier, counts.sessions, counts.projects);
        let is_sure = better.source == "structured" && counts.sessions > 1;
        let slug = better.slug.clone();
        if old.as_ref() != Some(&better) {
            change.write_candidate(better)?;
        }
        if self.is_promoting && is_sure {
            match change.promote(&slug, Some(Layer::Personal), false) {
                Ok(_) => {
                    kept.promoted.push(slug);
                    change.catalogue = Catalogue::read(self.places);
                }
                // It waits for a person's word as the others do.
                Err(lessons_admin::Error::Refused(_) | lessons_admin::Error::Unfit { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Returns the lesson with its scope: what one project showed is proposed for that project.
fn scoped(found: &Candidate) -> Lesson {
    let mut lesson = found.lesson.clone();
    if found.is_of_project || found.tier == Tier::Fixed {
        lesson.scope = Some(found.project.clone());
    }
    lesson
}

/// Says whether a lesson stays in its project, in however many it is seen: it answers what is so there, such as a port.
fn stays(found: &Candidate) -> bool {
    found.is_of_project && found.tier == Tier::Fixed
}

/// Returns the lesson that says the same: about the same calls, or in nearly the same words. What was archived comes first,
/// then what is at work.
fn like<'i>(items: &'i [Item], lesson: &Lesson, stays: bool) -> Option<&'i Item> {
    let rank = |item: &Item| match item.state {
        State::Archived => 0,
        State::Active | State::Disabled => 1,
        State::Candidate => 2,
    };
    let words = similar::words(&lesson.problem);
    let is_like = |item: &&Item| {
        let other = &item.lesson;
        if !other.kind.is_about_calls() {
            return false;
        }
        let is_elsewhere = other.scope.is_some() && lesson.scope.is_some() && other.scope != lesson.scope;
        // Two projects may want different things of the same call; a mistake is a mistake in both.
        if is_elsewhere && (stays || quiet::disturbed(&Lesson { scope: None, ..lesson.clone() }).is_some()) {
            return false;
        }
        if !shares_program(other, lesson) {
            return false;
        }
        // What rules worded shares half of its words with everything that they word.
        let is_worded = [other, lesson].iter().all(|lesson| lesson.source != "heuristic");
        let share = || similar::jaccard(&words, &similar::words(&other.problem));
        (is_worded && share() >= similar::NEAR_DUPLICATE) || candidate::is_same_call(other, lesson)
    };
    items.iter().filter(is_like).min_by_key(|item| rank(item))
}

/// Says whether two lessons may be about the same program: a template's words alone make no two mistakes one.
fn shares_program(one: &Lesson, other: &Lesson) -> bool {
    let programs = |lesson: &Lesson| -> Vec<String> {
        let first = lesson.trigger.commands.iter().filter_map(|pattern| pattern.split(' ').next());
        first.flat_map(|word| word.split('|')).map(str::to_owned).collect()
    };
    let (one, other) = (programs(one), programs(other));
    one.is_empty() || other.is_empty() || one.iter().any(|program| other.contains(program))
}

/// Returns the better-worded one of two, with examples of both: a model's own words before what rules made.
fn merged(old: Lesson, new: &Lesson, tier: Tier) -> Lesson {
    let is_better = tier == Tier::Reported && old.source != "structured";
    let (mut kept, other) = if is_better { (new.clone(), &old) } else { (old, new) };
    candidate::add_examples_of(&mut kept, other);
    kept
}

/// Takes back what a model reported in a session.
fn withdraw(
    store: &mut Store,
    change: &mut Change<'_>,
    session: &str,
    beginning: &str,
) -> Result<Vec<String>, Error> {
    let is_meant = |item: &&Item| {
        item.state == State::Candidate
            && item.layer == Layer::Personal
            && item.lesson.source == "structured"
            && item.lesson.problem.to_lowercase().starts_with(beginning)
    };
    let slugs: Vec<String> =
        change.catalogue.items.iter().filter(is_meant).map(|item| item.lesson.slug.clone()).collect();
    let mut gone = Vec::new();
    for slug in slugs {
        let seen = sightings::of(store.connection(), &slug)?;
        if !seen.iter().any(|sighting| sighting.session == session) {
            continue;
        }
        if store.write(|transaction| sightings::withdraw(transaction, &slug, session))? {
            change.remove_candidate(&slug)?;
            gone.push(slug);
        }
    }
    Ok(gone)
}
