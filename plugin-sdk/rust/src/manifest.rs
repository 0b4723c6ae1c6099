//! What a plugin says of itself before any crawl begins.

use serde::Serialize;

use crate::bindings::manifest::exports::nephila::crawler::manifest as wit;

/// A plugin's name, version and defaults.
///
/// ```
/// use nephila_sdk::Manifest;
///
/// let manifest = Manifest::new("books", "1.0.0", "Collects the books of a shop.")
///     .start_url("https://books.example/")
///     .setting("delay", 0.5);
/// ```
#[derive(Debug, Clone)]
pub struct Manifest {
    description: wit::Description,
}

impl Manifest {
    /// `name`: lower-case letters, digits and inner hyphens, at most 64. `description`: one sentence.
    pub fn new(name: impl Into<String>, version: impl Into<String>, description: impl Into<String>) -> Self {
        Manifest {
            description: wit::Description {
                name: name.into(),
                version: version.into(),
                description: description.into(),
                start_urls: Vec::new(),
                settings: Vec::new(),
                extra_json: None,
            },
        }
    }

    /// Where a crawl starts when the operator names no URL; may be called repeatedly.
    pub fn start_url(mut self, url: impl Into<String>) -> Self {
        self.description.start_urls.push(url.into());
        self
    }

    /// A default for a setting of the host, which the operator may override.
    ///
    /// A value that cannot be written as JSON (none of the usual ones) is left out.
    pub fn setting(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_string(&value) {
            self.description.settings.push(wit::Setting { name: name.into(), value });
        }
        self
    }

    pub(crate) fn into_wit(self) -> wit::Description {
        self.description
    }
}
