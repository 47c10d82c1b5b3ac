//! Addresses as they are configured: where to listen, what to ask, whom to believe. Each is parsed once, here.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use url::Url;

/// Where to listen: `HOST:PORT`. `:PORT` alone means every address of this machine; port 0 picks a free one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListenAddress {
    host: String,
    port: u16,
}

impl ListenAddress {
    /// The host: a name or an address, without the brackets of IPv6.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port; 0 picks a free one.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether only this machine can reach it. A name other than `localhost` may lead anywhere.
    pub fn is_loopback(&self) -> bool {
        match self.host.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback(),
            Err(_) => self.host.eq_ignore_ascii_case("localhost"),
        }
    }
}

/// Why a text is no address to listen on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not HOST:PORT, such as \"127.0.0.1:8080\", \"[::1]:8080\" or \":8080\" for every address")]
pub struct InvalidListenAddress(String);

impl FromStr for ListenAddress {
    type Err = InvalidListenAddress;

    fn from_str(text: &str) -> Result<Self, InvalidListenAddress> {
        let text = text.trim();
        let invalid = || InvalidListenAddress(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
        if port.starts_with('+') {
            return Err(invalid());
        }
        let port = port.parse().map_err(|_| invalid())?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bracketed {
            Some(host) if host.parse::<std::net::Ipv6Addr>().is_ok() => host,
            None if host.is_empty() => "0.0.0.0",
            None if is_name(host) => host,
            _ => return Err(invalid()),
        };
        Ok(Self { host: host.to_owned(), port })
    }
}

/// Whether a text may be a host name or an IPv4 address.
fn is_name(host: &str) -> bool {
    host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// The address of a SearXNG instance: `http` or `https`, a path prefix kept, a trailing `/search` taken off, one slash at
/// the end. Credentials in it (`http://user:password@host`) are never shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct InstanceUrl(Url);

impl InstanceUrl {
    /// The address, credentials included.
    pub fn url(&self) -> &Url {
        &self.0
    }
}

/// Why a text is no web address. The text is not repeated: it may hold a password.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidUrl {
    /// Not a URL at all.
    #[error("expected a URL such as \"{example}\": {source}")]
    Unreadable {
        /// What a right one looks like.
        example: &'static str,
        /// What the parser says.
        source: url::ParseError,
    },
    /// Another scheme than http and https.
    #[error("expected an http or https URL, found the scheme `{0}`")]
    Scheme(String),
    /// Something after the path.
    #[error("expected a base URL without `?` or `#`")]
    NotABase,
    /// Credentials where none belong.
    #[error("expected a URL without a user and a password")]
    Credentials,
}

/// Reads an http or https base URL; the path ends in one slash.
fn base_url(text: &str, example: &'static str) -> Result<Url, InvalidUrl> {
    let mut url = Url::parse(text.trim()).map_err(|source| InvalidUrl::Unreadable { example, source })?;
    if !matches!(url.scheme(), "http" | "https") {
        // `localhost:8888` parses as a URL of the scheme `localhost`.
        return Err(if url.has_host() {
            InvalidUrl::Scheme(url.scheme().to_owned())
        } else {
            InvalidUrl::Unreadable { example, source: url::ParseError::RelativeUrlWithoutBase }
        });
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(InvalidUrl::NotABase);
    }
    let path = format!("{}/", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

impl FromStr for InstanceUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        let mut url = base_url(text, "http://127.0.0.1:8888")?;
        if let Some(prefix) = url.path().strip_suffix("/search/") {
            let path = format!("{prefix}/");
            url.set_path(&path);
        }
        Ok(Self(url))
    }
}

impl fmt::Display for InstanceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.username().is_empty() && self.0.password().is_none() {
            return f.write_str(self.0.as_str());
        }
        let host = &self.0[url::Position::BeforeHost..];
        write!(f, "{}://***@{host}", self.0.scheme())
    }
}

impl fmt::Debug for InstanceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The address clients know the gateway by: `http` or `https`, without credentials, one slash at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublicUrl(Url);

impl PublicUrl {
    /// The address.
    pub fn url(&self) -> &Url {
        &self.0
    }
}

impl FromStr for PublicUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        let url = base_url(text, "https://search.example.org")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidUrl::Credentials);
        }
        Ok(Self(url))
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// A net of addresses, `10.0.0.0/8`, or a single one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Whether an address lies in the net. An IPv4 address written the IPv6 way is the same address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(net), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                net.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(net), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                net.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        }
    }
}

/// Why a text is no net.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not an address or a net, such as \"127.0.0.1\", \"10.0.0.0/8\" or \"fd00::/8\"")]
pub struct InvalidNetwork(String);

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let text = text.trim();
        let invalid = || InvalidNetwork(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u8>().map_err(|_| invalid())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.unwrap_or(longest);
        if prefix > longest {
            return Err(invalid());
        }
        Ok(Self { address, prefix })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// Gives types that are read from and written as text their serde and schema.
macro_rules! as_text {
    ($type:ty, $title:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "title": $title, "type": "string" })
            }
        }
    };
}

as_text!(ListenAddress, "HOST:PORT");
as_text!(InstanceUrl, "URL");
as_text!(PublicUrl, "URL");
as_text!(Network, "address or net");
