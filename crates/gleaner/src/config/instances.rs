//! A SearXNG instance as it is configured: its URL alone, or a table.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{DurationText, Format, Headers, InstanceUrl};

/// One SearXNG instance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// Its address; a path prefix is kept. A user and a password in it are sent as credentials to this instance only.
    pub url: InstanceUrl,
    /// In which form it is asked.
    #[serde(default)]
    pub format: Format,
    /// Headers sent to this instance with every search. They are never shown.
    #[serde(default)]
    pub headers: Headers,
    /// How many searches may be there at the same time. Unset: `pool.max_in_flight`.
    #[serde(default)]
    pub max_in_flight: Option<usize>,
    /// How long it may take to answer one search. Unset: `searxng.timeout`.
    #[serde(default)]
    pub timeout: Option<DurationText>,
    /// Whether it belongs to others and is open to all: it is asked with care (paced, never hedged, never fanned out).
    #[serde(default)]
    pub public: bool,
}

impl From<InstanceUrl> for Instance {
    fn from(url: InstanceUrl) -> Self {
        let (headers, format) = (Headers::new(), Format::default());
        Self { url, format, headers, max_in_flight: None, timeout: None, public: false }
    }
}

/// An instance in either of its two forms.
pub(super) struct Entry(Instance);

/// Reads the list of instances.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Instance>, D::Error> {
    let entries = Vec::<Entry>::deserialize(deserializer)?;
    Ok(entries.into_iter().map(|Entry(instance)| instance).collect())
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherForm;
        impl<'de> Visitor<'de> for EitherForm {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the URL of an instance, or a table with its `url`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Entry, E> {
                let url: InstanceUrl = text.parse().map_err(E::custom)?;
                Ok(Entry(url.into()))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Entry, M::Error> {
                Instance::deserialize(MapAccessDeserializer::new(map)).map(Entry)
            }
        }
        deserializer.deserialize_any(EitherForm)
    }
}

impl JsonSchema for Entry {
    fn schema_name() -> Cow<'static, str> {
        "Instance".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "instance",
            "anyOf": [generator.subschema_for::<InstanceUrl>(), generator.subschema_for::<Instance>()],
        })
    }
}
