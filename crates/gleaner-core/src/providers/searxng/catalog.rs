//! What an instance tells about itself in `/config`, and what a pool of them tells together.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::query::Query;

/// An instance's `/config`, every field optional: what is missing is unknown, not wrong.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Catalog {
    /// Its engines.
    #[serde(default)]
    pub engines: Vec<Engine>,
    /// Its version, such as `2026.8.22+9fea41204`.
    #[serde(default)]
    pub version: Option<String>,
    /// Whether its operator declared it open to all, which switches the limiter on.
    #[serde(default)]
    pub public_instance: bool,
    #[serde(default)]
    limiter: Limiter,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Limiter {
    #[serde(default)]
    enabled: bool,
}

/// One engine of an instance.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Engine {
    /// Its name.
    pub name: String,
    /// The categories it belongs to.
    #[serde(default)]
    pub categories: Vec<String>,
    /// Whether it is asked without being named.
    #[serde(default)]
    pub enabled: bool,
    /// Its own limit, in seconds.
    #[serde(default)]
    pub timeout: Option<f64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Catalog {
    /// Reads `/config`; `None` if it is none.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let catalog: Self = serde_json::from_slice(body).ok()?;
        (!catalog.engines.is_empty() || catalog.rest.contains_key("categories")).then_some(catalog)
    }

    /// Whether the instance counts and refuses its callers.
    pub fn limiter(&self) -> bool {
        self.limiter.enabled
    }

    /// The longest limit, in seconds, of the engines that `query` will ask; `None` if it cannot be told.
    pub fn slowest(&self, query: &Query) -> Option<f64> {
        let named = |engine: &&Engine| query.engines().contains(&engine.name);
        let in_category = |engine: &&Engine| match query.categories() {
            [] if query.engines().is_empty() => {
                engine.enabled && engine.categories.iter().any(|c| c == "general")
            }
            categories => engine.enabled && engine.categories.iter().any(|c| categories.contains(c)),
        };
        // A bang or a carried preference chooses engines that cannot be told from here.
        if query.text().split_whitespace().any(|word| word.starts_with('!')) || !query.carried().is_empty() {
            return None;
        }
        let chosen = self.engines.iter().filter(|engine| named(engine) || in_category(engine));
        chosen.map(|engine| engine.timeout).collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }
}

/// The `/config` of a pool: SearXNG's shape, the union of what its instances offer. `None` if none has told.
pub fn union<'a>(catalogs: impl IntoIterator<Item = &'a Catalog>) -> Option<Value> {
    let catalogs: Vec<&Catalog> = catalogs.into_iter().collect();
    let first = catalogs.first()?;
    let mut engines: Vec<Engine> = Vec::new();
    for engine in catalogs.iter().flat_map(|catalog| &catalog.engines) {
        match engines.iter_mut().find(|other| other.name == engine.name) {
            Some(known) => {
                known.enabled |= engine.enabled;
                for category in &engine.categories {
                    if !known.categories.contains(category) {
                        known.categories.push(category.clone());
                    }
                }
            }
            None => engines.push(engine.clone()),
        }
    }
    // Some clients look for an enabled engine in both `general` and `web`, and give up without one.
    let holds = |engine: &Engine, category: &str| engine.categories.iter().any(|other| other == category);
    if !engines.iter().any(|engine| engine.enabled && holds(engine, "general") && holds(engine, "web")) {
        for engine in engines.iter_mut().filter(|engine| engine.enabled && holds(engine, "general")) {
            engine.categories.push("web".to_owned());
        }
    }
    let mut categories: Vec<Value> = Vec::new();
    let listed = catalogs.iter().filter_map(|catalog| catalog.rest.get("categories")?.as_array()).flatten();
    for category in listed {
        if !categories.contains(category) {
            categories.push(category.clone());
        }
    }
    let mut config = first.rest.clone();
    config.insert("categories".to_owned(), categories.into());
    config.insert("engines".to_owned(), engines.into_iter().map(Engine::into_value).collect());
    config.insert("instance_name".to_owned(), "Gleaner".into());
    config.insert("limiter".to_owned(), json!({ "enabled": false }));
    config.insert("public_instance".to_owned(), false.into());
    config.insert("version".to_owned(), first.version.clone().unwrap_or_default().into());
    config.sort_keys();
    Some(config.into())
}

impl Engine {
    fn into_value(self) -> Value {
        let mut engine = self.rest;
        engine.insert("categories".to_owned(), self.categories.into());
        engine.insert("enabled".to_owned(), self.enabled.into());
        engine.insert("name".to_owned(), self.name.into());
        engine.insert("timeout".to_owned(), self.timeout.map_or(Value::Null, Value::from));
        engine.sort_keys();
        engine.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(json: &Value) -> Catalog {
        Catalog::parse(json.to_string().as_bytes()).unwrap()
    }

    fn small() -> Catalog {
        catalog(&json!({
            "categories": ["general", "news"], "version": "2026.8.22+9fea41204", "public_instance": true,
            "limiter": {"enabled": true}, "locales": {"en": "English"},
            "engines": [
                {"name": "a", "categories": ["general"], "enabled": true, "timeout": 3.0, "shortcut": "a"},
                {"name": "b", "categories": ["general", "news"], "enabled": false, "timeout": 10.0},
                {"name": "c", "categories": ["news"], "enabled": true, "timeout": 6.0}
            ]
        }))
    }

    #[test]
    fn the_slowest_of_the_engines_asked_is_known() {
        let query = |pairs: &[(&'static str, &'static str)]| {
            Query::from_pairs(pairs.iter().copied(), &crate::query::QueryLimits::default()).unwrap()
        };
        let catalog = small();
        assert_eq!(catalog.slowest(&query(&[("q", "x")])), Some(3.0));
        assert_eq!(catalog.slowest(&query(&[("q", "x"), ("engines", "b")])), Some(10.0));
        assert_eq!(catalog.slowest(&query(&[("q", "x"), ("categories", "news")])), Some(6.0));
        assert_eq!(
            catalog.slowest(&query(&[("q", "x"), ("engines", "b"), ("categories", "news")])),
            Some(10.0)
        );
        assert_eq!(catalog.slowest(&query(&[("q", "!b x")])), None);
        assert_eq!(catalog.slowest(&query(&[("q", "x"), ("engines", "nosuch")])), None);
    }

    #[test]
    fn a_pool_offers_what_its_instances_offer() {
        let other = catalog(&json!({
            "categories": ["it"], "engines": [{"name": "b", "categories": ["it"], "enabled": true}]
        }));
        let config = union([&small(), &other]).unwrap();
        assert_eq!(config["categories"], json!(["general", "news", "it"]));
        assert_eq!(config["public_instance"], false);
        assert_eq!(config["limiter"]["enabled"], false);
        let engines = config["engines"].as_array().unwrap();
        assert_eq!(engines.len(), 3);
        assert_eq!(engines[0]["categories"], json!(["general", "web"]));
        assert_eq!(engines[0]["shortcut"], "a");
        assert_eq!((&engines[1]["enabled"], &engines[1]["timeout"]), (&json!(true), &json!(10.0)));
        assert!(union([]).is_none());
    }

    #[test]
    fn what_is_no_configuration_is_none() {
        for text in ["", "{}", "[]", "<html>", r#"{"engines": 5}"#] {
            assert!(Catalog::parse(text.as_bytes()).is_none(), "{text}");
        }
    }
}
