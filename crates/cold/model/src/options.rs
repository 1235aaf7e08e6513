//! The settings of this crate, read once.

use crate::ledger::Budget;
use crate::money::Money;
use crate::provider::Provider;
use crate::provider::api::MessagesApi;
use crate::provider::cli::Cli;
use crate::provider::openai::OpenAiCompatible;
use crate::provider::scripted::{SCRIPT_VARIABLE, Scripted};
use base::{Env, Paths};
use config::Config;
use std::time::Duration;

/// The folder below the cache that a child works in. It stays empty.
const EMPTY_FOLDER: &str = "model";

/// How a model is to be asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who is asked, one of `base::settings::MODEL_PROVIDERS`.
    pub provider: String,
    /// The client's program; empty to find it.
    pub command: String,
    /// The model; empty for the provider's own choice.
    pub name: String,
    /// The address of an OpenAI-compatible model.
    pub endpoint: String,
    pub budget: Budget,
    /// What one question may take, a second try included.
    pub timeout: Duration,
    /// Whether the user has not read yet that a model is asked with their own login: then it is not.
    pub is_unannounced: bool,
}

impl Options {
    pub fn of(config: &Config) -> Self {
        let text =
            |name: &str| config.get(name).map_or_else(|_| String::new(), |setting| setting.value.clone());
        // What cannot be read must not allow anything.
        let money = |name: &str| Money::from_setting(&text(name)).unwrap_or_default();
        Self {
            provider: text("model.provider"),
            command: text("model.command"),
            name: text("model.name"),
            endpoint: text("model.endpoint"),
            budget: Budget {
                daily: money("model.daily_budget_usd"),
                project: money("model.project_budget_usd"),
            },
            timeout: Duration::from_secs(text("model.timeout_s").parse().unwrap_or_default()),
            is_unannounced: false,
        }
    }

    /// Returns whether a call would use the user's own login or key without their having read so.
    pub(crate) fn waits(&self, env: &Env) -> bool {
        self.is_unannounced && matches!(&*self.provider, "cli" | "api") && env.get(SCRIPT_VARIABLE).is_none()
    }

    /// `None`: no model is called.
    pub fn provider(&self, env: &Env, paths: &Paths) -> Option<Box<dyn Provider>> {
        if let Some(script) = env.get(SCRIPT_VARIABLE) {
            return Some(Box::new(Scripted::new(script)));
        }
        match &*self.provider {
            "cli" => {
                let folder = paths.cache().join(EMPTY_FOLDER);
                Some(Box::new(Cli::new(env, &self.command, folder, &self.name)))
            }
            "api" => Some(Box::new(MessagesApi::new(env, &self.name))),
            "openai" => Some(Box::new(OpenAiCompatible::new(env, &self.endpoint, &self.name))),
            _ => None,
        }
    }
}
