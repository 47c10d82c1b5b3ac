//! Every recorded answer of a real SearXNG, read as an instance's reply to a JSON search.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use gleaner_core::base_url::BaseUrl;
use gleaner_core::error::Reason;
use gleaner_core::providers::searxng::{self, Dialect, Reading, Reply};
use gleaner_core::query::Query;
use gleaner_core::results::{JsonStyle, ResultPage};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

struct Recording {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

fn recordings() -> BTreeMap<String, Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/searxng");
    let mut recordings = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "http") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            recordings.insert(name, parse(&std::fs::read(path).unwrap()));
        }
    }
    recordings
}

fn parse(raw: &[u8]) -> Recording {
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(raw.len());
    let head = std::str::from_utf8(&raw[..end]).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            (
                name,
                HeaderValue::from_bytes(
                    value.trim().replace("127.0.0.1:8888", "upstream.example").as_bytes(),
                )
                .unwrap(),
            )
        })
        .collect();
    let body = Bytes::copy_from_slice(raw.get(end + 4..).unwrap_or_default());
    Recording { status, headers, body }
}

impl Recording {
    fn read(&self, name: &str, dialect: Dialect) -> Reading {
        let base = BaseUrl::parse("http://upstream.example").unwrap();
        let text = if name.starts_with("external-bang") || name.starts_with("lucky") { "!!w x" } else { "x" };
        let reply = Reply {
            status: self.status,
            headers: &self.headers,
            body: &self.body,
            unix_seconds: 1_796_000_000,
        };
        searxng::read(reply, &base, &Query::plain(text).unwrap(), dialect)
    }

    /// Whether this is a JSON answer to a search, by the words of SearXNG alone.
    fn is_json_search(&self) -> bool {
        self.status == StatusCode::OK
            && self.headers.get("content-type").is_some_and(|value| value == "application/json")
            && self.body.windows(11).any(|window| window == b"\"results\": ")
    }
}

/// `NaN`, infinities and lone surrogates, which SearXNG writes and no parser accepts, replaced by hand for the two
/// recordings that hold them.
fn mended(body: &Bytes) -> String {
    String::from_utf8(body.to_vec())
        .unwrap()
        .replace(": -Infinity", ": null")
        .replace(": NaN", ": null")
        .replace(": Infinity", ": null")
        .replace("\\ud83d\"", "\\ufffd\"")
        .replace("\\udc4d\"", "\\ufffd\"")
}

#[test]
fn every_json_answer_passes_unchanged_in_meaning_order_and_number_form() {
    let mut read = 0;
    for (name, recording) in recordings().iter().filter(|(_, recording)| recording.is_json_search()) {
        read += 1;
        let Reading::Page(page, Dialect::Json) = recording.read(name, Dialect::Json) else {
            panic!("{name} is no page: {:?}", recording.read(name, Dialect::Json));
        };
        let text = mended(&recording.body);
        let original: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let has_number = original.get("number_of_results").is_some();
        let written = page.to_json(JsonStyle { number_of_results: has_number });
        let written: Value =
            serde_json::from_slice(&written).unwrap_or_else(|error| panic!("{name}: {error}"));
        compare_pages(name, &original, &written);
    }
    assert!(read > 130, "only {read} recordings are JSON answers");
}

