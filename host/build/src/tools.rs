//! Commands that install what is missing, said before they are run and only run when that was asked for.

use crate::BuildError;
use crate::process::{on_path, shown};
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Commands, one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    lines: Vec<Vec<OsString>>,
}

impl Installation {
    pub(crate) fn new<const N: usize>(words: [OsString; N]) -> Self {
        Self { lines: vec![words.into()] }
    }

    pub(crate) fn then<const N: usize>(mut self, words: [OsString; N]) -> Self {
        self.lines.push(words.into());
        self
    }

    /// The commands, as they are typed.
    pub fn lines(&self) -> Vec<String> {
        let quoted = |word: &OsString| {
            let word = word.to_string_lossy();
            let plain = |c: char| c.is_alphanumeric() || "/._-=@:+~".contains(c);
            if !word.is_empty() && word.chars().all(plain) {
                word.into_owned()
            } else {
                format!("'{}'", word.replace('\'', r"'\''"))
            }
        };
        self.lines.iter().map(|line| line.iter().map(quoted).collect::<Vec<_>>().join(" ")).collect()
    }

    /// Whether the first of them is a program of this machine.
    pub fn can_run(&self) -> bool {
        self.lines
            .first()
            .and_then(|line| line.first())
            .and_then(|program| program.to_str())
            .is_some_and(|name| on_path(name).is_some())
    }

    /// Runs them; what they print goes to standard error.
    ///
    /// # Errors
    /// If one fails, with its name.
    pub fn run(&self) -> Result<(), BuildError> {
        for line in &self.lines {
            let Some((program, arguments)) = line.split_first() else { continue };
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::null()).stdout(std::io::stderr());
            let ended = command.status();
            let failed = |cause: String| BuildError::program(format!("`{}`", shown(&command)), cause);
            match ended {
                Ok(status) if status.success() => {}
                Ok(status) => return Err(failed(format!("it ended with {status}"))),
                Err(error) => return Err(failed(format!("it cannot be started: {error}"))),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_they_are_typed_and_run_in_order() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("with space");
        let installation =
            Installation::new(["mkdir".into(), folder.clone().into()]).then(["touch".into(), folder.join("x").into()]);
        assert!(installation.lines()[0].starts_with("mkdir '") && installation.lines()[1].starts_with("touch '"));
        installation.run().unwrap();
        assert!(folder.join("x").is_file());
        // It is there already.
        assert!(installation.run().unwrap_err().to_string().contains("mkdir"));
    }
}
