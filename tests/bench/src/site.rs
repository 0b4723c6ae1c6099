//! The test site as a process of its own, of one thread, that ends with the benchmark.

use crate::leash::leashed;
use anyhow::{Context, Result, bail};
use nephila_site::Stats;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A site that serves.
#[derive(Debug)]
pub(crate) struct Site {
    child: Child,
    /// `http://127.0.0.1:PORT/`
    pub url: String,
}

impl Site {
    /// Starts it and waits until it listens, which it does with all pages rendered.
    pub fn start(program: &Path, arguments: &[String]) -> Result<Self> {
        let mut command = leashed(program)?;
        command.args(arguments).args(["--port", "0", "--threads", "1"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut site = Self { child, url: String::new() };
        let mut line = String::new();
        if let Some(out) = site.child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        match line.trim().strip_prefix("listening on ") {
            Some(url) => site.url = url.to_owned(),
            None => bail!("the site did not start; it said {line:?}"),
        }
        Ok(site)
    }

    /// Forgets what it was asked.
    pub fn reset(&self) -> Result<()> {
        self.ask("POST", "reset").map(|_| ())
    }

    /// What it was asked since the last reset.
    pub fn stats(&self) -> Result<Stats> {
        serde_json::from_str(&self.ask("GET", "stats")?).context("the site's statistics are no JSON")
    }

    fn ask(&self, method: &str, what: &str) -> Result<String> {
        let authority = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(authority).context("the site does not answer")?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        write!(stream, "{method} /_site/{what} HTTP/1.0\r\nHost: {authority}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        match answer.split_once("\r\n\r\n") {
            Some((head, body)) if head.contains(" 200 ") => Ok(body.to_owned()),
            _ => bail!("the site answered {answer:?}"),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // It may have ended by itself: then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
