//! The quick tree of a tame page.
//!
//! Decision: most pages need little of what makes HTML hard to parse. This parser follows the standard's rules as far as a node always
//! becomes the last child of an element that is open, which holds for implied tags, unclosed elements, reopened formatting and
//! pictures, and **gives up** where the rules would move what is already there (foster parenting, the adoption agency), where a rule is
//! rare (templates, frames), or where a page is as deep or as repetitive as only hostile ones are; then html5ever's tree is
//! built, as if there were no other. So it is either exact or absent; `exactness.rs` compares it with html5ever's on random tag soup.
//!
//! It needs no clock: each byte is looked at a few times, and what a token makes it look for among the open elements, the formatting
//! ones and the names is taken from a budget of steps in proportion to the text (16 a byte, `steps` in `build.rs`), so that its time is linear
//! up to a small factor. Its memory is bounded by the nodes and attributes that a page may have (`tape.rs`). What is over, is given up.

mod body;
mod build;
mod decode;
mod element;
#[cfg(test)]
mod exactness;
mod foreign;
mod formatting;
mod found;
mod head;
mod names;
mod pictures;
mod scan;
#[cfg(test)]
mod soup;
mod stack;
mod table;
mod tape;
mod text;

pub(crate) use element::QuickTree;
pub(crate) use tape::Tape;

/// Bytes of the longest text that is tried: nodes hold 32-bit positions.
const LONGEST: usize = 1 << 30;

/// Why a page is not tame; for those who look for what to add.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bail(pub(crate) &'static str);

/// Gives up.
const fn bail<T>(why: &'static str) -> Result<T, Bail> {
    Err(Bail(why))
}

impl Tape {
    /// The tree of a page, or why there is none.
    pub(crate) fn parse(text: &str) -> Result<Self, Bail> {
        if text.len() > LONGEST {
            return bail("long");
        }
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return bail("a null character");
        }
        if text.starts_with('\u{feff}') {
            return bail("a byte order mark");
        }
        build::Builder::new(text).run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_would_take_much_memory_are_given_up() {
        let why = |page: String| Tape::parse(&page).err().map(|bail| bail.0);
        assert_eq!(why("<p>".repeat(tape::NODES_MOST + 1)), Some("dense"));
        assert_eq!(why("x<!---->".repeat(tape::NODES_MOST + 1)), Some("dense"));
        assert_eq!(why(format!("<br{}>", " a b c d e f g h".replace(' ', " x")).repeat(tape::NODES_MOST / 3)), Some("dense"));
        assert_eq!(why("<br>".repeat(tape::NODES_MOST - 10)), None);
    }

    #[test]
    fn pages_that_would_take_more_than_time_in_proportion_are_given_up() {
        let why = |page: String| Tape::parse(&page).err().map(|bail| bail.0);
        assert_eq!(why(format!("<p><b><i><u><s><tt>{}", "<p>x".repeat(10_000))), Some("repetitive"));
        assert_eq!(why((0..400).map(|n| format!("<x{n}>")).collect()), Some("deep"));
        assert_eq!(why((0..400).map(|n| format!("<x{n}></x{n}>")).collect::<String>().repeat(100)), Some("repetitive"));
        assert_eq!(why((0..600).map(|n| format!("<x{n}></x{n}>")).collect()), Some("repetitive"));
        assert_eq!(why(format!("<p {}>", (0..100).map(|n| format!("a{n} ")).collect::<String>())), Some("many attributes"));
        assert_eq!(why(format!("{}{}", "<div>".repeat(200), "<li></li>".repeat(10_000))), Some("repetitive"));
        assert_eq!(why(format!("{}<ul>{}", "<div>".repeat(200), "<li></li>".repeat(10_000))), None);
        assert_eq!(why(format!("<p {}>", "x".repeat(300))), Some("a long name"));
        assert_eq!(why(format!("<x{}>", "x".repeat(300))), Some("a long name"));
    }
}
