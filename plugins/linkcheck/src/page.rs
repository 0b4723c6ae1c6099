//! A page of the site: its ids and links are noted for the finish, and its links are followed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use nephila_sdk::prelude::*;

use crate::address;
use crate::fragment;
use crate::input::{Exclusions, Input, Scope};
use crate::probe;
use crate::record::{LinkRow, ListedPage, PageRow};

/// Requests of one page at most; the host takes ten thousand.
const MOST_REQUESTS: usize = 9_000;

/// Handles a page.
pub(crate) fn handle(call: &Call) -> HandlerResult {
    let input = Input::read()?;
    let document = call.document()?;
    let meta = document.meta();
    if input.list_pages {
        dataset::push(&ListedPage { kind: "page", url: &meta.url, status: meta.status })?;
    }

    // What a page came from says which site it is of; a start page is its own.
    let inherited = call.user_data::<Option<String>>()?;
    let site = inherited.clone().unwrap_or_else(|| address::host(&meta.url).to_owned());
    let scope = input.scope(&site);
    let is_ours = inherited.is_none() || scope.contains(&meta.url);
    let is_html = matches!(meta.content_type.as_deref(), Some("text/html" | "application/xhtml+xml"));
    if !is_ours || !is_html {
        return PageRow::push_unread(&meta.url, false);
    }
    let found = match document.extract(fields(input.assets)) {
        Ok(found) => found,
        Err(error) => {
            warn!("the page could not be read, so that its links are not checked: {}", error.message());
            return PageRow::push_unread(&meta.url, true);
        }
    };
    let page = Page { url: meta.url, ids: found.all("ids").iter().chain(found.all("names")).cloned().collect() };

    let mut links = Links::default();
    for url in found.all("links") {
        links.add(url, &page, scope, &input.exclusions(), input.external);
    }
    for url in found.all("sources").iter().chain(found.all("linked")) {
        links.add_asset(url, scope, &input.exclusions());
    }
    let row = follow(links, &page, &site)?;
    PageRow::push(&page.url, page.ids)?;
    row.push()
}

