//! A page as SearXNG's CSV and RSS.

use std::fmt::Write as _;

use crate::results::{Hit, ResultPage};

/// Rows of `title,url,content,host,engine,score,type`; then suggestions and corrections, with a title only.
pub fn to_csv(page: &ResultPage) -> String {
    let mut out = String::from("title,url,content,host,engine,score,type\r\n");
    for hit in page.hits() {
        let host = host(hit);
        let score = hit.get("score").unwrap_or("0");
        let url = hit.url().unwrap_or_default();
        row(&mut out, [&hit.title(), &url, &hit.content(), &host, &hit.engine(), score, "result"]);
    }
    for suggestion in page.suggestions() {
        row(&mut out, [suggestion, "", "", "", "", "", "suggestion"]);
    }
    for correction in page.corrections() {
        row(&mut out, [correction, "", "", "", "", "", "correction"]);
    }
    out
}

fn row(out: &mut String, fields: [&str; 7]) {
    for (place, field) in fields.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\r', '\n']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    out.push_str("\r\n");
}

fn host(hit: &Hit) -> String {
    hit.texts("parsed_url").into_iter().nth(1).unwrap_or_default()
}

/// An RSS 2.0 feed with OpenSearch elements. `link` is the address of this search.
pub fn to_rss(page: &ResultPage, link: &str) -> String {
    let query = escaped(page.query());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <rss version=\"2.0\"\n     xmlns:opensearch=\"http://a9.com/-/spec/opensearch/1.1/\"\n     \
         xmlns:atom=\"http://www.w3.org/2005/Atom\">\n  <channel>\n    \
         <title>SearXNG search: {query}</title>\n    <link>{}</link>\n    \
         <description>Search results for \"{query}\" - SearXNG</description>\n    \
         <opensearch:startIndex>1</opensearch:startIndex>\n    \
         <atom:link rel=\"search\" type=\"application/opensearchdescription+xml\" href=\"/opensearch.xml\"/>\n    \
         <opensearch:Query role=\"request\" searchTerms=\"{query}\" startPage=\"1\" />\n",
        escaped(link)
    );
    for hit in page.hits() {
        let url = hit.url();
        let _ = write!(
            out,
            "    <item>\n      <title>{}</title>\n      <type>result</type>\n      <link>{}</link>\n      \
             <description>{}</description>\n",
            escaped(&hit.title()),
            escaped(url.as_deref().unwrap_or("None")),
            escaped(&hit.content()),
        );
        // SearXNG gives the date of typed results only; those are the ones that always have `pubdate`.
        if let Some(date) = hit.text("pubdate").filter(|date| !date.is_empty()) {
            let _ = writeln!(out, "<pubDate>{}</pubDate>", escaped(&date));
        }
        out.push_str("    </item>\n");
    }
    out.push_str("  </channel>\n</rss>");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&#34;")
        .replace('\'', "&#39;")
}
