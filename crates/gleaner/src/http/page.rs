//! The HTML face: a small search page with the selectors that scrapers of SearXNG rely on.
//!
//! `article.result` a hit; in it `a.url_header` and `h3 > a`, both with `rel="noreferrer"`; the snippet in `p.content`
//! (`clients.md` 0.5). Everything is escaped by the template; there is no script.

use gleaner_core::results::ResultPage;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "\
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1rem}\
form{display:flex;gap:.5rem;margin:1rem 0}input[type=search]{flex:1;min-width:0;font:inherit;padding:.5rem}\
button{font:inherit;padding:.5rem 1rem}article{margin:1.25rem 0}h3{margin:0;font-size:1.1rem}\
.url_header{font-size:.85rem;color:inherit;opacity:.75;overflow-wrap:anywhere;text-decoration:none}\
p.content{margin:.25rem 0}.engines,.note{font-size:.8rem;opacity:.75}";

/// What the form and the paging need to know of the request.
pub struct Asked<'a> {
    /// The words in the search field.
    pub text: &'a str,
    /// The page shown, from 1.
    pub page: u32,
    /// The other parameters as an encoded query string without `q` and `pageno`, kept by the paging links.
    pub rest: &'a str,
    /// The members that answered, for people.
    pub sources: &'a str,
}

/// The start page, also the answer to a search without words.
pub fn index() -> String {
    frame("Gleaner", &form("")).into_string()
}

/// A page that says what is wrong, with the form to try again.
pub fn error(text: &str, message: &str) -> String {
    frame("Gleaner", &html! { (form(text)) p.note role="alert" { (message) } }).into_string()
}

/// A page of results.
pub fn results(asked: &Asked<'_>, page: &ResultPage) -> String {
    let body = html! {
        (form(asked.text))
        main id="results" {
            @for hit in page.hits() { (article(hit)) }
            @if page.hits().is_empty() {
                p.note role="status" { "Nothing was found." }
            }
            @for engine in page.unresponsive() {
                p.note { (engine.engine) ": " (engine.reason) }
            }
        }
        nav aria-label="Pages" {
            @if asked.page > 1 { a rel="prev" href=(link(asked, asked.page - 1)) { "Previous page" } " " }
            @if !page.hits().is_empty() { a rel="next" href=(link(asked, asked.page + 1)) { "Next page" } }
        }
        @if !asked.sources.is_empty() { p.note { "Answered by " (asked.sources) } }
    };
    frame(&format!("{} - Gleaner", asked.text), &body).into_string()
}

fn article(hit: &gleaner_core::results::Hit) -> Markup {
    let url = hit.url().unwrap_or_default();
    html! {
        article.result.result-default {
            @if !url.is_empty() {
                a.url_header href=(url) rel="noreferrer" { (url) }
                h3 { a href=(url) rel="noreferrer" { (hit.title()) } }
            } @else {
                h3 { (hit.title()) }
            }
            p.content { (hit.content()) }
            div.engines { @for engine in hit.engines() { span { (engine) } " " } }
        }
    }
}

fn form(text: &str) -> Markup {
    html! {
        form id="search" method="get" action="search" role="search" {
            input type="search" name="q" value=(text) aria-label="Search" autocomplete="off" autofocus;
            button type="submit" { "Search" }
        }
    }
}

fn link(asked: &Asked<'_>, page: u32) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("q", asked.text).append_pair("pageno", &page.to_string());
    let query = query.finish();
    if asked.rest.is_empty() { format!("search?{query}") } else { format!("search?{query}&{}", asked.rest) }
}

fn frame(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex, nofollow";
                title { (title) }
                link rel="search" type="application/opensearchdescription+xml" href="opensearch.xml" title="Gleaner";
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    }
}
