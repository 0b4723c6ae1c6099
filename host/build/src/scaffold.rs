//! New projects.

use crate::{BuildError, Language, sdk};
use std::path::{Path, PathBuf};

/// A project that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its folder.
    pub folder: PathBuf,
    /// Its files, beside those of the SDK.
    pub files: Vec<PathBuf>,
    /// The commands that a person may want next; each works in the folder that the project was made in.
    pub next: Vec<String>,
}

/// Whether a plugin can have a name: lower-case letters, digits and inner hyphens, a letter first (cargo wants it), at most 64.
///
/// # Errors
/// [`BuildError::Name`] if it cannot.
pub fn check_name(name: &str) -> Result<(), BuildError> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let good = name.len() <= 64
        && name.bytes().next().is_some_and(|first| first.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.bytes().all(allowed);
    if good { Ok(()) } else { Err(BuildError::Name(name.to_owned())) }
}

/// Makes a project `NAME` in a folder: a crawler that works, a test, a saved page, and the SDK.
///
/// # Errors
/// If the name is no plugin's, or something of that name is there, or this program has no SDK for the language.
pub fn create(parent: &Path, name: &str, language: Language) -> Result<Project, BuildError> {
    check_name(name)?;
    if !sdk::has(language) {
        return Err(BuildError::program(format!("a project in {language}"), "this nephila has no SDK for it"));
    }
    let folder = parent.join(name);
    if folder.symlink_metadata().is_ok() {
        return Err(BuildError::Exists(folder));
    }
    // Beside its place first: nobody finds half a project.
    let beside = tempfile::Builder::new().prefix(".nephila-new-").tempdir_in(parent);
    let beside = beside.map_err(|cause| BuildError::file(parent, "written to", cause))?;
    let fresh = beside.path().join(name);
    let mut files = Vec::new();
    for (path, bytes) in sdk::template("common").chain(sdk::template(language.word())) {
        let path = PathBuf::from(path.trim_end_matches(".in").replace("NAME", name).replace("gitignore", ".gitignore"));
        sdk::write(&fresh.join(&path), filled(bytes, name, language).as_bytes())?;
        files.push(path);
    }
    files.sort();
    sdk::unpack(&fresh.join("sdk"), language)?;
    std::fs::rename(&fresh, &folder).map_err(|cause| BuildError::file(&folder, "written", cause))?;
    let shown = folder.display();
    let next = vec![
        format!("nephila run {shown} https://quotes.toscrape.com/ -n 20 -o quotes.jsonl"),
        format!("nephila build {shown}"),
        format!("cd {shown} && {}", test_command(language)),
    ];
    Ok(Project { folder, files, next })
}

fn filled(bytes: &[u8], name: &str, language: Language) -> String {
    let [main, pure] = match language {
        Language::Rust => ["src/lib.rs", "src/quote.rs"],
        Language::JavaScript => ["crawler.js", "quote.js, quote.test.js"],
        Language::TypeScript => ["crawler.ts", "quote.js, quote.test.js"],
        Language::Python => ["crawler.py", "quote.py, test_quote.py"],
        Language::C => ["crawler.c", "quote.c, test_quote.c"],
    };
    let values =
        [("name", name), ("language", &language.to_string()), ("main", main), ("pure", pure), ("test", test_command(language))];
    let text = String::from_utf8_lossy(bytes).into_owned();
    values.iter().fold(text, |text, (key, value)| text.replace(&format!("{{{{{key}}}}}"), value))
}

/// What runs the project's own tests, in its folder.
fn test_command(language: Language) -> &'static str {
    match language {
        Language::Rust => "cargo test",
        Language::JavaScript | Language::TypeScript => "node --test",
        Language::Python => "python3 -m unittest",
        Language::C => "cc test_quote.c quote.c && ./a.out",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn names_are_those_that_every_toolchain_takes() {
        for good in ["a", "books", "my-shop-2"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "Books", "2books", "-a", "a-", "a_b", "a/b", "..", "bücher", &"a".repeat(65)] {
            let error = check_name(bad).unwrap_err().to_string();
            assert!(error.contains("lower-case"), "{error}");
        }
    }

    #[test]
    fn a_new_project_is_a_source_of_its_language_with_all_its_parts() {
        for language in Language::ALL.into_iter().filter(|language| sdk::has(*language)) {
            let place = tempfile::tempdir().unwrap();
            let project = create(place.path(), "my-shop", language).unwrap();

            let source = Source::find(&project.folder).unwrap();
            assert_eq!((source.language, source.name.as_str()), (language, "my-shop"));
            assert!(source.own_sdk().is_some(), "{language}");
            for name in ["README.md", ".gitignore", "fixtures/my-shop.html", "fixtures/my-shop.json"] {
                assert!(project.files.contains(&name.into()), "{name} in {:?}", project.files);
            }
            for file in &project.files {
                let text = std::fs::read_to_string(project.folder.join(file)).unwrap();
                assert!(!text.contains("{{name") && !text.contains("{{test"), "{}", file.display());
            }
            assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left beside it");
        }
    }

    #[test]
    fn what_is_there_is_never_written_over() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("shop"), "mine").unwrap();
        let error = create(place.path(), "shop", Language::Rust).unwrap_err();
        assert!(error.to_string().contains("is there already"), "{error}");
        assert_eq!(std::fs::read_to_string(place.path().join("shop")).unwrap(), "mine");
    }

    #[test]
    fn the_fixture_expects_what_the_page_has() {
        let place = tempfile::tempdir().unwrap();
        let project = create(place.path(), "shop", Language::Rust).unwrap();
        let read = |name: &str| std::fs::read_to_string(project.folder.join("fixtures").join(name)).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&read("shop.json")).unwrap();
        let page = read("shop.html");
        let items = expected["expect"]["items"].as_array().unwrap();
        assert_eq!(items.len(), page.matches("class=\"quote\"").count());
        assert!(items.iter().all(|item| page.contains(item["text"].as_str().unwrap())));
    }
}
