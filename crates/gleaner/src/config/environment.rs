//! The environment as a layer of the configuration.
//!
//! `GLEANER__SECTION__KEY` sets any key; what the schema says of the key decides how the text is read. The names of
//! searxng-gateway are understood as well. An empty variable is the same as one that is not set: that is what Compose makes
//! of `${NAME:-}`.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toml::Value;

use super::nearest::nearest;
use super::{Place, Problem, check, schema};

/// Variables by name.
pub type Environment = BTreeMap<String, String>;

/// The environment of this process. What is not Unicode is kept as far as it is.
pub fn process_environment() -> Environment {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}

/// Variables beside `GLEANER__SECTION__KEY`, and what they do.
pub(super) const NAMES: [(&str, &str); 8] = [
    ("GLEANER_CONFIG", "The configuration file, unless `--config` names one."),
    ("GLEANER_OPEN", "`true`: anyone who can reach the address may search, as `auth.open`."),
    ("SEARXNG_URL", "Fills `searxng.instances` when nothing else does; several are separated by commas."),
    ("LISTEN_ADDR", "As `listen` (searxng-gateway)."),
    ("SEARXNG_BACKEND_URL", "As `searxng.instances` (searxng-gateway)."),
    ("SEARXNG_TIMEOUT_SECONDS", "As `searxng.timeout`, a number of seconds (searxng-gateway)."),
    ("LOG_LEVEL", "As `telemetry.log` (searxng-gateway)."),
    ("GLEANER__SECTION__KEY", "Any key; lists as JSON or separated by commas."),
];

/// Variables of searxng-gateway for what does not exist here.
pub(super) const IGNORED: [&str; 14] = [
    "FALLBACK_PROVIDERS",
    "T1_PREMIUM_COUNT",
    "SUFFICIENT_MIN_RESULTS",
    "FALLBACK_TIMEOUT_SECONDS",
    "CACHE_TTL_SECONDS",
    "METRICS_PATH",
    "BRAVE_API_KEY",
    "EXA_API_KEY",
    "FIRECRAWL_API_KEY",
    "JINA_API_KEY",
    "LINKUP_API_KEY",
    "SERPER_API_KEY",
    "TAVILY_API_KEY",
    "TINYFISH_API_KEY",
];

/// One value, the key it is for, and the variable it came from.
pub(super) struct Setting {
    pub(super) path: Vec<String>,
    pub(super) value: Value,
    pub(super) name: String,
}

/// What the environment sets, in the order in which it is laid over the file.
#[derive(Default)]
pub(super) struct Layer {
    pub(super) settings: Vec<Setting>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<String>,
}

/// Reads the environment by the schema.
pub(super) fn read(environment: &Environment, schema: &Json) -> Layer {
    let mut layer = Layer::default();
    layer.read_searxng_gateway(environment);
    layer.read_open(environment);
    for (name, text) in set(environment) {
        if let Some(key) = name.strip_prefix("GLEANER__") {
            layer.read_key(name, key, text, schema);
        } else if let Some(key) = name.strip_prefix("GLEANER_") {
            layer.suggest_two_underscores(name, key, schema);
        }
    }
    let ignored: Vec<&str> = IGNORED.into_iter().filter(|name| get(environment, name).is_some()).collect();
    if !ignored.is_empty() {
        layer.warnings.push(format!(
            "ignored, as there is nothing here yet that they could set: {}",
            ignored.join(", ")
        ));
    }
    layer
}

/// The variables that are not empty.
fn set(environment: &Environment) -> impl Iterator<Item = (&str, &str)> {
    environment.iter().map(|(name, text)| (name.as_str(), text.trim())).filter(|(_, text)| !text.is_empty())
}

/// A variable's text, unless it is empty.
pub(super) fn get<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.get(name).map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// URLs separated by commas or white space.
pub(super) fn urls(text: &str) -> Value {
    let urls = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|url| !url.is_empty());
    Value::Array(urls.map(|url| Value::String(url.to_owned())).collect())
}

impl Layer {
    fn put(&mut self, path: &[&str], value: Value, name: &str) {
        let path = path.iter().map(|&key| key.to_owned()).collect();
        self.settings.push(Setting { path, value, name: name.to_owned() });
    }

    fn refuse(&mut self, name: &str, message: String) {
        self.problems.push(Problem { place: Place::Variable(name.to_owned()), message });
    }

