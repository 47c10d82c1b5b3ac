//! Finds, reads, joins and checks the layers: file, environment, flags.
//!
//! Nothing is handed out before everything is checked, and every complaint names the place where the value was written.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::environment::{self, Environment};
use super::nearest::nearest;
use super::{Config, ConfigError, Place, Problem, check, schema};

/// Where the file is looked for when nobody names one.
const DEFAULT_FILES: [&str; 2] = ["gleaner.toml", "/etc/gleaner/gleaner.toml"];

/// What the command line says.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Overrides {
    /// `--config`: the file.
    pub config: Option<PathBuf>,
    /// `--searxng`: the instances, in place of all others.
    pub searxng: Vec<String>,
    /// `--listen`: where to listen.
    pub listen: Option<String>,
    /// `--open`: anyone who can reach the address may search.
    pub open: bool,
}

/// A configuration that was read and checked.
#[derive(Clone, PartialEq, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The file it came from, if there was one.
    pub file: Option<PathBuf>,
    /// What is worth a look, said once at start: variables that are ignored, instances named twice, no instance at all.
    pub warnings: Vec<String>,
}

/// Loads the configuration: the file (`--config`, else `GLEANER_CONFIG`, else `./gleaner.toml`, else
/// `/etc/gleaner/gleaner.toml`, else none), then the environment, then the flags.
pub fn load(overrides: &Overrides, environment: &Environment) -> Result<Loaded, ConfigError> {
    load_from(overrides, environment, &DEFAULT_FILES.map(Path::new))
}

fn load_from(
    overrides: &Overrides,
    environment: &Environment,
    default_files: &[&Path],
) -> Result<Loaded, ConfigError> {
    let schema = schema::root();
    let file = File::find(overrides, environment, default_files)?;
    let mut layers = Layers::default();
    if let Some(file) = &file {
        layers.table = file.read(&schema).map_err(ConfigError::Problems)?;
    }
    let from_environment = environment::read(environment, &schema);
    let mut problems = from_environment.problems;
    let mut warnings = from_environment.warnings;
    for setting in from_environment.settings {
        problems.extend(layers.lay(&setting.path, setting.value, Place::Variable(setting.name), &schema));
    }
    for (path, value, flag) in flags(overrides) {
        let path: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
        problems.extend(layers.lay(&path, value, Place::Flag(flag), &schema));
    }
    if let Some(text) = environment::get(environment, "SEARXNG_URL").filter(|_| !layers.has_instances()) {
        let path = ["searxng", "instances"].map(str::to_owned);
        let place = Place::Variable("SEARXNG_URL".to_owned());
        problems.extend(layers.lay(&path, environment::urls(text), place, &schema));
    }
    if !problems.is_empty() {
        return Err(ConfigError::Problems(problems));
    }

    let mut config = Config::deserialize(layers.table).map_err(|error| {
        let message = one_line(error.message());
        ConfigError::Problems(vec![Problem { place: Place::Configuration, message }])
    })?;
    let wrong = check::out_of_range(&config);
    if !wrong.is_empty() {
        let place = |path: &str| {
            let laid = layers.places.iter().rev().find(|(laid, _)| is_within(path, laid));
            laid.map(|(_, place)| place.clone())
                .or_else(|| file.as_ref().and_then(|file| file.place_of(path)))
                .unwrap_or(Place::Configuration)
        };
        let problems = wrong.into_iter().map(|(path, message)| Problem { place: place(&path), message });
        return Err(ConfigError::Problems(problems.collect()));
    }
    drop_repeated_instances(&mut config, &mut warnings);
    if config.searxng.instances.is_empty() {
        warnings.push(
            "no SearXNG instance is configured; add `instances = [\"http://HOST:PORT\"]` under `[searxng]`, or set SEARXNG_URL"
                .to_owned(),
        );
    }
    Ok(Loaded { config, file: file.map(|file| file.path), warnings })
}

/// What the flags set.
fn flags(overrides: &Overrides) -> Vec<(&'static [&'static str], Value, &'static str)> {
    let mut flags: Vec<(&'static [&'static str], Value, &'static str)> = Vec::new();
    if !overrides.searxng.is_empty() {
        let urls = overrides.searxng.iter().map(|url| Value::String(url.clone())).collect();
        flags.push((&["searxng", "instances"], Value::Array(urls), "--searxng"));
    }
    if let Some(listen) = &overrides.listen {
        flags.push((&["listen"], Value::String(listen.clone()), "--listen"));
    }
    if overrides.open {
        flags.push((&["auth", "open"], Value::Boolean(true), "--open"));
    }
    flags
}

