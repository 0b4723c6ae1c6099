//! What a form sends: in a query, or in the body of a POST.

use crate::percent::percent_decode;
use bytes::Bytes;
use hyper::body::Body;
use std::pin::Pin;

/// A longer body is none of a form here.
const LONGEST: usize = 64 * 1024;

/// The fields of a form, as they came.
#[derive(Debug, Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
}

impl Form {
    /// Of `application/x-www-form-urlencoded` text. A field that cannot be decoded is left out.
    pub fn parse(text: &str) -> Self {
        let decoded = |text: &str| percent_decode(&text.replace('+', " "));
        let field = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        };
        Self { fields: text.split('&').filter_map(field).collect() }
    }

    /// Of a request's body; an empty form where it breaks off, is too long, or no UTF-8.
    pub async fn read<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Self {
        let mut bytes = Vec::new();
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
            let Ok(frame) = frame else { return Self::default() };
            if let Some(data) = frame.data_ref() {
                bytes.extend_from_slice(data);
            }
            if bytes.len() > LONGEST {
                return Self::default();
            }
        }
        std::str::from_utf8(&bytes).map(Self::parse).unwrap_or_default()
    }

    /// The first value of a field; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Whether a field was sent.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| known == name)
    }
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn fields_are_decoded_and_what_cannot_be_is_left_out() {
        let form = Form::parse("author=O%27N.+Caf%C3%A9&empty&bad=%zz&author=second");
        assert_eq!((form.get("author"), form.get("empty"), form.get("bad")), ("O'N. Café", "", ""));
        assert!(form.has("empty") && !form.has("bad") && !form.has("none"));
    }
}
