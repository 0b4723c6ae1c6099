//! What the operator gave the crawl.

use serde::de::DeserializeOwned;

use crate::bindings::imports::nephila::crawler::config as wit;
use crate::{Error, json};

/// The plugin's input (`--input`). Where there may be none, ask for an `Option`.
///
/// ```no_run
/// # use nephila_sdk::prelude::*;
/// #[derive(Deserialize, Default)]
/// #[serde(default)]
/// struct Input {
///     max_price: Option<f64>,
/// }
///
/// # fn handle() -> HandlerResult {
/// let input = config::input::<Option<Input>>()?.unwrap_or_default();
/// # Ok(()) }
/// ```
pub fn input<T: DeserializeOwned>() -> Result<T, Error> {
    json::read("the plugin's input", &wit::input())
}

/// The value of a setting of the host; none if there is no such setting.
pub fn setting<T: DeserializeOwned>(name: &str) -> Result<Option<T>, Error> {
    wit::setting(name).map(|text| json::read(&format!("the setting `{name}`"), &text)).transpose()
}
