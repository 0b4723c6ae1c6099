//! The heavy site: pages as real shops and news sites serve them, 60 to 100 kB of markup with 150 links, for benchmarks.
//!
//! All pages are rendered at the start and kept, at 80 MB for a thousand: serving one must cost nothing that a benchmark
//! could see.

use crate::bookshop::slug;
use crate::config::HeavyShape;
use crate::facts::PageFacts;
use crate::faults::Faults;
use crate::heavy_html::{self, LINKS};
use crate::links::links;
use crate::pages::{Found, Origin};
use crate::prepared::Prepared;
use crate::seed::Seed;
use crate::words::{ADJECTIVES, NOUNS};
use std::collections::HashMap;

/// What the pages of a heavy site say, `/` first.
pub fn heavy_facts(pages: usize, seed: u64) -> Vec<PageFacts> {
    (0..pages).map(|id| facts(Seed(seed), id)).collect()
}

fn facts(seed: Seed, id: usize) -> PageFacts {
    let n = id as u64;
    let (adjective, noun) = (seed.pick("adjective", n, &ADJECTIVES), seed.pick("noun", n, &NOUNS));
    let heading = match seed.below("heading", n, 6) {
        0 => format!("{adjective} {noun} & Sons, No. {id}"),
        1 => format!("The {noun}'s Café — {adjective} Nº {id}"),
        2 => format!("“{adjective} {noun}” ({id})"),
        3 => format!("{adjective} <{noun}> {id}"),
        _ => format!("The {adjective} {noun}, No. {id}"),
    };
    let path = if id == 0 { "/".to_owned() } else { format!("/catalogue/{}/{id}", slug(&format!("{adjective} {noun}"))) };
    let pence = 1_000 + seed.below("price", n, 249_000);
    let price = format!("£{}.{:02}", pence / 100, pence % 100);
    PageFacts { path, title: format!("{heading} | Nephila Market"), heading, price }
}

pub(crate) struct Heavy {
    pages: Vec<(String, Prepared)>,
    paths: HashMap<String, usize>,
}

impl Heavy {
    pub fn build(shape: HeavyShape, seed: Seed, origin: Origin, faults: &Faults, gzip: bool) -> Self {
        let facts = heavy_facts(shape.pages, seed.0);
        let page = |id: usize| {
            let linked = links(seed, id, shape.pages, LINKS).into_iter().map(|link| &facts[link]).collect();
            let html = heavy_html::page(seed, origin, id, &facts[id], linked);
            (facts[id].path.clone(), Prepared::html(html, faults.charset(id), gzip))
        };
        let pages: Vec<_> = (0..shape.pages).map(page).collect();
        Self { paths: pages.iter().enumerate().map(|(id, (path, _))| (path.clone(), id)).collect(), pages }
    }

    pub fn count(&self) -> usize {
        self.pages.len()
    }

    pub fn find(&self, path: &str) -> Option<Found> {
        self.paths.get(path).map(|id| Found::Page(*id))
    }

    pub fn path(&self, id: usize) -> String {
        self.pages[id].0.clone()
    }

    pub fn prepared(&self, id: usize) -> Prepared {
        self.pages[id].1.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{Heavy, heavy_facts};
    use crate::config::{HeavyShape, Switches};
    use crate::faults::Faults;
    use crate::pages::Origin;
    use crate::seed::Seed;
    use std::collections::HashSet;

    fn heavy(seed: u64) -> Heavy {
        let faults = Faults::new(Switches::default(), 40, 1);
        Heavy::build(HeavyShape { pages: 40 }, Seed(seed), Origin { port: 80, absolute: false }, &faults, false)
    }

    #[test]
    fn pages_have_the_size_of_real_ones_and_differ_in_it() {
        let sizes: HashSet<usize> = heavy(1).pages.iter().map(|(_, page)| page.body.len()).collect();
        assert!(sizes.len() > 30, "{sizes:?}");
        assert!(sizes.iter().all(|size| (60_000..=100_000).contains(size)), "{sizes:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
        let bodies = |heavy: Heavy| heavy.pages.into_iter().map(|(_, page)| page.body).collect::<Vec<_>>();
        assert_eq!(bodies(heavy(1)), bodies(heavy(1)));
        assert_ne!(bodies(heavy(1))[0], bodies(heavy(2))[0]);
    }

    #[test]
    fn every_page_has_a_path_and_a_heading_of_its_own() {
        let facts = heavy_facts(2_000, 1);
        let paths: HashSet<&str> = facts.iter().map(|page| page.path.as_str()).collect();
        let headings: HashSet<&str> = facts.iter().map(|page| page.heading.as_str()).collect();
        assert_eq!((paths.len(), headings.len()), (2_000, 2_000));
    }
}
