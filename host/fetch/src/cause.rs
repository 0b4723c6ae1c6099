//! The true cause of an HTTP library's error.
//!
//! Decision: errors are told apart by their types down the chain of sources, never by their texts. This ties us to reqwest being built
//! on hyper and rustls; the tests over real sockets notice when that changes.

use crate::{AddressRefused, FetchError, Phase};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// What an error of reqwest is to us.
pub(crate) fn of(error: &reqwest::Error, host: &str, connect_timeout: Duration) -> FetchError {
    let host = || host.to_owned();
    let cause = || chain(error).last().map_or_else(String::new, |last| last.to_string());

    if let Some(refused) = find::<AddressRefused>(error) {
        return FetchError::Refused(refused.clone());
    }
    if error.is_builder() {
        return FetchError::InvalidRequest { host: host(), why: cause() };
    }
    if error.is_dns() {
        return FetchError::Dns { host: host(), cause: cause() };
    }
    if let Some(tls) = find::<rustls::Error>(error) {
        let certificate = matches!(tls, rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented);
        return FetchError::Tls { host: host(), cause: tls.to_string(), certificate };
    }
    if error.is_connect() {
        if error.is_timeout() {
            return FetchError::Timeout { host: host(), phase: Phase::Connect, after: connect_timeout };
        }
        // A connect never reads from the peer, but for a TLS handshake.
        return match io_kind(error) {
            Some(ErrorKind::UnexpectedEof | ErrorKind::InvalidData) => {
                FetchError::Tls { host: host(), cause: cause(), certificate: false }
            }
            _ => FetchError::Connect { host: host(), cause: cause() },
        };
    }
    if let Some(hyper) = find::<hyper::Error>(error) {
        if hyper.is_user() {
            return FetchError::InvalidRequest { host: host(), why: cause() };
        }
        if hyper.is_incomplete_message() || hyper.is_canceled() || hyper.is_closed() {
            return FetchError::Incomplete { host: host(), cause: cause() };
        }
    }
    match io_kind(error) {
        None | Some(ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::Other) => {
            FetchError::Protocol { host: host(), cause: cause() }
        }
        Some(_) => FetchError::Incomplete { host: host(), cause: cause() },
    }
}

fn find<E: Error + 'static>(error: &reqwest::Error) -> Option<&E> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// The kind of the innermost I/O error; those around it are wrappers.
fn io_kind(error: &reqwest::Error) -> Option<ErrorKind> {
    chain(error).filter_map(|error| error.downcast_ref::<io::Error>()).last().map(io::Error::kind)
}

/// An error and all that caused it. An I/O error skips the one that it wraps when asked for its source, so it is asked otherwise.
fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    })
}
