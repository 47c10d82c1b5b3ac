//! Durations as text with a unit: `"800ms"`, `"4.5s"`, `"1h30m"`.
//!
//! A bare number is refused: whoever reads the file later cannot tell seconds from milliseconds.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const EXPECTED: &str = r#"a duration with a unit, such as "800ms", "4s", "10m", "6h" or "7d""#;
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// A hundred years: beyond it a duration is a slip of the pen, and sums with it could overflow.
const LONGEST: Duration = Duration::from_hours(24 * 36_525);

/// A duration, written as text with a unit: `ms`, `s`, `m`, `h` or `d`; several may follow one another, the largest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DurationText(pub Duration);

impl DurationText {
    /// A duration of whole seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// A duration of whole milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// The duration itself.
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl Deref for DurationText {
    type Target = Duration;

    fn deref(&self) -> &Duration {
        &self.0
    }
}

impl From<DurationText> for Duration {
    fn from(text: DurationText) -> Self {
        text.0
    }
}

/// Why a text is no duration.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidDuration {
    /// A number alone.
    #[error(r#"`{0}` has no unit; write "{0}s" for seconds or "{0}ms" for milliseconds"#)]
    NoUnit(String),
    /// Neither a number nor a unit that is known.
    #[error("`{0}` is not {EXPECTED}")]
    Unreadable(String),
    /// Longer than a hundred years.
    #[error("`{0}` is longer than a hundred years")]
    TooLong(String),
}

impl FromStr for DurationText {
    type Err = InvalidDuration;

    fn from_str(text: &str) -> Result<Self, InvalidDuration> {
        let text = text.trim();
        let unreadable = || InvalidDuration::Unreadable(text.to_owned());
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(InvalidDuration::NoUnit(text.to_owned()));
        }
        let mut total = Duration::ZERO;
        let mut last_unit = u64::MAX;
        let mut rest = text;
        loop {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(unreadable)?;
            let (number, after) = rest.split_at(digits);
            let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
            let (unit, after) = after.split_at(letters);
            let (_, millis) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or_else(unreadable)?;
            if millis >= last_unit {
                return Err(unreadable());
            }
            let part = part(number, millis).ok_or_else(unreadable)?;
            total = total.saturating_add(part);
            if total > LONGEST {
                return Err(InvalidDuration::TooLong(text.to_owned()));
            }
            if after.is_empty() {
                return Ok(Self(total));
            }
            last_unit = millis;
            rest = after;
        }
    }
}

/// `number` times a unit of `millis`, exactly; what is too long for any use saturates. None if it is no number.
fn part(number: &str, millis: u64) -> Option<Duration> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    // Only digits are left, so what does not parse is too large.
    let whole = whole.parse().unwrap_or(u64::MAX).saturating_mul(millis);
    // Nine digits are nanoseconds of a second; what follows cannot be told apart by any timer.
    let fraction = &fraction[..fraction.len().min(9)];
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let nanos = u128::from(fraction.parse::<u64>().ok()?) * u128::from(millis) * 1_000_000 / scale;
    Some(Duration::from_millis(whole).saturating_add(Duration::from_nanos(nanos as u64)))
}

impl fmt::Display for DurationText {
    /// Writes the largest unit that leaves a whole number, else seconds with a fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        if nanos == 0 {
            return f.write_str("0s");
        }
        for (unit, millis) in UNITS {
            let size = u128::from(millis) * 1_000_000;
            if nanos.is_multiple_of(size) {
                return write!(f, "{}{unit}", nanos / size);
            }
        }
        write!(f, "{}s", self.0.as_secs_f64())
    }
}

impl Serialize for DurationText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DurationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = DurationText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DurationText, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<DurationText, E> {
        Err(E::custom(InvalidDuration::NoUnit(number.to_string())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<DurationText, E> {
        Err(E::custom(InvalidDuration::NoUnit(number.to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<DurationText, E> {
        Err(E::custom(InvalidDuration::NoUnit(number.to_string())))
    }
}

impl JsonSchema for DurationText {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "title": "duration", "type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(d|h|ms|m|s))+$" })
    }
}

/// A duration, or `"off"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DurationOrOff(pub Option<Duration>);

impl DurationOrOff {
    /// A duration of whole seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Some(Duration::from_secs(seconds)))
    }

    /// The duration; none when off.
    pub const fn get(self) -> Option<Duration> {
        self.0
    }
}

impl Serialize for DurationOrOff {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(duration) => DurationText(duration).serialize(serializer),
            None => serializer.serialize_str("off"),
        }
    }
}

impl<'de> Deserialize<'de> for DurationOrOff {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrOff;
        impl Visitor<'_> for OrOff {
            type Value = DurationOrOff;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, r#"{EXPECTED}, or "off""#)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<DurationOrOff, E> {
                if text.trim().eq_ignore_ascii_case("off") {
                    return Ok(DurationOrOff(None));
                }
                TextVisitor.visit_str(text).map(|text| DurationOrOff(Some(text.0)))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<DurationOrOff, E> {
                TextVisitor.visit_i64(number).map(|text| DurationOrOff(Some(text.0)))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<DurationOrOff, E> {
                TextVisitor.visit_f64(number).map(|text| DurationOrOff(Some(text.0)))
            }
        }
        deserializer.deserialize_any(OrOff)
    }
}

impl JsonSchema for DurationOrOff {
    fn schema_name() -> Cow<'static, str> {
        "DurationOrOff".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "duration or \"off\"",
            "type": "string",
            "pattern": r"^(off|([0-9]+(\.[0-9]+)?(d|h|ms|m|s))+)$",
        })
    }
}
