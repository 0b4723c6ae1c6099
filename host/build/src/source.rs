//! What a path means as a plugin's source: its language, its main file, its name.

use crate::{BuildError, Language};
use std::path::{Path, PathBuf};

/// Main files, by their names without an ending, where nothing else says which it is.
const MAIN: [&str; 4] = ["crawler", "index", "main", "plugin"];

/// The source of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its language.
    pub language: Language,
    /// Where its files are.
    pub folder: PathBuf,
    /// The file that a build begins with: the author's main file; of Rust `Cargo.toml`.
    pub main: PathBuf,
    /// What the component is called, without `.wasm`.
    pub name: String,
    /// Whether the folder is a project, or just where the file is.
    pub extent: Extent,
}

/// How far a source goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The whole folder.
    Project,
    /// A file, and what it imports.
    File,
}

/// Whether a path is for [`Source::find`]: a folder, or a file in a language that has plugins of one file.
pub fn is_source(path: &Path) -> bool {
    path.is_dir() || Language::of_file(path).is_some() || path.extension().is_some_and(|ending| ending == "rs")
}

impl Source {
    /// Finds out what a folder or a file is.
    ///
    /// # Errors
    /// [`BuildError::NoSource`] with what was looked for.
    pub fn find(path: &Path) -> Result<Self, BuildError> {
        let refuse = |cause: String| BuildError::NoSource { path: path.to_owned(), cause };
        if path.is_dir() {
            return Self::of_folder(path).map_err(refuse);
        }
        if !path.exists() {
            return Err(refuse("there is no such file or folder".to_owned()));
        }
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        match (Language::of_file(path), ending.as_str()) {
            (Some(language), _) => Ok(Self::of_file(path, language)),
            (None, "rs") => Err(refuse(
                "a plugin in Rust is a package: give its folder, or make one with `nephila new NAME --lang rust`".into(),
            )),
            (None, "wasm") => Err(refuse("is built already; `nephila inspect` shows it".into())),
            _ => Err(refuse("is no source of a plugin; that is a folder, or a file .js, .mjs, .ts, .mts, .py or .c".into())),
        }
    }

    fn of_file(path: &Path, language: Language) -> Self {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { language, name: name_of(&stem), main: path.to_owned(), folder, extent: Extent::File }
    }

    fn of_folder(folder: &Path) -> Result<Self, String> {
        let has = |name: &str| folder.join(name).is_file();
        let mut found = Vec::new();
        if std::fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| text.contains("nephila-sdk")) {
            found.push((Language::Rust, folder.join("Cargo.toml")));
        }
        let mut missing = String::new();
        let mut look = |what: &str, language: &[Language]| match main_file(folder, language) {
            Ok(main) => found.extend(main.and_then(|main| Some((Language::of_file(&main)?, main)))),
            Err(why) => missing.push_str(&format!("; {what} is there, but {why}")),
        };
        if has("package.json") {
            look("package.json", &[Language::TypeScript, Language::JavaScript]);
        }
        if has("pyproject.toml") {
            look("pyproject.toml", &[Language::Python]);
        }
        // Without a manifest the files themselves say it.
        if found.is_empty() && missing.is_empty() {
            let mut quiet = |language: &[Language]| {
                let main = main_file(folder, language).ok().flatten();
                found.extend(main.and_then(|main| Some((Language::of_file(&main)?, main))));
            };
            quiet(&[Language::Python]);
            quiet(&[Language::C]);
            quiet(&[Language::TypeScript, Language::JavaScript]);
        }
        let [(language, main)] = &found[..] else {
            return Err(if found.is_empty() {
                format!(
                    "no plugin was found in it; looked for a Cargo.toml with nephila-sdk, a package.json, a pyproject.toml, or one of \
                     {}.{{py,c,ts,js}}, there and in src{missing}; `nephila new NAME --lang LANGUAGE` makes one",
                    MAIN.join(", ")
                )
            } else {
                let all: Vec<String> = found.iter().map(|(language, main)| format!("{language} ({})", main.display())).collect();
                format!("is a plugin in more than one language: {}; give the file that is meant", all.join(", "))
            });
        };
        let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = name_of(&absolute.file_name().unwrap_or_default().to_string_lossy());
        Ok(Self { language: *language, folder: folder.to_owned(), main: main.clone(), name, extent: Extent::Project })
    }

    /// The SDK that the project carries, if it does.
    pub fn own_sdk(&self) -> Option<PathBuf> {
        let sdk = self.folder.join("sdk");
        (self.extent == Extent::Project && sdk.join("wit").is_dir() && sdk.join("plugin-sdk").join(self.language.sdk()).is_dir())
            .then_some(sdk)
    }
}

