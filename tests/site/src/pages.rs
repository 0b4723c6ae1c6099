//! What the bookshop, the mesh, the heavy and the practice site have in common: numbered pages, each with one canonical URL.
//!
//! A page's number, not its text, is what faults are decided by; number 0 is `/`, which never makes trouble.

use crate::bookshop::{BOOKS, Bookshop, LISTINGS};
use crate::faults::Faults;
use crate::heavy::Heavy;
use crate::mesh::Mesh;
use crate::personal::Personal;
use crate::practice::Practice;
use crate::prepared::Prepared;

/// The pages of a site.
pub(crate) enum Pages {
    Bookshop(Bookshop),
    Mesh(Mesh),
    Heavy(Heavy),
    Practice(Practice),
}

/// What is at a path.
pub(crate) enum Found {
    /// A page, by number.
    Page(usize),
    /// Something that never makes trouble: a picture, or another path of the start page.
    Asset(Prepared),
    /// Something that is not the same for everybody.
    Personal(Personal),
}

/// Where the site is, for links that must be absolute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub port: u16,
    /// All links are absolute: a page may be served under another host name, and relative links would lead to a second
    /// copy of the site there.
    pub absolute: bool,
}

impl Origin {
    pub fn link(self, path: &str) -> String {
        if self.absolute { self.on("127.0.0.1", path) } else { path.to_owned() }
    }

    pub fn on(self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }
}

impl Pages {
    pub fn count(&self) -> usize {
        match self {
            Self::Bookshop(_) => LISTINGS + BOOKS,
            Self::Mesh(mesh) => mesh.count(),
            Self::Heavy(heavy) => heavy.count(),
            Self::Practice(_) => Practice::PAGES,
        }
    }

    pub fn find(&self, path: &str) -> Option<Found> {
        match self {
            Self::Bookshop(shop) => shop.find(path),
            Self::Mesh(mesh) => mesh.find(path),
            Self::Heavy(heavy) => heavy.find(path),
            Self::Practice(practice) => practice.find(path),
        }
    }

    /// The canonical path of a page.
    pub fn path(&self, id: usize) -> String {
        match self {
            Self::Bookshop(shop) => shop.path(id),
            Self::Mesh(mesh) => mesh.path(id),
            Self::Heavy(heavy) => heavy.path(id),
            Self::Practice(practice) => practice.path(id),
        }
    }

    /// The canonical URL of a page as links name it: a path, or absolute where the site has several hosts.
    pub fn url(&self, id: usize, origin: Origin) -> String {
        match self {
            Self::Bookshop(shop) => origin.link(&shop.path(id)),
            Self::Mesh(mesh) => mesh.url(id),
            Self::Heavy(heavy) => origin.link(&heavy.path(id)),
            Self::Practice(practice) => origin.link(&practice.path(id)),
        }
    }

    pub fn prepared(&self, id: usize, faults: &Faults) -> Prepared {
        match self {
            Self::Bookshop(shop) => shop.prepared(id),
            Self::Mesh(mesh) => mesh.prepared(id, faults),
            Self::Heavy(heavy) => heavy.prepared(id),
            Self::Practice(practice) => practice.prepared(id),
        }
    }
}
