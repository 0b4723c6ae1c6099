//! Open data crosses the border as JSON text; here is the one place where it is written and read.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// Writes a value; `what` says in an error what it was meant for.
pub(crate) fn write<T: Serialize + ?Sized>(what: &str, value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::new("json", format!("{what} cannot be written as JSON: {error}")))
}

/// Reads a value; `what` says in an error what it came from.
pub(crate) fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::new("json", format!("{what} has an unexpected shape: {error}")))
}
