//! What is asked of a page, and what it answers with.

/// What a field takes from the elements that its selector matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// The text of the element and all below it, white space collapsed and trimmed.
    Text,
    /// The markup inside the element.
    Html,
    /// The value of an attribute; elements without it are passed over.
    Attr(String),
    /// The value of an attribute as a URL, resolved against the page; elements without a valid one are passed over.
    Url(String),
}

/// One thing to extract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The name that it comes back under.
    pub name: String,
    /// A CSS selector. Empty means the item itself for rows, and the root element for a page.
    pub selector: String,
    /// What to take.
    pub kind: FieldKind,
    /// All matches in document order, or only the first.
    pub many: bool,
}

/// What was found for a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldValue {
    /// The field's name.
    pub name: String,
    /// The values found, in document order; empty if nothing matched.
    pub values: Vec<String>,
}
