//! A page of results as SearXNG gives it: every field it had, in its order and number form, and a typed view.
//!
//! Clients read different parts of SearXNG's answer, and engines invent keys. So a hit is its JSON object, cut into
//! members but not read; what the gateway itself needs is decoded on demand. A page is made conformant once, when it is
//! read (`clients.md` 1.4, rules 0 and 5): after that no string field is null, every score is a finite number, and
//! every hit has the keys that clients rely on.

mod text;

pub use self::text::quoted as json_string;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use bytes::Bytes;
use url::Url;

/// Most hits that are read from one answer.
const MAX_HITS: usize = 2000;

/// Most entries that are read of each other list.
const MAX_ENTRIES: usize = 1000;

/// How a page is written as JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonStyle {
    /// Whether `number_of_results` stands after `query`. Newer instances have no such key; older clients need it.
    pub number_of_results: bool,
}

impl Default for JsonStyle {
    fn default() -> Self {
        Self { number_of_results: true }
    }
}

/// An engine that did not answer, and SearXNG's reason.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Unresponsive {
    /// The engine's name.
    pub engine: String,
    /// SearXNG's text, such as `timeout` or `Suspended: CAPTCHA`.
    pub reason: String,
}

/// The text was not a page of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a SearXNG answer: {0}")]
pub struct UnreadablePage(&'static str);

/// A page of results.
#[derive(Clone, Debug, Default)]
pub struct ResultPage {
    query: String,
    number_of_results: Option<String>,
    hits: Vec<Hit>,
    answers: Vec<String>,
    corrections: Vec<String>,
    infoboxes: Vec<String>,
    suggestions: Vec<String>,
    unresponsive: Vec<Unresponsive>,
    /// Top-level members that nobody here knows, in their order.
    unknown: Vec<(String, String)>,
    dropped: usize,
}

impl ResultPage {
    /// An empty page that echoes `query`.
    pub fn empty(query: &str) -> Self {
        Self { query: query.to_owned(), ..Self::default() }
    }

    /// Reads SearXNG's JSON, of any version and as broken as SearXNG makes it.
    ///
    /// One bad hit never costs the page: it is dropped and counted. At most 2,000 hits are read.
    ///
    /// # Errors
    ///
    /// When the text is no JSON object with a list of `results`; a text that was cut off is an error, never an empty
    /// page.
    pub fn from_json(body: &Bytes) -> Result<Self, UnreadablePage> {
        let source = clean(body);
        let text = std::str::from_utf8(&source).map_err(|_| UnreadablePage("not text"))?;
        let members = text::members(text).ok_or(UnreadablePage("not a JSON object"))?;
        let mut page = Self::default();
        let mut has_results = false;
        for (key, value) in members {
            match &*key {
                "query" => page.query = text::string(value).unwrap_or_default().into_owned(),
                "number_of_results" => page.number_of_results = is_integer(value).then(|| value.to_owned()),
                "results" => {
                    let elements =
                        text::elements(value, MAX_HITS).ok_or(UnreadablePage("results is no list"))?;
                    has_results = true;
                    for element in elements {
                        match Hit::read(&source, element) {
                            Some(hit) => page.hits.push(hit),
                            None => page.dropped += 1,
                        }
                    }
                }
                "answers" => page.answers = raw_list(value),
                "corrections" => page.corrections = strings(value),
                "infoboxes" => {
                    page.infoboxes = raw_list(value).iter().filter_map(|raw| infobox(raw)).collect();
                }
                "suggestions" => page.suggestions = strings(value),
                "unresponsive_engines" => page.unresponsive = unresponsive(value),
                _ => page.unknown.push((key.into_owned(), value.to_owned())),
            }
        }
        if has_results { Ok(page) } else { Err(UnreadablePage("no results member")) }
    }

    /// What SearXNG says it searched for: the question without its syntax.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Sets what is echoed as the question.
    pub fn set_query(&mut self, query: &str) {
        query.clone_into(&mut self.query);
    }

    /// The hits, in order.
    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// Keeps only the hits at these places, which ascend.
    pub fn keep(&mut self, places: &[usize]) {
        let mut place = 0;
        self.hits.retain(|_| {
            place += 1;
            places.binary_search(&(place - 1)).is_ok()
        });
    }

    /// Leaves at most `limit` hits; 0 is no limit.
    pub fn cut(&mut self, limit: usize) {
        if limit > 0 {
            self.hits.truncate(limit);
        }
    }

    /// Adds a hit at the end.
    pub fn push(&mut self, hit: Hit) {
        self.hits.push(hit);
    }

    /// Takes the hits out.
    pub(crate) fn take_hits(&mut self) -> Vec<Hit> {
        std::mem::take(&mut self.hits)
    }

    /// Adds what `other` has of answers, infoboxes, suggestions, corrections and failing engines and this page has not.
    pub(crate) fn unite_lists(&mut self, other: &Self) {
        unite(&mut self.answers, &other.answers);
        unite(&mut self.corrections, &other.corrections);
        unite(&mut self.infoboxes, &other.infoboxes);
        unite(&mut self.suggestions, &other.suggestions);
        unite(&mut self.unresponsive, &other.unresponsive);
        self.unresponsive.sort();
    }

    /// Engines whose hits are on the page are not failing.
    pub(crate) fn drop_delivering_engines(&mut self) {
        let delivering: HashSet<String> = self.hits.iter().flat_map(Hit::engines).collect();
        self.unresponsive.retain(|failing| !delivering.contains(&failing.engine));
    }

    /// The answers, each as JSON: objects of several kinds, or strings from old instances.
    pub fn answers(&self) -> &[String] {
        &self.answers
    }

    /// The infoboxes, each as a JSON object.
    pub fn infoboxes(&self) -> &[String] {
        &self.infoboxes
    }

    /// Other questions to ask.
    pub fn suggestions(&self) -> &[String] {
        &self.suggestions
    }

    /// Adds another question to ask.
    pub fn suggest(&mut self, question: String) {
        self.suggestions.push(question);
    }

    /// Corrected spellings.
    pub fn corrections(&self) -> &[String] {
        &self.corrections
    }

    /// The engines that did not answer.
    pub fn unresponsive(&self) -> &[Unresponsive] {
        &self.unresponsive
    }

    /// Names an engine that did not answer.
    pub fn add_unresponsive(&mut self, engine: String, reason: String) {
        self.unresponsive.push(Unresponsive { engine, reason });
    }

    /// Whether there is nothing to show: no hit, answer or infobox.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty() && self.answers.is_empty() && self.infoboxes.is_empty()
    }

    /// Hits that could not be read or had no usable address.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Writes the page as SearXNG does: its order of keys, Python's separators, ASCII with escapes.
    pub fn to_json(&self, style: JsonStyle) -> Vec<u8> {
        let hits: usize = self.hits.iter().map(Hit::size).sum();
        let mut out = String::with_capacity(512 + hits);
        out.push_str("{\"query\": ");
        text::write_string(&mut out, &self.query);
        if style.number_of_results {
            out.push_str(", \"number_of_results\": ");
            out.push_str(self.number_of_results.as_deref().unwrap_or("0"));
        }
        list(&mut out, "results", &self.hits, |out, hit| hit.write(out));
        list(&mut out, "answers", &self.answers, |out, raw| out.push_str(raw));
        list(&mut out, "corrections", &self.corrections, |out, word| text::write_string(out, word));
        list(&mut out, "infoboxes", &self.infoboxes, |out, raw| out.push_str(raw));
        list(&mut out, "suggestions", &self.suggestions, |out, word| text::write_string(out, word));
        list(&mut out, "unresponsive_engines", &self.unresponsive, |out, engine| {
            out.push_str(&text::quoted_list([engine.engine.as_str(), engine.reason.as_str()]));
        });
        for (key, value) in &self.unknown {
            out.push_str(", ");
            text::write_string(&mut out, key);
            out.push_str(": ");
            out.push_str(value);
        }
        out.push('}');
        out.into_bytes()
    }
}

