//! What a plugin says in several lines, as one.
//!
//! Decision: a message stays one line wherever it is shown, since a page that could break lines could forge a log. Where it had
//! line breaks stands ` | `, and what only means something in columns goes: indentation, and the carets that a traceback puts
//! under its source. The cost is that a message with ` | ` in it reads as if it had two lines.

use crate::failure::{indented_line, one_line};

/// What stands between two lines.
const BETWEEN: &str = " | ";

/// A message as one line; what is too long is cut.
pub(crate) fn in_one_line(text: &str, most: usize) -> String {
    let mut joined = String::new();
    for line in text.split(is_break).map(str::trim).filter(|line| !line.is_empty() && !is_marks(line)) {
        if joined.len() > most {
            break;
        }
        if !joined.is_empty() {
            joined.push_str(BETWEEN);
        }
        // One byte more than fits shows that it was cut.
        joined.push_str(&line[..line.ceil_char_boundary(most + 1)]);
    }
    if joined.is_empty() { one_line(text, most) } else { one_line(&joined, most) }
}

/// The same for a log, where the indentation of a single line means something.
pub(crate) fn log_line(text: &str, most: usize) -> String {
    if text.trim().contains(is_break) { in_one_line(text, most) } else { indented_line(text, most) }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a line only marks parts of the one above it.
fn is_marks(line: &str) -> bool {
    line.contains('^') && line.chars().all(|c| matches!(c, '^' | '~' | ' ' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceback_is_one_line_without_its_columns() {
        let said = "Traceback (most recent call last):\n  File \"crawler.py\", line 12, in book\n    return float(page.price)\n\
                    \x20          ~~~~~^^^^^^^^^^^^\nValueError: could not convert string to float: '£1'\n";
        assert_eq!(
            in_one_line(said, 1_000),
            "Traceback (most recent call last): | File \"crawler.py\", line 12, in book | return float(page.price) | \
             ValueError: could not convert string to float: '£1'"
        );
        assert_eq!(
            in_one_line("TypeError: not a function\r\n    at crawler.js:13:35", 100),
            "TypeError: not a function | at crawler.js:13:35"
        );
    }

    #[test]
    fn no_character_breaks_the_line_and_what_is_too_long_is_cut() {
        let said = in_one_line("a\nb\rc\u{2028}d\u{85}e\u{b}f\u{1b}[31m", 100);
        assert_eq!(said, "a | b | c | d | e | f [31m");
        assert_eq!(in_one_line("äöü\nx", 3), "ä…");
        assert_eq!(in_one_line(&"ab\n".repeat(100), 9), "ab | ab |…");
        assert_eq!((in_one_line("one  line", 100).as_str(), in_one_line(" \n", 100).as_str()), ("one  line", ""));
        assert_eq!(in_one_line("^^^", 100), "^^^", "what says nothing else is shown as it is");
    }

    #[test]
    fn a_single_line_of_a_log_keeps_its_indentation() {
        assert_eq!(log_line("  File \"x\"\n", 100), "  File \"x\"");
        assert_eq!(log_line("  one\n  two\n", 100), "one | two");
    }
}
