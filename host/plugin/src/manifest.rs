//! What a plugin says of itself, checked.

use crate::bindings::exports::nephila::crawler::manifest::Description;
use crate::failure::one_line;
use crate::json;
use nephila_model::parse_target;
use std::path::Path;
use url::Url;

/// Start URLs of a plugin.
const MOST_URLS: usize = 10_000;

/// Settings of a plugin.
const MOST_SETTINGS: usize = 1_000;

/// What a plugin says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Its name: lower-case letters, digits and inner hyphens, at most 64. The file's own name if it says nothing.
    pub name: String,
    /// Its version, for people. `0.0.0` if it says nothing.
    pub version: String,
    /// One sentence.
    pub description: String,
    /// Where a crawl starts when the operator names no URL.
    pub start_urls: Vec<Url>,
    /// Defaults for settings, each as JSON.
    pub settings: Vec<(String, String)>,
    /// JSON object for fields of later versions.
    pub extra_json: Option<String>,
}

impl Manifest {
    /// For a plugin that says nothing: its file's name.
    pub(crate) fn of_file(path: &Path) -> Self {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(64).collect();
        let name = name.trim_matches('-');
        Self {
            name: if name.is_empty() { "plugin" } else { name }.to_owned(),
            version: "0.0.0".to_owned(),
            description: String::new(),
            start_urls: Vec::new(),
            settings: Vec::new(),
            extra_json: None,
        }
    }

    /// From what the plugin says; what is wrong with it, and what would be right.
    pub(crate) fn check(said: Description) -> Result<Self, String> {
        let name = said.name;
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if !(1..=64).contains(&name.len()) || !name.bytes().all(inner) || name.starts_with('-') || name.ends_with('-') {
            let name = one_line(&name, 80);
            return Err(format!("its name is `{name}`; use 1 to 64 lower-case letters, digits and inner hyphens"));
        }
        if said.start_urls.len() > MOST_URLS {
            return Err(format!(
                "it has {} start URLs, and {MOST_URLS} are allowed; read them from a page",
                said.start_urls.len()
            ));
        }
        if said.settings.len() > MOST_SETTINGS {
            return Err(format!("it has {} settings, and {MOST_SETTINGS} are allowed", said.settings.len()));
        }
        let target = |url: &String| {
            parse_target(url, None).map_err(|error| format!("a start URL is unusable: {}", one_line(&error.to_string(), 300)))
        };
        let setting = |setting: crate::bindings::exports::nephila::crawler::manifest::Setting| {
            let name = one_line(&setting.name, 80);
            json::check(&setting.value)
                .map_err(|cause| format!("its setting `{name}` is not JSON: {}", one_line(&cause, 200)))?;
            Ok::<_, String>((setting.name, setting.value))
        };
        if let Some(extra) = &said.extra_json {
            json::check_object(extra).map_err(|cause| format!("its extra JSON is wrong: {}", one_line(&cause, 200)))?;
        }
        Ok(Self {
            name,
            version: one_line(&said.version, 64),
            description: one_line(&said.description, 1_024),
            start_urls: said.start_urls.iter().map(target).collect::<Result<_, _>>()?,
            settings: said.settings.into_iter().map(setting).collect::<Result<_, _>>()?,
            extra_json: said.extra_json,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str) -> Description {
        Description {
            name: name.into(),
            version: "1.0".into(),
            description: "A\nline.".into(),
            start_urls: vec!["http://example.com/#top".into()],
            settings: Vec::new(),
            extra_json: None,
        }
    }

    #[test]
    fn what_a_plugin_says_is_checked() {
        let manifest = Manifest::check(said("shop-2")).expect("a manifest");
        assert_eq!(manifest.description, "A line.");
        assert_eq!(manifest.start_urls[0].as_str(), "http://example.com/");
        for bad in ["", "Shop", "-a", "a-", "a_b", "ä", &"x".repeat(65)] {
            assert!(Manifest::check(said(bad)).expect_err(bad).contains("lower-case"));
        }
        let url = Description { start_urls: vec!["example.com".into()], ..said("a") };
        assert!(Manifest::check(url).expect_err("an error").contains("https://example.com/"));
    }

    #[test]
    fn a_plugin_that_says_nothing_is_called_after_its_file() {
        assert_eq!(Manifest::of_file(Path::new("/x/My Shop_2.wasm")).name, "my-shop-2");
        assert_eq!(Manifest::of_file(Path::new("/x/_.wasm")).name, "plugin");
    }
}
