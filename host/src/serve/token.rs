//! Who may ask.

use hyper::header::{self, HeaderMap};
use hyper::{StatusCode, http::uri::Authority};

use super::problem::Problem;

/// Who is let in.
#[derive(Debug, Clone)]
pub(super) enum Door {
    /// Whoever knows the token. Kept as a digest, so that comparing takes as long whatever was sent.
    Token(blake3::Hash),
    /// Whoever is on this machine, and no page that a browser of this machine shows.
    Local,
}

impl Door {
    pub(super) fn new(token: Option<&str>) -> Self {
        token.map_or(Self::Local, |token| {
            Self::Token(blake3::hash(token.as_bytes()))
        })
    }

    /// Lets a request in, or says why not.
    pub(super) fn enter(&self, headers: &HeaderMap) -> Result<(), Problem> {
        match self {
            Self::Token(token) => has_token(headers, token),
            Self::Local => is_local(headers),
        }
    }
}

fn has_token(headers: &HeaderMap, token: &blake3::Hash) -> Result<(), Problem> {
    let sent = headers.get(header::AUTHORIZATION).and_then(|sent| {
        let (scheme, sent) = sent.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(sent.trim())
    });
    match sent {
        Some(sent) if blake3::hash(sent.as_bytes()) == *token => Ok(()),
        sent => {
            let detail = match sent {
                Some(_) => "this is not the token of this server",
                None => "this server wants its token: send `Authorization: Bearer TOKEN`",
            };
            let problem = Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
            Err(problem.header(header::WWW_AUTHENTICATE, "Bearer realm=\"ralph-gate\""))
        }
    }
}

/// A page of another site can send requests to this machine, by its address or by a name that it lets point here. Browsers
/// say so in headers that pages can't change.
fn is_local(headers: &HeaderMap) -> Result<(), Problem> {
    let forbidden = |detail| Err(Problem::new(StatusCode::FORBIDDEN, "cross_origin", detail));
    if headers.contains_key(header::ORIGIN) {
        return forbidden("pages may not ask a server without a token; start it with --token-file");
    }
    // A page may ask without an origin: by an image, a link or a script. `none` is a person who typed the address.
    let site = headers.get("sec-fetch-site");
    if site.is_some_and(|site| !matches!(site.as_bytes(), b"none" | b"same-origin")) {
        return forbidden(
            "pages of other sites may not ask this server; it is for programs of its own machine",
        );
    }
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    match host {
        Some(host) if !names_this_machine(host) => {
            forbidden("this server is for its own machine: ask it as 127.0.0.1 or localhost")
        }
        _ => Ok(()),
    }
}

fn names_this_machine(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    let name = authority.host().trim_matches(['[', ']']);
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[(header::HeaderName, &str)]) -> HeaderMap {
        given
            .iter()
            .map(|(name, value)| (name.clone(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn a_token_is_needed_where_there_is_one() {
        let door = Door::new(Some("0123456789abcdef"));
        let sent = |value: &str| door.enter(&headers(&[(header::AUTHORIZATION, value)]));
        assert!(sent("Bearer 0123456789abcdef").is_ok());
        assert!(sent("bearer  0123456789abcdef").is_ok());
        for wrong in [
            "Bearer 0123456789abcdeg",
            "0123456789abcdef",
            "Basic 0123456789abcdef",
            "Bearer",
            "",
        ] {
            assert!(sent(wrong).is_err(), "{wrong}");
        }
        assert!(door.enter(&HeaderMap::new()).is_err());
    }

    #[test]
    fn a_page_in_a_browser_is_not_this_machine() {
        let door = Door::new(None);
        for host in [
            "127.0.0.1:8080",
            "localhost",
            "LOCALHOST:1",
            "[::1]:8080",
            "127.9.9.9",
        ] {
            assert!(
                door.enter(&headers(&[(header::HOST, host)])).is_ok(),
                "{host}"
            );
        }
        for host in [
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "localhost.evil.example",
            "@",
        ] {
            assert!(
                door.enter(&headers(&[(header::HOST, host)])).is_err(),
                "{host}"
            );
        }
        let page = headers(&[
            (header::HOST, "localhost"),
            (header::ORIGIN, "http://localhost"),
        ]);
        assert!(door.enter(&page).is_err());
    }

    #[test]
    fn what_a_page_of_another_site_fetches_is_refused_without_an_origin_too() {
        let door = Door::new(None);
        let fetch = |site: &str| {
            let name = header::HeaderName::from_static("sec-fetch-site");
            door.enter(&headers(&[(header::HOST, "localhost"), (name, site)]))
        };
        for site in ["cross-site", "same-site", "CROSS-SITE", ""] {
            assert!(fetch(site).is_err(), "{site}");
        }
        for site in ["none", "same-origin"] {
            assert!(fetch(site).is_ok(), "{site}");
        }
    }
}