fn compare_pages(name: &str, original: &Value, written: &Value) {
    let written_keys: Vec<_> = written.as_object().unwrap().keys().collect();
    for (key, value) in original.as_object().unwrap() {
        match key.as_str() {
            "results" => {
                let kept: Vec<_> = value.as_array().unwrap().iter().filter(|hit| is_usable(hit)).collect();
                let hits = written["results"].as_array().unwrap();
                assert_eq!(kept.len(), hits.len(), "{name}: number of hits");
                for (before, after) in kept.iter().zip(hits) {
                    compare_hits(name, before, after);
                }
            }
            "infoboxes" => {
                for (before, after) in
                    value.as_array().unwrap().iter().zip(written["infoboxes"].as_array().unwrap())
                {
                    for (key, value) in before.as_object().unwrap() {
                        let filled = value.is_null() && matches!(key.as_str(), "content" | "urls");
                        assert!(filled || after[key] == *value, "{name}: infobox {key}");
                    }
                }
            }
            "unresponsive_engines" => {
                let pairs = |value: &Value| {
                    value.as_array().unwrap().iter().map(|pair| pair[0].clone()).collect::<Vec<_>>()
                };
                assert_eq!(pairs(value), pairs(&written[key]), "{name}: {key}");
            }
            _ => assert_eq!(value.to_string(), written[key].to_string(), "{name}: {key}"),
        }
        assert!(written_keys.contains(&key), "{name}: {key} is gone");
    }
    let order = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let kept = order(original);
    let written_order: Vec<_> = order(written).into_iter().filter(|key| kept.contains(key)).collect();
    assert_eq!(kept, written_order, "{name}: order of keys");
}

fn is_usable(hit: &Value) -> bool {
    match hit.get("url").and_then(Value::as_str) {
        Some(url) => {
            (url.starts_with("http://") || url.starts_with("https://")) && url::Url::parse(url).is_ok()
        }
        None => {
            hit["kvmap"].is_object() || hit["magnetlink"].is_string() || hit["template"] == "key-value.html"
        }
    }
}

fn as_text(value: &Value) -> String {
    value.to_string()
}

fn compare_hits(name: &str, before: &Value, after: &Value) {
    let (before, after) = (before.as_object().unwrap(), after.as_object().unwrap());
    for ((key, value), (other_key, other)) in before.iter().zip(after) {
        assert_eq!(key, other_key, "{name}: order of a hit's keys");
        let repaired = match key.as_str() {
            "title" | "content" => value.is_null() && other == "",
            "score" => !value.is_number() && as_text(other) == "0",
            "positions" => !value.is_array() && other.is_array(),
            _ => false,
        };
        // As text, so that 1.0 is not 1 and 1e-07 stays what it is.
        assert!(repaired || as_text(value) == as_text(other), "{name}: {key}: {value} became {other}");
    }
    for key in [
        "url",
        "title",
        "content",
        "engine",
        "engines",
        "positions",
        "score",
        "category",
        "template",
        "parsed_url",
    ] {
        assert!(after.contains_key(key), "{name}: {key} is missing");
    }
}

#[test]
fn every_other_recording_is_what_its_readme_says() {
    use Reason::{
        Challenge, Forbidden, FormatOff, InvalidQuery, Limiter, Moved, RateLimited, Redirected, Status,
        Unreadable,
    };

    for (name, recording) in recordings().iter().filter(|(_, recording)| !recording.is_json_search()) {
        let reason = match recording.read(name, Dialect::Json) {
            Reading::Failure(failure) => Some(failure.error.reason),
            Reading::Page(_, Dialect::Html) => None,
            Reading::Redirect(_) => {
                assert!(
                    name.starts_with("external-bang-redirect") || name == "lucky-html-redirect",
                    "{name}"
                );
                continue;
            }
            Reading::Page(page, Dialect::Json) => panic!("{name} is no JSON search: {page:?}"),
        };
        let expected = match name.as_str() {
            // HTML pages with hits: what a JSON request gets from an instance that gives HTML anyway.
            "format-html" => None,
            // HTML pages of results without hits.
            "format-html-zero-results"
            | "format-unknown"
            | "format-case"
            | "unresponsive-all-html"
            | "limiter-api-window-html-still-ok"
            | "linktoken-after-ping" => Some(FormatOff),
            // Start pages and other pages of 200 without results.
            "root-index"
            | "error-no-query-html"
            | "general-post-json-body"
            | "base-url-opensearch"
            | "opensearch-xml"
            | "opensearch-xml-forwarded"
            | "format-rss"
            | "format-rss-dates"
            | "v2024-12-rss"
            | "v2026-05-rss" => Some(Redirected),
            // 200, but neither results nor a page.
            "autocompleter"
            | "autocompleter-bang"
            | "autocompleter-empty"
            | "autocompleter-xhr"
            | "config"
            | "config-default-engines"
            | "stats-errors"
            | "healthz"
            | "limiter-healthz-exempt"
            | "robots-txt"
            | "metrics"
            | "base-url-prefix-stripped"
            | "linktoken-ping"
            | "options"
            | "head-search"
            | "format-csv"
            | "format-csv-suggestions"
            | "format-csv-nonascii-filename"
            | "limiter-config-says-enabled"
            | "v2024-12-autocompleter"
            | "v2026-05-autocompleter"
            | "v2024-12-config"
            | "v2026-05-config"
            | "v2024-12-csv"
            | "v2026-05-csv"
            | "debian-searx-1.1.0-config" => Some(Unreadable),
            "limiter-sec-fetch-redirect"
            | "linktoken-suspicious-redirect"
            | "clear-cookies"
            | "preferences-post" => Some(Limiter),
            "about-redirect" | "base-url-redirect" | "root-get-redirect" | "root-post-redirect"
            | "v2024-12-root-post" | "v2026-05-root-post" => Some(Moved),
            "metrics-no-auth" => Some(Forbidden),
            _ => Some(match recording.status.as_u16() {
                400 => InvalidQuery,
                403 => FormatOff,
                429 => RateLimited,
                404 | 405 | 414 | 500 => Status,
                other => panic!("{name}: nobody said what a {other} is"),
            }),
        };
        assert_eq!(reason, expected, "{name}");
        assert_ne!(reason, Some(Challenge), "{name}");
    }
}

