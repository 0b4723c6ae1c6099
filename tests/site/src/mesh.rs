//! A mesh: as many pages as wanted, of any size, with links to each other; for benchmarks and for crawls of many sites.
//!
//! Small meshes are rendered at the start; one that would not fit into memory is rendered page by page when asked, which
//! costs some microseconds each. Either way the bytes are the same.

use crate::config::MeshShape;
use crate::facts::PageFacts;
use crate::faults::Faults;
use crate::links::{links, links_of_halves};
use crate::pages::{Found, Origin};
use crate::prepared::Prepared;
use crate::seed::Seed;
use crate::words::SENTENCES;
use std::fmt::Write;

/// A mesh up to this size is kept in memory.
const KEPT_BYTES: usize = 256 << 20;

/// What the pages of a mesh on one host say, `/` first.
pub fn mesh_facts(pages: usize, seed: u64) -> Vec<PageFacts> {
    let facts = |id| {
        let title = format!("Page {id}");
        PageFacts { path: path(id), heading: title.clone(), title, price: price(Seed(seed), id) }
    };
    (0..pages).map(facts).collect()
}

fn path(id: usize) -> String {
    if id == 0 { "/".to_owned() } else { format!("/p/{id}") }
}

fn price(seed: Seed, id: usize) -> String {
    let pence = 100 + seed.below("price", id as u64, 9_900);
    format!("£{}.{:02}", pence / 100, pence % 100)
}

pub(crate) struct Mesh {
    shape: MeshShape,
    seed: Seed,
    origin: Origin,
    gzip: bool,
    /// Empty when the mesh is too large.
    kept: Vec<Prepared>,
}

impl Mesh {
    pub fn build(shape: MeshShape, seed: Seed, origin: Origin, faults: &Faults, gzip: bool) -> Self {
        let mut mesh = Self { shape, seed, origin, gzip, kept: Vec::new() };
        // Some 60 bytes for a link and 512 for the rest of a page are enough to decide.
        let page_bytes = shape.bytes.max(512 + shape.links.min(shape.pages) * 60);
        if shape.pages.saturating_mul(page_bytes) <= KEPT_BYTES {
            mesh.kept = (0..shape.pages).map(|id| mesh.render(id, faults)).collect();
        }
        mesh
    }

    pub fn count(&self) -> usize {
        self.shape.pages
    }

    pub fn find(&self, path: &str) -> Option<Found> {
        if path == "/" {
            return Some(Found::Page(0));
        }
        let digits = path.strip_prefix("/p/")?;
        let canonical = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
        let id: usize = digits.parse().ok().filter(|_| canonical)?;
        (id < self.shape.pages).then_some(Found::Page(id))
    }

    pub fn path(&self, id: usize) -> String {
        path(id)
    }

    /// What links to the page say.
    pub fn url(&self, id: usize) -> String {
        if self.shape.sites > 1 {
            self.origin.on(&format!("s{}.localhost", id % self.shape.sites), &self.path(id))
        } else {
            self.origin.link(&self.path(id))
        }
    }

    pub fn prepared(&self, id: usize, faults: &Faults) -> Prepared {
        self.kept.get(id).cloned().unwrap_or_else(|| self.render(id, faults))
    }

    fn render(&self, id: usize, faults: &Faults) -> Prepared {
        let n = id as u64;
        let price = price(self.seed, id);
        let mut html = String::with_capacity(self.shape.bytes + 256);
        let _ = write!(
            html,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Page {id}</title></head>\n<body><h1>Page {id}</h1>\n<p class=\"price\">{price}</p>\n<ul class=\"links\">\n",
        );
        let links = if self.shape.halves { links_of_halves } else { links };
        for link in links(self.seed, id, self.shape.pages, self.shape.links) {
            let _ = writeln!(html, "<li><a href=\"{}\">Page {link}</a></li>", self.url(link));
        }
        html.push_str("</ul>\n");
        const FOOT: &str = "</body></html>\n";
        let mut paragraph = 0;
        while html.len() + FOOT.len() < self.shape.bytes {
            let room = self.shape.bytes - html.len() - FOOT.len();
            let text = self.seed.pick("padding", n.wrapping_mul(1 << 20) + paragraph, &SENTENCES);
            if room < text.len() + 24 {
                // The last few bytes are white space, which makes the size exact.
                html.extend(std::iter::repeat_n(' ', room));
            } else {
                // Its `&` and `<` stand before a space: text to every parser.
                let _ = writeln!(html, "<p>{text}</p>");
            }
            paragraph += 1;
        }
        html.push_str(FOOT);
        Prepared::html(html, faults.charset(id), self.gzip)
    }
}

#[cfg(test)]
mod tests {
    use super::Mesh;
    use crate::config::{MeshShape, Switches};
    use crate::faults::Faults;
    use crate::pages::Origin;
    use crate::seed::Seed;

    fn mesh(pages: usize, links: usize, bytes: usize) -> Mesh {
        let faults = Faults::new(Switches::default(), pages, 1);
        let origin = Origin { port: 80, absolute: false };
        Mesh::build(MeshShape { pages, links, bytes, sites: 1, halves: false }, Seed(3), origin, &faults, false)
    }

    #[test]
    fn a_page_has_the_size_that_was_asked_for() {
        let mesh = mesh(5, 3, 10_000);
        assert!(mesh.kept.iter().all(|page| page.body.len() == 10_000));
    }

    #[test]
    fn a_page_has_one_path() {
        let mesh = mesh(5, 3, 0);
        assert!(mesh.find("/p/4").is_some());
        assert!(["/p/5", "/p/04", "/p/+4", "/p/", "/p"].iter().all(|path| mesh.find(path).is_none()));
    }
}
