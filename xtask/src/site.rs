//! The test site, for a person and for the demo.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::build::{Profile, programs};
use crate::folders::Folders;
use crate::process::{cargo, turn_into};

/// Runs the test site with a person's arguments until it is stopped.
///
/// The optimised one, brought up to date, if `build` or `demo` made it once; else the quickest to compile.
pub(crate) fn forward(folders: &Folders, arguments: &[String]) -> Result<()> {
    let optimised = folders.program(Profile::Release, "nephila-site");
    if optimised.is_file() {
        programs(folders, Profile::Release)?;
        return turn_into(Command::new(optimised).args(arguments));
    }
    let mut command = Command::new(cargo());
    command.current_dir(&folders.root).args(["run", "--quiet", "--package", "nephila-site", "--"]).args(arguments);
    turn_into(&mut command)
}

/// A site that runs beside this program and ends with it.
#[derive(Debug)]
pub(crate) struct Site {
    child: Child,
    /// Where it listens, with the slash at the end.
    pub(crate) url: String,
}

impl Site {
    /// Starts it on a free port and waits until it listens.
    pub(crate) fn start(folders: &Folders, arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(folders.program(Profile::Release, "nephila-site"));
        command.args(arguments).args(["--port", "0"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start the test site")?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let mut site = Site { child, url: String::new() };
        match line.trim().strip_prefix("listening on ") {
            Some(url) => site.url = url.to_owned(),
            None => bail!("the test site did not start; it said: {line:?}"),
        }
        Ok(site)
    }

    /// What the site counted.
    pub(crate) fn statistics(&self) -> Result<Value> {
        let authority = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(authority).context("the test site does not answer")?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        write!(stream, "GET /_site/stats HTTP/1.0\r\nHost: {authority}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("the test site's answer has no body")?;
        serde_json::from_str(body).context("the test site's statistics are no JSON")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // It may have ended by itself: then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