fn unite<T: Clone + PartialEq>(list: &mut Vec<T>, other: &[T]) {
    for entry in other {
        if !list.contains(entry) {
            list.push(entry.clone());
        }
    }
}

fn list<T>(out: &mut String, name: &str, entries: &[T], mut write: impl FnMut(&mut String, &T)) {
    out.push_str(", \"");
    out.push_str(name);
    out.push_str("\": [");
    for (place, entry) in entries.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        write(out, entry);
    }
    out.push(']');
}

/// One result.
#[derive(Clone, Debug)]
pub struct Hit {
    source: Bytes,
    /// The object as it came, while nothing was changed.
    untouched: Option<Range<u32>>,
    members: Vec<(Slice, Slice)>,
}

/// A piece of a hit's source, or text of our own.
#[derive(Clone, Debug)]
enum Slice {
    Source(Range<u32>),
    Own(Box<str>),
}

impl Hit {
    /// A hit made here, from a source that is not SearXNG. Members follow by [`Hit::set`] and [`Hit::set_text`].
    pub fn new(url: &Url, title: &str, content: &str, engine: &str) -> Self {
        let mut hit = Self { source: Bytes::new(), untouched: None, members: Vec::with_capacity(14) };
        hit.set_text("url", url.as_str());
        hit.set_text("title", title);
        hit.set_text("content", content);
        hit.set_text("thumbnail", "");
        hit.set_text("engine", engine);
        hit.set_text("template", "default.html");
        hit.set("parsed_url", parsed_url(url));
        hit.set_text("img_src", "");
        hit.set_text("priority", "");
        hit.set("engines", text::quoted_list([engine]));
        hit.set("positions", "[]".to_owned());
        hit.set("score", "0".to_owned());
        hit.set_text("category", "general");
        hit.set("publishedDate", "null".to_owned());
        hit
    }

