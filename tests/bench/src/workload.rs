//! What is crawled.

use nephila_site::{PageFacts, heavy_facts, mesh_facts};
use serde::Serialize;

const SEED: u64 = 1;
const MESH_LINKS: usize = 20;
const MESH_BYTES: usize = 4_000;

/// A site to crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Workload {
    /// Small pages, as of an interface or a forum: what is measured is the crawler.
    Mesh {
        /// How many.
        pages: usize,
    },
    /// Pages as shops serve them: what is measured is the parsing of HTML.
    Heavy {
        /// How many.
        pages: usize,
    },
}

impl Workload {
    /// Small pages, in the usual number if none is given.
    #[must_use]
    pub fn mesh(pages: Option<usize>) -> Self {
        Self::Mesh { pages: pages.unwrap_or(10_000) }
    }

    /// Large pages, in the usual number if none is given.
    #[must_use]
    pub fn heavy(pages: Option<usize>) -> Self {
        Self::Heavy { pages: pages.unwrap_or(2_000) }
    }

    /// One word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesh { .. } => "mesh",
            Self::Heavy { .. } => "heavy",
        }
    }

    /// One line for people.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Mesh { pages } => format!("mesh: {pages} pages of 4 kB with {MESH_LINKS} links"),
            Self::Heavy { pages } => format!("heavy: {pages} pages of 60 to 100 kB with 150 links"),
        }
    }

    /// How many pages it has.
    #[must_use]
    pub fn pages(self) -> usize {
        match self {
            Self::Mesh { pages } | Self::Heavy { pages } => pages,
        }
    }

    /// What every page says.
    #[must_use]
    pub fn facts(self) -> Vec<PageFacts> {
        match self {
            Self::Mesh { pages } => mesh_facts(pages, SEED),
            Self::Heavy { pages } => heavy_facts(pages, SEED),
        }
    }

    /// The arguments of `nephila-site`.
    pub(crate) fn arguments(self) -> Vec<String> {
        let mut arguments = vec![self.name().to_owned()];
        let mut add = |name: &str, value: u64| arguments.extend([name.to_owned(), value.to_string()]);
        add("--seed", SEED);
        add("--pages", self.pages() as u64);
        if let Self::Mesh { .. } = self {
            add("--links", MESH_LINKS as u64);
            add("--bytes", MESH_BYTES as u64);
        }
        arguments
    }
}