fn drop_repeated_instances(config: &mut Config, warnings: &mut Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    config.searxng.instances.retain(|instance| {
        let new = seen.insert(instance.url.clone());
        if !new {
            warnings.push(format!("the instance {} is named more than once; the first counts", instance.url));
        }
        new
    });
}

/// Whether a path is the other one, or inside it.
fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The layers joined so far, and where what was laid over the file came from.
#[derive(Default)]
struct Layers {
    table: Table,
    places: BTreeMap<String, Place>,
}

impl Layers {
    /// Lays one value over what is there; says what is wrong with it.
    fn lay(&mut self, path: &[String], value: Value, place: Place, schema: &Json) -> Option<Problem> {
        let (last, sections) = path.split_last()?;
        let mut alone = Table::new();
        descend(&mut alone, sections).insert(last.clone(), value.clone());
        if let Err(message) = try_alone(&alone, schema) {
            return Some(Problem { place, message });
        }
        descend(&mut self.table, sections).insert(last.clone(), value);
        self.places.insert(path.join("."), place);
        None
    }

    fn has_instances(&self) -> bool {
        let instances = self.table.get("searxng").and_then(|searxng| searxng.get("instances"));
        instances.and_then(Value::as_array).is_some_and(|instances| !instances.is_empty())
    }
}

/// The table at a path, made where it is missing.
fn descend<'a>(table: &'a mut Table, path: &[String]) -> &'a mut Table {
    path.iter().fold(table, |table, key| {
        let inner = table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
        if !inner.is_table() {
            *inner = Value::Table(Table::new());
        }
        inner.as_table_mut().expect("made a table on the line above")
    })
}

/// Whether a table that holds one key could be a configuration.
fn try_alone(table: &Table, schema: &Json) -> Result<(), String> {
    let text = table.to_string();
    let tree = DeTable::parse(&text).map_err(|error| one_line(error.message()))?;
    if let Some((_, message)) = against_schema(tree.get_ref(), schema).into_iter().next() {
        return Err(message);
    }
    toml::from_str::<Config>(&text).map(drop).map_err(|error| with_key(tree.get_ref(), &error))
}

/// A file and its text.
struct File {
    path: PathBuf,
    text: String,
}

impl File {
    /// The file that is named, which must be there; else the first default that is; else none.
    fn find(
        overrides: &Overrides,
        environment: &Environment,
        default_files: &[&Path],
    ) -> Result<Option<Self>, ConfigError> {
        let named = overrides.config.clone();
        let named = named.or_else(|| environment::get(environment, "GLEANER_CONFIG").map(PathBuf::from));
        if let Some(path) = named {
            return match std::fs::read(&path) {
                Ok(bytes) => Self::decode(path, bytes).map(Some),
                Err(source) => Err(ConfigError::Unreadable { file: path, source }),
            };
        }
        for path in default_files {
            match std::fs::read(path) {
                Ok(bytes) => return Self::decode(path.to_path_buf(), bytes).map(Some),
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(source) => return Err(ConfigError::Unreadable { file: path.to_path_buf(), source }),
            }
        }
        Ok(None)
    }