    /// Reads a hit from `element`, a slice of `source`, and makes it conformant. `None` if it has no usable address.
    fn read(source: &Bytes, element: &str) -> Option<Self> {
        let members = text::members(element)?;
        let place = |slice: &str| {
            let start = slice.as_ptr() as usize - source.as_ptr() as usize;
            start as u32..(start + slice.len()) as u32
        };
        let mut hit = Self { source: source.clone(), untouched: Some(place(element)), members: Vec::new() };
        hit.members = members
            .into_iter()
            .map(|(key, value)| {
                let key = match key {
                    Cow::Borrowed(key) => Slice::Source(place(key)),
                    Cow::Owned(key) => Slice::Own(key.into()),
                };
                (key, Slice::Source(place(value)))
            })
            .collect();
        hit.conform().then_some(hit)
    }

    /// Fills what clients rely on. False if the hit has no usable address.
    fn conform(&mut self) -> bool {
        let url = match self.text("url") {
            Some(url) => match Url::parse(&url) {
                Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Some(url),
                _ => return false,
            },
            None if self.stands_without_url() => None,
            None => return false,
        };
        for key in ["title", "content"] {
            if self.text(key).is_none() {
                self.set_text(key, "");
            }
        }
        if self.text("engine").is_none() {
            let engine = self.texts("engines").into_iter().next().unwrap_or_default();
            self.set_text("engine", &engine);
        }
        if !self.get("engines").is_some_and(|raw| raw.starts_with('[')) {
            self.set("engines", text::quoted_list([self.engine().as_ref()]));
        }
        if !self.get("positions").is_some_and(|raw| raw.starts_with('[')) {
            self.set("positions", "[]".to_owned());
        }
        if !self.get("score").is_some_and(text::is_number) {
            self.set("score", "0".to_owned());
        }
        for (key, default) in [("category", "general"), ("template", "default.html")] {
            if self.text(key).is_none() {
                self.set_text(key, default);
            }
        }
        if self.get("parsed_url").is_none() {
            self.set("parsed_url", url.as_ref().map_or_else(|| "null".to_owned(), parsed_url));
        }
        if self.get("url").is_none() {
            self.set("url", "null".to_owned());
        }
        true
    }

