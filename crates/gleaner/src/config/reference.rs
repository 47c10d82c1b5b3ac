//! The reference page and the JSON schema, written from the types.

use std::fmt::Write as _;

use serde_json::Value;

use super::environment;
use super::schema;

/// The JSON schema of the configuration: `docs/gleaner.schema.json`, and what `gleaner schema` prints.
pub fn json_schema() -> String {
    format!("{:#}\n", schema::root())
}

/// The reference page: `docs/configuration.md`.
pub fn markdown() -> String {
    let schema = schema::root();
    let mut page = String::from(
        "# Configuration\n\n\
         Written from the types in `crates/gleaner/src/config.rs`; `UPDATE_DOCS=1 cargo test -p gleaner` writes it anew.\n\n\
         The file is `--config FILE`, else `GLEANER_CONFIG`, else `./gleaner.toml`, else `/etc/gleaner/gleaner.toml`, else\n\
         none: every key is optional. The environment overrides the file, flags override both. A key that is not known is\n\
         an error. Durations and sizes are text with a unit: `\"800ms\"`, `\"4.5s\"`, `\"6h\"`, `\"64KiB\"`, `\"2MiB\"`.\n",
    );
    section(&mut page, &schema, &[]);
    page.push_str(
        "\n## Environment\n\n\
         An empty variable is the same as one that is not set.\n\n\
         | variable | meaning |\n| --- | --- |\n",
    );
    for (name, meaning) in environment::NAMES {
        let _ = writeln!(page, "| `{name}` | {meaning} |");
    }
    let ignored = environment::IGNORED.map(|name| format!("`{name}`")).join(", ");
    let _ = writeln!(page, "\nKnown from searxng-gateway, named at start and ignored: {ignored}.");
    page
}

/// One table a section, then the sections within.
fn section(page: &mut String, schema: &Value, path: &[&str]) {
    let Some(properties) = schema::properties(schema) else { return };
    let title = if path.is_empty() { "Top level".to_owned() } else { format!("`[{}]`", path.join(".")) };
    let _ = write!(page, "\n## {title}\n\n");
    if !path.is_empty()
        && let Some(meaning) = description(schema)
    {
        let _ = write!(page, "{meaning}\n\n");
    }
    let is_section = |schema: &Value| schema.get("properties").is_some();
    if properties.values().any(|schema| !is_section(schema)) {
        page.push_str("| key | type | default | meaning |\n| --- | --- | --- | --- |\n");
        for (name, key) in properties.iter().filter(|(_, schema)| !is_section(schema)) {
            row(page, name, key, &default(key));
        }
    }
    for (name, schema) in properties {
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        if is_section(schema) {
            section(page, schema, &path);
        } else if let Some(element) = schema::items(schema).and_then(schema::table) {
            let _ = write!(page, "\n### A table in `{}`\n\n", path.join("."));
            page.push_str("| key | type | default | meaning |\n| --- | --- | --- | --- |\n");
            for (name, key) in schema::properties(element).into_iter().flatten() {
                let default =
                    if schema::requires(element, name) { "required".to_owned() } else { default(key) };
                row(page, name, key, &default);
            }
        }
    }
}

fn row(page: &mut String, name: &str, schema: &Value, default: &str) {
    let meaning = description(schema).unwrap_or_default();
    let _ = writeln!(page, "| `{name}` | {} | {default} | {meaning} |", type_name(schema));
}

fn description(schema: &Value) -> Option<String> {
    let text = schema.get("description")?.as_str()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|"))
}

fn default(schema: &Value) -> String {
    match (schema.get("default"), schema.get("x-unset").and_then(Value::as_str)) {
        (Some(default), _) => format!("`{default}`"),
        (None, Some(unset)) => format!("unset ({unset})"),
        (None, None) => "unset".to_owned(),
    }
}

fn type_name(schema: &Value) -> String {
    if let Some(title) = schema.get("title").and_then(Value::as_str) {
        return title.to_owned();
    }
    let words =
        |values: Vec<&Value>| values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    if let Some(Value::Array(values)) = schema.get("enum") {
        return words(values.iter().collect());
    }
    if let Some(Value::Array(choices)) = schema.get("oneOf") {
        return words(choices.iter().filter_map(|choice| choice.get("const")).collect());
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => {
            format!("list of {}", schema::items(schema).map_or("anything".to_owned(), type_name))
        }
        Some("integer") => "whole number".to_owned(),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("string") => "text".to_owned(),
        Some("object") => "table".to_owned(),
        Some(other) => other.to_owned(),
        None => "anything".to_owned(),
    }
}