/// The one main file of a folder in one of these languages.
fn main_file(folder: &Path, languages: &[Language]) -> Result<Option<PathBuf>, String> {
    let named = std::fs::read_to_string(folder.join("package.json")).ok().filter(|_| languages.contains(&Language::JavaScript));
    if let Some(main) = named.as_deref().and_then(named_main) {
        let main = folder.join(main);
        return if main.is_file() { Ok(Some(main)) } else { Err(format!("its main file {} is not", main.display())) };
    }
    let of_these = |path: &Path| Language::of_file(path).is_some_and(|language| languages.contains(&language));
    for place in [folder.to_owned(), folder.join("src")] {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&place).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        files.retain(|file| of_these(file) && file.is_file());
        let stem = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(main) = MAIN.iter().find_map(|name| files.iter().find(|file| stem(file) == *name)) {
            return Ok(Some(main.clone()));
        }
        // What is for tests and tools is no crawler.
        files.retain(|file| {
            let name = stem(file);
            !name.contains("test") && !name.contains("config") && name != "setup" && !name.ends_with(".d")
        });
        match &files[..] {
            [only] => return Ok(Some(only.clone())),
            [] => {}
            [first, ..] if Language::of_file(first) == Some(Language::C) => return Ok(Some(first.clone())),
            several => {
                let names: Vec<String> = several.iter().map(|file| file.display().to_string()).collect();
                return Err(format!("which of {} is the crawler is not said; call it crawler", names.join(", ")));
            }
        }
    }
    if languages == [Language::C] || languages == [Language::Python] && !folder.join("pyproject.toml").is_file() {
        return Ok(None);
    }
    Err("no crawler is".to_owned())
}

/// The `main` of a package.json.
fn named_main(text: &str) -> Option<String> {
    let package: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(package["main"].as_str()?.to_owned())
}

/// A name as a plugin's file can have it.
fn name_of(text: &str) -> String {
    let name: String = text.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(64).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "plugin".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdk::write;

    fn found(files: &[(&str, &str)]) -> Result<(Language, String), String> {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("My Shop");
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in files {
            write(&folder.join(name), text.as_bytes()).unwrap();
        }
        let source = Source::find(&folder).map_err(|error| error.to_string())?;
        assert_eq!(source.name, "my-shop");
        Ok((source.language, source.main.strip_prefix(&folder).unwrap().display().to_string()))
    }

    #[test]
    fn a_folder_says_its_language_by_its_manifest() {
        let cargo = [("Cargo.toml", "[dependencies]\nnephila-sdk = { path = \"sdk\" }"), ("src/lib.rs", "")];
        assert_eq!(found(&cargo), Ok((Language::Rust, "Cargo.toml".into())));
        assert_eq!(found(&[("package.json", "{}"), ("crawler.js", "")]), Ok((Language::JavaScript, "crawler.js".into())));
        let typed = [("package.json", "{}"), ("src/crawler.ts", ""), ("src/quote.ts", "")];
        assert_eq!(found(&typed), Ok((Language::TypeScript, "src/crawler.ts".into())));
        let named = [("package.json", r#"{"main": "shop.mjs"}"#), ("shop.mjs", ""), ("crawler.js", "")];
        assert_eq!(found(&named), Ok((Language::JavaScript, "shop.mjs".into())));
        assert_eq!(found(&[("pyproject.toml", ""), ("crawler.py", "")]), Ok((Language::Python, "crawler.py".into())));
    }

    #[test]
    fn without_a_manifest_the_files_say_it() {
        assert_eq!(found(&[("books.py", ""), ("test_books.py", "")]), Ok((Language::Python, "books.py".into())));
        assert_eq!(found(&[("crawler.c", ""), ("text.c", "")]), Ok((Language::C, "crawler.c".into())));
        assert_eq!(found(&[("crawler.ts", ""), ("types.d.ts", "")]), Ok((Language::TypeScript, "crawler.ts".into())));
    }

    #[test]
    fn what_is_not_clear_is_refused_with_the_way_out() {
        let nothing = found(&[("README.md", "")]).unwrap_err();
        assert!(nothing.contains("no plugin was found") && nothing.contains("nephila new"), "{nothing}");
        let two = found(&[("package.json", "{}"), ("crawler.js", ""), ("pyproject.toml", ""), ("crawler.py", "")]).unwrap_err();
        assert!(two.contains("more than one language") && two.contains("crawler.py"), "{two}");
        let lost = found(&[("package.json", r#"{"main": "gone.js"}"#)]).unwrap_err();
        assert!(lost.contains("gone.js"), "{lost}");
        let many = found(&[("pyproject.toml", ""), ("a.py", ""), ("b.py", "")]).unwrap_err();
        assert!(many.contains("a.py") && many.contains("call it crawler"), "{many}");
        // A Cargo.toml of something else is no plugin.
        assert!(found(&[("Cargo.toml", "[package]")]).is_err());
    }

    #[test]
    fn a_file_is_a_plugin_by_its_ending() {
        let place = tempfile::tempdir().unwrap();
        for (file, language) in
            [("My_Shop.js", Some(Language::JavaScript)), ("a.ts", Some(Language::TypeScript)), ("a.c", Some(Language::C))]
        {
            let path = place.path().join(file);
            std::fs::write(&path, "").unwrap();
            let source = Source::find(&path).unwrap();
            assert_eq!((Some(source.language), source.extent), (language, Extent::File));
            assert_eq!(source.own_sdk(), None);
        }
        assert_eq!(Source::find(&place.path().join("My_Shop.js")).unwrap().name, "my-shop");
        for (file, said) in [("a.rs", "nephila new"), ("a.wasm", "nephila inspect"), ("a.txt", ".py")] {
            let path = place.path().join(file);
            std::fs::write(&path, "").unwrap();
            let error = Source::find(&path).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(Source::find(&place.path().join("gone.js")).unwrap_err().to_string().contains("no such file"));
    }
}
