//! The way of one question: clean, reserve, ask, validate, settle.

use crate::ledger::{Exhausted, Ledger, Target};
use crate::options::Options;
use crate::provider::{Answer, Bill, Error, Limits, MAX_ANSWER, Provider, Reply, Request};
use crate::schema::Schema;
use base::{Env, Paths, Timestamp};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use text::{privacy, redact, sanitize};

/// The least time that a second try is worth starting with.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// The longest part of an error that is sent back to the model, in characters.
const MAX_FAULT: usize = 300;

/// The longest job and project in the ledger, in characters.
const MAX_LABEL: usize = 300;

/// What became of a question.
#[derive(Debug)]
pub enum Outcome {
    /// An answer that fits the schema.
    Answered(Value),
    /// None; the caller does without.
    Unavailable { reason: Reason },
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// Turned off by provider or by a budget of 0.
    #[error("model calls are off")]
    Off,
    /// The user's own login is used only after a session has told the user.
    #[error("no session has told you yet that a model is asked with your login")]
    Unannounced,
    /// This process was itself started by a model child.
    #[error("a model child may not call a model")]
    Nested,
    /// All of the prompt is private.
    #[error("the whole prompt is private")]
    Private,
    /// The budget may suffice tomorrow.
    #[error(transparent)]
    NoBudget(#[from] Exhausted),
    /// Without a ledger there is no budget, so no model is called.
    #[error("could not write the ledger: {0}")]
    NoLedger(store::Error),
    #[error("no answer from the model: {0}")]
    Failed(Error),
    /// The only answer, or also the second one.
    #[error("invalid answer from the model: {0}")]
    BadAnswer(String),
}

// Not `#[from]`: the cause is part of the message, and a `source` would print it twice.
impl From<store::Error> for Reason {
    fn from(error: store::Error) -> Self {
        Self::NoLedger(error)
    }
}

impl Reason {
    /// Returns whether the same request may succeed later.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Off | Self::Nested | Self::Private | Self::BadAnswer(_) => false,
            Self::Unannounced | Self::NoBudget(_) | Self::NoLedger(_) => true,
            Self::Failed(error) => !matches!(
                error,
                Error::NoProgram { .. } | Error::NotSetUp(_) | Error::TooLong(_) | Error::NotEmpty { .. }
            ),
        }
    }
}

/// Asks questions within the user's settings.
pub struct Asker {
    provider: Option<Box<dyn Provider>>,
    options: Options,
    database: PathBuf,
    ledger: Option<Ledger>,
    nested: bool,
    /// Whether the user has to read first that a model is asked.
    waits: bool,
    tries_again: bool,
    clock: fn() -> Timestamp,
}

impl Asker {
    /// Returns an asker that goes by the user's settings. Nothing is opened or started before the first question.
    pub fn new(env: &Env, paths: &Paths, options: Options) -> Self {
        let (provider, waits) = (options.provider(env, paths), options.waits(env));
        let asker = Self::with_provider(provider, options, paths.database());
        Self { waits, ..asker }.nested(env.is_on("WYREN_INTERNAL"))
    }

    /// Returns an asker that asks `provider`, whatever the settings say.
    pub fn with_provider(provider: Option<Box<dyn Provider>>, options: Options, database: PathBuf) -> Self {
        Self {
            provider,
            options,
            database,
            ledger: None,
            nested: false,
            waits: false,
            tries_again: true,
            clock: Timestamp::now,
        }
    }

    fn nested(mut self, nested: bool) -> Self {
        self.nested = nested;
        self
    }

    /// Returns an asker that asks once: after a bad answer it does not ask for a better one.
    pub fn once(mut self) -> Self {
        self.tries_again = false;
        self
    }

    /// Returns an asker with another clock, which tells the day that is charged.
    pub fn clock(mut self, clock: fn() -> Timestamp) -> Self {
        self.clock = clock;
        self
    }

    /// Asks, within the time that the settings give.
    pub fn ask(&mut self, request: Request) -> Outcome {
        self.ask_until(request, Instant::now() + self.options.timeout)
    }

    /// Asks, until `deadline` at the latest.
    pub fn ask_until(&mut self, request: Request, deadline: Instant) -> Outcome {
        let deadline = deadline.min(Instant::now() + self.options.timeout);
        match self.try_twice(request, deadline) {
            Ok(answer) => Outcome::Answered(answer),
            Err(reason) => Outcome::Unavailable { reason },
        }
    }

