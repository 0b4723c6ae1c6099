//! The two kinds of response body: whole, and broken on purpose.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A response body.
pub(crate) enum SiteBody {
    /// All of it, then the end.
    Whole(Option<Bytes>),
    /// Announces `announced` bytes, sends fewer, then the connection closes.
    Broken { announced: u64, half: Option<Bytes>, flushed: bool },
}

impl SiteBody {
    pub fn whole(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    pub fn broken(bytes: &Bytes) -> Self {
        Self::Broken { announced: bytes.len() as u64, half: Some(bytes.slice(..bytes.len() / 2)), flushed: false }
    }
}

impl Body for SiteBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Broken { half, flushed, .. } => {
                if let Some(bytes) = half.take() {
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                if !*flushed {
                    // hyper flushes what it has before it asks again; an error at once would lose the half as well.
                    *flushed = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(Some(Err(io::Error::other("broken on purpose"))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Whole(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Self::Broken { announced, .. } => *announced,
        })
    }
}
