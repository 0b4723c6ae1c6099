//! Which links are followed by their text: globs and regular expressions.
//!
//! Decision: compiled once per set and kept, bounded in number, length and compiled size; both kinds match in time linear in the
//! URL, so that they need no clock. `*` stops at `/`, and `**` between slashes does not, as in Crawlee's globs.

use crate::failure::one_line;
use crate::fault::Fault;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use lru::LruCache;
use regex::{RegexSet, RegexSetBuilder};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// Patterns of one kind in one call.
const MOST: usize = 100;

/// Bytes of a pattern.
const LONGEST: usize = 1_024;

/// Bytes of the compiled regular expressions of one set.
const COMPILED: usize = 1 << 20;

/// Sets that are kept compiled.
const KEPT: NonZeroUsize = NonZeroUsize::new(64).unwrap();

struct Rules {
    globs: GlobSet,
    regexes: RegexSet,
}

/// Which URLs are followed.
pub(crate) struct Patterns {
    include: Option<Rules>,
    exclude: Option<Rules>,
}

impl Patterns {
    /// Whether a URL is followed.
    pub(crate) fn admit(&self, url: &str) -> bool {
        let matches = |rules: &Rules| rules.globs.is_match(url) || rules.regexes.is_match(url);
        self.include.as_ref().is_none_or(matches) && !self.exclude.as_ref().is_some_and(matches)
    }
}

/// What a plugin asks for.
#[derive(PartialEq, Eq, Hash, Clone)]
pub(crate) struct PatternTexts {
    pub(crate) globs: Vec<String>,
    pub(crate) regexes: Vec<String>,
    pub(crate) exclude_globs: Vec<String>,
    pub(crate) exclude_regexes: Vec<String>,
}

/// The patterns of all plugins of a host, by their texts.
pub(crate) struct PatternCache(Mutex<LruCache<PatternTexts, Arc<Patterns>>>);

impl PatternCache {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(LruCache::new(KEPT)))
    }

    /// Compiles a set, or takes the compiled one.
    pub(crate) fn get(&self, texts: PatternTexts) -> Result<Arc<Patterns>, Fault> {
        if let Some(patterns) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&texts) {
            return Ok(patterns.clone());
        }
        let patterns = Arc::new(Patterns {
            include: rules(&texts.globs, &texts.regexes)?,
            exclude: rules(&texts.exclude_globs, &texts.exclude_regexes)?,
        });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(texts, patterns.clone());
        Ok(patterns)
    }
}

fn rules(globs: &[String], regexes: &[String]) -> Result<Option<Rules>, Fault> {
    if globs.is_empty() && regexes.is_empty() {
        return Ok(None);
    }
    if globs.len() > MOST || regexes.len() > MOST {
        return Err(Fault::refused("bad-pattern", format!("more than {MOST} patterns of a kind; join them with {{a,b}} or |")));
    }
    if let Some(long) = globs.iter().chain(regexes).find(|pattern| pattern.len() > LONGEST) {
        let message = format!("`{}` has {} bytes, and {LONGEST} are allowed for a pattern", one_line(long, 60), long.len());
        return Err(Fault::refused("bad-pattern", message));
    }
    let bad = |kind: &str, pattern: &str, cause: String| {
        Fault::refused("bad-pattern", format!("`{}` is not a {kind}: {}", one_line(pattern, 200), one_line(&cause, 400)))
    };
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let built = GlobBuilder::new(glob).literal_separator(true).build();
        set.add(built.map_err(|error| bad("glob", glob, error.to_string()))?);
    }
    let globs = set.build().map_err(|error| bad("set of globs", &globs.join(" "), error.to_string()))?;
    let regexes = RegexSetBuilder::new(regexes)
        .size_limit(COMPILED)
        .dfa_size_limit(COMPILED)
        .build()
        .map_err(|error| bad("regular expression", &regexes.join(" "), error.to_string()))?;
    Ok(Some(Rules { globs, regexes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(globs: &[&str], regexes: &[&str], exclude_globs: &[&str]) -> PatternTexts {
        let own = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        PatternTexts { globs: own(globs), regexes: own(regexes), exclude_globs: own(exclude_globs), exclude_regexes: Vec::new() }
    }

    #[test]
    fn any_include_and_no_exclude_must_match() {
        let cache = PatternCache::new();
        let patterns = cache.get(texts(&["http://a.example/*", "**/{x,y}/**"], &[r"\d{3}$"], &["**/*.pdf"])).expect("compiles");
        for (url, admitted) in [
            ("http://a.example/one", true),
            ("http://a.example/one/two", false),
            ("http://b.example/x/two/three", true),
            ("http://b.example/123", true),
            ("http://a.example/one.pdf", false),
        ] {
            assert_eq!(patterns.admit(url), admitted, "{url}");
        }
        assert!(cache.get(texts(&[], &[], &[])).expect("compiles").admit("anything"));
    }

    #[test]
    fn bad_and_oversized_patterns_are_named() {
        let cache = PatternCache::new();
        for bad in [
            texts(&["[a"], &[], &[]),
            texts(&[], &["(a"], &[]),
            texts(&[], &["(a{1000}){1000}"], &[]),
            texts(&["a"; 101], &[], &[]),
        ] {
            assert!(matches!(cache.get(bad), Err(Fault::Refused { code: "bad-pattern", .. })));
        }
    }
}
