//! What a crawl will meet, page by page, told beforehand: a test compares its outcome with this and computes nothing itself.

use crate::faults::{Detour, Faults, Trouble};
use crate::pages::{Origin, Pages};
use serde::{Deserialize, Serialize};

/// What one page does to its visitors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PagePlan {
    /// The URL that links name: a path, or absolute where the site has several hosts.
    pub url: String,
    /// Where its redirects end; `url` when it has none.
    pub final_url: String,
    /// Its redirects end at another page's own URL.
    pub converges: bool,
    /// How many redirects it answers: 0, 1 or 2.
    pub hops: u8,
    /// The status of its redirects; `None` when it has none.
    pub redirect_status: Option<u16>,
    /// It is a stub with a meta refresh.
    pub meta_refresh: bool,
    /// It fails until it heals.
    pub fails: bool,
    /// Its body is cut until it heals.
    pub breaks: bool,
    /// The label of its charset.
    pub charset: String,
}

/// Where a hop of a page's redirects leads: the `Location` header.
pub(crate) fn location(pages: &Pages, faults: &Faults, origin: Origin, id: usize, hop: u8) -> String {
    let Detour::Redirect { hops, converges, .. } = faults.fate(id).detour else { return pages.url(id, origin) };
    match converges {
        Some(target) if hop == hops => pages.url(target, origin),
        _ => {
            let path = format!("{}?moved={hop}", pages.path(id));
            match faults.hop_host(id, hop, hop == hops) {
                Some(host) => origin.on(&host, &path),
                None => path,
            }
        }
    }
}

/// The plan of a whole site, `/` first.
pub(crate) fn plan(pages: &Pages, faults: &Faults, origin: Origin) -> Vec<PagePlan> {
    let of_page = |id| {
        let fate = faults.fate(id);
        let url = pages.url(id, origin);
        let (hops, redirect_status, converges) = match fate.detour {
            Detour::Redirect { status, hops, converges } => (hops, Some(status), converges.is_some()),
            _ => (0, None, false),
        };
        let final_url = match location(pages, faults, origin, id, hops) {
            // A relative Location stays on the page's own host.
            place if place.starts_with('/') && !url.starts_with('/') => format!("{url}?moved={hops}"),
            place => place,
        };
        PagePlan {
            final_url,
            url,
            converges,
            hops,
            redirect_status,
            meta_refresh: fate.detour == Detour::Refresh,
            fails: fate.trouble == Trouble::Fails,
            breaks: fate.trouble == Trouble::Breaks,
            charset: faults.charset(id).map_or("utf-8", |charset| charset.label).to_owned(),
        }
    };
    (0..pages.count()).map(of_page).collect()
}
