//! Combines pages (`failover.md` 3). Pure: the same pages give the same bytes.
//!
//! *Fuse*: several instances were asked the same and none is better than another. A hit's place comes from all its
//! ranks by reciprocal rank fusion: the sum of 1 / (60 + rank) (Cormack, Clarke and Büttcher, 2009).

use std::collections::HashMap;

use crate::canonical_url::CanonicalUrl;
use crate::results::{Hit, ResultPage};

/// How little the first ranks outweigh the later ones.
const SMOOTHING: f64 = 60.0;

/// What a hit takes from later copies where its own is missing or empty.
const FILLED: [&str; 6] = ["content", "publishedDate", "thumbnail", "img_src", "author", "length"];

/// What makes two hits the same: the address, and for images the image.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    url: CanonicalUrl,
    image: String,
}

impl Identity {
    fn of(hit: &Hit) -> Option<Self> {
        let url = CanonicalUrl::parse(&hit.url()?)?;
        let is_image = hit.text("template").is_some_and(|template| template == "images.html");
        let image =
            if is_image { hit.text("img_src").unwrap_or_default().into_owned() } else { String::new() };
        Some(Self { url, image })
    }
}

struct Fused {
    hit: Hit,
    weight: f64,
    best: usize,
}

/// Fuses the pages of several instances into one; `None` without pages. A single page goes through unchanged.
///
/// Ties go to the better best rank, then to the earlier page. Lists of answers and the like are united, the earlier
/// page's first; an engine that delivered on one page is not named as failing.
pub fn fuse(pages: Vec<ResultPage>) -> Option<ResultPage> {
    let mut pages = pages.into_iter();
    let mut merged = pages.next()?;
    let rest: Vec<ResultPage> = pages.collect();
    if rest.is_empty() {
        return Some(merged);
    }
    let mut hits: Vec<Fused> = Vec::new();
    let mut known: HashMap<Identity, usize> = HashMap::new();
    let first = merged.take_hits();
    let all = std::iter::once(first).chain(rest.iter().map(|page| page.hits().to_vec()));
    for page in all {
        for (place, hit) in page.into_iter().enumerate() {
            let weight = 1.0 / (SMOOTHING + (place + 1) as f64);
            let identity = Identity::of(&hit);
            let twin = identity.as_ref().and_then(|identity| known.get(identity).copied());
            if let Some(twin) = twin {
                let twin = &mut hits[twin];
                twin.weight += weight;
                twin.best = twin.best.min(place);
                unite(&mut twin.hit, &hit);
            } else {
                if let Some(identity) = identity {
                    known.insert(identity, hits.len());
                }
                hits.push(Fused { hit, weight, best: place });
            }
        }
    }
    // Stable: what is equal stays in the order of first sight, which is the order of the pages.
    hits.sort_by(|one, other| other.weight.total_cmp(&one.weight).then(one.best.cmp(&other.best)));
    for fused in &mut hits {
        // The weights fall in list order, or are equal where the order is by best rank; clients sort stably.
        fused.hit.set("score", format!("{:?}", fused.weight));
    }
    spread_equal_scores(&mut hits);
    for fused in hits {
        merged.push(fused.hit);
    }
    for page in &rest {
        merged.unite_lists(page);
    }
    merged.drop_delivering_engines();
    Some(merged)
}

/// Makes the scores strictly fall, so that clients that sort by score keep the order.
fn spread_equal_scores(hits: &mut [Fused]) {
    let mut last = f64::INFINITY;
    for fused in hits {
        if fused.weight >= last {
            fused.weight = last.next_down();
            fused.hit.set("score", format!("{:?}", fused.weight));
        }
        last = fused.weight;
    }
}

/// What a hit takes from a later copy: its engines, positions of engines it has not, and what it lacks.
fn unite(hit: &mut Hit, copy: &Hit) {
    let mut engines = hit.engines();
    let new: Vec<String> = copy.engines().into_iter().filter(|engine| !engines.contains(engine)).collect();
    if !new.is_empty() {
        if new.len() == copy.engines().len() {
            hit.append_positions(copy);
        }
        engines.extend(new);
        hit.set_texts("engines", engines.iter().map(String::as_str));
    }
    let empty = |raw: &str| matches!(raw, "" | "null" | "\"\"");
    for key in FILLED {
        if hit.get(key).is_none_or(empty)
            && let Some(value) = copy.get(key).filter(|raw| !empty(raw))
        {
            hit.set(key, value.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::results::JsonStyle;

    fn page(hits: &[(&str, &str, &str)]) -> ResultPage {
        let hits: Vec<String> = hits
            .iter()
            .enumerate()
            .map(|(place, (url, content, engine))| {
                format!(
                    r#"{{"url": "{url}", "title": "{url}", "content": "{content}", "engine": "{engine}", "engines": ["{engine}"], "positions": [{}], "score": 1.0}}"#,
                    place + 1
                )
            })
            .collect();
        let json = format!(r#"{{"query": "x", "results": [{}]}}"#, hits.join(", "));
        ResultPage::from_json(&Bytes::from(json)).unwrap()
    }

    fn urls(page: &ResultPage) -> Vec<String> {
        page.hits().iter().map(|hit| hit.url().unwrap().into_owned()).collect()
    }

    #[test]
    fn one_page_goes_through_unchanged() {
        let one = page(&[("https://a.example/", "c", "e")]);
        let bytes = one.to_json(JsonStyle::default());
        assert_eq!(fuse(vec![one]).unwrap().to_json(JsonStyle::default()), bytes);
        assert!(fuse(Vec::new()).is_none());
    }

    #[test]
    fn what_several_found_comes_first_and_the_first_copy_survives() {
        let fused = fuse(vec![
            page(&[("https://a.example/", "", "one"), ("https://b.example/", "kept", "one")]),
            page(&[("http://www.b.example", "other", "two"), ("https://a.example/#x", "filled", "one")]),
        ])
        .unwrap();
        assert_eq!(urls(&fused), ["https://a.example/", "https://b.example/"]);
        let [a, b] = fused.hits() else { panic!() };
        assert_eq!((a.content().as_ref(), a.get("positions")), ("filled", Some("[1]")));
        assert_eq!((b.content().as_ref(), b.engines()), ("kept", vec!["one".to_owned(), "two".to_owned()]));
        assert_eq!(b.get("positions"), Some("[2, 1]"));
    }

    #[test]
    fn scores_fall_strictly_in_list_order() {
        let hit = |name: &'static str| (name, "c", "e");
        let fused = fuse(vec![
            page(&[hit("https://a.example/"), hit("https://b.example/")]),
            page(&[hit("https://c.example/"), hit("https://d.example/")]),
        ])
        .unwrap();
        assert_eq!(
            urls(&fused),
            ["https://a.example/", "https://c.example/", "https://b.example/", "https://d.example/"]
        );
        assert!(fused.hits().is_sorted_by(|one, other| one.score() > other.score()));
    }

    #[test]
    fn an_engine_that_delivered_elsewhere_is_not_failing() {
        let mut broken = page(&[("https://b.example/", "c", "other")]);
        broken.add_unresponsive("e".to_owned(), "timeout".to_owned());
        broken.add_unresponsive("f".to_owned(), "timeout".to_owned());
        let fused = fuse(vec![broken, page(&[("https://a.example/", "c", "e")])]).unwrap();
        let failing: Vec<&str> = fused.unresponsive().iter().map(|engine| engine.engine.as_str()).collect();
        assert_eq!(failing, ["f"]);
    }
}
