//! The configuration's reference page and schema are the ones the types write.

use std::path::Path;

use gleaner::config::reference;

#[test]
fn the_reference_page_is_fresh() {
    compare("configuration.md", &reference::markdown());
}

#[test]
fn the_schema_is_fresh() {
    compare("gleaner.schema.json", &reference::json_schema());
}

fn compare(name: &str, written: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if update() {
        std::fs::write(&path, written).expect("docs/ can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == written,
        "docs/{name} is not what the types say; run UPDATE_DOCS=1 cargo test -p gleaner"
    );
}

#[expect(clippy::disallowed_methods, reason = "a switch of the test run, not of the product")]
fn update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}