#[test]
fn the_words_of_a_400_are_searxngs_own() {
    let recordings = recordings();
    for (name, words) in [
        ("error-no-query-json", "No query"),
        ("error-pageno-zero", "Invalid value 0 for parameter pageno"),
        ("v2024-12-error-pageno", "Invalid value \"0\" for parameter pageno"),
    ] {
        let Reading::Failure(failure) = recordings[name].read(name, Dialect::Json) else { panic!("{name}") };
        assert_eq!(failure.error.message, words);
    }
}

#[test]
fn the_html_page_holds_the_hits_of_the_json_answer() {
    let recordings = recordings();
    let Reading::Page(html, Dialect::Html) = recordings["format-html"].read("", Dialect::Html) else {
        panic!()
    };
    let Reading::Page(json, Dialect::Json) = recordings["general-merged"].read("", Dialect::Json) else {
        panic!()
    };
    let view = |page: &ResultPage| {
        let hits = page.hits().iter();
        hits.map(|hit| {
            let mut engines = hit.engines();
            engines.sort();
            (hit.title().into_owned(), hit.url().unwrap().into_owned(), hit.content().into_owned(), engines)
        })
        .collect::<Vec<_>>()
    };
    let by_address = |page: &ResultPage| {
        let mut hits = view(page);
        hits.sort();
        hits
    };
    assert_eq!(by_address(&html), by_address(&json));
    assert_eq!(html.query(), json.query());
    assert_eq!(html.suggestions().len(), json.suggestions().len());
}

#[test]
fn a_page_of_failed_engines_tells_them_in_html_as_well() {
    let recordings = recordings();
    let Reading::Page(page, _) = recordings["unresponsive-all-html"].read("", Dialect::Html) else {
        panic!()
    };
    assert!(page.is_empty());
    let reasons: Vec<_> = page.unresponsive().iter().map(|engine| engine.reason.as_str()).collect();
    assert!(reasons.contains(&"Suspended: CAPTCHA") && reasons.contains(&"server API error"), "{reasons:?}");
    assert!(page.unresponsive().iter().all(|engine| engine.engine.starts_with("bad ")));
}

#[test]
fn a_json_answer_cut_in_the_middle_is_an_error_and_never_empty() {
    for (name, recording) in recordings().iter().filter(|(_, recording)| recording.is_json_search()) {
        let length = recording.body.len();
        for end in (0..length).step_by(length / 40 + 1).chain([length - 1]) {
            assert!(ResultPage::from_json(&recording.body.slice(..end)).is_err(), "{name} cut at {end}");
        }
    }
}
