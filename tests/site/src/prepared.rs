//! A page as it goes over the wire: encoded, typed and, when wanted, compressed once instead of per request.

use crate::charset::Charset;
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// A body that is ready to be sent; cloning it copies no text.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub body: Bytes,
    pub gzip: Option<Bytes>,
    pub content_type: &'static str,
}

impl Prepared {
    pub fn raw(body: impl Into<Bytes>, content_type: &'static str) -> Self {
        Self { body: body.into(), gzip: None, content_type }
    }

    /// The one way by which HTML leaves the site.
    pub fn html(html: String, charset: Option<&Charset>, gzip: bool) -> Self {
        let (body, content_type) = match charset {
            Some(charset) => (Bytes::from(charset.encode(&html)), charset.content_type),
            None => (Bytes::from(html), HTML),
        };
        let gzip = gzip.then(|| compress(&body)).flatten();
        Self { body, gzip, content_type }
    }
}

/// `None` cannot happen while writing to memory; if it did, the page would simply go out as it is.
fn compress(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok().map(Bytes::from)
}
