//! One question, checked and normalised once for every door.
//!
//! What SearXNG refuses is refused here, in SearXNG's order and words (`searxng.md` 2 and 3), before anyone is asked.
//! Three differences are on purpose:
//!
//! - an empty parameter other than `q` counts as absent, since clients send them (`clients.md` 1.4 rule 4);
//! - what makes SearXNG fail with 500 (`pageno=²`, a malformed `engine_data-…`, `categories=none`) is a 400 here;
//! - a NUL in `q`, and a `q` longer than [`QueryLimits::query`], are 400.
//!
//! Escapes that are none (`100%`) stay as they are, as at SearXNG: people search for them.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

/// Bounds of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueryLimits {
    /// Longest `q`, in characters.
    pub query: usize,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self { query: 2048 }
    }
}

/// How old a result may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TimeRange {
    /// The last 24 hours.
    Day,
    /// The last seven days.
    Week,
    /// The last month.
    Month,
    /// The last year.
    Year,
}

impl TimeRange {
    /// SearXNG's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// How much is filtered out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SafeSearch {
    /// Nothing.
    Off,
    /// The explicit.
    Moderate,
    /// All that engines can tell.
    Strict,
}

impl SafeSearch {
    /// SearXNG's number for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "0",
            Self::Moderate => "1",
            Self::Strict => "2",
        }
    }
}

/// Why a question was not understood. Its text is SearXNG's own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidQuery {
    parameter: String,
    message: String,
}

impl InvalidQuery {
    fn value(parameter: &str, value: &str) -> Self {
        Self {
            parameter: parameter.to_owned(),
            message: format!("Invalid value {value} for parameter {parameter}"),
        }
    }

    fn missing() -> Self {
        Self { parameter: "q".to_owned(), message: "No query".to_owned() }
    }

    fn because(parameter: &str, why: &str) -> Self {
        Self {
            parameter: parameter.to_owned(),
            message: format!("Invalid value for parameter {parameter}: {why}"),
        }
    }

    /// The parameter at fault.
    pub fn parameter(&self) -> &str {
        &self.parameter
    }

    /// Whether there is no `q`, or an empty one: for HTML no error, but the start page.
    pub fn is_missing_query(&self) -> bool {
        self.message == "No query"
    }
}

impl fmt::Display for InvalidQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InvalidQuery {}

/// A question that cannot be wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Query {
    text: String,
    page: u32,
    language: Option<String>,
    time_range: Option<TimeRange>,
    safe_search: Option<SafeSearch>,
    categories: Vec<String>,
    engines: Vec<String>,
    timeout_limit: Option<f64>,
    carried: Vec<(String, String)>,
    accept_language: Option<String>,
}

