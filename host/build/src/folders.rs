//! Where things are kept for a user, by the XDG Base Directory Specification.

use crate::BuildError;
use std::ffi::OsString;
use std::path::PathBuf;

/// The user's folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// What can be made again: components that were built, and the SDKs, unpacked.
    pub cache: PathBuf,
    /// Tools that were installed for building.
    pub tools: PathBuf,
}

impl Folders {
    /// `$XDG_CACHE_HOME/nephila` or `~/.cache/nephila`, and `$NEPHILA_TOOLS`, `$XDG_DATA_HOME/nephila` or `~/.local/share/nephila`.
    ///
    /// # Errors
    /// If there is neither the one nor a home folder.
    pub fn of_user() -> Result<Self, BuildError> {
        Self::of(|name| std::env::var_os(name))
    }

    pub(crate) fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, BuildError> {
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || absolute("HOME").ok_or_else(|| BuildError::program("the user's folders", "there is no $HOME; set it"));
        let below = |name: &str, otherwise: &str| match absolute(name) {
            Some(folder) => Ok(folder.join("nephila")),
            None => Ok::<_, BuildError>(home()?.join(otherwise).join("nephila")),
        };
        let tools = match absolute("NEPHILA_TOOLS") {
            Some(folder) => folder,
            None => below("XDG_DATA_HOME", ".local/share")?,
        };
        Ok(Self { cache: below("XDG_CACHE_HOME", ".cache")?, tools })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<(String, String)> {
        let folders =
            Folders::of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())).ok()?;
        Some((folders.cache.display().to_string(), folders.tools.display().to_string()))
    }

    #[test]
    fn variables_come_before_the_home_folder() {
        let pair = |cache: &str, tools: &str| Some((cache.to_owned(), tools.to_owned()));
        assert_eq!(of(&[("HOME", "/h")]), pair("/h/.cache/nephila", "/h/.local/share/nephila"));
        let set = [("HOME", "/h"), ("XDG_CACHE_HOME", "/c"), ("XDG_DATA_HOME", "/d")];
        assert_eq!(of(&set), pair("/c/nephila", "/d/nephila"));
        assert_eq!(of(&[("HOME", "/h"), ("NEPHILA_TOOLS", "/t")]), pair("/h/.cache/nephila", "/t"));
        assert_eq!(of(&[("HOME", "/h"), ("NEPHILA_TOOLS", "relative")]), pair("/h/.cache/nephila", "/h/.local/share/nephila"));
        assert_eq!(of(&[]), None);
    }
}
