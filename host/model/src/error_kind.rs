//! Which errors are of one kind (Crawlee: its error tracker groups by place, class and first line of the message).
//!
//! Decision: the kind of an error follows from that error alone: its code, the place in the plugin's source if the message names
//! one, and the message with what varies left out. So kinds are the same in whatever order errors come and whatever was forgotten
//! with a process. Crawlee compares each message with those before it, and what it groups depends on which came first. What it
//! costs: a message that puts a bare word from the page into its sentence makes a kind for each word; the store bounds their
//! number ([`ErrorKind::others`]).

use crate::FailureReason;

/// Bytes of a shape, and of a position, that are kept at most.
const LONGEST: usize = 200;

/// Between the parts of a kind's name. No code has it: control characters are taken out of what plugins say.
const BETWEEN: char = '\u{1f}';

/// Files that a guest's position can be in, by their endings.
const SOURCES: [&str; 16] =
    ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "py", "rs", "c", "h", "cc", "cpp", "go", "zig"];

/// A kind of error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorKind {
    /// The code of all of them.
    pub code: String,
    /// Where in the plugin's source, if that was said: `crawler.js:13:35`.
    pub position: Option<String>,
    /// What their messages have in common; `None` for all others of the code, for which there was no room, and in a job of an
    /// earlier version.
    pub shape: Option<String>,
}

impl ErrorKind {
    /// The kind of an error of the request with this URL.
    #[must_use]
    pub fn of(reason: &FailureReason, url: &str) -> Self {
        let host = url.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
        // The status of a page that was not wanted is what it failed for. One that was wanted is a number like any other.
        let kept = reason.status.filter(|status| *status >= 300);
        let Shape { text, position } = Shape::of(&reason.message, host.filter(|host| !host.is_empty()), kept);
        Self { code: reason.code.as_str().to_owned(), position, shape: Some(text) }
    }

    /// All other errors of a code.
    #[must_use]
    pub fn others(code: &str) -> Self {
        Self { code: code.to_owned(), position: None, shape: None }
    }

    /// What it is kept under: its code alone if it is all others of that.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.shape {
            None => self.code.clone(),
            Some(shape) => format!("{}{BETWEEN}{}{BETWEEN}{shape}", self.code, self.position.as_deref().unwrap_or_default()),
        }
    }

    /// From its name.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        let mut parts = name.splitn(3, BETWEEN);
        let code = parts.next().unwrap_or_default().to_owned();
        let position = parts.next().filter(|position| !position.is_empty()).map(str::to_owned);
        Self { code, position, shape: parts.next().map(str::to_owned) }
    }

    /// Between which two texts the names of a code's kinds are, its others left out: from the first, before the second.
    #[must_use]
    pub fn range_of(code: &str) -> (String, String) {
        (format!("{code}{BETWEEN}"), format!("{code} "))
    }
}

/// A message as it is read: what it has become so far, and where it says that it happened.
#[derive(Default)]
struct Shape {
    text: String,
    position: Option<String>,
}

impl Shape {
    fn of(message: &str, host: Option<&str>, kept: Option<u16>) -> Self {
        let kept = kept.map(|status| status.to_string());
        let mut shape = Self::default();
        let mut rest = message;
        while let Some(first) = rest.chars().next() {
            if shape.text.len() >= LONGEST {
                break;
            }
            let begins_word = !shape.text.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let taken = if let Some(length) = host.filter(|_| begins_word).and_then(|host| host_at(rest, host)) {
                shape.put("<host>", length)
            } else if let Some(length) = url_at(rest).filter(|_| begins_word) {
                shape.put("<url>", length)
            } else if let Some(length) = position_at(rest).filter(|_| shape.position.is_none() && shape.leads_to_position()) {
                shape.position = Some(cut(&rest[..length]).to_owned());
                // Of a stack the innermost frame is enough; a message may also stand behind its place.
                let goes_on = rest[length..].starts_with(": ");
                if !goes_on {
                    break;
                }
                shape.put("<position>", length)
            } else if let Some(length) = quoted_at(rest).filter(|_| begins_word) {
                shape.put("<text>", length)
            } else if let Some(length) = number_at(rest) {
                let is_kept = begins_word && kept.as_deref() == Some(&rest[..length]);
                shape.put(if is_kept { &rest[..length] } else { "<number>" }, length)
            } else if let Some(length) = hash_at(rest).filter(|_| begins_word) {
                shape.put("<number>", length)
            } else {
                shape.put_plain(first);
                first.len_utf8()
            };
            rest = &rest[taken..];
        }
        // What stands between the lines of what a plugin says goes, too.
        let text = shape.text.trim_end_matches([' ', '(']);
        let text = text.strip_suffix(" at").or_else(|| text.strip_suffix("(at")).unwrap_or(text);
        Self { text: cut(text.trim_end_matches([' ', '(', '|'])).to_owned(), position: shape.position }
    }

