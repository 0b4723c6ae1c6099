//! How the programs say an error: in one line, what failed, on what, and why, as `nephila` does.
//!
//! Decision: not Rust's own way for a `main` that returns an error: with RUST_BACKTRACE set it puts some fifty lines after the message,
//! and these errors come from outside (a file, a program), where a backtrace says nothing.

use anyhow::Result;
use std::process::ExitCode;

/// Says an error, if there is one, under the program's name; gives what the process exits with.
pub fn said(program: &str, ended: Result<ExitCode>) -> ExitCode {
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{program}: {}", one_line(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

/// Other programs' words among them may have more lines than one.
fn one_line(text: &str) -> String {
    text.split(char::is_control).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn an_error_is_one_line() {
        assert_eq!(one_line("it said:\n  error: no\n\nusage\n"), "it said: error: no usage");
    }
}
