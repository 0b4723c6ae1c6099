//! What a site is told. The switches are the command line's own struct, so that a default or a help text exists once.

use crate::error::SiteError;
use std::path::PathBuf;

/// Everything that decides what a site answers.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteConfig {
    /// The port on 127.0.0.1; 0 means any free one.
    pub port: u16,
    /// What is served.
    pub content: Content,
    /// How it is served; of these, [`Content::Files`] knows latency, slow, status and retry-after.
    pub switches: Switches,
}

/// What a site serves.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A shop of 50 listing pages and 1,000 books.
    Bookshop,
    /// Pages with links to each other, as many as wanted.
    Mesh(MeshShape),
    /// Pages of 60 to 100 kB with the markup of a real shop.
    Heavy(HeavyShape),
    /// Quotes, a login, a form, an API, files: one of each kind of pages to practise on.
    Practice,
    /// A folder, as a plain web server would serve it.
    Files(PathBuf),
}

/// The size of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct MeshShape {
    /// Number of pages; every one can be reached from `/`
    #[arg(long, value_name = "N")]
    pub pages: usize,
    /// Links on each page
    #[arg(long, value_name = "K", default_value_t = 20)]
    pub links: usize,
    /// Size of a page; a page is never smaller than its links need
    #[arg(long, value_name = "B", default_value_t = 4_096)]
    pub bytes: usize,
    /// Spread the pages over s0.localhost, s1.localhost, … with absolute links; then start at s0.localhost:PORT
    #[arg(long, value_name = "M", default_value_t = 1)]
    pub sites: usize,
    /// Each page of the first half has one link to a page of the second half that no other page has, and all other links lead to
    /// the first half: to who knows that half, each of its pages has one new link
    #[arg(long)]
    pub halves: bool,
}

/// The size of a heavy site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct HeavyShape {
    /// Number of pages; every one can be reached from `/`
    #[arg(long, value_name = "N")]
    pub pages: usize,
}

/// How a site behaves. Ratios are shares of the pages between 0 and 1, never of `/`; which pages is decided by the seed.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Switches {
    /// Decides all chance: texts, prices, links, and which pages make trouble
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Every answer waits this long
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub latency_ms: u64,
    /// This share of the pages fails
    #[arg(long, value_name = "R", default_value_t = 0.0)]
    pub fail_ratio: f64,
    /// The status of a failing page
    #[arg(long, value_name = "CODE", default_value_t = 500)]
    pub fail_status: u16,
    /// A failing or broken page heals after this many requests; 0: never
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub heal_after: u32,
    /// Failures, and --status with an error, carry Retry-After with this many seconds (1 when none are given)
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1")]
    pub retry_after: Option<u64>,
    /// This share of the books or mesh pages answers one or two redirects first, to ?moved=N
    #[arg(long, value_name = "R", default_value_t = 0.0)]
    pub redirect_ratio: f64,
    /// Redirects lead to other-0.localhost … other-3.localhost; links of the pages there are absolute, back to 127.0.0.1
    #[arg(long)]
    pub off_site_redirects: bool,
    /// This share of the redirecting pages ends at another page's own URL
    #[arg(long, value_name = "R", default_value_t = 0.0)]
    pub converge_ratio: f64,
    /// This share of the pages is a stub with a meta refresh to ?fresh=1
    #[arg(long, value_name = "R", default_value_t = 0.0)]
    pub meta_refresh_ratio: f64,
    /// This share of the pages sends half of its body and closes
    #[arg(long, value_name = "R", default_value_t = 0.0)]
    pub broken_ratio: f64,
    /// This share of the pages has another charset than UTF-8, declared in header, meta or byte order mark
    #[arg(long, value_name = "R", default_value_t = 0.0)]
    pub charset_ratio: f64,
    /// This path always answers this status; repeatable
    #[arg(long, value_name = "PATH=CODE", value_parser = assignment::<u16>)]
    pub status: Vec<(String, u16)>,
    /// This path answers this many milliseconds later; repeatable
    #[arg(long, value_name = "PATH=MILLIS", value_parser = assignment::<u64>)]
    pub slow: Vec<(String, u64)>,
    /// Compress for clients that accept gzip
    #[arg(long)]
    pub gzip: bool,
    /// Give each visitor a cookie, and count by it
    #[arg(long)]
    pub visitors: bool,
    /// Block every Nth request with 403, and count who comes again; needs --visitors
    #[arg(long, value_name = "N", requires = "visitors")]
    pub block_every: Option<u64>,
    /// Blocks say so on a page with status 200, with `#challenge` on it, instead of 403
    #[arg(long, requires = "block_every")]
    pub soft_blocks: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            seed: 1,
            latency_ms: 0,
            fail_ratio: 0.0,
            fail_status: 500,
            heal_after: 1,
            retry_after: None,
            redirect_ratio: 0.0,
            off_site_redirects: false,
            converge_ratio: 0.0,
            meta_refresh_ratio: 0.0,
            broken_ratio: 0.0,
            charset_ratio: 0.0,
            status: Vec::new(),
            slow: Vec::new(),
            gzip: false,
            visitors: false,
            block_every: None,
            soft_blocks: false,
        }
    }
}