    fn put(&mut self, placeholder: &str, length: usize) -> usize {
        self.text.push_str(placeholder);
        length
    }

    // White space is what a stack is indented with, and what stands for line breaks.
    fn put_plain(&mut self, c: char) {
        let c = if c.is_whitespace() || c.is_control() { ' ' } else { c };
        if c != ' ' || !self.text.ends_with(' ') {
            self.text.push(c);
        }
    }

    fn leads_to_position(&self) -> bool {
        self.text.ends_with('(') || self.text.ends_with("at ")
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

fn host_at(text: &str, host: &str) -> Option<usize> {
    let rest = text.strip_prefix(host)?;
    // `shop.example` is not the beginning of `shop.example.org`.
    let ends = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
    let is_whole =
        rest.chars().next().is_none_or(ends) && !rest.strip_prefix('.').is_some_and(|r| r.starts_with(char::is_alphanumeric));
    is_whole.then_some(host.len())
}

fn url_at(text: &str) -> Option<usize> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if !is_scheme {
        return None;
    }
    let end = text.find(|c: char| c.is_whitespace() || "\"'`<>(){}".contains(c)).unwrap_or(text.len());
    // What ends a sentence ends no URL.
    Some(text[..end].trim_end_matches(['.', ',', ';', ':', '!', '?']).len())
}

/// `src/crawler.ts:12:5`, or without a column.
fn position_at(text: &str) -> Option<usize> {
    let end = text.find(|c: char| c.is_whitespace() || "\"'`<>()[]{},;".contains(c)).unwrap_or(text.len());
    let token = &text[..end];
    let (file, numbers) = token.split_once(':')?;
    let (_, ending) = file.rsplit_once('.')?;
    if !SOURCES.contains(&ending) {
        return None;
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let line = digits(numbers);
    if line == 0 {
        return None;
    }
    let column = numbers[line..].strip_prefix(':').map_or(0, digits);
    Some(file.len() + 1 + line + if column == 0 { 0 } else { 1 + column })
}

/// A quoted string, with its quotes. An apostrophe opens none within a word, and closes none before a letter.
fn quoted_at(text: &str) -> Option<usize> {
    let open = text.chars().next()?;
    let close = match open {
        '"' | '\'' | '`' => open,
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        _ => return None,
    };
    let mut within = text.char_indices().skip(1).peekable();
    let mut escaped = false;
    while let Some((at, c)) = within.next() {
        let ends_word = within.peek().is_none_or(|(_, next)| !next.is_alphanumeric());
        if c == close && !escaped && ends_word {
            return Some(at + c.len_utf8());
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// Digits, with the points and commas between them.
fn number_at(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if !is_digit(0) {
        return None;
    }
    // 0x1f, or a hash that begins with a digit.
    if let Some(length) = hash_at(text) {
        return Some(length);
    }
    let mut end = 1;
    while is_digit(end) || (matches!(bytes.get(end), Some(b'.' | b',')) && is_digit(end + 1)) {
        end += 1;
    }
    Some(end)
}

/// A number in hexadecimal notation, a hash or a UUID: a word of at least eight such digits and hyphens, one of them 0 to 9.
fn hash_at(text: &str) -> Option<usize> {
    let (prefix, rest) = text.strip_prefix("0x").map_or((0, text), |rest| (2, rest));
    let length = rest.bytes().take_while(|b| b.is_ascii_hexdigit() || *b == b'-').count();
    let word = rest[..length].trim_end_matches('-');
    let ends = rest[word.len()..].chars().next().is_none_or(|c| !(c.is_alphanumeric() || c == '_'));
    let long_enough = if prefix > 0 { !word.is_empty() } else { word.len() >= 8 };
    let is_hash = ends && long_enough && (prefix > 0 || word.bytes().any(|b| b.is_ascii_digit()));
    is_hash.then_some(prefix + word.len())
}

#[cfg(test)]
mod tests;
