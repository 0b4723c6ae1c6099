//! What the operator asks for (`--input`). README.md explains every field.

use nephila_sdk::prelude::*;

use crate::address;
use crate::pattern::Pattern;

/// The input, with everything left out at its default.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Hostnames that belong to the site, besides that of the start URL.
    hosts: Vec<String>,
    /// Beginnings of paths; if there are any, only such pages are crawled.
    paths: Vec<String>,
    /// Check links that lead out of the site, or out of `paths`.
    pub(crate) external: bool,
    /// Check what pages embed: images, scripts, style sheets, frames.
    pub(crate) assets: bool,
    exclude_links: Vec<String>,
    exclude_fragments: Vec<String>,
    /// A row for every page, too.
    pub(crate) list_pages: bool,
    /// Pages named in a row at most.
    pages_per_row: Option<usize>,
}

impl Input {
    /// The input of this crawl. A mistake in it fails the start pages and the finish, and so the crawl.
    pub(crate) fn read() -> Result<Self, Error> {
        config::input::<Option<Input>>().map_err(Error::or_fatal)?.unwrap_or_default().checked()
    }

    fn checked(self) -> Result<Self, Error> {
        if let Some(path) = self.paths.iter().find(|path| !path.starts_with('/')) {
            return Err(fatal("bad-input", format!("the plugin's input: `{path}` among `paths` does not begin with `/`")));
        }
        if let Some(host) = self.hosts.iter().find(|host| host.is_empty() || host.contains('/')) {
            return Err(fatal("bad-input", format!("the plugin's input: `{host}` among `hosts` is not a hostname")));
        }
        Ok(self)
    }

    pub(crate) fn pages_per_row(&self) -> usize {
        self.pages_per_row.unwrap_or(10)
    }

    /// What is crawled, where `site` is the hostname of the start URL.
    pub(crate) fn scope<'a>(&'a self, site: &'a str) -> Scope<'a> {
        Scope { site, hosts: &self.hosts, paths: &self.paths }
    }

    pub(crate) fn exclusions(&self) -> Exclusions {
        let compile = |patterns: &[String]| patterns.iter().map(|pattern| Pattern::new(pattern)).collect();
        Exclusions { links: compile(&self.exclude_links), fragments: compile(&self.exclude_fragments) }
    }
}

/// What belongs to the site.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    site: &'a str,
    hosts: &'a [String],
    paths: &'a [String],
}

impl Scope<'_> {
    pub(crate) fn contains(&self, url: &str) -> bool {
        self.has_host(url) && (self.paths.is_empty() || self.paths.iter().any(|start| address::path(url).starts_with(start)))
    }

    fn has_host(&self, url: &str) -> bool {
        let host = address::host(url);
        host == self.site || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }
}

/// What is not checked.
#[derive(Debug, Default)]
pub(crate) struct Exclusions {
    links: Vec<Pattern>,
    fragments: Vec<Pattern>,
}

impl Exclusions {
    /// Whether a URL (without its fragment) is neither followed nor checked.
    pub(crate) fn link(&self, url: &str) -> bool {
        self.links.iter().any(|pattern| pattern.matches(url))
    }

    /// Whether a fragment is not checked.
    pub(crate) fn fragment(&self, url: &str, fragment: &str) -> bool {
        self.fragments.iter().any(|pattern| pattern.matches_link(url, fragment))
    }
}

#[cfg(test)]
mod tests {
    use nephila_sdk::serde_json::from_str;

    use super::*;

    fn input(json: &str) -> Result<Input, Error> {
        Ok(from_str::<Input>(json)?).and_then(Input::checked)
    }

    #[test]
    fn fields_have_defaults_and_unknown_ones_are_a_mistake() {
        let Ok(nothing) = input("{}") else { return };
        assert_eq!((nothing.external, nothing.assets, nothing.list_pages, nothing.pages_per_row()), (false, false, false, 10));
        for mistake in [r#"{"exclude": []}"#, r#"{"paths": ["docs"]}"#, r#"{"hosts": ["http://a/"]}"#] {
            assert!(input(mistake).is_err(), "{mistake}");
        }
    }

    #[test]
    fn the_site_is_its_hosts_and_paths() {
        let Ok(input) = input(r#"{"hosts": ["www.a.example"], "paths": ["/docs/", "/blog"]}"#) else { return };
        let scope = input.scope("a.example");
        for url in ["http://a.example/docs/x", "https://www.a.example:8080/blog-2"] {
            assert!(scope.contains(url), "{url}");
        }
        for url in ["http://a.example/docs", "http://b.example/docs/", "http://xa.example/docs/", "http://a.example/?/docs/"] {
            assert!(!scope.contains(url), "{url}");
        }
        assert!(Input::default().scope("a.example").contains("http://a.example/anything"));
    }

    #[test]
    fn exclusions_know_links_and_fragments() {
        let Ok(input) = input(r##"{"excludeLinks": ["*/print.html"], "excludeFragments": ["#<number>"]}"##) else { return };
        let exclusions = input.exclusions();
        assert!(exclusions.link("http://a.example/print.html") && !exclusions.link("http://a.example/print.html?x"));
        assert!(exclusions.fragment("http://a.example/", "12") && !exclusions.fragment("http://a.example/", "a12"));
    }
}