fn fields(assets: bool) -> Fields {
    let fields =
        Fields::new().attrs("ids", "[id]", "id").attrs("names", "a[name]", "name").urls("links", "a[href], area[href]", "href");
    if !assets {
        return fields;
    }
    fields
        .urls("sources", "img[src], script[src], iframe[src], source[src]", "src")
        // The others name an origin, not a file.
        .urls("linked", r#"link[href]:not([rel~="preconnect" i]):not([rel~="dns-prefetch" i])"#, "href")
}

/// Enqueues what is to be asked for, and says what is left for the finish.
fn follow(links: Links, page: &Page, site: &str) -> Result<LinkRow, Error> {
    let mut row = LinkRow {
        page: Some(page.url.clone()),
        found: u32::try_from(links.found.len()).unwrap_or(u32::MAX),
        unchecked: links.unchecked,
        ..LinkRow::default()
    };
    let pages = links.pages.keys().filter(|url| **url != page.url);
    enqueue(pages.take(MOST_REQUESTS).map(|url| Request::get(url.as_str()).user_data(site)))?;

    let left = MOST_REQUESTS.saturating_sub(links.pages.len());
    let probes: Vec<_> = links.probes.into_iter().collect();
    let (asked, rest) = probes.split_at(probes.len().min(left));
    let answers = enqueue(asked.iter().map(|(url, on_site)| probe::head(url, on_site.then_some(site))))?;
    for ((url, _), answer) in asked.iter().zip(answers) {
        // What is refused here may have been asked for from elsewhere: only the queue can tell.
        match answer.refused {
            None => row.heads.push(url.clone()),
            Some(_) => row.to.push(vec![url.clone()]),
        }
    }
    row.to.extend(rest.iter().map(|(url, _)| vec![url.clone()]));

    let targets = links.pages.into_iter().map(|(url, fragments)| std::iter::once(url).chain(fragments).collect::<Vec<_>>());
    row.to.extend(targets.filter(|target| target.len() > 1 || target[0] != page.url));
    Ok(row)
}

/// The page in hand.
struct Page {
    url: String,
    ids: BTreeSet<String>,
}

/// The links of a page, by what becomes of them.
#[derive(Debug, Default)]
struct Links {
    /// On the site: URL and fragments. Those that the page itself has are left out.
    pages: BTreeMap<String, BTreeSet<String>>,
    /// To be asked for by HEAD: URL, and whether it is on the site.
    probes: BTreeMap<String, bool>,
    /// Each link once.
    found: HashSet<String>,
    unchecked: u32,
}

impl Links {
    fn add(&mut self, link: &str, page: &Page, scope: Scope<'_>, exclusions: &Exclusions, external: bool) {
        let (url, fragment) = address::split_fragment(link);
        if !address::is_web(url) || !self.found.insert(link.to_owned()) {
            return;
        }
        if exclusions.link(url) {
            self.unchecked += 1;
            return;
        }
        if !scope.contains(url) && url != page.url {
            if external {
                self.probes.entry(url.to_owned()).or_insert(false);
            } else {
                self.unchecked += 1;
            }
            return;
        }
        let fragments = self.pages.entry(url.to_owned()).or_default();
        let Some(name) = fragment.and_then(fragment::named) else { return };
        if exclusions.fragment(url, name) {
            self.unchecked += 1;
        } else if url != page.url || !fragment::is_found(name, |id| page.ids.contains(id)) {
            fragments.insert(name.to_owned());
        }
    }

    fn add_asset(&mut self, link: &str, scope: Scope<'_>, exclusions: &Exclusions) {
        let (url, _) = address::split_fragment(link);
        if !address::is_web(url) || !self.found.insert(url.to_owned()) {
            return;
        }
        if exclusions.link(url) {
            self.unchecked += 1;
        } else {
            self.probes.insert(url.to_owned(), scope.contains(url));
        }
    }
}

#[cfg(test)]
mod tests {
    use nephila_sdk::serde_json::from_str;

    use super::*;

    const PAGE: &str = "http://a.example/docs/";

    fn links(input: &str, hrefs: &[&str], assets: &[&str]) -> Links {
        let input: Input = from_str(input).unwrap_or_default();
        let page = Page { url: PAGE.to_owned(), ids: BTreeSet::from(["here".to_owned(), "grün".to_owned()]) };
        let mut links = Links::default();
        for href in hrefs {
            links.add(href, &page, input.scope("a.example"), &input.exclusions(), input.external);
        }
        for asset in assets {
            links.add_asset(asset, input.scope("a.example"), &input.exclusions());
        }
        links
    }

    fn shown(links: &Links) -> Vec<String> {
        let pages = links
            .pages
            .iter()
            .map(|(url, fragments)| format!("{url} {}", fragments.iter().cloned().collect::<Vec<_>>().join(" ")));
        let probes = links.probes.iter().map(|(url, on_site)| format!("HEAD {url} {on_site}"));
        pages.chain(probes).collect()
    }

    #[test]
    fn links_of_the_site_are_followed_with_the_fragments_that_are_left_to_look_for() {
        let links = links(
            "{}",
            &[
                "http://a.example/docs/#here",
                "http://a.example/docs/#gr%C3%BCn",
                "http://a.example/docs/#gone",
                "http://a.example/docs/#",
                "http://a.example/b#x",
                "http://a.example/b#x",
                "http://a.example/b#top",
                "http://a.example/b",
                "http://b.example/",
                "mailto:a@a.example",
            ],
            &[],
        );
        assert_eq!(shown(&links), ["http://a.example/b x", "http://a.example/docs/ gone"]);
        assert_eq!((links.found.len(), links.unchecked), (8, 1));
    }

    #[test]
    fn what_leads_out_is_probed_only_where_asked() {
        let hrefs = ["http://b.example/#x", "http://a.example/other", "http://a.example/docs/x"];
        let inside = links(r#"{"paths": ["/docs/"]}"#, &hrefs, &[]);
        assert_eq!((shown(&inside), inside.unchecked), (vec!["http://a.example/docs/x ".to_owned()], 2));
        let all = links(r#"{"paths": ["/docs/"], "external": true}"#, &hrefs, &["http://a.example/docs/x.css", "data:,x"]);
        let expected = [
            "http://a.example/docs/x ",
            "HEAD http://a.example/docs/x.css true",
            "HEAD http://a.example/other false",
            "HEAD http://b.example/ false",
        ];
        assert_eq!((shown(&all), all.unchecked), (expected.map(str::to_owned).to_vec(), 0));
    }

    #[test]
    fn what_is_excluded_is_neither_followed_nor_checked() {
        let input = r##"{"excludeLinks": ["*.pdf"], "excludeFragments": ["#<number>"], "external": true}"##;
        let links = links(input, &["http://a.example/x.pdf", "http://a.example/src#12"], &["http://b.example/y.pdf"]);
        assert_eq!((shown(&links), links.unchecked), (vec!["http://a.example/src ".to_owned()], 3));
    }
}