    fn try_twice(&mut self, request: Request, deadline: Instant) -> Result<Value, Reason> {
        if self.nested {
            return Err(Reason::Nested);
        }
        let budget = self.options.budget;
        if self.provider.is_none() || budget.daily.micros() == 0 || budget.project.micros() == 0 {
            return Err(Reason::Off);
        }
        if self.waits {
            return Err(Reason::Unannounced);
        }
        let mut request = clean(request)?;
        let fault = match self.try_once(&request, deadline)? {
            Ok(answer) => return Ok(answer),
            Err(fault) => fault,
        };
        if !self.tries_again || deadline.saturating_duration_since(Instant::now()) < LEAST_TIME {
            return Err(Reason::BadAnswer(fault));
        }
        request.prompt.push_str(&correction(&fault));
        match self.try_once(&request, deadline) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(fault)) => Err(Reason::BadAnswer(fault)),
            // There was an answer, and no money for a better one.
            Err(Reason::NoBudget(_)) => Err(Reason::BadAnswer(fault)),
            Err(reason) => Err(reason),
        }
    }

    /// Calls once; distinguishes a bad answer, which the model can correct, from no answer.
    fn try_once(&mut self, request: &Request, deadline: Instant) -> Result<Result<Value, String>, Reason> {
        let Some(provider) = &self.provider else { return Err(Reason::Off) };
        let model = request.model.as_deref().unwrap_or_else(|| provider.model());
        let price = provider.price(model);
        let ledger = match &mut self.ledger {
            Some(ledger) => ledger,
            none => none.insert(Ledger::open(&self.database)?),
        };
        let target = Target { provider: provider.name(), model };
        let amount = price.estimate(request, provider.turns());
        let reservation = ledger.reserve(request, target, amount, self.options.budget, (self.clock)())??;

        let asked = provider.ask(request, Limits { deadline, allowance: reservation.amount });
        let bill = match &asked {
            Ok(reply) => Bill::Known { usage: reply.usage, cost: reply.cost },
            Err(error) => error.bill(),
        };
        let (usage, cost) = match bill {
            Bill::Nothing => Default::default(),
            Bill::Unknown => (Default::default(), reservation.amount),
            Bill::Known { usage, cost } => (usage, cost.unwrap_or_else(|| price.of_usage(&usage))),
        };
        let read = match asked {
            Ok(reply) => Ok(read(&reply, &request.schema)),
            Err(error) if error.is_bad_answer() => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        };
        let outcome = match &read {
            Ok(Ok(_)) => "answered",
            Ok(Err(_)) | Err(Error::NeverFitted { .. }) => "bad answer",
            Err(Error::TimedOut) => "timed out",
            Err(_) => "failed",
        };
        // Without settlement the reservation goes on counting, which is on the safe side; the answer is good still.
        let _ = ledger.settle(&reservation, &usage, cost, outcome);
        read.map_err(|error| match error {
            Error::NeverFitted { .. } => Reason::BadAnswer(error.to_string()),
            error => Reason::Failed(error),
        })
    }
}

/// Takes out what must not leave this machine.
fn clean(request: Request) -> Result<Request, Reason> {
    let stripped = privacy::strip_composed(&request.prompt);
    if stripped.text.trim().is_empty() {
        return Err(Reason::Private);
    }
    let schema =
        redact::redact(&request.schema.text()).parse().ok().and_then(|schema| Schema::new(schema).ok());
    Ok(Request {
        job: sanitize::one_line(&redact::redact(&request.job), MAX_LABEL),
        project: sanitize::one_line(&redact::redact(&request.project), MAX_LABEL),
        system: redact::redact(&request.system).into_owned(),
        prompt: redact::redact(&stripped.text).into_owned(),
        // Redaction keeps JSON valid; should it not, the schema is ours and goes as it is.
        schema: schema.unwrap_or(request.schema),
        ..request
    })
}

/// Reads an answer, or says what is wrong with it.
fn read(reply: &Reply, schema: &Schema) -> Result<Value, String> {
    let value = match &reply.answer {
        Answer::Value(value) => value.clone(),
        Answer::Text(text) if text.len() > MAX_ANSWER => return Err("it is too long".to_owned()),
        Answer::Text(text) if text.trim().is_empty() => return Err("it is empty".to_owned()),
        Answer::Text(text) => {
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?
        }
    };
    schema.validate(&value).map_err(|violation| violation.to_string())?;
    if value.to_string().len() > MAX_ANSWER {
        return Err("it is too long".to_owned());
    }
    Ok(value)
}

/// Returns the prompt after a bad answer. The error may quote the answer, and so the prompt.
fn correction(fault: &str) -> String {
    let fault = sanitize::one_line(&redact::redact(fault), MAX_FAULT);
    format!(
        "\n\nYour last answer could not be used: {fault}. Answer again with nothing but JSON that follows the schema: \
         no prose, no code fence."
    )
}