    fn read_searxng_gateway(&mut self, environment: &Environment) {
        if let Some(address) = get(environment, "LISTEN_ADDR") {
            self.put(&["listen"], Value::String(address.to_owned()), "LISTEN_ADDR");
        }
        if let Some(text) = get(environment, "SEARXNG_BACKEND_URL") {
            self.put(&["searxng", "instances"], urls(text), "SEARXNG_BACKEND_URL");
        }
        if let Some(seconds) = get(environment, "SEARXNG_TIMEOUT_SECONDS") {
            let with_unit = if seconds.ends_with(|c: char| c.is_ascii_digit()) { "s" } else { "" };
            let timeout = Value::String(format!("{seconds}{with_unit}"));
            self.put(&["searxng", "timeout"], timeout, "SEARXNG_TIMEOUT_SECONDS");
        }
        if let Some(level) = get(environment, "LOG_LEVEL") {
            let level = level.to_ascii_lowercase();
            let known = match level.as_str() {
                "warning" => Some("warn"),
                "fatal" | "panic" => Some("error"),
                level => check::LEVELS.into_iter().find(|known| *known == level),
            };
            if let Some(known) = known {
                self.put(&["telemetry", "log"], Value::String(known.to_owned()), "LOG_LEVEL");
            } else {
                self.warnings.push(format!("LOG_LEVEL is ignored: `{level}` is no level that is known"));
            }
        }
    }

    fn read_open(&mut self, environment: &Environment) {
        if let Some(text) = get(environment, "GLEANER_OPEN") {
            let open = boolean(text).map_or_else(|| Value::String(text.to_owned()), Value::Boolean);
            self.put(&["auth", "open"], open, "GLEANER_OPEN");
        }
    }

    fn read_key(&mut self, name: &str, key: &str, text: &str, schema: &Json) {
        let path: Vec<String> = key.split("__").map(str::to_lowercase).collect();
        let Some(known) = schema::at(schema, &path) else {
            let known = schema::keys(schema);
            let typed = path.join(".");
            let known: Vec<(String, String)> =
                known.iter().map(|path| (path.join("."), variable(path))).collect();
            let meant = nearest(&typed, known.iter().map(|(path, _)| path.as_str()));
            let meant = known.iter().find(|(path, _)| Some(path.as_str()) == meant);
            let suggestion =
                meant.map(|(_, variable)| format!("; did you mean {variable}?")).unwrap_or_default();
            return self.refuse(name, format!("there is no key `{typed}`{suggestion}"));
        };
        match value(text, known) {
            Ok(value) => self.settings.push(Setting { path, value, name: name.to_owned() }),
            Err(message) => self.refuse(name, message),
        }
    }

    /// `GLEANER_SEARXNG_TIMEOUT` sets nothing, but it is a near miss. Other variables that begin so are none of ours:
    /// Kubernetes makes some for a service of the name.
    fn suggest_two_underscores(&mut self, name: &str, key: &str, schema: &Json) {
        let flat = key.replace("__", "_");
        let meant = schema::keys(schema).into_iter().find(|path| path.join("_").eq_ignore_ascii_case(&flat));
        if let Some(path) = meant.filter(|_| !matches!(name, "GLEANER_CONFIG" | "GLEANER_OPEN")) {
            self.warnings.push(format!("{name} sets nothing; did you mean {}?", variable(&path)));
        }
    }
}

/// The variable that sets a key.
pub(super) fn variable(path: &[String]) -> String {
    format!("GLEANER__{}", path.join("__").to_uppercase())
}

/// Reads a text as what the schema says the key holds. What cannot be read so stays text: it is refused where every value
/// is checked.
fn value(text: &str, schema: &Json) -> Result<Value, String> {
    if schema::is(schema, "array") {
        return list(text, schema);
    }
    if schema::is(schema, "object") || schema::properties(schema).is_some() && text.starts_with('{') {
        let json: Json =
            serde_json::from_str(text).map_err(|error| format!("expected a JSON object: {error}"))?;
        return from_json(json);
    }
    let as_it_stands = || Value::String(text.to_owned());
    Ok(if schema::is(schema, "boolean") {
        boolean(text).map_or_else(as_it_stands, Value::Boolean)
    } else if schema::is(schema, "integer") {
        text.parse().map_or_else(|_| as_it_stands(), Value::Integer)
    } else if schema::is(schema, "number") {
        text.parse().map_or_else(|_| as_it_stands(), Value::Float)
    } else {
        as_it_stands()
    })
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn list(text: &str, schema: &Json) -> Result<Value, String> {
    if text.starts_with('[') {
        let json: Json =
            serde_json::from_str(text).map_err(|error| format!("expected a JSON list: {error}"))?;
        return from_json(json);
    }
    let items = schema::items(schema).unwrap_or(&Json::Null);
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| value(part, items)).collect::<Result<_, _>>().map(Value::Array)
}

fn from_json(json: Json) -> Result<Value, String> {
    Ok(match json {
        Json::Null => return Err("`null` is no value; leave the key out".to_owned()),
        Json::Bool(value) => Value::Boolean(value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Value::Integer(integer),
            (None, Some(float)) => Value::Float(float),
            (None, None) => return Err(format!("`{number}` is too large")),
        },
        Json::String(text) => Value::String(text),
        Json::Array(items) => Value::Array(items.into_iter().map(from_json).collect::<Result<_, _>>()?),
        Json::Object(members) => {
            let members = members.into_iter().map(|(key, value)| Ok((key, from_json(value)?)));
            Value::Table(members.collect::<Result<_, String>>()?)
        }
    })
}
