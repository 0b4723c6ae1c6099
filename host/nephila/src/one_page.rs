//! One page, fetched as a crawl would fetch it: for `nephila fetch` and `nephila parse`.

use anyhow::{Result, bail};
use nephila_crawler::CrawlSettings;
use nephila_fetch::{AddressGuard, Exchange, FetchConfig, Fetched, Fetcher, follow};
use nephila_model::{Hop, Page, RequestSpec};
use url::Url;

/// Which addresses may be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The public Internet, and the host that the operator names.
    Named,
    /// Any.
    Everything,
}

impl Reach {
    /// From `--allow-private`.
    pub const fn of(allow_private: bool) -> Self {
        if allow_private { Self::Everything } else { Self::Named }
    }

    /// The guard of a fetcher, when these URLs were named.
    pub fn guard(self, named: &[Url]) -> AddressGuard {
        let guard = named.iter().filter_map(Url::host_str).fold(AddressGuard::new(), AddressGuard::allow_host);
        match self {
            Self::Named => guard,
            Self::Everything => guard.allow_all_private(),
        }
    }
}

/// How a crawl with these settings fetches.
pub fn fetch_config(settings: &CrawlSettings, guard: AddressGuard) -> FetchConfig {
    FetchConfig {
        user_agent: settings.user_agent.clone(),
        connect_timeout: settings.connect_timeout,
        read_timeout: settings.read_timeout,
        total_timeout: settings.request_timeout,
        max_body_bytes: usize::try_from(settings.max_body_size).unwrap_or(usize::MAX),
        guard,
        ..FetchConfig::default()
    }
}

/// Fetches it, and follows its redirects. The page has them, oldest first.
///
/// # Errors
/// If no page comes, or too many redirects.
pub async fn fetch(url: &Url, settings: &CrawlSettings, reach: Reach) -> Result<Page> {
    let fetcher = Fetcher::new(fetch_config(settings, reach.guard(std::slice::from_ref(url))))?;
    let (mut at, mut spec, mut chain) = (url.clone(), RequestSpec::default(), Vec::new());
    loop {
        match fetcher.fetch(&Exchange::of(&at, &spec)).await? {
            Fetched::Page(mut page) => {
                page.chain = chain;
                return Ok(page);
            }
            Fetched::Redirect(redirect) if chain.len() < settings.max_redirects as usize => {
                spec = follow(&spec, &at, &redirect);
                chain.push(Hop { url: at, status: redirect.status, kind: redirect.kind });
                at = redirect.to;
            }
            Fetched::Redirect(redirect) => bail!(
                "{url} was redirected {} times, which is max-redirects; the last one pointed to {}",
                chain.len(),
                redirect.to
            ),
        }
    }
}
