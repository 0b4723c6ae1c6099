//! The bookshop: 50 listing pages and 1,000 books, in the shape of the public practice shop books.toscrape.com.
//!
//! The links allow exactly one crawl of 1,050 requests: `/` is the first listing page, categories are text, and a book
//! links to nothing but `/`. [`books`] is the truth that a crawl's items can be compared with.

use crate::bookshop_html;
use crate::faults::Faults;
use crate::pages::{Found, Origin};
use crate::prepared::Prepared;
use crate::seed::Seed;
use crate::words::{ADJECTIVES, CATEGORIES, NOUNS, SENTENCES};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

pub(crate) const LISTINGS: usize = 50;
pub(crate) const BOOKS: usize = 1_000;
pub(crate) const BOOKS_PER_LISTING: usize = BOOKS / LISTINGS;

/// One book as the shop shows it, with entities resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Book {
    /// 1000 for the first on the first listing page, down to 1.
    pub id: usize,
    /// The path of the book's page.
    pub path: String,
    /// The text of its h1.
    pub title: String,
    /// One of the 50 categories.
    pub category: String,
    /// 16 hex digits, no two the same.
    pub upc: String,
    /// The price in pence; the page shows `£51.77`.
    pub price_pence: u32,
    /// How many are in stock: `In stock (22 available)`.
    pub available: u32,
    /// 1 to 5 stars; the class is `star-rating Three`.
    pub stars: u8,
    /// The text of the description paragraph.
    pub description: String,
}

impl Book {
    /// The price as the page shows it.
    pub fn price(&self) -> String {
        format!("£{}.{:02}", self.price_pence / 100, self.price_pence % 100)
    }

    /// The star rating as the page's class names it.
    pub fn rating(&self) -> &'static str {
        ["Zero", "One", "Two", "Three", "Four", "Five"][usize::from(self.stars).min(5)]
    }

    /// The path of its picture.
    pub fn image(&self) -> String {
        format!("/media/cache/{}.png", self.upc)
    }
}

/// The books that the shop with this seed sells, in the order of its listing pages.
pub fn books(seed: u64) -> Vec<Book> {
    (0..BOOKS).map(|index| book(Seed(seed), index)).collect()
}

fn book(seed: Seed, index: usize) -> Book {
    let n = index as u64;
    let id = BOOKS - index;
    let title = title(seed, index);
    Book {
        id,
        path: format!("/catalogue/{}_{id}/index.html", slug(&title)),
        category: category(seed, index).to_owned(),
        upc: format!("{:016x}", seed.hash("upc", n)),
        price_pence: 1_000 + seed.below("price", n, 5_000) as u32,
        available: 1 + seed.below("available", n, 22) as u32,
        stars: 1 + seed.below("stars", n, 5) as u8,
        description: description(seed, n),
        title,
    }
}

/// Each run of 50 books has every category once, turned a little further in each run.
fn category(seed: Seed, index: usize) -> &'static str {
    let turn = seed.below("category", (index / CATEGORIES.len()) as u64, CATEGORIES.len());
    CATEGORIES[(index + turn) % CATEGORIES.len()]
}

/// The pair of words is a walk through all pairs, so no two titles are the same.
fn title(seed: Seed, index: usize) -> String {
    const PAIRS: usize = ADJECTIVES.len() * NOUNS.len();
    // 611 = 13 · 47 shares no factor with 1,600 pairs.
    let pair = (index * 611 + seed.below("titles", 0, PAIRS)) % PAIRS;
    let (adjective, noun) = (ADJECTIVES[pair % ADJECTIVES.len()], NOUNS[pair / ADJECTIVES.len()]);
    match seed.below("title", index as u64, 12) {
        0 => format!("{adjective} {noun} & Other Stories"),
        1 => format!("“{adjective} {noun}”: A Memoir"),
        2 => format!("{adjective} {noun} (Été, Vol. #3)"),
        3 => format!("The {adjective} {noun}'s Café"),
        4 => format!("{adjective} <{noun}>"),
        5 => format!("夜の{noun}: {adjective}"),
        6 | 7 => format!("{adjective} {noun}"),
        _ => format!("The {adjective} {noun}"),
    }
}

