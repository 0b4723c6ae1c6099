//! Why there is no session, and what to do about it.

use crate::InvalidSetting;
use nephila_model::{SessionId, Unusable};

/// Why a pool gives no session just now.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CheckoutError {
    /// All sessions are in hand, and there may be no more. One becomes free when a use ends: ask again then.
    #[error("all {max} sessions of the pool are in use; wait for one, or set a larger max-pool-size")]
    NoneFree {
        /// How many there may be.
        max: usize,
    },
    /// What is to be had is on its way: a session that is to be used by all until it fails, or more uses of the one whose turn it is. Ask
    /// again when that errand is done.
    #[error("a session, or more uses of one, are on their way; ask again when they are there")]
    Arriving,
    /// There is no session, and none on its way. Given to whoever asks for one that is there already alone.
    #[error("there is no session in the pool, and no new one is to be made; let new ones be made, or add one")]
    Empty,
    /// The create function failed, or made what cannot be.
    #[error("the function that creates sessions failed: {cause}")]
    Create {
        /// What it said.
        cause: String,
    },
}

/// Why a request that is bound to a session cannot have it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BoundError {
    /// It is not in the pool. It will not be again: fail the request.
    #[error(
        "the request is bound to session `{id}`, which is not in the pool (any more); add it, or send the request without a session id"
    )]
    Gone {
        /// The session.
        id: SessionId,
    },
    /// It may be used no more. Nor will it be again: fail the request.
    #[error(
        "the request is bound to session `{id}`, which may not be used any more: {why}; send the request without a session id, or with another"
    )]
    Unusable {
        /// The session.
        id: SessionId,
        /// Why.
        why: Unusable,
    },
    /// Another request has it, and it is exclusive. Ask again when a use ends.
    #[error("session `{id}` is exclusive, and another request has it; try the request again later")]
    Busy {
        /// The session.
        id: SessionId,
    },
    /// More uses of it are being reserved. Ask again when that errand is done.
    #[error("more uses of session `{id}` are on their way; ask again when they are there")]
    Arriving {
        /// The session.
        id: SessionId,
    },
}

/// Why a session was not added to a pool.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AddError {
    /// There is one of that name, or was: the store keeps sessions for a while that are over.
    #[error("the pool has, or had, a session `{id}` already; give the new one another id")]
    Duplicate {
        /// The name.
        id: SessionId,
    },
    /// The pool has as many as it may come to by additions.
    #[error("the pool has {most} sessions, as many as may be added; use those, or set a larger session-max-pool-size")]
    Full {
        /// How many that is.
        most: usize,
    },
    /// No name could be made up for it.
    #[error("no name could be made up for a session; give it an id")]
    NoName,
    /// It cannot be as it is.
    #[error("session `{id}` cannot be added: {cause}")]
    Invalid {
        /// The session.
        id: SessionId,
        /// What is wrong.
        cause: InvalidSetting,
    },
}
