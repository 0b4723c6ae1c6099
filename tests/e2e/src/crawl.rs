//! `nephila run` as a child process.

use crate::binary;
use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A command line that can be started more than once.
#[derive(Debug, Clone)]
pub struct Crawl {
    arguments: Vec<std::ffi::OsString>,
    folder: std::path::PathBuf,
    environment: Vec<(String, String)>,
    /// Bytes of address space at most.
    address_space: Option<u64>,
}

/// What a finished process left.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

impl Crawl {
    /// `nephila` with these arguments, in this folder.
    #[must_use]
    pub fn new<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Self {
        Self {
            arguments: arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect(),
            folder: folder.to_owned(),
            environment: Vec::new(),
            address_space: None,
        }
    }

    /// With more arguments.
    #[must_use]
    pub fn with<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// With an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With so many bytes of address space at most, as `ulimit -v` gives it.
    #[must_use]
    pub fn within_address_space(mut self, bytes: u64) -> Self {
        self.address_space = Some(bytes);
        self
    }

    fn command(&self) -> Result<Command> {
        let program = binary("nephila")?;
        let mut command = match self.address_space {
            None => Command::new(program),
            Some(bytes) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("ulimit -v {} && exec \"$@\"", bytes / 1_024), "sh"]).arg(program);
                shell
            }
        };
        command.args(&self.arguments).current_dir(&self.folder).envs(self.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(&self) -> Result<Ended> {
        Ok(Ended::of(self.command()?.output().context("starting nephila")?))
    }

    /// Starts it, and sends it a signal after a while unless it has ended by then.
    ///
    /// # Errors
    /// If it cannot be started, or does not end within two minutes after the signal.
    pub fn run_until(&self, after: Duration, signal: Signal) -> Result<Ended> {
        let mut child = self.command()?.spawn().context("starting nephila")?;
        let deadline = Instant::now() + after;
        while Instant::now() < deadline && child.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(1).min(deadline.saturating_duration_since(Instant::now())));
        }
        send(&child, signal)?;
        let ended = Ended::of(child.wait_with_output()?);
        Ok(ended)
    }

    /// Starts it and leaves it running.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(&self) -> Result<Child> {
        self.command()?.spawn().context("starting nephila")
    }
}

/// Sends a signal to a child that may have ended.
fn send(child: &Child, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    match kill(pid, signal) {
        Ok(()) | Err(nix::errno::Errno::ESRCH) => Ok(()),
        Err(error) => Err(error).context("sending a signal"),
    }
}

impl Ended {
    /// From what the system says.
    #[must_use]
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// What `--json` printed.
    ///
    /// # Errors
    /// If standard output is not one JSON object.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(self.stdout.trim())
            .with_context(|| format!("standard output is not JSON: {:?}; standard error: {}", self.stdout, self.stderr))
    }

    /// Itself, if the exit code is this one.
    ///
    /// # Errors
    /// If it is another, with what was said.
    pub fn expect_code(self, code: i32) -> Result<Self> {
        if self.code != Some(code) {
            bail!(
                "exit code {:?} instead of {code}; standard output: {}; standard error: {}",
                self.code,
                self.stdout,
                self.stderr
            );
        }
        Ok(self)
    }
}
