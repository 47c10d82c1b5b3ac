//! Whether an answer has anything to do with the question (`pool.md` 10.3).
//!
//! Some public instances answer every question with the same decoys, fast and with 200. The rule finds them by words:
//! if no row of at least three holds any word of the question, the page is off topic. It misses synonyms and
//! translations by design, so it never judges a short page, and where the question has no words it says so instead of
//! guessing.

use std::collections::BTreeSet;

/// Fewest rows that are judged at all.
const ROWS: usize = 3;

/// Below this share of matching rows only the matching ones are kept.
const KEEP_ALL: f64 = 0.6;

/// Shortest word that counts, in characters.
const WORD: usize = 3;

/// Words so common that sharing them means nothing.
const STOP_WORDS: &[&str] = &[
    "and", "are", "but", "can", "for", "from", "has", "have", "how", "into", "its", "not", "that", "the",
    "their", "then", "there", "these", "this", "was", "what", "when", "where", "which", "who", "why", "will",
    "with", "you", "your", // English
    "das", "dem", "den", "der", "des", "die", "ein", "eine", "ist", "mit", "oder", "und", "von", "was",
    "wie", // German
    "aux", "avec", "dans", "des", "est", "les", "pour", "que", "qui", "sur", "une", // French
    "como", "con", "del", "las", "los", "para", "por", "una", // Spanish, Portuguese
    "для", "как", "или", "кто", "при", "что", "это", // Russian
];

/// What the rule says of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Relevance {
    /// Too few rows, or a question without words: nothing is said.
    NotJudged,
    /// The page answers the question.
    OnTopic,
    /// Only these rows (by place, ascending) have to do with the question; the page is good with them alone.
    Partly(Vec<usize>),
    /// No row has anything to do with the question.
    OffTopic,
}

/// Judges `rows`, each the title, address and text of a hit, against the words of a question.
pub fn judge<'a>(terms: &str, rows: impl IntoIterator<Item = [&'a str; 3]>) -> Relevance {
    let rows: Vec<[&str; 3]> = rows.into_iter().collect();
    let tokens = tokens(terms);
    if rows.len() < ROWS || tokens.is_empty() {
        return Relevance::NotJudged;
    }
    let matching: Vec<usize> = (0..rows.len())
        .filter(|&row| {
            rows[row].iter().any(|text| {
                let text = text.to_lowercase();
                tokens.iter().any(|token| text.contains(token.as_str()))
            })
        })
        .collect();
    if matching.is_empty() {
        Relevance::OffTopic
    } else if (matching.len() as f64) < KEEP_ALL * rows.len() as f64 {
        Relevance::Partly(matching)
    } else {
        Relevance::OnTopic
    }
}

/// The words of a question that may be found in a row: runs of letters and digits, folded, and for scripts without
/// blanks every pair of neighbours.
fn tokens(terms: &str) -> BTreeSet<String> {
    let folded = terms.to_lowercase();
    let mut tokens = BTreeSet::new();
    for run in folded.split(|letter: char| !letter.is_alphanumeric()) {
        let letters: Vec<char> = run.chars().collect();
        if letters.iter().copied().any(is_cjk) {
            tokens.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if letters.len() >= WORD && !STOP_WORDS.contains(&run) {
            tokens.insert(run.to_owned());
        }
    }
    tokens
}

fn is_cjk(letter: char) -> bool {
    matches!(u32::from(letter), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<'a>(titles: &[&'a str]) -> Vec<[&'a str; 3]> {
        titles.iter().map(|title| [*title, "https://example.org/", ""]).collect()
    }

    #[test]
    fn a_page_of_decoys_is_off_topic() {
        assert_eq!(judge("rust async", rows(&["Casino", "Shoes", "Loans"])), Relevance::OffTopic);
        assert_eq!(judge("rust async", rows(&["Rusty cars", "ASYNC", "async rust"])), Relevance::OnTopic);
    }

    #[test]
    fn address_and_text_count_as_well_as_the_title() {
        let rows = [
            ["x", "https://example.org/RUST", ""],
            ["x", "https://example.org/", "about async"],
            ["rust", "", ""],
        ];
        assert_eq!(judge("rust async", rows), Relevance::OnTopic);
    }

    #[test]
    fn a_few_matching_rows_are_kept_alone() {
        assert_eq!(judge("rust", rows(&["a", "rust", "b", "c"])), Relevance::Partly(vec![1]));
        assert_eq!(judge("rust", rows(&["a", "rust", "rust", "b", "rust"])), Relevance::OnTopic);
    }

    #[test]
    fn short_pages_and_wordless_questions_are_not_judged() {
        assert_eq!(judge("rust", rows(&["a", "b"])), Relevance::NotJudged);
        for terms in ["", "?!", "c++", "to be", "how the"] {
            assert_eq!(judge(terms, rows(&["a", "b", "c"])), Relevance::NotJudged, "{terms}");
        }
    }

    #[test]
    fn scripts_without_blanks_are_compared_by_pairs() {
        assert_eq!(
            judge("東京旅行", rows(&["京都", "東京の天気", "旅行記", "x"])),
            Relevance::Partly(vec![1, 2])
        );
        assert_eq!(judge("東京旅行", rows(&["猫", "犬", "鳥"])), Relevance::OffTopic);
    }
}
