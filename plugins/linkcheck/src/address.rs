//! Pieces of absolute URLs. The host gives every URL as the WHATWG parser writes it, so that splitting at signs is enough.

/// A URL without its fragment, and the fragment.
pub(crate) fn split_fragment(url: &str) -> (&str, Option<&str>) {
    match url.split_once('#') {
        Some((url, fragment)) => (url, Some(fragment)),
        None => (url, None),
    }
}

/// Whether it can be requested at all.
pub(crate) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// The hostname, without user and port; empty if there is none.
pub(crate) fn host(url: &str) -> &str {
    let (authority, _) = authority_and_path(url);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // An IPv6 address has colons of its own, in brackets.
    match host.rfind(']') {
        Some(end) => &host[..=end],
        None => host.split(':').next().unwrap_or(host),
    }
}

/// Path and query.
pub(crate) fn path(url: &str) -> &str {
    authority_and_path(split_fragment(url).0).1
}

fn authority_and_path(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()))
}

/// Decodes `%XX`; what is not UTF-8 then becomes U+FFFD.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%'
            && let [high, low, tail @ ..] = rest
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            bytes.extend(u8::try_from(high * 16 + low));
            rest = tail;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_paths_are_found_in_every_kind_of_url() {
        for (url, expected_host, expected_path) in [
            ("http://a.example/b?c#d", "a.example", "/b?c"),
            ("https://u:p@a.example:8080/b", "a.example", "/b"),
            ("http://[::1]:80/", "[::1]", "/"),
            ("http://a.example/?q=http://x/#/y", "a.example", "/?q=http://x/"),
            ("mailto:a@b", "b", ""),
        ] {
            assert_eq!((host(url), path(url)), (expected_host, expected_path), "{url}");
        }
        assert!(is_web("https://a/") && !is_web("mailto:a@b") && !is_web("httpx://a/"));
    }

    #[test]
    fn percent_signs_that_encode_nothing_stay() {
        assert_eq!(percent_decoded("gr%C3%BCn%20%2520%zz%4"), "grün %20%zz%4");
        assert_eq!(percent_decoded("%ff"), "\u{fffd}");
    }
}
