//! Sizes as text with a unit: `"64KiB"`, `"2MiB"`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const EXPECTED: &str = r#"a size with a unit, such as "512B", "64KiB", "2MiB" or "1GiB""#;
const UNITS: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// A size in bytes, written as text with a unit: `B`, `KiB`, `MiB`, `GiB`, or `kB`, `MB`, `GB` for powers of ten.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SizeText(u64);

impl SizeText {
    /// A size of `count` times 1024 bytes.
    pub const fn kibibytes(count: u64) -> Self {
        Self(count << 10)
    }

    /// A size of `count` times 1024 x 1024 bytes.
    pub const fn mebibytes(count: u64) -> Self {
        Self(count << 20)
    }

    /// The size in bytes; more than this machine can address is as much as it can.
    pub fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// Why a text is no size.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidSize {
    /// A number alone.
    #[error(r#"`{0}` has no unit; write "{0}B" for bytes or "{0}KiB""#)]
    NoUnit(String),
    /// Neither a number nor a unit that is known.
    #[error("`{0}` is not {EXPECTED}")]
    Unreadable(String),
}

impl FromStr for SizeText {
    type Err = InvalidSize;

    fn from_str(text: &str) -> Result<Self, InvalidSize> {
        let text = text.trim();
        let unreadable = || InvalidSize::Unreadable(text.to_owned());
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidSize::NoUnit(text.to_owned()));
        }
        let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(unreadable)?;
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim_start();
        let (_, bytes) =
            UNITS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).ok_or_else(unreadable)?;
        let number: u64 = number.parse().map_err(|_| unreadable())?;
        number.checked_mul(bytes).map(Self).ok_or_else(unreadable)
    }
}

impl fmt::Display for SizeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, bytes): &(&str, u64)| self.0 != 0 && self.0.is_multiple_of(*bytes);
        let (unit, bytes) = UNITS.into_iter().find(fits).unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / bytes)
    }
}

impl Serialize for SizeText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SizeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = SizeText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeText, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<SizeText, E> {
                Err(E::custom(InvalidSize::NoUnit(number.to_string())))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

impl JsonSchema for SizeText {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "title": "size", "type": "string", "pattern": "^[0-9]+ ?([KMG]i?B|kB|B)$" })
    }
}