impl Query {
    /// Checks the parameters of a search. Of a repeated name the first value counts; unknown names are ignored.
    ///
    /// # Errors
    ///
    /// The first fault in SearXNG's order: `q`, `pageno`, `safesearch`, `time_range`, `timeout_limit`,
    /// `engine_data-…`, `language`, `categories`.
    pub fn from_pairs<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
        limits: &QueryLimits,
    ) -> Result<Self, InvalidQuery> {
        let mut seen = Vec::<(&str, &str)>::new();
        for (name, value) in pairs {
            if !seen.iter().any(|(other, _)| *other == name) {
                seen.push((name, value));
            }
        }
        let given = |name: &str| {
            seen.iter()
                .find(|(other, _)| *other == name)
                .map(|&(_, value)| value)
                .filter(|value| !value.is_empty())
        };

        let text = given("q").ok_or_else(InvalidQuery::missing)?;
        check_text(text, *limits)?;
        Ok(Self {
            text: text.to_owned(),
            page: given("pageno").map_or(Ok(1), page)?,
            safe_search: given("safesearch").map(safe_search).transpose()?,
            time_range: given("time_range").map_or(Ok(None), time_range)?,
            timeout_limit: given("timeout_limit").map_or(Ok(None), timeout_limit)?,
            carried: carried(&seen)?,
            language: given("language").map(language).transpose()?,
            categories: given("categories").map_or(Ok(Vec::new()), categories)?,
            engines: given("engines").map(names).unwrap_or_default(),
            accept_language: None,
        })
    }

    /// A plain question with every parameter at its default. `None` if `text` is empty.
    pub fn plain(text: &str) -> Option<Self> {
        Self::from_pairs([("q", text)], &QueryLimits { query: usize::MAX }).ok()
    }

    /// The same question, asked by a client with this `Accept-Language`. Only the best tag is kept, and only where it
    /// decides something: without a language, or with `auto`.
    #[must_use]
    pub fn with_accept_language(mut self, header: &str) -> Self {
        if self.language.as_deref().is_none_or(|language| language == "auto") {
            self.accept_language = best_tag(header);
        }
        self
    }

    /// What was asked, as sent; bytes that are not UTF-8 stay percent-encoded.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The page, from 1.
    pub fn page(&self) -> u32 {
        self.page
    }

    /// The language: a code, `all`, `auto`, or none.
    pub fn language(&self) -> Option<&str> {
        self.language.as_deref()
    }

    /// How old results may be; none for any age.
    pub fn time_range(&self) -> Option<TimeRange> {
        self.time_range
    }

    /// How much is filtered; none for the instance's own setting.
    pub fn safe_search(&self) -> Option<SafeSearch> {
        self.safe_search
    }

    /// The categories asked for, in the client's order, each once.
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// The engines asked for, in the client's order, each once.
    pub fn engines(&self) -> &[String] {
        &self.engines
    }

    /// The client's own limit for the engines, in seconds; finite and above 0.
    ///
    /// Values that SearXNG accepts but that would only make it suspend every engine for everybody (0, negative, not a
    /// number) are read and dropped.
    pub fn timeout_limit(&self) -> Option<f64> {
        self.timeout_limit
    }

    /// Further parameters of SearXNG that change the answer, handed upstream untouched.
    pub fn carried(&self) -> &[(String, String)] {
        &self.carried
    }

    /// The client's preferred language tag, where it decides what is searched.
    pub fn accept_language(&self) -> Option<&str> {
        self.accept_language.as_deref()
    }

    /// The words without SearXNG's query syntax (`!bang`, `:language`, `<timeout`), single blanks between them.
    pub fn terms(&self) -> String {
        let words: Vec<&str> = self.text.split_whitespace().filter(|word| !is_syntax(word)).collect();
        words.join(" ")
    }

    /// Whether the question holds a `!!` bang, which SearXNG answers with a redirect to another site.
    pub fn has_external_bang(&self) -> bool {
        self.text.split_whitespace().any(|word| word.starts_with("!!"))
    }

    /// The identity of the question: everything that changes the answer, and nothing else.
    pub fn key(&self) -> QueryKey {
        let mut hasher = blake3::Hasher::new();
        let mut field = |value: &str| {
            hasher.update(&(value.len() as u64).to_le_bytes());
            hasher.update(value.as_bytes());
        };
        let folded = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        field(&folded.nfc().collect::<String>());
        field(&self.page.to_string());
        field(self.language.as_deref().unwrap_or_default());
        field(self.accept_language.as_deref().unwrap_or_default());
        field(self.time_range.map(TimeRange::as_str).unwrap_or_default());
        field(self.safe_search.map(SafeSearch::as_str).unwrap_or_default());
        let mut set = |values: &[String]| {
            let mut sorted: Vec<&str> = values.iter().map(String::as_str).collect();
            sorted.sort_unstable();
            field(&sorted.len().to_string());
            sorted.into_iter().for_each(&mut field);
        };
        set(&self.categories);
        set(&self.engines);
        let mut carried: Vec<_> =
            self.carried.iter().map(|(name, value)| format!("{name}={value}")).collect();
        carried.sort_unstable();
        set(&carried);
        let mut key = [0; 16];
        hasher.finalize_xof().fill(&mut key);
        QueryKey(u128::from_le_bytes(key))
    }
}

/// The identity of a question: 128 bits of BLAKE3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QueryKey(pub u128);

