//! Foreign text in a message.

/// Text as one line: control characters become spaces, what is over `most` bytes is cut.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let text = text.trim();
    let cut = text.floor_char_boundary(most);
    let clean = |c: char| {
        let moves = matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || moves { ' ' } else { c }
    };
    let mut line: String = text[..cut].chars().map(clean).collect();
    if cut < text.len() {
        line.push('…');
    }
    line
}
