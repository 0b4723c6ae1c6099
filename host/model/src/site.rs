//! The site of a URL: the unit of politeness, and through its shard of ownership.

use crate::Shard;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

/// What counts as one site. Fixed per crawl (S11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteBy {
    /// Every hostname is a site of its own. The default.
    #[default]
    Hostname,
    /// All hostnames under one registered domain (public suffix list) are one site.
    Domain,
}

/// A site's name: a hostname or a registered domain in lower case, as the URL parser gives it (IDNs in punycode). The port is not
/// part of it: it is the machine that is to be spared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteKey(String);

impl SiteKey {
    /// The site that a URL belongs to. URLs without a host, which [`crate::parse_target`] refuses, share the empty site.
    #[must_use]
    pub fn of(url: &Url, by: SiteBy) -> Self {
        let host = url.host_str().unwrap_or_default();
        match by {
            SiteBy::Domain if matches!(url.host(), Some(url::Host::Domain(_))) => Self(registered_domain(host).to_owned()),
            _ => Self(host.to_owned()),
        }
    }

    /// From a store's row.
    #[must_use]
    pub fn from_stored(key: String) -> Self {
        Self(key)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The slice of sites that this one is in. The hash is part of the format of every store: it never changes.
    #[must_use]
    pub fn shard(&self) -> Shard {
        let digest = Sha256::digest(self.0.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Shard::of_hash(u64::from_be_bytes(first))
    }
}

impl std::fmt::Display for SiteKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The registered domain of a hostname (`www.example.co.uk` → `example.co.uk`); the hostname itself where there is none.
pub(crate) fn registered_domain(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    psl::domain_str(host).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(url: &str, by: SiteBy) -> String {
        SiteKey::of(&Url::parse(url).expect("a URL"), by).to_string()
    }

    #[test]
    fn a_site_is_a_hostname_or_a_registered_domain() {
        assert_eq!(site("http://WWW.Example.co.uk:8080/a", SiteBy::Hostname), "www.example.co.uk");
        assert_eq!(site("http://www.example.co.uk/a", SiteBy::Domain), "example.co.uk");
        assert_eq!(site("http://127.0.0.1:99/a", SiteBy::Domain), "127.0.0.1");
        assert_eq!(site("http://localhost/a", SiteBy::Domain), "localhost");
    }

    #[test]
    fn a_shard_never_changes_for_a_site() {
        // Stored rows rely on these numbers.
        assert_eq!(SiteKey::from_stored("example.com".into()).shard().number(), 421);
        assert_eq!(SiteKey::from_stored("127.0.0.1".into()).shard().number(), 148);
    }
}
