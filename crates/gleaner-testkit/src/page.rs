//! SearXNG's answers, made up.

use std::fmt::Write as _;

/// SearXNG's JSON with `hits` results about `words`.
pub fn page(words: &str, hits: usize) -> String {
    let results: Vec<String> = (1..=hits)
        .map(|rank| {
            format!(
                r#"{{"url": "https://site{rank}.example/{rank}", "title": "Result {rank} about {words}", "content": "Text {rank} about {words}.", "thumbnail": "", "engine": "stub", "template": "default.html", "parsed_url": ["https", "site{rank}.example", "/{rank}", "", "", ""], "img_src": "", "priority": "", "engines": ["stub"], "positions": [{rank}], "score": {:?}, "category": "general", "publishedDate": null}}"#,
                1.0 / rank as f64
            )
        })
        .collect();
    answer(words, &results.join(", "), "")
}

/// A true zero: everyone answered, nothing was found.
pub fn empty(words: &str) -> String {
    answer(words, "", "")
}

/// No results because engines failed.
pub fn degraded_empty(words: &str) -> String {
    answer(words, "", r#"["alpha", "CAPTCHA"], ["beta", "timeout"]"#)
}

fn answer(words: &str, results: &str, unresponsive: &str) -> String {
    let words = words.replace(['"', '\\'], " ");
    format!(
        r#"{{"query": "{words}", "results": [{results}], "answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [{unresponsive}]}}"#
    )
}

/// SearXNG's HTML page with `hits` results about `words`.
pub fn html_page(words: &str, hits: usize) -> String {
    let mut page = format!(r#"<html><body><input id="q" value="{words}"><div id="results">"#);
    for rank in 1..=hits {
        let url = format!("https://site{rank}.example/{rank}");
        let _ = write!(
            page,
            r#"<article class="result result-default category-general"><a href="{url}" class="url_header" rel="noreferrer">{url}</a><h3><a href="{url}" rel="noreferrer">Result {rank} about {words}</a></h3><p class="content">Text {rank}.</p><div class="engines"><span>stub</span></div></article>"#
        );
    }
    page.push_str("</div></body></html>");
    page
}
