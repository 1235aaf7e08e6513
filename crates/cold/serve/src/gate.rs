//! Who may ask: what a request must have before anything looks at what it asks for.
//!
//! A page in a browser can send requests to this machine, also under a name of its own that leads here (DNS rebinding). So the
//! name in `Host` must be one of this machine's, and an `Origin` must be on it, whatever the route. The token is asked for
//! everywhere but on the routes that tell nothing.

use crate::token;
use axum::http::{HeaderMap, header};

/// The header for programs that use `Authorization` for something else.
pub(crate) const TOKEN_HEADER: &str = "x-wyren-token";
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Host,
    Origin,
    Token,
}

impl Refusal {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Host => "the Host header names another machine or port",
            Self::Origin => "requests of pages from other origins are refused",
            Self::Token => {
                "no valid token: send the text of serve/token in Wyren's data folder as `Authorization: Bearer …`, as \
                 `X-Wyren-Token` or as the parameter `token`"
            }
        }
    }
}

/// Checks where a request comes from, and for whom it is meant.
pub(crate) fn check_origin(headers: &HeaderMap, port: u16) -> Result<(), Refusal> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
    if hosts.next().is_some() || !is_ours(host, port) {
        return Err(Refusal::Host);
    }
    match headers.get(header::ORIGIN) {
        None => Ok(()),
        Some(origin) if origin.to_str().is_ok_and(is_local) => Ok(()),
        Some(_) => Err(Refusal::Origin),
    }
}

/// Checks the token; `in_query` is the parameter's.
pub(crate) fn check_token(
    headers: &HeaderMap,
    in_query: Option<&str>,
    expected: &str,
) -> Result<(), Refusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text("authorization").and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let given = [bearer, text(TOKEN_HEADER), in_query];
    let is_known = given.into_iter().flatten().any(|given| token::is_same(given, expected));
    if is_known { Ok(()) } else { Err(Refusal::Token) }
}

fn is_ours(host: &str, port: u16) -> bool {
    let Some((name, number)) = host.rsplit_once(':') else { return false };
    NAMES.iter().any(|ours| name.eq_ignore_ascii_case(ours)) && number == port.to_string()
}

/// Says whether an origin is on this machine: claude-mem answers those on any port, and each needs the token.
fn is_local(origin: &str) -> bool {
    let Some((_, rest)) = origin.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))
    else {
        return false;
    };
    let name = match rest.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => rest,
    };
    NAMES.iter().any(|ours| name.eq_ignore_ascii_case(ours))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn only_this_machine_by_its_own_names_and_port_is_meant() {
        let check = |host| check_origin(&headers(&[("host", host)]), 37_777);
        for host in ["127.0.0.1:37777", "localhost:37777", "LOCALHOST:37777", "[::1]:37777"] {
            assert_eq!(check(host), Ok(()), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:80",
            "evil.example:37777",
            "127.0.0.1.evil.example:37777",
            "localhost:37777@evil.example",
            "127.0.0.1:037777",
            "0.0.0.0:37777",
        ] {
            assert_eq!(check(host), Err(Refusal::Host), "{host}");
        }
        assert_eq!(check_origin(&HeaderMap::new(), 37_777), Err(Refusal::Host));
    }

    #[test]
    fn pages_of_other_machines_are_refused() {
        let check = |origin| check_origin(&headers(&[("host", "localhost:1"), ("origin", origin)]), 1);
        for origin in
            ["http://localhost:5173", "http://127.0.0.1:1", "https://localhost", "http://[::1]:3000"]
        {
            assert_eq!(check(origin), Ok(()), "{origin}");
        }
        for origin in [
            "null",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://localhost:1.evil.example",
            "file://localhost",
            "http://user@evil.example:80",
            "localhost",
        ] {
            assert_eq!(check(origin), Err(Refusal::Origin), "{origin}");
        }
    }

    #[test]
    fn the_token_may_come_in_three_ways_and_no_other_text_counts() {
        let check =
            |pairs: &[(&'static str, &'static str)], query| check_token(&headers(pairs), query, "abc");
        assert_eq!(check(&[("authorization", "Bearer abc")], None), Ok(()));
        assert_eq!(check(&[("authorization", "bearer abc")], None), Ok(()));
        assert_eq!(check(&[("x-wyren-token", "abc")], None), Ok(()));
        assert_eq!(check(&[], Some("abc")), Ok(()));
        for (pairs, query) in [
            (&[][..], None),
            (&[("authorization", "Basic abc")], None),
            (&[("authorization", "abc")], None),
            (&[("x-wyren-token", "")], Some("")),
            (&[("x-wyren-token", "ab")], Some("abcd")),
        ] {
            assert_eq!(check(pairs, query), Err(Refusal::Token), "{pairs:?}");
        }
    }
}