impl SiteConfig {
    /// A bookshop without trouble on any free port.
    pub fn bookshop() -> Self {
        Self { port: 0, content: Content::Bookshop, switches: Switches::default() }
    }

    /// A mesh on one host without trouble on any free port.
    pub fn mesh(pages: usize, links: usize, bytes: usize) -> Self {
        let shape = MeshShape { pages, links, bytes, sites: 1, halves: false };
        Self { port: 0, content: Content::Mesh(shape), switches: Switches::default() }
    }

    /// A heavy site without trouble on any free port.
    pub fn heavy(pages: usize) -> Self {
        Self { port: 0, content: Content::Heavy(HeavyShape { pages }), switches: Switches::default() }
    }

    /// A practice site without trouble on any free port.
    pub fn practice() -> Self {
        Self { port: 0, content: Content::Practice, switches: Switches::default() }
    }

    /// A folder on any free port.
    pub fn files(dir: impl Into<PathBuf>) -> Self {
        Self { port: 0, content: Content::Files(dir.into()), switches: Switches::default() }
    }

    /// The same site with these switches.
    pub fn with(mut self, switches: Switches) -> Self {
        self.switches = switches;
        self
    }

    pub(crate) fn check(&self) -> Result<(), SiteError> {
        match &self.content {
            Content::Mesh(shape) => shape.check()?,
            Content::Heavy(shape) => ensure(shape.pages > 0, "a heavy site needs at least one page (--pages)")?,
            Content::Bookshop | Content::Practice | Content::Files(_) => {}
        }
        self.switches.check()
    }
}

impl MeshShape {
    fn check(&self) -> Result<(), SiteError> {
        ensure(self.pages > 0, "a mesh needs at least one page (--pages)")?;
        ensure(self.links > 0 || self.pages == 1, "with --links 0 only one page could be reached")?;
        ensure(self.sites > 0, "a mesh needs at least one site (--sites)")?;
        let in_halves = self.pages.is_multiple_of(2) && self.links > 1;
        ensure(!self.halves || in_halves, "--halves needs an even number of --pages, and two --links at least")
    }
}

impl Switches {
    fn check(&self) -> Result<(), SiteError> {
        let ratios = [
            ("--fail-ratio", self.fail_ratio),
            ("--redirect-ratio", self.redirect_ratio),
            ("--converge-ratio", self.converge_ratio),
            ("--meta-refresh-ratio", self.meta_refresh_ratio),
            ("--broken-ratio", self.broken_ratio),
            ("--charset-ratio", self.charset_ratio),
            // One page has one trouble, and moves in one way.
            ("--fail-ratio and --broken-ratio together", self.fail_ratio + self.broken_ratio),
            ("--redirect-ratio and --meta-refresh-ratio together", self.redirect_ratio + self.meta_refresh_ratio),
        ];
        for (name, ratio) in ratios {
            ensure((0.0..=1.0).contains(&ratio), &format!("{name} must be between 0 and 1, not {ratio}"))?;
        }
        ensure(self.block_every != Some(0), "--block-every must be at least 1")?;
        for code in self.status.iter().map(|(_, code)| *code).chain([self.fail_status]) {
            ensure((200..=599).contains(&code), &format!("a status must be between 200 and 599, not {code}"))?;
        }
        Ok(())
    }
}

fn ensure(condition: bool, message: &str) -> Result<(), SiteError> {
    if condition { Ok(()) } else { Err(SiteError::Switches(message.to_owned())) }
}

/// Splits at the last `=`, since a path with a query has some of its own.
fn assignment<T: std::str::FromStr>(text: &str) -> Result<(String, T), String> {
    let (path, value) = text.rsplit_once('=').ok_or("expected PATH=VALUE")?;
    if !path.starts_with('/') {
        return Err(format!("a path begins with '/': {path}"));
    }
    let value = value.parse().map_err(|_| format!("not a number: {value}"))?;
    Ok((path.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::{Switches, assignment};
    use clap::{Args, FromArgMatches};

    fn parse(arguments: &[&str]) -> Switches {
        let command = Switches::augment_args(clap::Command::new("site"));
        let matches = command.try_get_matches_from([&["site"], arguments].concat()).unwrap();
        Switches::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn the_defaults_of_the_library_are_those_of_the_command_line() {
        assert_eq!(parse(&[]), Switches::default());
    }

    #[test]
    fn retry_after_may_stand_alone() {
        assert_eq!(parse(&["--retry-after"]).retry_after, Some(1));
        assert_eq!(parse(&["--retry-after", "7", "--gzip"]).retry_after, Some(7));
    }

    #[test]
    fn a_path_with_a_query_can_be_given_a_status() {
        assert_eq!(assignment("/p/1?a=b=503"), Ok(("/p/1?a=b".to_owned(), 503_u16)));
        assert!(assignment::<u16>("p=1").is_err());
    }

    #[test]
    fn shares_above_the_whole_are_refused() {
        let switches = Switches { fail_ratio: 0.6, broken_ratio: 0.6, ..Switches::default() };
        assert!(switches.check().unwrap_err().to_string().contains("--broken-ratio"));
    }
}
