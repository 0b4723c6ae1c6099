//! What a host function answers with instead of a result.
//!
//! Decision: two kinds and no third. `Refused` goes to the plugin, which may branch on its code and go on; `Trap` ends the call,
//! because the plugin could do nothing about it. docs/plugin-errors.md lists the codes.

use crate::bindings::nephila::crawler::types;

/// A host function's answer when it has no result.
#[derive(Debug)]
pub(crate) enum Fault {
    /// For the plugin.
    Refused {
        /// A stable word.
        code: &'static str,
        /// A sentence for people.
        message: String,
    },
    /// For the host: the call is over.
    Trap(wasmtime::Error),
}

impl Fault {
    pub(crate) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self::Refused { code, message: message.into() }
    }

    pub(crate) fn quota(message: impl Into<String>) -> Self {
        Self::refused("quota", message)
    }

    /// For functions that answer only once the call is worth something.
    pub(crate) fn into_trap(self) -> wasmtime::Error {
        match self {
            Self::Refused { message, .. } => wasmtime::Error::msg(message),
            Self::Trap(error) => error,
        }
    }
}

impl From<crate::failure::Stop> for Fault {
    fn from(stop: crate::failure::Stop) -> Self {
        Self::Trap(stop.into())
    }
}

impl From<nephila_page::PageFault> for Fault {
    fn from(fault: nephila_page::PageFault) -> Self {
        Self::Refused { code: fault.code, message: fault.message }
    }
}

impl types::Host for crate::sandbox::Inside {
    fn convert_error(&mut self, fault: Fault) -> wasmtime::Result<types::Error> {
        match fault {
            Fault::Refused { code, message } => Ok(types::Error { code: code.to_owned(), message, ending: None }),
            Fault::Trap(error) => Err(error),
        }
    }
}
