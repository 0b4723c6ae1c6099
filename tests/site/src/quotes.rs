//! What the practice site knows: a hundred quotes by twenty authors, with entities resolved. All its pages show these.

use crate::bookshop::slug;
use crate::seed::Seed;
use crate::words::{CATEGORIES, NOUNS, SENTENCES};
use serde::{Deserialize, Serialize};

const QUOTES: usize = 100;
const AUTHORS: usize = 20;
/// So many categories are the tags.
const TAGS: usize = 12;

/// A quote as the pages and the API show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The text of `.text`.
    pub text: String,
    /// The text of `.author`: the author's name.
    pub author: String,
    /// The texts of `.tag`, three at most.
    pub tags: Vec<String>,
}

/// An author as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// From 1 on.
    pub id: usize,
    /// As quotes name it; no two are the same.
    pub name: String,
    /// The year.
    pub born: u32,
    /// One sentence.
    pub about: String,
    /// How many quotes of it there are: 1 at least.
    pub quotes: usize,
}

/// The quotes of the practice site with this seed, in the order of its pages. No two texts are the same.
pub fn quotes(seed: u64) -> Vec<Quote> {
    (0..QUOTES).map(|index| quote(Seed(seed), index)).collect()
}

/// The authors of the practice site with this seed, by their numbers.
pub fn authors(seed: u64) -> Vec<Author> {
    let quotes = quotes(seed);
    let author = |index| {
        let (n, name) = (index as u64, name(Seed(seed), index));
        Author {
            id: index + 1,
            born: 1700 + Seed(seed).below("born", n, 290) as u32,
            about: Seed(seed).pick("about", n, &SENTENCES).to_owned(),
            quotes: quotes.iter().filter(|quote| quote.author == name).count(),
            name,
        }
    };
    (0..AUTHORS).map(author).collect()
}

fn quote(seed: Seed, index: usize) -> Quote {
    // Each author has one of the first twenty; who has the others is chance.
    let author = if index < AUTHORS { index } else { seed.below("author", index as u64, AUTHORS) };
    let (tags, first) = (seed.below("tags", index as u64, 4), seed.below("tag", index as u64, TAGS));
    Quote {
        text: text(seed, index),
        author: name(seed, author),
        tags: (0..tags).map(|next| slug(CATEGORIES[(first + next) % TAGS])).collect(),
    }
}

/// Two sentences that are not the same: a walk through all pairs, so that no text comes twice.
fn text(seed: Seed, index: usize) -> String {
    const PAIRS: usize = SENTENCES.len() * (SENTENCES.len() - 1);
    // 77 = 7 · 11 shares no factor with 380 pairs.
    let pair = (index * 77 + seed.below("quotes", 0, PAIRS)) % PAIRS;
    let (first, turn) = (pair % SENTENCES.len(), pair / SENTENCES.len());
    format!("{} {}", SENTENCES[first], SENTENCES[(first + 1 + turn) % SENTENCES.len()])
}

/// The noun is a walk through all of them, so that no name comes twice.
fn name(seed: Seed, author: usize) -> String {
    const INITIALS: [&str; 8] = ["A.", "B.", "É.", "J. D.", "M.", "O'N.", "R. & S.", "Ü."];
    let noun = NOUNS[(author * 7 + seed.below("names", 0, NOUNS.len())) % NOUNS.len()];
    format!("{} {noun}", seed.pick("initial", author as u64, &INITIALS))
}

#[cfg(test)]
mod tests {
    use super::{AUTHORS, QUOTES, authors, quotes};
    use std::collections::HashSet;

    #[test]
    fn a_hundred_distinct_quotes_by_twenty_authors_who_have_one_at_least() {
        for seed in [0, 1, 42] {
            let (quotes, authors) = (quotes(seed), authors(seed));
            assert_eq!(quotes.iter().map(|quote| &quote.text).collect::<HashSet<_>>().len(), QUOTES);
            assert_eq!(authors.iter().map(|author| &author.name).collect::<HashSet<_>>().len(), AUTHORS);
            assert_eq!(authors.iter().map(|author| author.quotes).sum::<usize>(), QUOTES);
            assert!(authors.iter().all(|author| author.quotes > 0));
            let tags = |count| quotes.iter().any(|quote| quote.tags.len() == count);
            assert!(tags(0) && tags(3), "with and without tags");
        }
    }

    #[test]
    fn another_seed_is_another_site() {
        assert_eq!(quotes(1), quotes(1));
        assert_ne!(quotes(1), quotes(2));
    }
}
