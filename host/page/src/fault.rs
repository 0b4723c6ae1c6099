//! Why a query has no answer.

/// What a query answers with instead of a result. All of it is the page's or the asker's doing, and whoever asked may go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PageFault {
    /// A stable word; docs/plugin-errors.md lists them.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
}

impl PageFault {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// More is asked for than one query may have.
    pub(crate) fn quota(message: impl Into<String>) -> Self {
        Self::new("quota", message)
    }
}
