//! Which links of a page are followed (Crawlee: `EnqueueStrategy`).

use crate::site::registered_domain;
use url::{Host, Url};

/// How far from its page a link may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Anywhere.
    All,
    /// To the page's registered domain by the public suffix list; for addresses, to the same one.
    SameDomain,
    /// To the page's hostname, whatever scheme and port. The default, as in Crawlee.
    #[default]
    SameHostname,
    /// To the page's scheme, hostname and port.
    SameOrigin,
}

impl Strategy {
    /// Whether a link from `page` to `link` is followed.
    #[must_use]
    pub fn admits(self, page: &Url, link: &Url) -> bool {
        match self {
            Self::All => true,
            Self::SameDomain => match (page.host(), link.host()) {
                (Some(Host::Domain(a)), Some(Host::Domain(b))) => registered_domain(a) == registered_domain(b),
                (a, b) => a == b,
            },
            Self::SameHostname => page.host() == link.host(),
            Self::SameOrigin => page.origin() == link.origin(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_admit_what_their_names_say() {
        let page = "http://shop.example.co.uk:8080/a";
        let cases = [
            ("http://shop.example.co.uk:8080/b", [true, true, true, true]),
            ("https://shop.example.co.uk/b", [true, true, true, false]),
            ("http://www.example.co.uk/b", [true, true, false, false]),
            ("http://other.co.uk/", [true, false, false, false]),
            ("http://127.0.0.1/", [true, false, false, false]),
        ];
        for (link, expected) in cases {
            let (from, to) = (Url::parse(page).expect("a URL"), Url::parse(link).expect("a URL"));
            let all = [Strategy::All, Strategy::SameDomain, Strategy::SameHostname, Strategy::SameOrigin];
            assert_eq!(all.map(|strategy| strategy.admits(&from, &to)), expected, "{link}");
        }
    }
}
