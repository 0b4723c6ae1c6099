//! From names to addresses that may be contacted.
//!
//! Decision: the system's resolver, so that hosts files, search domains and VPNs work as everywhere on the machine; `localhost` and
//! names below it never reach DNS (RFC 6761). A look-up takes a thread of the blocking pool for its time.

use crate::AddressGuard;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// Resolves, and drops what the guard refuses.
#[derive(Debug)]
pub(crate) struct GuardedResolver(pub(crate) Arc<AddressGuard>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let name = name.as_str();
            let found: Vec<SocketAddr> = if is_localhost(name) {
                vec![(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()]
            } else {
                tokio::net::lookup_host((name, 0)).await?.collect()
            };
            let mut refused = None;
            let mut allowed = found;
            allowed.retain(|address| match guard.check(name, address.ip()) {
                Ok(()) => true,
                Err(error) => {
                    refused.get_or_insert(error);
                    false
                }
            });
            match refused {
                Some(error) if allowed.is_empty() => Err(error.into()),
                None if allowed.is_empty() => Err("the name has no address".into()),
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or(name);
    last.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn resolve(guard: AddressGuard, name: &str) -> Result<Vec<String>, String> {
        let resolved = GuardedResolver(Arc::new(guard)).resolve(name.parse().expect("a name")).await;
        resolved.map(|found| found.map(|address| address.ip().to_string()).collect()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn localhost_is_this_machine_and_refused_unless_named() {
        for name in ["localhost", "LOCALHOST", "a.b.localhost", "localhost."] {
            let refused = resolve(AddressGuard::new(), name).await.expect_err(name);
            assert!(refused.contains("a loopback address"), "{refused}");
            assert_eq!(resolve(AddressGuard::new().allow_all_private(), name).await.expect(name), ["127.0.0.1", "::1"]);
        }
        assert!(resolve(AddressGuard::new().allow_host("localhost"), "localhost").await.is_ok());
        assert!(resolve(AddressGuard::new().allow_host("localhost"), "a.localhost").await.is_err());
        assert!(!is_localhost("notlocalhost") && !is_localhost("localhost.example"));
    }
}
