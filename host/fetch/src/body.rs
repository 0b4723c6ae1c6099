//! Reading a body within its limits.
//!
//! Decision: what counts is the decompressed size, checked while bytes come in; a body that is one piece uncompressed, as most small
//! pages are, is kept as the piece that the socket gave, without a copy. Such a piece keeps its read buffer alive as long as the page.

use crate::coding::{Coding, DecodeError, Decoder};
use crate::{FetchError, Phase, cause};
use bytes::Bytes;
use reqwest::Response;
use std::time::{Duration, Instant};

/// What a body may cost.
pub(crate) struct Limits<'a> {
    pub(crate) host: &'a str,
    pub(crate) bytes: usize,
    pub(crate) read: Duration,
    pub(crate) connect: Duration,
}

/// What is reserved on the word of a `Content-Length`.
const MAX_RESERVED: usize = 1 << 20;

/// A redirect's body is read, to keep the connection, if it is this small and comes this fast.
const MAX_DRAINED: u64 = 64 << 10;
const MAX_DRAIN_TIME: Duration = Duration::from_secs(2);

/// A body, and what it cost to decompress it.
pub(crate) struct Read {
    pub(crate) body: Bytes,
    pub(crate) decode: Duration,
}

/// The whole body, decompressed.
pub(crate) async fn read(response: &mut Response, limits: &Limits<'_>) -> Result<Read, FetchError> {
    let coding = Coding::of(response.headers()).map_err(|cause| FetchError::Decode { host: limits.host.to_owned(), cause })?;
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
    match coding {
        None => plain(response, limits, announced).await.map(|body| Read { body, decode: Duration::ZERO }),
        Some(coding) => decoded(response, limits, announced, coding).await,
    }
}

async fn plain(response: &mut Response, limits: &Limits<'_>, announced: Option<usize>) -> Result<Bytes, FetchError> {
    if announced.is_some_and(|length| length > limits.bytes) {
        return Err(limits.exceeded());
    }
    let Some(first) = limits.chunk(response).await? else { return Ok(Bytes::new()) };
    if first.len() > limits.bytes {
        return Err(limits.exceeded());
    }
    let Some(mut next) = limits.chunk(response).await? else { return Ok(first) };
    let mut whole = Vec::with_capacity(announced.unwrap_or(4 * first.len()).min(MAX_RESERVED).max(first.len() + next.len()));
    whole.extend_from_slice(&first);
    drop(first);
    loop {
        if next.len() > limits.bytes - whole.len() {
            return Err(limits.exceeded());
        }
        whole.extend_from_slice(&next);
        match limits.chunk(response).await? {
            Some(chunk) => next = chunk,
            None => return Ok(whole.into()),
        }
    }
}

async fn decoded(
    response: &mut Response,
    limits: &Limits<'_>,
    announced: Option<usize>,
    coding: Coding,
) -> Result<Read, FetchError> {
    // Answers to HEAD, and empty ones, say that they are compressed and are not.
    let mut chunk = loop {
        match limits.chunk(response).await? {
            Some(chunk) if chunk.is_empty() => {}
            Some(chunk) => break chunk,
            None => return Ok(Read { body: Bytes::new(), decode: Duration::ZERO }),
        }
    };
    let expected = announced.unwrap_or(chunk.len()).saturating_mul(4).min(MAX_RESERVED);
    let mut decoder =
        Decoder::new(coding, chunk[0], limits.bytes, expected).map_err(|error| limits.undecodable(coding, error))?;
    let mut decode = Duration::ZERO;
    loop {
        let began = Instant::now();
        decoder.push(&chunk).map_err(|error| limits.undecodable(coding, error))?;
        decode += began.elapsed();
        match limits.chunk(response).await? {
            Some(next) => chunk = next,
            None => break,
        }
    }
    let body = decoder.finish().map_err(|error| limits.undecodable(coding, error))?;
    Ok(Read { body: body.into(), decode })
}

/// Reads the body of a response that nobody wants; how much came. Its errors are nobody's concern either.
pub(crate) async fn drain(response: &mut Response) -> u64 {
    let mut seen = 0;
    if response.content_length().is_some_and(|length| length > MAX_DRAINED) {
        return seen;
    }
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            seen += chunk.len() as u64;
            if seen > MAX_DRAINED {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(MAX_DRAIN_TIME, reading).await;
    seen
}

impl Limits<'_> {
    async fn chunk(&self, response: &mut Response) -> Result<Option<Bytes>, FetchError> {
        match tokio::time::timeout(self.read, response.chunk()).await {
            Ok(chunk) => chunk.map_err(|error| cause::of(&error, self.host, self.connect)),
            Err(_) => Err(FetchError::Timeout { host: self.host.to_owned(), phase: Phase::Read, after: self.read }),
        }
    }

    fn exceeded(&self) -> FetchError {
        FetchError::TooLarge { host: self.host.to_owned(), limit: self.bytes }
    }

    fn undecodable(&self, coding: Coding, error: DecodeError) -> FetchError {
        match error {
            DecodeError::Full => self.exceeded(),
            DecodeError::Cut => {
                FetchError::Incomplete { host: self.host.to_owned(), cause: format!("the {coding} stream does not end") }
            }
            DecodeError::Broken(cause) => FetchError::Decode { host: self.host.to_owned(), cause: format!("{coding}: {cause}") },
        }
    }
}
