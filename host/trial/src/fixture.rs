//! A fixture: a saved page, what the plugin is called with, and what is expected of it. One JSON file, the page beside it.
//!
//! Decision: everything that has a default may be left out, and a name that is not known is an error, since a misspelt expectation would
//! be one that always holds.

use crate::{Expected, files};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the plugin is called with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fixture {
    /// The URL that answered.
    pub url: String,
    /// The file of the page, from the fixture's folder. Default: the one file with the fixture's name and another ending. `finish` has no page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<PathBuf>,
    /// The answer's status. Default 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The answer's header fields. Without a `content-type`, that of the file's ending.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// What was asked for, where that was more than the URL.
    #[serde(default, skip_serializing_if = "Request::is_plain")]
    pub request: Request,
    /// The crawl's input (`--input`).
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// `use_state` before the call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub state: BTreeMap<String, Value>,
    /// Values of the crawl's own key-value store before the call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub key_values: BTreeMap<String, KeptValue>,
    /// Items of the crawl's own dataset before the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Value>,
    /// The session that fetched the page. Without it there is none, as in a crawl without `session-pool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// Which entry point is called. Default `handle`, or `failure` if there is a reason for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Entry>,
    /// Why the request is given up: what the plugin's `failure` is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What is expected. Without it, that the call ends well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expected>,
}

/// An entry point that a fixture may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry {
    /// For a page.
    Handle,
    /// For a request that is given up.
    Failure,
    /// At the end of a crawl.
    Finish,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Request {
    /// The URL, if another one answered: the first of the redirects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What the plugin's router goes by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What the plugin gave the request along.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub user_data: Value,
    /// Links between a start URL and it.
    pub depth: u32,
    /// Retries so far.
    pub retry_count: u32,
    /// Statuses that it lets reach the handler: ranges, each with its first and its last. Default 200 to 299.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_statuses: Vec<[u16; 2]>,
}

impl Request {
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A value of a key-value store: JSON, or text of another type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeptValue {
    /// Its media type. Default `application/json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// JSON; or, of another type, text.
    pub value: Value,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Session {
    /// Its id. Default `session`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the plugin keeps with it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub user_data: Map<String, Value>,
    /// Its cookies: `Set-Cookie` header fields, as the page's URL would set them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cookies: Vec<String>,
}

/// Why a request is given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// A stable word, as `status` or `timeout`.
    pub code: String,
    /// A sentence.
    #[serde(default)]
    pub message: String,
    /// Attempts made. Default 1.
    #[serde(default = "one")]
    pub attempts: u32,
}

const fn one() -> u32 {
    1
}

/// Why a fixture cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// The file, or its page, cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
    /// The file, or its page, cannot be written.
    #[error("{path} cannot be written: {cause}")]
    Write {
        /// Which.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
    /// It is not what a fixture is.
    #[error("{path} is not a fixture: {cause}; see \"Fixtures\" in docs/cli.md")]
    Form {
        /// Which.
        path: String,
        /// What is wrong, and where.
        cause: String,
    },
    /// Its page is missing, or there are several.
    #[error("{path} has no page: {cause}; save one with `nephila fetch URL --save {path}`, or name its file as \"page\"")]
    Page {
        /// Which.
        path: String,
        /// What was looked for.
        cause: String,
    },
}

impl Fixture {
    /// Reads one.
    ///
    /// # Errors
    /// [`FixtureError`].
    pub fn read(path: &Path) -> Result<Self, FixtureError> {
        let shown = || path.display().to_string();
        serde_json::from_slice(&files::read(path)?)
            .map_err(|cause| FixtureError::Form { path: shown(), cause: cause.to_string() })
    }

    /// Writes it, in the order of its fields.
    ///
    /// # Errors
    /// [`FixtureError::Write`].
    pub fn write(&self, path: &Path) -> Result<(), FixtureError> {
        let failed = |cause| FixtureError::Write { path: path.display().to_string(), cause };
        let mut text = serde_json::to_string_pretty(self).map_err(|cause| failed(cause.into()))?;
        text.push('\n');
        files::write(path, text.as_bytes())
    }

    /// Which entry point it calls.
    #[must_use]
    pub fn entry(&self) -> Entry {
        let default = if self.failure.is_some() { Entry::Failure } else { Entry::Handle };
        self.call.unwrap_or(default)
    }

    /// Its page's file; `None` if its call has none.
    ///
    /// # Errors
    /// [`FixtureError::Page`] if there is none where one is needed, or several.
    pub fn page_file(&self, path: &Path) -> Result<Option<PathBuf>, FixtureError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        if let Some(page) = &self.page {
            return Ok(Some(folder.join(page)));
        }
        let mut found: Vec<PathBuf> = fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
            .map_err(|cause| FixtureError::Read { path: folder.display().to_string(), cause })?
            .filter_map(|entry| entry.ok().map(|entry| folder.join(entry.file_name())))
            .filter(|file| file.file_stem() == path.file_stem() && file.as_path() != path && file.is_file())
            .collect();
        found.sort();
        let error = |cause| Err(FixtureError::Page { path: path.display().to_string(), cause });
        match (found.as_slice(), self.entry()) {
            ([], Entry::Handle) => error("there is no file of its name with another ending, as .html, beside it".to_owned()),
            ([], _) => Ok(None),
            ([page], _) => Ok(Some(page.clone())),
            ([first, second, ..], _) => error(format!("{} and {} may both be it", first.display(), second.display())),
        }
    }
}