    /// Key and value tables and magnet links are results without an address.
    fn stands_without_url(&self) -> bool {
        self.get("url").is_none_or(|raw| raw == "null")
            && (self.get("kvmap").is_some()
                || self.text("magnetlink").is_some()
                || self.text("template").is_some_and(|template| template == "key-value.html"))
    }

    /// The value of a member as JSON text.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.members.iter().find(|(name, _)| self.slice(name) == key).map(|(_, value)| self.slice(value))
    }

    /// Sets a member to a JSON value: in its place if there is one, else at the end.
    pub fn set(&mut self, key: &str, value: String) {
        self.untouched = None;
        let value = Slice::Own(value.into());
        match self.members.iter().position(|(name, _)| self.slice(name) == key) {
            Some(place) => self.members[place].1 = value,
            None => self.members.push((Slice::Own(key.into()), value)),
        }
    }

    /// Sets a member to a string.
    pub fn set_text(&mut self, key: &str, value: &str) {
        self.set(key, text::quoted(value));
    }

    /// Sets a member to a list of strings.
    pub fn set_texts<'a>(&mut self, key: &str, values: impl IntoIterator<Item = &'a str>) {
        self.set(key, text::quoted_list(values));
    }

    /// Adds the positions of a copy to this hit's own.
    pub(crate) fn append_positions(&mut self, copy: &Self) {
        let numbers = |hit: &Self| -> Vec<String> {
            let raw = hit.get("positions").unwrap_or_default();
            text::elements(raw, MAX_ENTRIES).unwrap_or_default().into_iter().map(str::to_owned).collect()
        };
        let all = [numbers(self), numbers(copy)].concat();
        self.set("positions", format!("[{}]", all.join(", ")));
    }

    /// The text of a member; `None` if it is missing or no string.
    pub fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        text::string(self.get(key)?)
    }

    /// The strings of a list; empty if it is missing or no list.
    pub fn texts(&self, key: &str) -> Vec<String> {
        self.get(key).map(strings).unwrap_or_default()
    }

    /// The address; `None` for tables and magnet links.
    pub fn url(&self) -> Option<Cow<'_, str>> {
        self.text("url")
    }

    /// The title.
    pub fn title(&self) -> Cow<'_, str> {
        self.text("title").unwrap_or_default()
    }

    /// The snippet, plain text.
    pub fn content(&self) -> Cow<'_, str> {
        self.text("content").unwrap_or_default()
    }

    /// The engine that delivered it first.
    pub fn engine(&self) -> Cow<'_, str> {
        self.text("engine").unwrap_or_default()
    }

    /// All engines that delivered it.
    pub fn engines(&self) -> Vec<String> {
        self.texts("engines")
    }

    /// The score; finite.
    pub fn score(&self) -> f64 {
        self.get("score").and_then(|raw| raw.parse().ok()).unwrap_or(0.0)
    }

    fn size(&self) -> usize {
        match &self.untouched {
            Some(range) => range.len(),
            None => self.members.iter().map(|(k, v)| self.slice(k).len() + self.slice(v).len() + 6).sum(),
        }
    }

    fn write(&self, out: &mut String) {
        if let Some(range) = &self.untouched {
            out.push_str(self.slice(&Slice::Source(range.clone())));
            return;
        }
        out.push('{');
        for (place, (key, value)) in self.members.iter().enumerate() {
            if place > 0 {
                out.push_str(", ");
            }
            text::write_string(out, self.slice(key));
            out.push_str(": ");
            out.push_str(self.slice(value));
        }
        out.push('}');
    }

    fn slice<'a>(&'a self, slice: &'a Slice) -> &'a str {
        match slice {
            Slice::Own(text) => text,
            Slice::Source(range) => {
                let bytes = &self.source[range.start as usize..range.end as usize];
                // The ranges were cut out of text at character boundaries.
                std::str::from_utf8(bytes).unwrap_or_default()
            }
        }
    }
}

