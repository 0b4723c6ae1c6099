//! Links, title and base of a page that the quick tree was made of: what `stream.rs` finds, without another pass.

use super::element::QuickTree;
use super::foreign::Vocabulary;
use super::names::Name;
use super::tape::Node;
use crate::stream::{MOST_LINKS, RawLink, Scan, TITLE, collapse};

impl QuickTree<'_> {
    /// Links, title and base. `None` where the streaming pass decides: how a long title is cut, and whether a title behind a picture is the
    /// page's, which it tells by tags and not by elements.
    pub(crate) fn scan(&self) -> Option<Scan> {
        let (tape, text) = (self.tape, self.text);
        let mut scan = Scan::default();
        let mut pictures = false;
        let attribute = |node: &Node, name: &str| {
            let found = tape.attributes(node).iter().find(|a| text[a.name_range()].eq_ignore_ascii_case(name));
            found.map(|attribute| attribute.value(text))
        };
        for (at, node) in tape.nodes.iter().enumerate() {
            // What the parser opened again has no tag of its own.
            if !node.is_element() || node.copy {
                continue;
            }
            pictures |= node.vocabulary != Vocabulary::Html;
            match node.name {
                Name::A | Name::Area if scan.links.len() < MOST_LINKS => {
                    if let Some(href) = attribute(node, "href") {
                        let rel = attribute(node, "rel").map(|rel| rel.to_lowercase()).unwrap_or_default();
                        scan.links.push(RawLink { href: href.into_owned(), rel });
                    }
                }
                Name::Base if scan.base.is_none() => scan.base = attribute(node, "href").map(std::borrow::Cow::into_owned),
                Name::Title if scan.title.is_none() => {
                    if pictures {
                        return None;
                    }
                    let title = tape.nodes[at + 1..node.end as usize].iter().filter_map(|node| node.text(text));
                    let title = title.collect::<String>();
                    if title.len() >= TITLE {
                        return None;
                    }
                    scan.title = Some(collapse(&title));
                }
                _ => {}
            }
        }
        if scan.links.len() == MOST_LINKS {
            tracing::warn!(kept = MOST_LINKS, "a page has more links than are kept");
        }
        Some(scan)
    }
}
