//! Whether a remote is public: whether git can read it over HTTPS without an account.
//!
//! An address for ssh is asked as the web address of the same host. The question takes nothing of the user's along: no
//! configuration, no credential helper, no `.netrc`.

use crate::repository::Team;
use crate::repository::git::Git;
use base::Env;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

/// Who can read a remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Anyone.
    Public,
    /// Only those with an account, or with access to this machine.
    NotPublic,
    /// The remote did not answer in time, or its address has no form for the web.
    Unknown,
}

/// Where to ask about an address.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    /// A folder of this machine.
    Nowhere,
    /// At this address, without a user.
    At(String),
    /// An address that no web address follows from, such as an alias of the ssh configuration.
    Unclear,
}

/// Hosts that take ssh connections for another one, with what is in front of the other's name.
const SSH_HOSTS: [(&str, &str); 3] =
    [("ssh.", "ssh.github.com"), ("altssh.", "altssh.gitlab.com"), ("altssh.", "altssh.bitbucket.org")];

/// What git says when a server wants an account, or shows a stranger nothing.
const CLOSED: [&str; 7] = [
    "could not read Username",
    "could not read Password",
    "unable to get password from user",
    "Authentication failed",
    "not found",
    "error: 401",
    "error: 403",
];

impl Team {
    /// Returns who can read what a push puts on the remote. Without a remote that is only the user.
    pub fn visibility(&self, deadline: Instant) -> Visibility {
        let addresses = self.remote.iter().flat_map(|remote| &remote.destinations);
        let mut seen = Visibility::NotPublic;
        for address in addresses {
            match ask(&asked(address), deadline) {
                Visibility::Public => return Visibility::Public,
                Visibility::Unknown => seen = Visibility::Unknown,
                Visibility::NotPublic => {}
            }
        }
        seen
    }
}

fn ask(asked: &Asked, deadline: Instant) -> Visibility {
    let address = match asked {
        Asked::Nowhere => return Visibility::NotPublic,
        Asked::Unclear => return Visibility::Unknown,
        Asked::At(address) => address,
    };
    let nothing = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let environment = [
        ("HOME", nothing),
        ("USERPROFILE", nothing),
        ("XDG_CONFIG_HOME", nothing),
        ("GIT_CONFIG_GLOBAL", nothing),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_COUNT", "0"),
        ("GIT_CONFIG_PARAMETERS", ""),
        ("GIT_ALLOW_PROTOCOL", "http:https"),
        // The folder that git runs in is no repository of the user's.
        ("GIT_CEILING_DIRECTORIES", "/"),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), OsString::from(value)));
    let git = Git::new(Path::new("/"), &Env::fixed::<String, String>([]));
    let arguments = ["-c", "credential.helper=", "ls-remote", "--quiet", "--", address, "HEAD"];
    match git.network(&environment, &arguments, Vec::new(), deadline) {
        Ok(output) if output.is_success() => Visibility::Public,
        Ok(output) if CLOSED.iter().any(|words| output.stderr.contains(words)) => Visibility::NotPublic,
        _ => Visibility::Unknown,
    }
}

/// Returns where a stranger would read what has this address.
fn asked(address: &str) -> Asked {
    let address = address.trim();
    let (scheme, host, path) = match address.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => return Asked::Nowhere,
        Some((scheme, rest)) => {
            let Some((host, path)) = rest.split_once('/') else { return Asked::Unclear };
            (scheme.to_ascii_lowercase(), host, path)
        }
        None => match address.split_once(':') {
            // As in `base::project::remote_key`: a slash before the colon or a drive letter makes it a path.
            Some((host, path)) if !host.contains('/') && host.len() > 1 => ("ssh".to_owned(), host, path),
            _ => return Asked::Nowhere,
        },
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let is_plain = |text: &str| !text.contains(|c: char| c.is_control() || c.is_whitespace());
    if !is_plain(host) || !is_plain(path) || host.is_empty() || host.starts_with('-') {
        return Asked::Unclear;
    }
    let path = path.trim_start_matches('/');
    match &*scheme {
        "http" | "https" => Asked::At(format!("{scheme}://{host}/{path}")),
        "ssh" | "git+ssh" | "ssh+git" | "git" => {
            let host = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
            let known = SSH_HOSTS.iter().find(|(_, known)| *known == host);
            let host = known.and_then(|(front, _)| host.strip_prefix(front)).unwrap_or(&host);
            // A name without a dot is an alias of the ssh configuration, or a machine of this network.
            if host.contains('.') && !path.starts_with('~') {
                Asked::At(format!("https://{host}/{path}"))
            } else {
                Asked::Unclear
            }
        }
        _ => Asked::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: &str) {
        assert_eq!(asked(address), Asked::At(expected.to_owned()), "{address}");
    }

    #[test]
    fn an_address_is_asked_over_https_and_without_a_user() {
        for address in [
            "git@github.com:acme/app.git",
            "ssh://git@github.com/acme/app.git",
            "ssh://git@ssh.github.com:443/acme/app.git",
            "git://github.com/acme/app.git",
            "https://ada:secret@github.com/acme/app.git",
        ] {
            check(address, "https://github.com/acme/app.git");
        }
        check("git@gitlab.com:group/sub/app", "https://gitlab.com/group/sub/app");
        check("git@altssh.bitbucket.org:acme/app.git", "https://bitbucket.org/acme/app.git");
        check("http://127.0.0.1:8080/app.git", "http://127.0.0.1:8080/app.git");
    }

    #[test]
    fn a_folder_of_this_machine_is_never_asked() {
        for address in ["/srv/git/app.git", "../app", "file:///srv/git/app.git", r"C:\git\app"] {
            assert_eq!(asked(address), Asked::Nowhere, "{address}");
            assert_eq!(ask(&asked(address), Instant::now()), Visibility::NotPublic, "{address}");
        }
    }

    #[test]
    fn what_has_no_web_address_stays_unknown() {
        for address in
            ["git@work:acme/app.git", "ssh://git@host.example/~ada/app", "ext::sh -c x", "https://x"]
        {
            assert_eq!(asked(address), Asked::Unclear, "{address}");
            assert_eq!(ask(&asked(address), Instant::now()), Visibility::Unknown, "{address}");
        }
    }
}