/// Reads a query string or an urlencoded form.
///
/// `+` is a blank; an escape that is none stays as it is; bytes that are not UTF-8 stay percent-encoded.
pub fn decode_query_string(encoded: &str) -> Vec<(String, String)> {
    encoded
        .split('&')
        .filter(|piece| !piece.is_empty())
        .map(|piece| {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            (decode(name), decode(value))
        })
        .collect()
}

fn decode(encoded: &str) -> String {
    if !encoded.bytes().any(|byte| byte == b'%' || byte == b'+') {
        return encoded.to_owned();
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let bytes = encoded.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while let Some(&byte) = bytes.get(place) {
        let escaped = match (byte, bytes.get(place + 1), bytes.get(place + 2)) {
            (b'%', Some(&high), Some(&low)) => digit(high).zip(digit(low)),
            _ => None,
        };
        place += if escaped.is_some() { 3 } else { 1 };
        decoded.push(match escaped {
            Some((high, low)) => high << 4 | low,
            None if byte == b'+' => b' ',
            None => byte,
        });
    }
    let mut text = String::with_capacity(decoded.len());
    for chunk in decoded.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            use fmt::Write as _;
            write!(text, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    text
}

fn check_text(text: &str, limits: QueryLimits) -> Result<(), InvalidQuery> {
    if text.contains('\0') {
        return Err(InvalidQuery::because("q", "it holds a NUL"));
    }
    if text.chars().nth(limits.query).is_some() {
        return Err(InvalidQuery::because("q", &format!("longer than {} characters", limits.query)));
    }
    Ok(())
}

fn page(value: &str) -> Result<u32, InvalidQuery> {
    let invalid = || InvalidQuery::value("pageno", value);
    let mut page = 0_u32;
    for letter in value.chars() {
        let digit = decimal_digit(letter).ok_or_else(invalid)?;
        page = page.checked_mul(10).and_then(|page| page.checked_add(digit)).ok_or_else(invalid)?;
    }
    if page == 0 { Err(invalid()) } else { Ok(page) }
}

/// The value of a decimal digit of any script (Unicode general category Nd, in runs of ten).
fn decimal_digit(letter: char) -> Option<u32> {
    const ZEROS: [u32; 68] = [
        0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
        0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0,
        0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30,
        0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0,
        0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x11F50, 0x16A60, 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2,
        0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E950, 0x1FBF0,
    ];
    let code = u32::from(letter);
    let zero = ZEROS[..ZEROS.partition_point(|&zero| zero <= code)].last()?;
    (code - zero < 10).then_some(code - zero)
}

fn safe_search(value: &str) -> Result<SafeSearch, InvalidQuery> {
    match value {
        "0" => Ok(SafeSearch::Off),
        "1" => Ok(SafeSearch::Moderate),
        "2" => Ok(SafeSearch::Strict),
        _ => Err(InvalidQuery::value("safesearch", value)),
    }
}

fn time_range(value: &str) -> Result<Option<TimeRange>, InvalidQuery> {
    match value {
        "None" => Ok(None),
        "day" => Ok(Some(TimeRange::Day)),
        "week" => Ok(Some(TimeRange::Week)),
        "month" => Ok(Some(TimeRange::Month)),
        "year" => Ok(Some(TimeRange::Year)),
        _ => Err(InvalidQuery::value("time_range", value)),
    }
}

/// What Python reads as a float: blanks around, underscores between digits, `inf`, `nan`.
fn timeout_limit(value: &str) -> Result<Option<f64>, InvalidQuery> {
    if value == "None" {
        return Ok(None);
    }
    let invalid = || InvalidQuery::value("timeout_limit", value);
    let text = value.trim();
    let between_digits = |place: usize| {
        let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        place > 0 && digit(text.as_bytes().get(place - 1)) && digit(text.as_bytes().get(place + 1))
    };
    if !text.match_indices('_').all(|(place, _)| between_digits(place)) {
        return Err(invalid());
    }
    let seconds: f64 = text.replace('_', "").parse().map_err(|_| invalid())?;
    Ok((seconds.is_finite() && seconds > 0.0).then_some(seconds))
}

/// `auto`, or two or three small letters with an optional region of two letters.
fn language(value: &str) -> Result<String, InvalidQuery> {
    if value == "auto" || is_language_code(value) {
        Ok(value.to_owned())
    } else {
        Err(InvalidQuery::value("language", value))
    }
}

fn is_language_code(value: &str) -> bool {
    let (language, region) = match value.split_once('-') {
        Some((language, region)) => (language, Some(region)),
        None => (value, None),
    };
    matches!(language.len(), 2 | 3)
        && language.bytes().all(|byte| byte.is_ascii_lowercase())
        && region
            .is_none_or(|region| region.len() == 2 && region.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

fn categories(value: &str) -> Result<Vec<String>, InvalidQuery> {
    let names = names(value);
    if names.iter().any(|name| name == "none") {
        return Err(InvalidQuery::value("categories", value));
    }
    Ok(names)
}

fn names(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    for name in value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The parameters that change the answer and that only the instance can judge.
fn carried(seen: &[(&str, &str)]) -> Result<Vec<(String, String)>, InvalidQuery> {
    const NAMES: [&str; 6] = [
        "tokens",
        "preferences",
        "disabled_engines",
        "enabled_engines",
        "disabled_plugins",
        "enabled_plugins",
    ];
    let mut carried = Vec::new();
    for &(name, value) in seen.iter().filter(|(_, value)| !value.is_empty()) {
        if name.starts_with("engine_data") {
            // `engine_data-<engine>-<key>`; any other form makes SearXNG fail.
            let well_formed = name
                .strip_prefix("engine_data-")
                .and_then(|rest| rest.split_once('-'))
                .is_some_and(|(engine, key)| !engine.is_empty() && !key.is_empty());
            if !well_formed {
                return Err(InvalidQuery::value(name, value));
            }
        } else if !NAMES.contains(&name) && !name.starts_with("category_") {
            continue;
        }
        carried.push((name.to_owned(), value.to_owned()));
    }
    Ok(carried)
}

/// Whether a word is SearXNG's query syntax rather than something to look for.
fn is_syntax(word: &str) -> bool {
    let letters = |text: &str| {
        text.chars().next().is_some_and(char::is_alphabetic)
            && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
    };
    if let Some(bang) = word.strip_prefix('!') {
        let bang = bang.strip_prefix('!').unwrap_or(bang);
        return bang.is_empty() && word == "!!" || letters(bang);
    }
    if let Some(language) = word.strip_prefix(':') {
        return language.len() >= 2 && letters(language);
    }
    word.strip_prefix('<')
        .is_some_and(|limit| !limit.is_empty() && limit.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The tag with the highest weight of an `Accept-Language` header; the first of equals.
fn best_tag(header: &str) -> Option<String> {
    let mut best: Option<(&str, f32)> = None;
    for part in header.split(',').take(32) {
        let mut pieces = part.split(';').map(str::trim);
        let tag = pieces.next().unwrap_or_default();
        let weight = match pieces.find_map(|piece| piece.strip_prefix("q=")) {
            Some(weight) => weight.parse().unwrap_or(0.0),
            None => 1.0,
        };
        if is_tag(tag) && weight > 0.0 && best.is_none_or(|(_, other)| weight > other) {
            best = Some((tag, weight));
        }
    }
    best.map(|(tag, _)| tag.to_owned())
}

fn is_tag(tag: &str) -> bool {
    tag.len() <= 35
        && tag
            .split('-')
            .all(|part| matches!(part.len(), 1..=8) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(encoded: &str) -> Result<Query, String> {
        let pairs = decode_query_string(encoded);
        Query::from_pairs(pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())), &QueryLimits::default())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_searxng_refuses_is_refused_in_its_words() {
        for (encoded, message) in [
            ("", "No query"),
            ("q=", "No query"),
            ("q=x&pageno=0", "Invalid value 0 for parameter pageno"),
            ("q=x&pageno=-1", "Invalid value -1 for parameter pageno"),
            ("q=x&pageno=abc", "Invalid value abc for parameter pageno"),
            ("q=x&pageno=1.5", "Invalid value 1.5 for parameter pageno"),
            ("q=x&pageno=%C2%B2", "Invalid value ² for parameter pageno"),
            ("q=x&pageno=99999999999", "Invalid value 99999999999 for parameter pageno"),
            ("q=x&time_range=hour", "Invalid value hour for parameter time_range"),
            ("q=x&safesearch=3", "Invalid value 3 for parameter safesearch"),
            ("q=x&safesearch=-1", "Invalid value -1 for parameter safesearch"),
            ("q=x&safesearch=strict", "Invalid value strict for parameter safesearch"),
            ("q=x&language=english", "Invalid value english for parameter language"),
            ("q=x&language=en_US", "Invalid value en_US for parameter language"),
            ("q=x&language=zh-Hans-CN", "Invalid value zh-Hans-CN for parameter language"),
            ("q=x&timeout_limit=abc", "Invalid value abc for parameter timeout_limit"),
            ("q=x&timeout_limit=1__0", "Invalid value 1__0 for parameter timeout_limit"),
            ("q=x&engine_data-x=1", "Invalid value 1 for parameter engine_data-x"),
            ("q=x&categories=none", "Invalid value none for parameter categories"),
            ("q=a%00b", "Invalid value for parameter q: it holds a NUL"),
        ] {
            assert_eq!(ask(encoded).unwrap_err(), message, "{encoded}");
        }
    }

    #[test]
    fn the_first_fault_in_searxngs_order_is_told() {
        let all = "q=x&categories=none&language=english&timeout_limit=x&time_range=x&safesearch=x&pageno=x";
        assert_eq!(ask(all).unwrap_err(), "Invalid value x for parameter pageno");
        assert_eq!(
            ask(&all.replace("&pageno=x", "")).unwrap_err(),
            "Invalid value x for parameter safesearch"
        );
    }

    #[test]
    fn what_searxng_accepts_is_accepted() {
        for encoded in [
            "q=%20",
            "q=x&pageno=%D9%A2",
            "q=x&language=xx",
            "q=x&language=all",
            "q=x&language=auto",
            "q=x&language=en-us",
            "q=x&time_range=None",
            "q=x&timeout_limit=1e3",
            "q=x&timeout_limit=nan",
            "q=x&timeout_limit=-1",
            "q=x&timeout_limit=%201_0.5%20",
            "q=100%",
            "q=x&engine_data-atlas-page=3",
        ] {
            assert!(ask(encoded).is_ok(), "{encoded}");
        }
    }

    #[test]
    fn an_empty_parameter_is_an_absent_one() {
        let empties =
            "q=x&pageno=&language=&time_range=&safesearch=&timeout_limit=&categories=&engines=&tokens=";
        assert_eq!(ask(empties), ask("q=x"));
    }

    #[test]
    fn values_are_read() {
        let query =
            ask("q=x&pageno=%D9%A2&language=de-CH&time_range=week&safesearch=2&categories=+news+,,it,news\
             &engines=a+b,c&timeout_limit=2.5&tokens=t&category_it=on&theme=simple&q=second")
            .unwrap();
        assert_eq!((query.text(), query.page(), query.language()), ("x", 2, Some("de-CH")));
        assert_eq!(query.time_range(), Some(TimeRange::Week));
        assert_eq!(query.safe_search(), Some(SafeSearch::Strict));
        assert_eq!(query.categories(), ["news", "it"]);
        assert_eq!(query.engines(), ["a b", "c"]);
        assert_eq!(query.timeout_limit(), Some(2.5));
        assert_eq!(query.carried(), [("tokens".into(), "t".into()), ("category_it".into(), "on".into())]);
    }

    #[test]
    fn a_time_limit_that_only_hurts_is_dropped() {
        for value in ["nan", "inf", "-1", "0", "None"] {
            assert_eq!(ask(&format!("q=x&timeout_limit={value}")).unwrap().timeout_limit(), None, "{value}");
        }
    }

    #[test]
    fn a_long_query_is_refused_by_characters_not_bytes() {
        let limits = QueryLimits { query: 4 };
        assert!(Query::from_pairs([("q", "日本語！")], &limits).is_ok());
        let error = Query::from_pairs([("q", "日本語！！")], &limits).unwrap_err();
        assert_eq!(error.parameter(), "q");
        assert_eq!(error.to_string(), "Invalid value for parameter q: longer than 4 characters");
    }

    #[test]
    fn forms_are_decoded_as_searxng_decodes_them() {
        for (encoded, value) in [
            ("a+b", "a b"),
            ("a%2Bb", "a+b"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("%FF%FEabc", "%FF%FEabc"),
            ("caf%C3%A9", "café"),
            ("%2500", "%00"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(decode_query_string(&format!("q={encoded}")), [("q".to_owned(), value.to_owned())]);
        }
        assert_eq!(decode_query_string("&&a&=b&").len(), 2);
    }

    /// Bug log B15: a raw question in the URL loses what stands behind `&` and `#`; the rest is searched.
    #[test]
    fn b15_a_raw_ampersand_does_not_fail_the_search() {
        let query = ask("format=json&q=R&D").unwrap();
        assert_eq!(query.text(), "R");
        assert!(query.carried().is_empty());
    }

    #[test]
    fn syntax_is_not_something_to_look_for() {
        for (text, terms) in [
            ("!at rust async", "rust async"),
            ("!!w rust", "rust"),
            ("!! rust", "rust"),
            (":de rust", "rust"),
            (":united_kingdom tea", "tea"),
            ("<200 rust", "rust"),
            ("rust  \t async", "rust async"),
            ("std::vec !important? :: a < b", "std::vec !important? :: a < b"),
            ("!", "!"),
        ] {
            assert_eq!(Query::plain(text).unwrap().terms(), terms, "{text}");
        }
        assert!(Query::plain("a !!g b").unwrap().has_external_bang());
        assert!(!Query::plain("wow!! !g b").unwrap().has_external_bang());
    }

    #[test]
    fn accept_language_counts_only_where_it_decides() {
        let tag = |encoded: &str, header: &str| {
            ask(encoded).unwrap().with_accept_language(header).accept_language().map(str::to_owned)
        };
        assert_eq!(tag("q=x", "en;q=0.5, ja, de;q=0.9").as_deref(), Some("ja"));
        assert_eq!(tag("q=x&language=auto", "de-CH").as_deref(), Some("de-CH"));
        assert_eq!(tag("q=x&language=all", "de"), None);
        assert_eq!(tag("q=x", "*, <script>;q=0.9, fr;q=0"), None);
    }

    /// Bug log F5: the text alone is no key.
    #[test]
    fn f5_the_key_holds_what_changes_the_answer_and_nothing_else() {
        let key = |encoded: &str| ask(encoded).unwrap().key();
        for (one, other) in [
            ("q=x", "q=%20x%20"),
            ("q=a+b", "q=a++%09b"),
            ("q=caf%C3%A9", "q=cafe%CC%81"),
            ("q=x", "q=x&pageno=1"),
            ("q=x", "q=x&format=json&theme=simple&image_proxy=0&numResults=5"),
            ("q=x", "q=x&time_range=&categories="),
            ("q=x&engines=a,b", "q=x&engines=b,a"),
            ("q=x&categories=a,b", "q=x&categories=b,a,b"),
            ("q=x&timeout_limit=3", "q=x"),
        ] {
            assert_eq!(key(one), key(other), "{one} and {other}");
        }
        for (one, other) in [
            ("q=x", "q=X"),
            ("q=x", "q=x&pageno=2"),
            ("q=x", "q=x&language=de"),
            ("q=x&language=all", "q=x&language=auto"),
            ("q=x", "q=x&safesearch=0"),
            ("q=x&safesearch=1", "q=x&safesearch=2"),
            ("q=x", "q=x&time_range=day"),
            ("q=x&categories=news", "q=x&engines=news"),
            ("q=x&engines=a", "q=x&engines=a,b"),
            ("q=x", "q=x&tokens=t"),
            ("q=x&category_it=on", "q=x&category_it=off"),
        ] {
            assert_ne!(key(one), key(other), "{one} and {other}");
        }
        let japanese = ask("q=x").unwrap().with_accept_language("ja").key();
        assert_ne!(japanese, key("q=x"));
    }
}