/// The text of an answer with what JSON does not allow mended; the answer itself where there is nothing to mend.
fn clean(body: &Bytes) -> Bytes {
    match std::str::from_utf8(body).map(text::mend) {
        Ok(Cow::Borrowed(text)) if !text.starts_with('\u{feff}') => body.clone(),
        _ => {
            let text = String::from_utf8_lossy(body);
            Bytes::from(text::mend(text.trim_start_matches('\u{feff}')).into_owned())
        }
    }
}

/// SearXNG's six parts of an address: scheme, host with port, path, parameters, query, fragment.
fn parsed_url(url: &Url) -> String {
    let authority = &url[url::Position::BeforeUsername..url::Position::AfterPort];
    let parts = [
        url.scheme(),
        authority,
        url.path(),
        "",
        url.query().unwrap_or_default(),
        url.fragment().unwrap_or_default(),
    ];
    text::quoted_list(parts)
}

fn is_integer(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn raw_list(raw: &str) -> Vec<String> {
    let elements = text::elements(raw, MAX_ENTRIES).unwrap_or_default();
    elements.into_iter().filter(|raw| *raw != "null").map(str::to_owned).collect()
}

fn strings(raw: &str) -> Vec<String> {
    let elements = text::elements(raw, MAX_ENTRIES).unwrap_or_default();
    elements.into_iter().filter_map(|raw| text::string(raw).map(Cow::into_owned)).collect()
}

/// Pairs of engine and reason; further elements of an entry are ignored, an entry without an engine is dropped.
fn unresponsive(raw: &str) -> Vec<Unresponsive> {
    let elements = text::elements(raw, MAX_ENTRIES).unwrap_or_default();
    elements
        .into_iter()
        .filter_map(|entry| {
            let entry = text::elements(entry, 2)?;
            let engine = text::string(entry.first()?)?.into_owned();
            let reason = entry.get(1).and_then(|raw| text::string(raw)).unwrap_or_default().into_owned();
            Some(Unresponsive { engine, reason })
        })
        .collect()
}

/// An infobox with a `content` string and a list of `urls` (`clients.md` 1.4 rule 8); unchanged if it has both.
fn infobox(raw: &str) -> Option<String> {
    let members = text::members(raw)?;
    let has =
        |key: &str, first: char| members.iter().any(|(name, value)| name == key && value.starts_with(first));
    let missing: Vec<(&str, &str)> = [("content", '"', "\"\""), ("urls", '[', "[]")]
        .into_iter()
        .filter(|&(key, first, _)| !has(key, first))
        .map(|(key, _, default)| (key, default))
        .collect();
    if missing.is_empty() {
        return Some(raw.to_owned());
    }
    let mut out = String::from("{");
    let kept = members.iter().map(|(key, value)| (&**key, *value));
    let kept = kept.filter(|(key, _)| !missing.iter().any(|(other, _)| other == key));
    for (place, (key, value)) in kept.chain(missing.iter().copied()).enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        text::write_string(&mut out, key);
        out.push_str(": ");
        out.push_str(value);
    }
    out.push('}');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> ResultPage {
        ResultPage::from_json(&Bytes::copy_from_slice(json.as_bytes())).unwrap()
    }

    fn written(page: &ResultPage) -> String {
        String::from_utf8(page.to_json(JsonStyle { number_of_results: false })).unwrap()
    }

    const FULL: &str = r#"{"query": "x", "results": [{"zebra": 1e-07, "url": "https://a.example/p?q#f", "big": 123456789012345678901, "title": "T", "content": "C", "engine": "e", "engines": ["e"], "positions": [1], "score": 1.0, "category": "general", "template": "default.html", "parsed_url": ["https", "a.example", "/p", "", "q", "f"]}], "answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": []}"#;

    #[test]
    fn a_full_page_passes_byte_for_byte() {
        assert_eq!(written(&read(FULL)), FULL);
    }

    /// Bug log B1: clients fail when `number_of_results` is gone
    /// (<https://github.com/SecretiveShell/MCP-searxng/pull/7>).
    #[test]
    fn b1_number_of_results_is_always_an_integer() {
        let json = |text: &str| String::from_utf8(read(text).to_json(JsonStyle::default())).unwrap();
        assert!(json(FULL).starts_with(r#"{"query": "x", "number_of_results": 0, "results""#));
        assert!(json(r#"{"number_of_results": 42, "results": []}"#).contains(r#""number_of_results": 42,"#));
        assert!(json(r#"{"number_of_results": null, "results": []}"#).contains(r#""number_of_results": 0,"#));
    }

    /// Bug log B2: hits without `engine` and `category` (<https://github.com/degoog-org/degoog/issues/242>).
    #[test]
    fn b2_every_hit_has_the_keys_clients_rely_on() {
        let page = read(r#"{"results": [{"url": "http://a.example:8080/p", "title": null, "score": null}]}"#);
        assert_eq!(
            written(&page),
            r#"{"query": "", "results": [{"url": "http://a.example:8080/p", "title": "", "score": 0, "content": "", "engine": "", "engines": [""], "positions": [], "category": "general", "template": "default.html", "parsed_url": ["http", "a.example:8080", "/p", "", "", ""]}], "answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": []}"#
        );
        let made = Hit::new(&Url::parse("https://a.example/").unwrap(), "T", "C", "brave");
        for key in
            ["engine", "engines", "category", "positions", "score", "template", "parsed_url", "publishedDate"]
        {
            assert!(made.get(key).is_some(), "{key}");
        }
    }

    #[test]
    fn one_bad_hit_never_costs_the_page() {
        let page = read(
            r#"{"results": [7, null, {"title": "no url"}, {"url": "/relative"}, {"url": "ftp://a/b"}, {"url": 5},
            {"url": null, "kvmap": {}}, {"url": null, "magnetlink": "magnet:?x"}, {"url": "https://a.example/"}]}"#,
        );
        assert_eq!((page.hits().len(), page.dropped()), (3, 6));
    }

    #[test]
    fn scores_are_always_finite_numbers() {
        let page = read(
            r#"{"results": [{"url": "http://a/", "score": NaN}, {"url": "http://a/", "score": -Infinity},
            {"url": "http://a/", "score": "1"}, {"url": "http://a/", "score": 1e999}, {"url": "http://a/", "score": 2}]}"#,
        );
        let scores: Vec<f64> = page.hits().iter().map(Hit::score).collect();
        assert_eq!(scores, [0.0, 0.0, 0.0, 0.0, 2.0]);
    }

    /// Peer fault 16: one field of an unexpected type failed the whole answer.
    #[test]
    fn a_field_of_an_unexpected_type_is_not_an_error() {
        let page = read(
            r#"{"query": 5, "results": [], "answers": ["text", {"answer": "x"}, null], "suggestions": ["a", 1],
            "corrections": {}, "infoboxes": [{"infobox": "A"}], "unresponsive_engines": [["a", "timeout", true], ["b"], 3]}"#,
        );
        assert_eq!(page.answers().len(), 2);
        assert_eq!(page.suggestions(), ["a"]);
        assert_eq!(page.infoboxes(), [r#"{"infobox": "A", "content": "", "urls": []}"#]);
        let engines: Vec<_> =
            page.unresponsive().iter().map(|u| (u.engine.as_str(), u.reason.as_str())).collect();
        assert_eq!(engines, [("a", "timeout"), ("b", "")]);
    }

    #[test]
    fn unknown_top_level_members_are_carried_along() {
        assert!(written(&read(r#"{"results": [], "novelty": 1.50}"#)).ends_with(r#", "novelty": 1.50}"#));
    }

    #[test]
    fn what_is_cut_off_is_an_error_and_never_empty() {
        for end in 0..FULL.len() {
            let cut = Bytes::copy_from_slice(&FULL.as_bytes()[..end]);
            assert!(ResultPage::from_json(&cut).is_err(), "cut at {end}");
        }
        for text in ["", "null", "[]", "<html>", r#"{"error": "x"}"#, r#"{"results": null}"#] {
            assert!(ResultPage::from_json(&Bytes::copy_from_slice(text.as_bytes())).is_err(), "{text}");
        }
    }
}
