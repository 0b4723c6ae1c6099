//! Which pages a page links to: the web of the mesh and of the heavy site.

use crate::seed::Seed;

/// The links of page `id` of `pages`, `wanted` of them. A tree reaches every page (a ring, when there is one link only); the
/// other links are chance. No link twice, and none to the page itself, unless the site is too small for that.
pub(crate) fn links(seed: Seed, id: usize, pages: usize, wanted: usize) -> Vec<usize> {
    let mut links: Vec<usize> = match wanted {
        0 => Vec::new(),
        1 => vec![(id + 1) % pages],
        _ => [2 * id + 1, 2 * id + 2].into_iter().filter(|child| *child < pages).collect(),
    };
    let mut attempt = 0;
    while links.len() < wanted {
        let link = seed.below("link", seed.hash("links", id as u64) ^ attempt, pages);
        let fresh = link != id && !links.contains(&link);
        if fresh || attempt > 4 * wanted as u64 {
            links.push(link);
        }
        attempt += 1;
    }
    links
}

/// The same for a site in two halves: a page of the first half has a page of the second to itself, and all other links lead to the
/// first half.
pub(crate) fn links_of_halves(seed: Seed, id: usize, pages: usize, wanted: usize) -> Vec<usize> {
    let half = pages / 2;
    if id >= half {
        return links(seed, id, half, wanted);
    }
    let mut links = links(seed, id, half, wanted.saturating_sub(1));
    links.push(half + id);
    links
}

#[cfg(test)]
mod tests {
    use super::{links, links_of_halves};
    use crate::seed::Seed;
    use std::collections::HashSet;

    #[test]
    fn every_page_is_reached_with_any_number_of_links() {
        for (pages, wanted) in [(1, 0), (1, 5), (2, 1), (50, 1), (50, 2), (100, 3), (10, 20), (400, 150)] {
            let (mut seen, mut waiting) = (HashSet::from([0]), vec![0]);
            while let Some(id) = waiting.pop() {
                let links = links(Seed(3), id, pages, wanted);
                assert_eq!(links.len(), wanted);
                waiting.extend(links.into_iter().filter(|link| seen.insert(*link)));
            }
            assert_eq!(seen.len(), pages, "{pages} pages, {wanted} links");
        }
    }

    #[test]
    fn a_page_of_the_first_half_has_one_of_the_second_to_itself() {
        for id in 0..100 {
            let links = links_of_halves(Seed(3), id, 100, 8);
            let second: Vec<usize> = links.iter().copied().filter(|link| *link >= 50).collect();
            assert_eq!(links.len(), 8);
            assert_eq!(second, if id < 50 { vec![50 + id] } else { Vec::new() });
        }
    }
}
