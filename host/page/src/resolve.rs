//! References of a page as absolute URLs.
//!
//! Decision: most links of a page are plain paths, for which the answer is the base's beginning with the path behind it; parsing them would
//! be a large part of what a page's links cost. What holds anything that a URL parser would change goes to the URL parser.

use url::{Position, Url};

/// What references resolve against.
pub(crate) struct Resolver<'a> {
    base: &'a Url,
    /// The base up to its path.
    origin: &'a str,
    /// The base up to and with the last slash of its path.
    folder: &'a str,
    /// The base without its fragment.
    page: &'a str,
    /// Whether plain references may be joined by hand.
    plain: bool,
}

/// Whether a byte stays as it is wherever it stands behind a URL's host.
const fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'~' | b'!' | b'$' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b'@' | b'&')
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(base: &'a Url) -> Self {
        let path = &base[..Position::AfterPath];
        Self {
            base,
            origin: &base[..Position::BeforePath],
            folder: path.rfind('/').map_or(path, |slash| &path[..=slash]),
            page: &base[..Position::AfterQuery],
            plain: matches!(base.scheme(), "http" | "https") && base.has_host(),
        }
    }

    /// What resolving a reference takes at most, in bytes looked through: the base is copied, and a page may have one of megabytes.
    pub(crate) fn cost(&self, reference: &str) -> usize {
        4 * (self.page.len() + reference.len())
    }

    /// A reference as an absolute URL.
    pub(crate) fn resolve(&self, reference: &str) -> Option<String> {
        self.by_hand(reference).or_else(|| self.base.join(reference).ok().map(Into::into))
    }

    /// A reference as a URL that can be requested.
    pub(crate) fn target(&self, reference: &str) -> Option<String> {
        let requested = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        self.by_hand(reference).or_else(|| self.base.join(reference).ok().filter(requested).map(Into::into))
    }

    fn by_hand(&self, reference: &str) -> Option<String> {
        let bytes = reference.as_bytes();
        if !self.plain || !is_plain(bytes) {
            return None;
        }
        let start = match bytes {
            [b'/', ..] => self.origin,
            [b'#', ..] => self.page,
            _ => self.folder,
        };
        let mut url = String::with_capacity(start.len() + reference.len());
        url.push_str(start);
        url.push_str(reference);
        Some(url)
    }
}

/// Whether a reference is a path, a query behind it and a fragment, none of which a URL parser would change.
fn is_plain(reference: &[u8]) -> bool {
    let mut in_path = true;
    let mut before = b'/';
    for (at, &byte) in reference.iter().enumerate() {
        let kept = match byte {
            // `//host`, and folders that are one up or the same.
            b'/' => !in_path || at == 0 || before != b'/',
            b'.' => !in_path || before != b'/',
            // Without a path there is more to do.
            b'?' => at > 0 && in_path,
            b'#' => in_path || reference[..at].iter().all(|&byte| byte != b'#'),
            byte => is_kept(byte),
        };
        if !kept {
            return false;
        }
        in_path &= !matches!(byte, b'?' | b'#');
        before = byte;
    }
    !reference.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand_it_is_what_the_url_parser_says() {
        let bases = [
            "http://example.com/",
            "https://example.com:8080/a/b.html?q=1#f",
            "http://u:p@example.com/a/b/?x",
            "http://[::1]/a",
            "data:text/html,x",
            "http://example.com/a/b;c/d?e/f",
        ];
        let pieces = [
            "a", "/", "//", ".", "..", "./", "../", "?", "#", "b.html", "x=1", "&", "%20", " ", "ä", "http:", ":", "\\", "\"",
            "'", "a.b", "-_~", "(1)", "@", "?q=a/b", "#f/../g", "%2e", "\t", "C|", ";", "",
        ];
        let (mut state, mut by_hand) = (0x9e37_79b9_u32, 0);
        let mut next = |most: usize| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as usize % most
        };
        for base in bases.map(|base| Url::parse(base).expect("a URL")) {
            let resolver = Resolver::new(&base);
            for _ in 0..20_000 {
                let reference: String = (0..1 + next(5)).map(|_| pieces[next(pieces.len())]).collect();
                let joined = base.join(&reference).ok();
                by_hand += usize::from(resolver.by_hand(&reference).is_some());
                assert_eq!(resolver.resolve(&reference), joined.clone().map(String::from), "{reference} in {base}");
                let target = joined.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
                assert_eq!(resolver.target(&reference), target.map(String::from), "{reference} in {base}");
            }
        }
        assert!(by_hand > 5_000, "{by_hand}");
    }
}
