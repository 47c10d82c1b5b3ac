//! When two addresses are the same page: an identity for comparing, never shown (`failover.md` 3).
//!
//! What is dropped is what never changes a page: the scheme between http and https, `www.`, a default port, user info, a
//! trailing slash, known tracking parameters, a plain anchor. What might change it stays: other parameters, fragments
//! that route (`#!`, `#/`), the case of the path.

use std::fmt::Write as _;

use url::Url;

/// Parameters that follow people, not pages.
const TRACKERS: [&str; 22] = [
    "gclid",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "twclid",
    "ttclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "srsltid",
    "ref_src",
    "vero_id",
    "oly_enc_id",
    "oly_anon_id",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
];

/// The identity of an absolute http(s) address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CanonicalUrl(String);

impl CanonicalUrl {
    /// The identity of `url`; `None` if it is no absolute http(s) address.
    pub fn parse(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let host = url.host_str()?.trim_end_matches('.').trim_start_matches("www.");
        if host.is_empty() {
            return None;
        }
        let mut text = host.to_owned();
        // The scheme does not count, so neither scheme's default port does.
        if let Some(port) = url.port().filter(|port| !matches!(port, 80 | 443)) {
            let _ = write!(text, ":{port}");
        }
        text.push_str(normalized(url.path()).trim_end_matches('/'));
        let mut pairs: Vec<(&str, &str)> = url
            .query()
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').map_or((pair, ""), |(name, _)| (name, pair)))
            .map(|(name, pair)| (name, if pair.is_empty() { name } else { pair }))
            .filter(|(name, _)| !is_tracker(name))
            .collect();
        pairs.sort_by_key(|(name, _)| *name);
        for (place, (_, pair)) in pairs.into_iter().enumerate() {
            text.push(if place == 0 { '?' } else { '&' });
            text.push_str(&normalized(pair));
        }
        if let Some(fragment) = url.fragment().filter(|fragment| fragment.starts_with(['!', '/'])) {
            text.push('#');
            text.push_str(fragment);
        }
        Some(Self(text))
    }

    /// The identity as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_tracker(name: &str) -> bool {
    name.starts_with("utm_") || TRACKERS.contains(&name)
}

/// Escapes in one form: what needs none is decoded, hexadecimal digits are upper case.
fn normalized(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |place: usize| char::from(*bytes.get(place)?).to_digit(16);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.char_indices();
    while let Some((place, letter)) = rest.next() {
        let escape = if letter == '%' { digit(place + 1).zip(digit(place + 2)) } else { None };
        let Some((high, low)) = escape else {
            out.push(letter);
            continue;
        };
        rest.next();
        rest.next();
        let byte = (high * 16 + low) as u8;
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(one: &str, other: &str) -> bool {
        CanonicalUrl::parse(one).unwrap() == CanonicalUrl::parse(other).unwrap()
    }

    /// Bug log M3: the same page listed several times (<https://github.com/dondai44423/donsetch/pull/103>).
    #[test]
    fn m3_what_never_changes_a_page_is_dropped() {
        for (one, other) in [
            ("http://a.example/p", "https://a.example/p"),
            ("https://a.example/p/", "https://a.example/p"),
            ("https://www.a.example/p", "https://a.example/p"),
            ("https://A.Example./p", "https://a.example/p"),
            ("https://a.example:443/p", "http://a.example:80/p"),
            ("https://me:secret@a.example/p", "https://a.example/p"),
            ("https://a.example/p?utm_source=x&gclid=1&a=b", "https://a.example/p?a=b"),
            ("https://a.example/p?b=2&a=1", "https://a.example/p?a=1&b=2"),
            ("https://a.example/p?", "https://a.example/p"),
            ("https://a.example/x/../p", "https://a.example/p"),
            ("https://a.example/%7euser%2dx", "https://a.example/~user-x"),
            ("https://a.example/%e4", "https://a.example/%E4"),
            ("https://a.example/p#section", "https://a.example/p"),
            ("https://b\u{fc}cher.example/", "https://xn--bcher-kva.example"),
        ] {
            assert!(same(one, other), "{one} and {other}");
        }
    }

    /// Bug log M4: a fragment that selects the page was dropped
    /// (<https://github.com/samnodehi/n8n-nodes-duckduckgo/pull/55>).
    #[test]
    fn m4_what_may_change_a_page_stays() {
        for (one, other) in [
            ("https://a.example/P", "https://a.example/p"),
            ("https://a.example:8080/p", "https://a.example/p"),
            ("https://a.example/p?ref=1", "https://a.example/p"),
            ("https://a.example/p?id=1", "https://a.example/p?id=2"),
            ("https://a.example/p?a=1&a=2", "https://a.example/p?a=2&a=1"),
            ("https://a.example/#!/one", "https://a.example/#!/two"),
            ("https://a.example/#/one", "https://a.example/"),
            ("https://a.example/a%2Fb", "https://a.example/a/b"),
            ("https://wwwa.example/p", "https://a.example/p"),
        ] {
            assert!(!same(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn only_absolute_http_addresses_have_one() {
        for url in ["", "/p", "ftp://a.example/", "magnet:?xt=x", "javascript:alert(1)", "http://"] {
            assert!(CanonicalUrl::parse(url).is_none(), "{url}");
        }
    }

    proptest! {
        #[test]
        fn an_identity_is_its_own_identity(url in r"https?://[a-z.]{1,12}(:[0-9]{1,4})?(/[a-zA-Z0-9%~._é-]{0,8}){0,3}(\?[a-z0-9=&%_+]{0,20})?(#[!/a-z]{0,4})?") {
            if let Some(canonical) = CanonicalUrl::parse(&url) {
                let again = CanonicalUrl::parse(&format!("https://{}", canonical.as_str()));
                prop_assert_eq!(again, Some(canonical));
            }
        }

        #[test]
        fn nothing_panics(url in ".{0,200}") {
            let _ = CanonicalUrl::parse(&url);
        }
    }
}
