//! Which fragments a page must have an element for, and which element is one's (HTML standard, "find a potential
//! indicated element").

use crate::address::percent_decoded;

/// The part of a fragment that names an element; none if the page itself is enough: `#`, `#top`, text fragments.
pub(crate) fn named(fragment: &str) -> Option<&str> {
    let name = fragment.split_once(":~:").map_or(fragment, |(name, _)| name);
    (!name.is_empty() && !name.eq_ignore_ascii_case("top")).then_some(name)
}

/// Whether a page has the element, where `has` knows its ids: as it is written, or with `%XX` decoded.
pub(crate) fn is_found(name: &str, has: impl Fn(&str) -> bool) -> bool {
    has(name) || (name.contains('%') && has(&percent_decoded(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_itself_answers_names_no_element() {
        for fragment in ["", "top", "TOP", ":~:text=a%20word"] {
            assert_eq!(named(fragment), None, "{fragment}");
        }
        assert_eq!(named("part:~:text=word"), Some("part"));
        assert_eq!(named("topic"), Some("topic"));
    }

    #[test]
    fn an_id_is_found_as_it_is_written_and_decoded() {
        let has = |id: &str| ["grün", "a%20b"].contains(&id);
        assert!(is_found("gr%C3%BCn", has) && is_found("a%20b", has));
        assert!(!is_found("a", has) && !is_found("%61", has));
    }
}
