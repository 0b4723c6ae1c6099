//! Who decides which addresses are contacted.
//!
//! Decision: a page must not make this machine talk to its own network; only the operator may, by naming a host exactly as it stands in
//! the URL. The check is made three times, on the literal in the URL, on every resolved address, and on the connected peer, because each
//! alone has a hole (literals never reach a resolver; a name may change its address between two look-ups). It costs a scan of a small
//! table per connection, and a crawl of an intranet must name its hosts or say `--allow-private`.

use crate::verdict::{Refusal, verdict};
use std::collections::HashSet;
use std::net::IpAddr;
use url::{Host, Url};

/// An address that is not contacted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{host}: not contacted, since {address} is {refusal}; name this host yourself (as a start URL) or give --allow-private to allow it"
)]
pub struct AddressRefused {
    /// The host of the URL.
    pub host: String,
    /// The address that it is, has, or turned out to have.
    pub address: IpAddr,
    /// What is wrong with the address.
    pub refusal: Refusal,
}

/// The rule for addresses. Everything but the public Internet is refused until the operator says otherwise.
#[derive(Debug, Clone, Default)]
pub struct AddressGuard {
    named: HashSet<String>,
    all: bool,
}

impl AddressGuard {
    /// Allows the public Internet only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows one host, a name or an address literal as in a URL, to be or to have any address. Names below it stay as they were.
    #[must_use]
    pub fn allow_host(mut self, host: &str) -> Self {
        let literal = host.parse::<IpAddr>().ok();
        let parsed = match literal {
            Some(IpAddr::V6(ip)) => Ok(Host::Ipv6(ip)),
            _ => Host::parse(host),
        };
        self.named.insert(parsed.map_or_else(|_| host.to_ascii_lowercase(), |host: Host<String>| host.to_string()));
        self
    }

    /// Allows every address for every host (`--allow-private`).
    #[must_use]
    pub fn allow_all_private(mut self) -> Self {
        self.all = true;
        self
    }

    /// Whether an address may be contacted for a URL's host.
    ///
    /// # Errors
    /// The address is special, and nobody named the host.
    pub fn check(&self, host: &str, address: IpAddr) -> Result<(), AddressRefused> {
        match verdict(address) {
            Some(refusal) if !self.all && !self.named.contains(host) => {
                Err(AddressRefused { host: host.to_owned(), address, refusal })
            }
            _ => Ok(()),
        }
    }

    /// Whether a URL whose host is an address literal may be fetched. Names are checked once they are resolved.
    ///
    /// # Errors
    /// The address is special, and nobody named it.
    pub fn check_url(&self, url: &Url) -> Result<(), AddressRefused> {
        let address = match url.host() {
            Some(Host::Ipv4(ip)) => IpAddr::V4(ip),
            Some(Host::Ipv6(ip)) => IpAddr::V6(ip),
            Some(Host::Domain(_)) | None => return Ok(()),
        };
        self.check(url.host_str().unwrap_or_default(), address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(guard: &AddressGuard, url: &str) -> bool {
        guard.check_url(&Url::parse(url).expect("a URL")).is_ok()
    }

    #[test]
    fn only_the_very_host_that_the_operator_named_is_allowed() {
        let guard = AddressGuard::new().allow_host("127.0.0.1").allow_host("::1").allow_host("LocalHost");
        assert!(allows(&guard, "http://127.0.0.1:8080/") && allows(&guard, "http://0x7f.1/") && allows(&guard, "http://[::1]/"));
        assert!(!allows(&guard, "http://127.0.0.2/") && !allows(&guard, "http://[::ffff:127.0.0.1]/"));
        let loopback = IpAddr::from([127, 0, 0, 1]);
        assert!(guard.check("localhost", loopback).is_ok());
        assert!(guard.check("a.localhost", loopback).is_err());
        assert!(guard.check("rebound.example", loopback).is_err());
        assert!(guard.clone().allow_all_private().check("rebound.example", loopback).is_ok());
        assert!(allows(&AddressGuard::new().allow_host("[::1]"), "http://[::1]/"));
    }

    #[test]
    fn a_refusal_names_host_address_reason_and_the_way_out() {
        let error = AddressGuard::new().check("intra.example", IpAddr::from([10, 0, 0, 7])).expect_err("refused");
        let message = error.to_string();
        for part in ["intra.example", "10.0.0.7", "a private address", "--allow-private"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
