//! Why a fetch came to nothing.
//!
//! Decision: the kinds are those that call for different reactions, not those of the HTTP library, whose topmost message ("error sending
//! request") says nothing. Each message is one line with the host and the innermost cause.

use crate::AddressRefused;
use std::fmt;
use std::time::Duration;

/// What took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Resolving the name, connecting, the TLS handshake.
    Connect,
    /// Waiting for the next byte.
    Read,
    /// All of it.
    Total,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "no connection",
            Self::Read => "no byte came",
            Self::Total => "the fetch was not over",
        })
    }
}

/// Why a fetch came to nothing. `host` is the URL's, with its port where that is not the scheme's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The name has no address.
    #[error("{host}: the name cannot be resolved: {cause}")]
    Dns {
        /// Whom.
        host: String,
        /// Why.
        cause: String,
    },
    /// Nobody answers there.
    #[error("{host}: cannot connect: {cause}")]
    Connect {
        /// Whom.
        host: String,
        /// Why.
        cause: String,
    },
    /// The TLS handshake failed.
    #[error("{host}: no secure connection: {cause}")]
    Tls {
        /// Whom.
        host: String,
        /// Why.
        cause: String,
        /// Whether it is the server's certificate that is not trusted.
        certificate: bool,
    },
    /// It took too long.
    #[error("{host}: {phase} within {after:?}")]
    Timeout {
        /// Whom.
        host: String,
        /// What took too long.
        phase: Phase,
        /// The limit.
        after: Duration,
    },
    /// The body is larger than allowed.
    #[error("{host}: the decompressed body is larger than {limit} bytes (max-body-size)")]
    TooLarge {
        /// Whom.
        host: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The body is not what its `Content-Encoding` says.
    #[error("{host}: the body cannot be decompressed: {cause}")]
    Decode {
        /// Whom.
        host: String,
        /// Why.
        cause: String,
    },
    /// The connection ended before the response did.
    #[error("{host}: the response was cut off: {cause}")]
    Incomplete {
        /// Whom.
        host: String,
        /// Why.
        cause: String,
    },
    /// What came is not HTTP.
    #[error("{host}: the answer is not valid HTTP: {cause}")]
    Protocol {
        /// Whom.
        host: String,
        /// Why.
        cause: String,
    },
    /// The address is one that web pages must not make this machine contact.
    #[error(transparent)]
    Refused(#[from] AddressRefused),
    /// A redirect to what cannot be fetched.
    #[error("{host}: redirects to `{to}`, which cannot be followed: {why}")]
    BadRedirect {
        /// Whom.
        host: String,
        /// Where to, as it stands in the response.
        to: String,
        /// Why not.
        why: String,
    },
    /// The request cannot be sent as it is.
    #[error("{host}: the request cannot be sent: {why}")]
    InvalidRequest {
        /// Whom.
        host: String,
        /// Why not.
        why: String,
    },
}

impl FetchError {
    /// A stable word for statistics and for plugins.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Dns { .. } => "dns",
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::Timeout { .. } => "timeout",
            Self::TooLarge { .. } => "too-large",
            Self::Decode { .. } => "decode",
            Self::Incomplete { .. } => "incomplete",
            Self::Protocol { .. } => "protocol",
            Self::Refused(_) => "address-refused",
            Self::BadRedirect { .. } => "bad-redirect",
            Self::InvalidRequest { .. } => "invalid-request",
        }
    }

    /// Whether the same request may well succeed a little later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Dns { .. }
            | Self::Connect { .. }
            | Self::Timeout { .. }
            | Self::Incomplete { .. }
            | Self::Protocol { .. }
            | Self::Tls { certificate: false, .. } => true,
            Self::Tls { certificate: true, .. }
            | Self::TooLarge { .. }
            | Self::Decode { .. }
            | Self::Refused(_)
            | Self::BadRedirect { .. }
            | Self::InvalidRequest { .. } => false,
        }
    }
}
