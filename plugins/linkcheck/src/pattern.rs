//! The small language of exclusions: `*` stands for any text, `<number>` for one digit or more, all else for itself.
//!
//! A pattern matches the whole of a text. Decision: no regular expressions, which alone would outweigh this plugin; `<`
//! and `>` stand in no URL, so that nothing needs an escape.

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pattern {
    pieces: Vec<Piece>,
    /// Whether it begins with `#`.
    of_fragment: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Anything,
    Number,
    Text(String),
}

const NUMBER: &str = "<number>";

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('*') {
                // Two in a row are one.
                if pieces.last() != Some(&Piece::Anything) {
                    pieces.push(Piece::Anything);
                }
                rest = after;
            } else if let Some(after) = rest.strip_prefix(NUMBER) {
                pieces.push(Piece::Number);
                rest = after;
            } else {
                let next_star = rest.find('*').unwrap_or(rest.len());
                let end = rest.find(NUMBER).unwrap_or(rest.len()).min(next_star);
                pieces.push(Piece::Text(rest[..end].to_owned()));
                rest = &rest[end..];
            }
        }
        Pattern { pieces, of_fragment: text.starts_with('#') }
    }

    /// Whether it matches the whole text.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let (mut piece, mut at) = (0, 0);
        // Where to go on if what follows the last `*` does not match: the `*` takes one byte more. Earlier ones never need to.
        let mut last_star: Option<(usize, usize)> = None;
        loop {
            let length = match self.pieces.get(piece) {
                None if at == text.len() => return true,
                None => None,
                Some(Piece::Anything) => {
                    last_star = Some((piece + 1, at));
                    Some(0)
                }
                Some(Piece::Number) => {
                    let digits = text.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    (digits > 0).then_some(digits)
                }
                Some(Piece::Text(own)) => text.as_bytes()[at..].starts_with(own.as_bytes()).then_some(own.len()),
            };
            match (length, last_star) {
                (Some(length), _) => (piece, at) = (piece + 1, at + length),
                (None, Some((after, from))) if from < text.len() => {
                    last_star = Some((after, from + 1));
                    (piece, at) = (after, from + 1);
                }
                (None, _) => return false,
            }
        }
    }

    /// Whether it matches a link: one that begins with `#` is compared with the fragment alone.
    pub(crate) fn matches_link(&self, url: &str, fragment: &str) -> bool {
        if self.of_fragment { self.matches(&format!("#{fragment}")) } else { self.matches(&format!("{url}#{fragment}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_text() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a**c", "abc", true),
            ("*b", "abc", false),
            ("a*b*c", "a-b-b-cc", true),
            ("a*b*c", "a-c-b", false),
            ("https://*/edit/*", "https://git.example/a/edit/b", true),
            ("*/src/*", "https://a.example/src", false),
            ("#<number>", "#12", true),
            ("#<number>", "#12-20", false),
            ("#<number>-<number>", "#12-20", true),
            ("#<number>*", "#12a", true),
            ("#*<number>", "#line7", true),
            ("#<number>", "#a", false),
            ("*grün*", "das grüne", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!Pattern::new(&"*a".repeat(40)).matches(&"a".repeat(39)));
        assert!(!Pattern::new(&format!("{}b", "*a".repeat(1_000))).matches(&"a".repeat(20_000)));
    }

    #[test]
    fn a_link_is_compared_by_its_fragment_or_as_a_whole() {
        let link = ("http://a.example/src/lib.rs.html", "12-20");
        assert!(Pattern::new("#<number>-<number>").matches_link(link.0, link.1));
        assert!(Pattern::new("*/src/*#*").matches_link(link.0, link.1));
        assert!(!Pattern::new("*/src/*#").matches_link(link.0, link.1));
    }
}
