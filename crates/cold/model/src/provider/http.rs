//! One question and one answer in JSON over HTTP, within a deadline and a size.

use super::{Bill, Error, Limits, MAX_RESPONSE};
use base::Env;
use serde_json::Value;
use text::sanitize;
use ureq::http::Uri;
use ureq::tls::{PemItem, RootCerts, TlsConfig};
use ureq::{Agent, Timeout};

/// The most of a server's complaint that is passed on, in characters.
const MAX_COMPLAINT: usize = 200;

/// How rustls begins what it says of a certificate that it does not trust.
const BAD_CERTIFICATE: &str = "invalid peer certificate";

/// A server that speaks JSON.
#[derive(Debug)]
pub(crate) struct Server {
    base: String,
    roots: Option<Vec<u8>>,
}

impl Server {
    /// Returns the server at `base`, an address without the last part of the path.
    ///
    /// `SSL_CERT_FILE` replaces the built-in certificates, for companies that look into their traffic.
    pub(crate) fn new(base: &str, env: &Env) -> Self {
        let roots = env.get("SSL_CERT_FILE").and_then(|file| std::fs::read(file).ok());
        Self { base: base.trim_end_matches('/').to_owned(), roots }
    }

    /// Says whether the server is this machine.
    pub(crate) fn is_local(&self) -> bool {
        let Ok(uri) = self.base.parse::<Uri>() else { return false };
        uri.host().is_some_and(|host| {
            let host = host.trim_matches(['[', ']']);
            host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        })
    }

    /// Says whether what is sent can be read on the way.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_local() && !self.base.starts_with("https://")
    }

    /// Sends `body` to `path` and returns the answer's body.
    pub(crate) fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
        limits: Limits,
    ) -> Result<Value, Error> {
        let mut request = self.agent(limits)?.post(format!("{}{path}", self.base));
        request = request.header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(body.to_string()).map_err(|error| self.explain(error))?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(MAX_RESPONSE as u64).read_to_vec();
        let body = body.map_err(|error| self.explain(error))?;
        if !status.is_success() {
            // Neither a refused nor a failed request is charged.
            let reason = format!("{status}: {}", complaint(&body));
            return Err(Error::Refused { reason, bill: Bill::Nothing });
        }
        serde_json::from_slice(&body).map_err(|error| Error::Unreadable(error.to_string()))
    }

    fn agent(&self, limits: Limits) -> Result<Agent, Error> {
        let left = limits.left();
        if left.is_zero() {
            return Err(Error::TimedOut);
        }
        let mut config = Agent::config_builder()
            .timeout_global(Some(left))
            .http_status_as_error(false)
            // A redirect would carry the key and the question to someone else.
            .max_redirects(0)
            .max_redirects_will_error(false);
        if self.is_local() {
            config = config.proxy(None);
        }
        if let Some(roots) = &self.roots {
            let certificates = ureq::tls::parse_pem(roots).filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            });
            let roots = RootCerts::from(certificates);
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Ok(config.build().into())
    }

    fn explain(&self, error: ureq::Error) -> Error {
        let unreachable = |reason: String| Error::Unreachable { address: self.base.clone(), reason };
        match error {
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                unreachable("no connection in time".to_owned())
            }
            ureq::Error::Timeout(_) => Error::TimedOut,
            ureq::Error::BodyExceedsLimit(_) => Error::Oversized,
            ureq::Error::BadUri(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::ConnectProxyFailed(_)
            | ureq::Error::InvalidProxyUrl
            | ureq::Error::Tls(_)
            | ureq::Error::Rustls(_)
            | ureq::Error::Http(_) => unreachable(error.to_string()),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                unreachable("the connection was refused".to_owned())
            }
            // Nothing is sent before the certificate is checked.
            ureq::Error::Io(error) if error.to_string().starts_with(BAD_CERTIFICATE) => {
                unreachable(format!("{error}; SSL_CERT_FILE can name the certificates to trust"))
            }
            // The question may have arrived.
            other => Error::Crashed(other.to_string()),
        }
    }
}

/// Returns what a server says is wrong: the message in its JSON, else the text itself.
fn complaint(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let message = serde_json::from_slice::<Value>(body).ok().and_then(|body| {
        let error = &body["error"];
        error["message"].as_str().or_else(|| error.as_str()).map(str::to_owned)
    });
    sanitize::one_line(&text::redact::redact(message.as_deref().unwrap_or(&text)), MAX_COMPLAINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_may_be_spoken_to_in_the_open() {
        let server = |base: &str| Server::new(base, &Env::fixed::<String, String>([]));
        for local in ["http://127.0.0.1:11434/v1", "http://localhost", "http://[::1]:8080/"] {
            assert!(server(local).is_local() && !server(local).is_open(), "{local}");
        }
        for open in
            ["http://example.org/v1", "http://127.0.0.1.example.org", "http://localhost.example.org", ""]
        {
            assert!(!server(open).is_local() && server(open).is_open(), "{open}");
        }
        assert!(!server("https://example.org").is_open());
    }
}
