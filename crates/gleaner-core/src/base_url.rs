//! The address of an instance, as people type it, made one thing.
//!
//! People paste the start page, the search page, with or without a slash, with a path prefix. All of them mean the same
//! base; a prefix is part of it and is kept.

use std::fmt;

use url::Url;

/// Where an instance lives: scheme, host, port and path prefix. Credentials are kept apart and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl {
    /// Ends in a slash; without userinfo, query or fragment.
    url: Url,
    credentials: Option<(String, String)>,
}

/// Why a text is no base address.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BaseUrlError {
    /// Not a URL at all.
    #[error("not a url: {0}; write it like http://127.0.0.1:8888")]
    Unreadable(#[source] url::ParseError),
    /// A scheme other than http and https.
    #[error("scheme {0} is not http or https")]
    Scheme(String),
    /// No host.
    #[error("no host")]
    NoHost,
}

impl BaseUrl {
    /// Reads an address: `http(s)://[user:password@]host[:port][/prefix][/search]`. Query and fragment are dropped.
    ///
    /// # Errors
    ///
    /// When it is no http(s) URL with a host.
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        let mut url = Url::parse(text.trim()).map_err(BaseUrlError::Unreadable)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BaseUrlError::Scheme(url.scheme().to_owned()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(BaseUrlError::NoHost);
        }
        let credentials = (!url.username().is_empty() || url.password().is_some())
            .then(|| (decoded(url.username()), decoded(url.password().unwrap_or_default())));
        // Neither can fail: the URL has a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        let mut parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        while parts.last() == Some(&"search") {
            parts.pop();
        }
        let path = if parts.is_empty() { "/".to_owned() } else { format!("/{}/", parts.join("/")) };
        url.set_path(&path);
        Ok(Self { url, credentials })
    }

    /// The address of a page of the instance, such as `search`.
    pub fn page(&self, name: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{name}", self.url.path()));
        url
    }

    /// The base itself, ending in a slash, without credentials.
    pub fn as_url(&self) -> &Url {
        &self.url
    }

    /// The name of the instance in lists, labels and the trail: the address without credentials and without the
    /// slash at the end.
    pub fn name(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// User and password, for this origin only.
    pub fn credentials(&self) -> Option<(&str, &str)> {
        self.credentials.as_ref().map(|(user, password)| (user.as_str(), password.as_str()))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({})", self.name())
    }
}

fn decoded(userinfo: &str) -> String {
    // Userinfo is percent-encoded like a form value, but for the plus sign, which means itself.
    let form = userinfo.replace('+', "%2B");
    let pairs = crate::query::decode_query_string(&format!("v={form}"));
    pairs.into_iter().next().map(|(_, value)| value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug log B10: a configured base that already ends in `/search` became `/search/search`
    /// (<https://github.com/openclaw/openclaw/pull/113661>). B11: a path prefix was dropped
    /// (<https://github.com/ihor-sokoliuk/mcp-searxng/issues/36>).
    #[test]
    fn b10_b11_every_way_to_write_a_base_leads_to_one_search_page() {
        for (text, search) in [
            ("http://host", "http://host/search"),
            ("http://host/", "http://host/search"),
            ("http://host/search", "http://host/search"),
            ("http://host/search/", "http://host/search"),
            ("http://host//search//", "http://host/search"),
            ("http://host/sx/", "http://host/sx/search"),
            ("https://host/searx", "https://host/searx/search"),
            ("https://host/searx/search?q=x#y", "https://host/searx/search"),
            (" HTTP://Host:80/ ", "http://host/search"),
            ("http://[::1]:8888", "http://[::1]:8888/search"),
        ] {
            assert_eq!(BaseUrl::parse(text).unwrap().page("search").as_str(), search, "{text}");
        }
    }

    #[test]
    fn credentials_are_kept_apart_and_never_printed() {
        let base = BaseUrl::parse("https://me:se%2Bcr+et@host/sx").unwrap();
        assert_eq!(base.credentials(), Some(("me", "se+cr+et")));
        assert_eq!(base.name(), "https://host/sx");
        assert!(!format!("{base:?} {base} {}", base.page("search")).contains("cr"));
    }

    #[test]
    fn what_is_no_http_address_is_refused() {
        for text in ["", "host:8888", "ftp://host", "file:///etc", "http://"] {
            assert!(BaseUrl::parse(text).is_err(), "{text}");
        }
    }
}
