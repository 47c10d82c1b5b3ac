//! Reads SearXNG's HTML page, for instances that give nothing else.
//!
//! The page is read as a stream of tags, by the same marks that scrapers rely on: `article.result` with `a.url_header`,
//! `h3 > a` and `p.content`; engines in `div.engines`; engines that failed in the table of messages.

use html5gum::{StartTag, Token, Tokenizer};
use url::Url;

use crate::results::{Hit, ResultPage};

/// What an HTML page turned out to be.
#[expect(clippy::large_enum_variant, reason = "made once per reply and taken apart at once")]
pub(super) enum HtmlPage {
    /// A page of results, possibly without any.
    Results(ResultPage),
    /// A page that wants to see a human.
    Challenge,
    /// The start page, or a page that is not SearXNG's.
    Other,
}

/// Marks of pages that ask for a human, looked for only where there are no results: a search about captchas is one.
const CHALLENGES: [&str; 7] = [
    "anubis_challenge",
    "/.within.website/",
    "/cdn-cgi/challenge-platform",
    "cf-challenge",
    "cf_chl_",
    "g-recaptcha",
    "h-captcha",
];

/// Reads a page.
pub(super) fn read(html: &str) -> HtmlPage {
    let mut reader = Reader::default();
    for Ok(token) in Tokenizer::new(html) {
        match token {
            Token::StartTag(tag) => reader.open(&tag),
            Token::EndTag(tag) => reader.close(&tag.name),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            _ => {}
        }
    }
    if reader.is_results {
        return HtmlPage::Results(reader.page);
    }
    if CHALLENGES.iter().any(|mark| html.contains(mark)) { HtmlPage::Challenge } else { HtmlPage::Other }
}

/// What the text between tags belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Title,
    Content,
    Engine,
    FailedEngine,
    Reason,
}

#[derive(Default)]
struct Article {
    url: Option<String>,
    title: String,
    content: String,
    engines: Vec<String>,
    category: Option<String>,
    thumbnail: Option<String>,
    in_engines: bool,
}

#[derive(Default)]
struct Reader {
    page: ResultPage,
    is_results: bool,
    article: Option<Article>,
    /// The element whose text is being gathered, and what for.
    gathering: Option<(&'static str, Part)>,
    gathered: String,
    failed_engine: String,
}

impl Reader {
    fn open(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        let class = attribute(tag, "class").unwrap_or_default();
        let has = |word: &str| class.split_ascii_whitespace().any(|other| other == word);
        match name {
            b"article" if has("result") => {
                self.is_results = true;
                let category =
                    class.split_ascii_whitespace().find_map(|class| class.strip_prefix("category-"));
                self.article = Some(Article { category: category.map(str::to_owned), ..Article::default() });
            }
            b"td" if has("engine-name") => self.gather("td", Part::FailedEngine),
            b"td" if has("response-error") => self.gather("td", Part::Reason),
            b"input" if attribute(tag, "id").as_deref() == Some("q") => {
                let query = attribute(tag, "value").unwrap_or_default();
                self.page.set_query(&folded(&query));
            }
            b"input" if has("suggestion") => {
                if let Some(suggestion) = attribute(tag, "value") {
                    self.page.suggest(suggestion);
                }
            }
            _ if attribute(tag, "id").as_deref() == Some("results") => self.is_results = true,
            _ => self.open_in_article(tag, name, &has),
        }
    }

    fn open_in_article(&mut self, tag: &StartTag<()>, name: &[u8], has: &dyn Fn(&str) -> bool) {
        let in_title = self.gathering == Some(("h3", Part::Title));
        let Some(article) = &mut self.article else { return };
        match name {
            b"a" if article.url.is_none() && (has("url_header") || in_title) => {
                article.url = attribute(tag, "href");
            }
            b"img" if article.thumbnail.is_none() && has("thumbnail") => {
                article.thumbnail = attribute(tag, "src");
            }
            b"h3" => self.gather("h3", Part::Title),
            b"p" if has("content") && !has("empty_element") => self.gather("p", Part::Content),
            b"div" if has("engines") => article.in_engines = true,
            b"span" if article.in_engines => self.gather("span", Part::Engine),
            _ => {}
        }
    }

    fn gather(&mut self, element: &'static str, part: Part) {
        self.gathering = Some((element, part));
        self.gathered.clear();
    }

    fn text(&mut self, text: &str) {
        if self.gathering.is_some() {
            self.gathered.push_str(text);
        }
    }

    fn close(&mut self, name: &[u8]) {
        if name == b"article" {
            self.gathering = None;
            if let Some(hit) = self.article.take().and_then(|article| article.hit(self.page.hits().len() + 1))
            {
                self.page.push(hit);
            }
            return;
        }
        if let Some((element, part)) = self.gathering
            && element.as_bytes() == name
        {
            self.gathering = None;
            let text = folded(&self.gathered);
            self.keep(part, text);
        } else if name == b"div"
            && let Some(article) = &mut self.article
        {
            article.in_engines = false;
        }
    }

    fn keep(&mut self, part: Part, text: String) {
        match (part, &mut self.article) {
            (Part::Title, Some(article)) => article.title = text,
            (Part::Content, Some(article)) => article.content = text,
            (Part::Engine, Some(article)) if !text.is_empty() => article.engines.push(text),
            (Part::FailedEngine, _) => self.failed_engine = text,
            (Part::Reason, _) => {
                let engine = std::mem::take(&mut self.failed_engine);
                self.page.add_unresponsive(engine, text);
            }
            _ => {}
        }
    }
}

impl Article {
    /// The hit, if its address is an absolute http(s) one. The page shows no scores: the rank gives one.
    fn hit(self, rank: usize) -> Option<Hit> {
        let url = Url::parse(self.url.as_deref()?).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let engine = self.engines.first().map(String::as_str).unwrap_or_default();
        let mut hit = Hit::new(&url, &self.title, &self.content, engine);
        hit.set_text("url", self.url.as_deref()?);
        hit.set_texts("engines", self.engines.iter().map(String::as_str));
        hit.set("positions", format!("[{rank}]"));
        hit.set("score", format!("{:?}", 1.0 / rank as f64));
        if let Some(category) = &self.category {
            hit.set_text("category", category);
        }
        if let Some(thumbnail) = &self.thumbnail {
            hit.set_text("thumbnail", thumbnail);
        }
        Some(hit)
    }
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let (_, value) = tag.attributes.iter().find(|(other, _)| ***other == *name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
