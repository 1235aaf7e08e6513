//! `embed`: gets the vectors of documents from the embeddings server that the user set up on this machine, a bounded piece at a time.

use crate::handler::{Context, Handler, Progress};
use base::error::with_causes;
use base::{Env, Paths, Timestamp};
use config::{Config, Source};
use model::Embeddings;
use search::index::Index;
use search::meaning::{self, Allowance, Vectors};
use search::sources;
use std::time::{Duration, Instant};
use store::Store;
use store::jobs::{self, Failure, NewJob};

/// The name of the kind.
pub(crate) const KIND: &str = "embed";

/// How long one piece takes, and how long one answer of the server.
const PIECE: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(30);
const MILLIS_PER_DAY: u64 = 86_400_000;

/// Does jobs of this kind.
pub(super) struct Embed;

impl Handler for Embed {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn run(&self, context: &mut Context) -> Result<Progress, Failure> {
        let needless = |reason: String| Ok(Progress::Needless { reason });
        let server = match server(&context.env, &context.paths) {
            Ok(Some(server)) => server,
            Ok(None) => return needless("search.embeddings_endpoint is not set".to_owned()),
            Err(error) => return needless(with_causes(&error)),
        };
        match piece(&server, &context.store, &context.paths) {
            Ok(true) => Ok(Progress::Done),
            Ok(false) => Ok(Progress::Again { not_before: Timestamp::now() }),
            // Search goes by words until the server answers; the next drain asks again.
            Err(Error::Model(error)) => needless(with_causes(&error)),
            Err(error) => Err(Failure::Again(with_causes(&error))),
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Vectors(#[from] meaning::Error),
    #[error(transparent)]
    Sources(#[from] sources::Error),
    #[error(transparent)]
    Index(#[from] search::index::Error),
    #[error(transparent)]
    Model(#[from] model::Error),
}

/// Gets vectors for a while; returns whether none is left to get today.
fn piece(server: &Embeddings, store: &Store, paths: &Paths) -> Result<bool, Error> {
    let index = Index::open(&sources::folder(paths))?;
    let folder = meaning::folder(&sources::folder(paths));
    let mut vectors = Vectors::open(&folder, server.model());
    let daily =
        user_setting(paths, "search.embeddings_daily").and_then(|value| value.parse().ok()).unwrap_or(DAILY);
    let day = Timestamp::now().millis() / MILLIS_PER_DAY;
    let allowance = Allowance { daily, day, until: Instant::now() + PIECE };
    let load = |keys: &[String]| {
        let loaded = sources::load(store, paths, keys)?;
        Ok(loaded
            .into_iter()
            .map(|one| (one.document.key.clone(), meaning::text_of(&one.document)))
            .collect())
    };
    let embed = |texts: &[&str]| Ok(server.embed(texts, Instant::now() + PATIENCE)?);
    let refreshed = meaning::refresh::<Error>(&mut vectors, &folder, &index, allowance, load, embed)?;
    Ok(refreshed.left == 0 || refreshed.is_spent)
}

/// What a day allows unless the user says otherwise; the default of `search.embeddings_daily`.
const DAILY: u64 = 20_000;

/// Returns the embeddings server of the user's own settings. Neither a repository nor a variable may name one.
pub fn server(env: &Env, paths: &Paths) -> Result<Option<Embeddings>, model::Error> {
    let endpoint = user_setting(paths, "search.embeddings_endpoint").unwrap_or_default();
    let model = user_setting(paths, "search.embeddings_model").unwrap_or_default();
    Embeddings::new(env, &endpoint, &model)
}

fn user_setting(paths: &Paths, name: &str) -> Option<String> {
    let config = Config::load(&Env::fixed::<String, String>([]), paths);
    let setting = config.get(name).ok()?;
    matches!(setting.source, Source::User(_)).then(|| setting.value.clone())
}

/// Queues a job where a server is set up.
pub(crate) fn request(
    store: &mut Store,
    env: &Env,
    paths: &Paths,
    now: Timestamp,
) -> Result<(), store::Error> {
    if matches!(server(env, paths), Ok(Some(_))) {
        jobs::enqueue(store, &NewJob { dedup_key: Some(KIND), ..NewJob::new(KIND, "null") }, now)?;
    }
    Ok(())
}
