//! Fetching: one exchange with a web server, and everything that keeps it honest and harmless.
//!
//! Decision: a [`Fetcher`] does exactly one hop and never loops, waits or retries; it returns a page, a redirect, or a typed error, and who
//! called it decides what comes next. So politeness, robots and the redirect limit hold for every hop alike, and the [`AddressGuard`] sees
//! every address that anything leads to. The price is that callers walk redirect chains themselves, with [`follow`].

mod body;
mod cause;
mod charset;
mod coding;
mod config;
mod error;
mod exchange;
mod fetcher;
mod guard;
mod meta_refresh;
mod prescan;
mod redirect;
mod resolver;
mod sniff;
mod verdict;

pub use charset::{detect, text};
pub use config::{DEFAULT_USER_AGENT, FetchConfig, FetchSetupError};
pub use error::{FetchError, Phase};
pub use exchange::{Exchange, Fetched};
pub use fetcher::{Fetcher, answered};
pub use guard::{AddressGuard, AddressRefused};
pub use redirect::{Redirect, follow};
pub use verdict::{Refusal, verdict};