    fn decode(path: PathBuf, bytes: Vec<u8>) -> Result<Self, ConfigError> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { path, text }),
            Err(error) => {
                let readable = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
                let place = Place::Line(path, 1 + readable.matches('\n').count());
                let message = "expected UTF-8, found other bytes".to_owned();
                Err(ConfigError::Problems(vec![Problem { place, message }]))
            }
        }
    }

    /// Reads the file on its own: syntax, then keys, then the types of the values.
    fn read(&self, schema: &Json) -> Result<Table, Vec<Problem>> {
        let (tree, errors) = DeTable::parse_recoverable(&self.text);
        if !errors.is_empty() {
            let problem = |error: &toml::de::Error| self.problem(start(error), one_line(error.message()));
            return Err(errors.iter().map(problem).collect());
        }
        let wrong = against_schema(tree.get_ref(), schema);
        if !wrong.is_empty() {
            return Err(wrong.into_iter().map(|(offset, message)| self.problem(offset, message)).collect());
        }
        if let Err(error) = toml::from_str::<Config>(&self.text) {
            return Err(vec![self.problem(start(&error), with_key(tree.get_ref(), &error))]);
        }
        toml::from_str(&self.text)
            .map_err(|error| vec![self.problem(start(&error), one_line(error.message()))])
    }

    fn problem(&self, offset: usize, message: String) -> Problem {
        Problem { place: self.line(offset), message }
    }

    fn line(&self, offset: usize) -> Place {
        let breaks = self.text.match_indices('\n').take_while(|(at, _)| *at < offset).count();
        Place::Line(self.path.clone(), 1 + breaks)
    }

    /// The line where a path of keys and list positions is written, or the innermost part of it that is.
    fn place_of(&self, path: &str) -> Option<Place> {
        let tree = DeTable::parse(&self.text).ok()?;
        let mut keys = path.split('.');
        let (key, mut value) =
            tree.get_ref().iter().find(|(key, _)| Some(key.get_ref().as_ref()) == keys.clone().next())?;
        keys.next();
        let mut offset = key.span().start;
        for key in keys {
            match value.get_ref() {
                DeValue::Table(table) => {
                    let Some((key, inner)) = table.iter().find(|(known, _)| known.get_ref() == key) else {
                        break;
                    };
                    offset = key.span().start;
                    value = inner;
                }
                DeValue::Array(items) => {
                    let Some(item) = key.parse().ok().and_then(|index: usize| items.get(index)) else {
                        break;
                    };
                    offset = item.span().start;
                    value = item;
                }
                _ => break,
            }
        }
        Some(self.line(offset))
    }
}

fn start(error: &toml::de::Error) -> usize {
    error.span().map_or(0, |span| span.start)
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}

/// What is wrong with a value, the key it is for first.
fn with_key(table: &DeTable<'_>, error: &toml::de::Error) -> String {
    let message = one_line(error.message());
    match key_at(table, start(error)) {
        Some(key) => format!("`{key}`: {message}"),
        None => message,
    }
}

/// The path of the innermost key whose value holds a place in the text.
fn key_at(table: &DeTable<'_>, offset: usize) -> Option<String> {
    let mut path = Vec::new();
    let mut table = Some(table);
    while let Some(level) = table.take() {
        let here = |span: std::ops::Range<usize>| span.contains(&offset);
        // A table under a `[header]` spans its header only, so its keys are looked into as well.
        let found = level.iter().find(|(_, value)| here(value.span()) || holds(value, offset));
        if let Some((key, value)) = found {
            path.push(key.get_ref().to_string());
            if let DeValue::Table(inner) = value.get_ref() {
                table = Some(inner);
            }
        }
    }
    (!path.is_empty()).then(|| path.join("."))
}

fn holds(value: &Spanned<DeValue<'_>>, offset: usize) -> bool {
    value.span().contains(&offset)
        || match value.get_ref() {
            DeValue::Table(table) => table.values().any(|value| holds(value, offset)),
            DeValue::Array(items) => items.iter().any(|value| holds(value, offset)),
            _ => false,
        }
}

/// What the schema does not allow, and where it stands, in the order of the text: keys that are not known; if there are
/// none, values of the wrong kind. Texts with a form of their own (durations, addresses, …) are judged by their types.
fn against_schema(table: &DeTable<'_>, schema: &Json) -> Vec<(usize, String)> {
    let mut walk = Walk { root: schema, path: Vec::new(), unknown: Vec::new(), wrong_kind: Vec::new() };
    walk.table(table, schema);
    let mut found = if walk.unknown.is_empty() { walk.wrong_kind } else { walk.unknown };
    found.sort();
    found
}

struct Walk<'a> {
    root: &'a Json,
    path: Vec<String>,
    unknown: Vec<(usize, String)>,
    wrong_kind: Vec<(usize, String)>,
}

impl Walk<'_> {
    fn table(&mut self, table: &DeTable<'_>, schema: &Json) {
        let Some(known) = schema::properties(schema) else {
            // A table of free names, such as headers.
            if let Some(schema) = schema.get("additionalProperties") {
                for (key, value) in table {
                    self.path.push(key.get_ref().to_string());
                    self.value(value, schema);
                    self.path.pop();
                }
            }
            return;
        };
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if let Some(schema) = known.get(name) {
                self.path.push(name.to_owned());
                self.value(value, schema);
                self.path.pop();
            } else {
                let suggestion = suggestion(name, known.keys().map(String::as_str), self.root);
                let section = match self.path.as_slice() {
                    [] => "at the top level".to_owned(),
                    path => format!("in [{}]", path.join(".")),
                };
                self.unknown.push((key.span().start, format!("unknown key `{name}` {section}{suggestion}")));
            }
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, schema: &Json) {
        if let Some(message) = wrong_kind(value.get_ref(), schema) {
            self.wrong_kind.push((value.span().start, format!("`{}`: {message}", self.path.join("."))));
        }
        match value.get_ref() {
            DeValue::Table(table) => self.table(table, schema),
            DeValue::Array(elements) => {
                let Some(schema) = schema::items(schema) else { return };
                for element in elements {
                    self.value(element, schema);
                }
            }
            _ => {}
        }
    }
}

