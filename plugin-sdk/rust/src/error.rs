//! One error for everything: what a call into the host answers with instead of a result, and how a handler ends early.
//!
//! The rule for `?`: whatever goes wrong without the plugin saying otherwise fails the request, since the same page would
//! go wrong again. An error of the host passes through as it is, so that statistics can tell them apart.

use std::error::Error as StdError;

use crate::bindings::imports::nephila::crawler::types::{Ending, Error as WitError};

/// What a handler returns.
pub type HandlerResult = Result<(), Error>;

/// Why a call into the host failed, or why a handler gives up on its request: a stable code and a message.
///
/// Handlers make theirs with [`retry`], [`skip`] and [`fatal`], or with `?` from any error. When a handler returns one, none
/// of its effects are kept.
///
/// The SDK's own codes, where it stands between the host and the plugin: `json` for data that cannot be written or read as
/// JSON, `bad-row` for a [`Row`](crate::Row) that does not fit a type, `unknown-label` of a [`Router`](crate::Router), and
/// `error` for any other error that `?` turned into this one.
///
/// ```
/// use nephila_sdk::{Error, fatal};
///
/// fn parse(text: &str) -> Result<u32, Error> {
///     if text.is_empty() {
///         return Err(fatal("no-number", "the page has no number"));
///     }
///     Ok(text.parse::<u32>()?)
/// }
/// assert_eq!(parse("").unwrap_err().code(), "no-number");
/// assert_eq!(parse("x").unwrap_err().code(), "error");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    wit: WitError,
}

/// Try the request again later, within its maximum of retries.
pub fn retry(code: impl Into<String>, message: impl Into<String>) -> Error {
    Error::new(code, message).or_retry()
}

/// Set the request aside as skipped; nothing went wrong.
pub fn skip(code: impl Into<String>, message: impl Into<String>) -> Error {
    Error::new(code, message).or_skip()
}

/// Fail the request at once.
pub fn fatal(code: impl Into<String>, message: impl Into<String>) -> Error {
    Error::new(code, message).or_fatal()
}

impl Error {
    /// An error of which the host decides by its code what becomes of the request (`fatal`, for a code of the plugin's own).
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Error { wit: WitError { code: code.into(), message: message.into(), ending: None } }
    }

    /// A stable word to branch on; statistics group errors by it.
    pub fn code(&self) -> &str {
        &self.wit.code
    }

    /// A sentence for people.
    pub fn message(&self) -> &str {
        &self.wit.message
    }

    /// The same error, but the request is tried again later: `.map_err(Error::or_retry)?`.
    pub fn or_retry(self) -> Self {
        self.ending(Ending::Retry)
    }

    /// The same error, but the request is set aside as skipped.
    pub fn or_skip(self) -> Self {
        self.ending(Ending::Skip)
    }

    /// The same error, but the request fails at once.
    pub fn or_fatal(self) -> Self {
        self.ending(Ending::Fatal)
    }

    fn ending(mut self, ending: Ending) -> Self {
        self.wit.ending = Some(ending);
        self
    }

    pub(crate) fn into_wit(self) -> WitError {
        self.wit
    }
}

// `Error` itself is no `std::error::Error`: only so may every other error, the host's among them, be turned into it.
impl<E: StdError + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let any: &(dyn StdError + 'static) = &error;
        if let Some(wit) = any.downcast_ref::<WitError>() {
            return Error { wit: wit.clone() };
        }
        let code = if any.is::<serde_json::Error>() { "json" } else { "error" };
        Error::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_host_passes_through_as_it_is() {
        let host = WitError { code: "quota".into(), message: "too many items".into(), ending: Some(Ending::Skip) };
        assert_eq!(Error::from(host.clone()).into_wit(), host);
    }

    #[test]
    fn broken_json_has_a_code_of_its_own() {
        let Err(broken) = serde_json::from_str::<u32>("{") else { return };
        assert_eq!(Error::from(broken).code(), "json");
    }

    #[test]
    fn an_error_can_be_given_another_ending() {
        assert_eq!(fatal("timeout", "slow").or_retry(), retry("timeout", "slow"));
        assert_eq!(skip("a", "b").into_wit().ending, Some(Ending::Skip));
        assert_eq!(Error::new("a", "b").into_wit().ending, None);
    }
}
