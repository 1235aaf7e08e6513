//! How Wyren was installed, which is how it is updated.

use super::installer;
use crate::wired::{self, Wiring};
use anyhow::Result;
use base::{Env, Paths};
use install::plugin;
use std::path::{Path, PathBuf};

/// How Wyren was installed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// `wyren install`, by hand or by an installer, copied it into this folder.
    Copied(PathBuf),
    /// Claude Code took it from a marketplace, and runs its own copy.
    Registry { id: String, marketplace: String, folder: PathBuf },
    /// Claude Code runs it where it was built or unpacked.
    InPlace(PathBuf),
    /// Claude Code has no plugin and no hooks of Wyren's.
    None,
}

impl Way {
    pub(super) fn find(env: &Env, paths: &Paths) -> Self {
        let copy = paths.installed_plugin();
        if plugin::is_ours(&copy) {
            return Self::Copied(copy);
        }
        let wiring = std::env::current_dir().map(|cwd| Wiring::read(env, paths, &cwd)).unwrap_or_default();
        if let Some((id, folder)) = wiring.plugins.into_iter().next() {
            let marketplace = id.split_once('@').map(|(_, market)| market.to_owned()).unwrap_or_default();
            let in_place = paths.client().and_then(|client| wired::folder_in_place(&client, &id));
            return if in_place.is_some() {
                Self::InPlace(folder)
            } else {
                Self::Registry { id, marketplace, folder }
            };
        }
        let program = wiring.by_hand.values().flatten().next();
        match program.and_then(|program| program.parent()?.parent()) {
            Some(folder) => Self::InPlace(folder.to_owned()),
            None => Self::None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Copied(_) => "copied",
            Self::Registry { .. } => "registry",
            Self::InPlace(_) => "in place",
            Self::None => "none",
        }
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Copied(folder) | Self::InPlace(folder) | Self::Registry { folder, .. } => Some(folder),
            Self::None => None,
        }
    }

    /// Returns whether `--from` replaces its folder.
    pub(super) fn is_replaced(&self) -> bool {
        matches!(self, Self::Copied(_) | Self::InPlace(_))
    }

    /// Returns where it is, for a sentence.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Copied(folder) | Self::InPlace(folder) => format!(" in {}", folder.display()),
            Self::Registry { id, .. } => format!(" by Claude Code, as {id}"),
            Self::None => String::new(),
        }
    }

    /// Returns what to type.
    pub(super) fn advice(&self, env: &Env) -> String {
        match self {
            Self::Copied(_) if installer::base(env).is_some() => "To update: wyren update".to_owned(),
            Self::Copied(_) => {
                "To update: run the installer of the new version, or wyren update --from ARCHIVE|FOLDER"
                    .to_owned()
            }
            Self::Registry { id, marketplace, .. } => format!(
                "Claude Code updates this plugin: wyren update, or claude plugin marketplace update {marketplace} and \
                 claude plugin update {id}"
            ),
            Self::InPlace(folder) => format!(
                "Claude Code runs the plugin in {}. To update: build it anew there (in a checkout: git pull, then cargo xtask \
                 plugin), or wyren update --from ARCHIVE|FOLDER",
                folder.display()
            ),
            Self::None => "To install it: wyren install".to_owned(),
        }
    }

    /// Returns the version that is offered: by the installer, or by the marketplace as far as the client knows.
    pub(super) fn offered(&self, env: &Env, paths: &Paths) -> Result<Option<String>> {
        if let (Self::Copied(_), Some(base)) = (self, installer::base(env)) {
            return Ok(installer::Installer::fetch(&base)?.version());
        }
        let Self::Registry { id, marketplace, .. } = self else { return Ok(None) };
        let client = paths.client();
        Ok(client.and_then(|client| wired::offered_version(&client, id, marketplace)))
    }
}