fn description(seed: Seed, n: u64) -> String {
    let count = 4 + seed.below("sentences", n, 8) as u64;
    let sentences: Vec<&str> = (0..count).map(|i| seed.pick("sentence", n * 100 + i, &SENTENCES)).collect();
    sentences.join(" ")
}

/// ASCII letters and digits in lower case, anything else one hyphen.
pub(crate) fn slug(title: &str) -> String {
    let mapped: String = title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    mapped.split_whitespace().collect::<Vec<_>>().join("-")
}

/// The shop with all its pages rendered.
pub(crate) struct Bookshop {
    /// The 50 listing pages, then the 1,000 books.
    pages: Vec<(String, Prepared)>,
    paths: HashMap<String, usize>,
    /// Other paths of the first listing page, whose relative links differ.
    aliases: HashMap<&'static str, Prepared>,
    images: HashSet<String>,
}

impl Bookshop {
    pub fn build(seed: Seed, origin: Origin, faults: &Faults, gzip: bool) -> Self {
        let books = books(seed.0);
        let mut pages = Vec::with_capacity(LISTINGS + BOOKS);
        for number in 1..=LISTINGS {
            let path = listing_path(number);
            let html = bookshop_html::listing(number, &path, listed(&books, number));
            pages.push((path, Prepared::html(html, faults.charset(pages.len()), gzip)));
        }
        for book in &books {
            let html = bookshop_html::detail(book, origin, seed);
            pages.push((book.path.clone(), Prepared::html(html, faults.charset(pages.len()), gzip)));
        }
        let aliases = ["/index.html", "/catalogue/page-1.html"].map(|path| {
            let html = bookshop_html::listing(1, path, listed(&books, 1));
            (path, Prepared::html(html, None, gzip))
        });
        Self {
            paths: pages.iter().enumerate().map(|(id, (path, _))| (path.clone(), id)).collect(),
            pages,
            aliases: HashMap::from(aliases),
            images: books.iter().map(Book::image).collect(),
        }
    }

    pub fn find(&self, path: &str) -> Option<Found> {
        if let Some(id) = self.paths.get(path) {
            return Some(Found::Page(*id));
        }
        if let Some(alias) = self.aliases.get(path) {
            return Some(Found::Asset(alias.clone()));
        }
        self.images.contains(path).then(|| Found::Asset(Prepared::raw(PNG.as_slice(), "image/png")))
    }

    pub fn path(&self, id: usize) -> String {
        self.pages[id].0.clone()
    }

    pub fn prepared(&self, id: usize) -> Prepared {
        self.pages[id].1.clone()
    }
}

fn listing_path(number: usize) -> String {
    if number == 1 { "/".to_owned() } else { format!("/catalogue/page-{number}.html") }
}

fn listed(books: &[Book], number: usize) -> &[Book] {
    &books[(number - 1) * BOOKS_PER_LISTING..number * BOOKS_PER_LISTING]
}

/// One grey pixel.
const PNG: [u8; 67] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00,
    0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78,
    0xda, 0x63, 0xa8, 0x07, 0x00, 0x00, 0x81, 0x00, 0x80, 0x7e, 0x1c, 0x29, 0xc7, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44,
    0xae, 0x42, 0x60, 0x82,
];

#[cfg(test)]
mod tests {
    use super::books;
    use crate::words::CATEGORIES;
    use std::collections::HashSet;

    #[test]
    fn a_thousand_distinct_books_in_fifty_categories_of_twenty() {
        for seed in [0, 1, 42] {
            let books = books(seed);
            let titles: HashSet<_> = books.iter().map(|book| &book.title).collect();
            let upcs: HashSet<_> = books.iter().map(|book| &book.upc).collect();
            assert_eq!((books.len(), titles.len(), upcs.len()), (1_000, 1_000, 1_000));
            for category in CATEGORIES {
                assert_eq!(books.iter().filter(|book| book.category == category).count(), 20, "{category}");
            }
        }
    }

    #[test]
    fn another_seed_is_another_shop() {
        assert_eq!(books(1), books(1));
        assert_ne!(books(1)[0].upc, books(2)[0].upc);
    }
}