/// What is wrong with the kind of a value. It is repeated only where no secret is expected.
fn wrong_kind(value: &DeValue<'_>, schema: &Json) -> Option<String> {
    let has_form = schema.get("title").is_some();
    let kind = schema.get("type").and_then(Json::as_str).filter(|_| !has_form)?;
    let expected = match (kind, value) {
        ("integer", DeValue::Integer(number)) if !number.to_string().starts_with('-') => return None,
        ("integer", DeValue::Integer(_)) => "a whole number of 0 or more",
        ("number", DeValue::Integer(_) | DeValue::Float(_))
        | ("boolean", DeValue::Boolean(_))
        | ("string", DeValue::String(_))
        | ("array", DeValue::Array(_))
        | ("object", DeValue::Table(_)) => return None,
        ("integer", _) => "a whole number",
        ("number", _) => "a number",
        ("boolean", _) => "`true` or `false`",
        ("string", _) => "text in quotes",
        ("array", _) => "a list",
        ("object", _) => "a table",
        _ => return None,
    };
    let found = match value {
        DeValue::String(text) if matches!(kind, "integer" | "number" | "boolean") => {
            format!("the text `{text}`")
        }
        DeValue::String(_) => "text".to_owned(),
        DeValue::Integer(_) | DeValue::Float(_) if kind == "string" => "a number".to_owned(),
        DeValue::Integer(number) => format!("`{number}`"),
        DeValue::Float(number) => format!("`{number}`"),
        DeValue::Boolean(value) => format!("`{value}`"),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    };
    Some(format!("expected {expected}, found {found}"))
}

/// The way out of an unknown key: the nearest one here, else the section where a key of this name is known.
fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone, root: &Json) -> String {
    if let Some(unitless) =
        name.strip_suffix("_ms").and_then(|name| known.clone().find(|known| *known == name))
    {
        return format!("; did you mean `{unitless}`, a duration with its unit, such as \"60s\"?");
    }
    if let Some(nearest) = nearest(name, known) {
        return format!("; did you mean `{nearest}`?");
    }
    let elsewhere = schema::keys(root).into_iter().find(|path| path.last().is_some_and(|last| last == name));
    match elsewhere {
        Some(path) if path.len() == 1 => format!("; `{name}` belongs above the first [section]"),
        Some(path) => format!("; `{name}` belongs in [{}]", path[..path.len() - 1].join(".")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_the_flag_s_then_the_variable_s_then_the_first_default_that_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, port: u16| {
            let path = directory.path().join(name);
            std::fs::write(&path, format!("listen = ':{port}'")).unwrap();
            path
        };
        let (flag, variable, first, second) = (file("a", 1), file("b", 2), file("c", 3), file("d", 4));
        let missing = directory.path().join("missing");
        let flags = Overrides { config: Some(flag), ..Overrides::default() };
        let environment = [("GLEANER_CONFIG".to_owned(), variable.to_str().unwrap().to_owned())].into();
        let (no_flags, nothing) = (Overrides::default(), Environment::new());

        let port = |flags, environment, defaults: &[&Path]| {
            load_from(flags, environment, defaults).unwrap().config.listen.port()
        };
        assert_eq!(port(&flags, &environment, &[&first]), 1);
        assert_eq!(port(&no_flags, &environment, &[&first]), 2);
        assert_eq!(port(&no_flags, &nothing, &[&first, &second]), 3);
        assert_eq!(port(&no_flags, &nothing, &[&missing, &second]), 4);
        let none = load_from(&no_flags, &nothing, &[&missing]).unwrap();
        assert_eq!((none.file, none.config), (None, Config::default()));
    }

    #[test]
    fn a_default_file_that_cannot_be_read_is_not_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let error = load_from(&Overrides::default(), &Environment::new(), &[directory.path()]).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    }
}
