//! The languages that plugins are written in.

use std::fmt;
use std::path::Path;

/// A language with an SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Rust, by cargo.
    Rust,
    /// JavaScript, by esbuild and componentize-qjs.
    JavaScript,
    /// TypeScript, by the same.
    TypeScript,
    /// Python, by componentize-py.
    Python,
    /// C, by clang or zig.
    C,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 5] = [Self::Rust, Self::JavaScript, Self::TypeScript, Self::Python, Self::C];

    /// The word for it on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::JavaScript => "js",
            Self::TypeScript => "ts",
            Self::Python => "python",
            Self::C => "c",
        }
    }

    /// The language of this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.word() == word)
    }

    /// The language of a file that is a plugin by itself, by its ending. A plugin in Rust is always a folder.
    pub fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" => Some(Self::TypeScript),
            "py" => Some(Self::Python),
            "c" => Some(Self::C),
            _ => None,
        }
    }

    /// The folder of its SDK under `plugin-sdk`.
    pub(crate) fn sdk(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::JavaScript | Self::TypeScript => "js",
            Self::Python => "python",
            Self::C => "c",
        }
    }

    /// The endings of files that belong to a source in it.
    pub(crate) fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["rs", "toml", "lock"],
            Self::JavaScript | Self::TypeScript => &["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "json"],
            Self::Python => &["py", "toml"],
            Self::C => &["c", "h"],
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rust => "Rust",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Python => "Python",
            Self::C => "C",
        })
    }
}
