//! The practice site: one of each kind of pages that a beginner meets, in the manner of the public quotes.toscrape.com.
//!
//! Quotes on ten pages, the same as an infinite list behind an API, a login, a form, files, and pages that say who asked. What
//! answers the same to everybody is here, made at the start; what does not is in `personal.rs`. Trouble ([`Faults`]) is had by
//! the numbered pages alone, as pictures of the bookshop have none: forms, API and files always work.

use crate::downloads::downloads;
use crate::faults::Faults;
use crate::pages::{Found, Origin};
use crate::personal::Personal;
use crate::practice_html as html;
use crate::prepared::Prepared;
use crate::quotes::{Author, Quote, authors, quotes};
use crate::seed::Seed;
use std::collections::HashMap;

/// Pages that quotes are on.
const QUOTE_PAGES: usize = 10;
/// Pages that are listed at `/visitors/`.
pub(crate) const VISITOR_PAGES: usize = 20;
/// Beside those of quotes: the infinite list, the files, the visitors.
const OTHER_PAGES: usize = 3;

pub(crate) const JSON: &str = "application/json";

/// The practice site with what never changes.
pub(crate) struct Practice {
    pages: Vec<(String, Prepared)>,
    paths: HashMap<String, usize>,
    assets: HashMap<String, Prepared>,
}

impl Practice {
    pub const PAGES: usize = QUOTE_PAGES + OTHER_PAGES;

    pub fn build(seed: Seed, origin: Origin, faults: &Faults, gzip: bool) -> Self {
        let (quotes, files) = (quotes(seed.0), downloads(seed.0));
        let mut pages: Vec<(String, String)> = (1..=QUOTE_PAGES)
            .map(|number| (quote_path(number), html::quotes(number, on_page(&quotes, number).unwrap_or_default(), origin)))
            .collect();
        pages.push(("/scroll".to_owned(), html::scroll(origin)));
        pages.push(("/files/".to_owned(), html::files(&files, origin)));
        pages.push(("/visitors/".to_owned(), html::visitors(origin)));
        let mut assets = author_api(&authors(seed.0));
        assets
            .extend(files.into_iter().map(|file| (format!("/files/{}", file.name), Prepared::raw(file.body, file.content_type))));
        Self {
            paths: pages.iter().enumerate().map(|(id, (path, _))| (path.clone(), id)).collect(),
            pages: (0..).zip(pages).map(|(id, (path, html))| (path, Prepared::html(html, faults.charset(id), gzip))).collect(),
            assets,
        }
    }

    pub fn find(&self, path: &str) -> Option<Found> {
        if let Some(id) = self.paths.get(path) {
            return Some(Found::Page(*id));
        }
        if let Some(asset) = self.assets.get(path) {
            return Some(Found::Asset(asset.clone()));
        }
        Personal::find(path).map(Found::Personal)
    }

    pub fn path(&self, id: usize) -> String {
        self.pages[id].0.clone()
    }

    pub fn prepared(&self, id: usize) -> Prepared {
        self.pages[id].1.clone()
    }
}

/// The path of a page of quotes.
pub(crate) fn quote_path(number: usize) -> String {
    if number == 1 { "/".to_owned() } else { format!("/page/{number}/") }
}

/// Whether there is a page of quotes after this one.
pub(crate) fn has_next(number: usize) -> bool {
    number < QUOTE_PAGES
}

/// The quotes of a page; `None` if there is no such page.
pub(crate) fn on_page(quotes: &[Quote], number: usize) -> Option<&[Quote]> {
    quotes.chunks(quotes.len() / QUOTE_PAGES).nth(number.checked_sub(1)?)
}

/// The list of the authors, and each of them.
fn author_api(authors: &[Author]) -> HashMap<String, Prepared> {
    let path = |author: &Author| format!("/api/authors/{}", author.id);
    let entry = |author: &Author| serde_json::json!({ "id": author.id, "name": author.name, "url": path(author) });
    let list = serde_json::json!({ "authors": authors.iter().map(entry).collect::<Vec<_>>() });
    let mut api = HashMap::from([("/api/authors".to_owned(), Prepared::raw(list.to_string(), JSON))]);
    for author in authors {
        let about = serde_json::json!(author);
        api.insert(path(author), Prepared::raw(about.to_string(), JSON));
    }
    api
}
