//! The JSON schema of the configuration, and what it knows about a key.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::Config;

/// The schema as it is published: no references, and no `null`, which TOML cannot say.
pub(super) fn root() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    tidy(&mut schema);
    schema
}

/// Takes out what only repeats or cannot be said: `null`, whole tables as defaults.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|name| name != "null");
                if let [single] = types.as_slice() {
                    let single = single.clone();
                    members.insert("type".to_owned(), single);
                }
            }
            if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
                if let [Value::Object(single)] = choices.as_slice() {
                    let single = single.clone();
                    members.remove("anyOf");
                    for (key, value) in single {
                        members.entry(key).or_insert(value);
                    }
                }
            }
            if members.get("default").is_some_and(|value| value.is_null() || value.is_object()) {
                members.remove("default");
            }
            members.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// The schema of a table with named members, if this is one or may be one.
pub(super) fn table(schema: &Value) -> Option<&Value> {
    if schema.get("properties").is_some() {
        return Some(schema);
    }
    schema.get("anyOf")?.as_array()?.iter().find_map(table)
}

/// The named members of a table.
pub(super) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    table(schema)?.get("properties")?.as_object()
}

/// Whether a table must have a member.
pub(super) fn requires(table: &Value, name: &str) -> bool {
    table
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|known| known == name))
}

/// The schema of a list's elements.
pub(super) fn items(schema: &Value) -> Option<&Value> {
    schema.get("items")
}

/// Whether a value is of this JSON type.
pub(super) fn is(schema: &Value, name: &str) -> bool {
    schema.get("type").is_some_and(|found| found == name)
}

/// Every path of a key that holds a value, in order: `searxng.timeout`.
pub(super) fn keys(schema: &Value) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut path = Vec::new();
    collect(schema, &mut path, &mut found);
    found
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match properties(schema) {
        Some(properties) => {
            for (name, schema) in properties {
                path.push(name.clone());
                collect(schema, path, found);
                path.pop();
            }
        }
        None => found.push(path.clone()),
    }
}

/// What the schema says at a path of keys.
pub(super) fn at<'a>(schema: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(schema, |schema, key| properties(schema)?.get(key))
}
