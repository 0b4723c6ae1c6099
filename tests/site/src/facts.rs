//! What a page says, told beforehand, for those who take it from the page.

/// What a page of a mesh or of a heavy site says, with entities resolved and white space collapsed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageFacts {
    /// Its path.
    pub path: String,
    /// The text of its `title`.
    pub title: String,
    /// The text of its `h1`.
    pub heading: String,
    /// The text of its first `.price`.
    pub price: String,
}
