//! The drivers of the SDKs: programs in the author's language that make a component of a source.
//!
//! They are called as `INTERPRETER build.(mjs|py) --source FILE --wit DIR --out FILE --work DIR [--tools DIR]` and answer with one JSON
//! object on standard output: `{"ok": true, "entryPoints": […], "inputs": […]}`, or `{"ok": false, "stage": …, "message": …}` with the
//! place in the author's source. What they write on standard error is for people and goes there.

use crate::error::Fault;
use crate::{BuildError, Stage};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A driver, and what it is to build.
#[derive(Debug)]
pub(crate) struct Driver<'a> {
    /// What runs it.
    pub(crate) interpreter: &'a Path,
    /// The driver itself.
    pub(crate) script: PathBuf,
    pub(crate) source: &'a Path,
    pub(crate) wit: PathBuf,
    pub(crate) out: &'a Path,
    pub(crate) work: &'a Path,
    pub(crate) tools: Option<&'a Path>,
}

/// What a driver built.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Answer {
    /// The files that went into it, beside the SDK; none if the driver does not say.
    #[serde(default)]
    pub(crate) inputs: Vec<PathBuf>,
}

impl Driver<'_> {
    /// Builds.
    pub(crate) fn run(&self) -> Result<Answer, BuildError> {
        let mut command = Command::new(self.interpreter);
        command.arg(&self.script).arg("--source").arg(self.source).arg("--wit").arg(&self.wit).arg("--out").arg(self.out);
        command.arg("--work").arg(self.work).stdin(Stdio::null()).stderr(Stdio::inherit());
        if let Some(tools) = self.tools {
            command.arg("--tools").arg(tools);
        }
        // A driver leaves nothing in the SDK's folder, which is a cache or the author's.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let output = command.output().map_err(|error| self.failed(format!("it cannot be started: {error}")))?;
        let answer = self.read(&output.stdout).map_err(|cause| self.failed(format!("{cause} ({})", output.status)))??;
        if !self.out.is_file() {
            return Err(self.failed("it said that it had built the component, but wrote none".to_owned()));
        }
        Ok(answer)
    }

    fn failed(&self, cause: String) -> BuildError {
        BuildError::program(format!("the driver {}", self.script.display()), cause)
    }

    fn read(&self, stdout: &[u8]) -> Result<Result<Answer, Fault>, String> {
        #[derive(Deserialize)]
        struct Told {
            ok: bool,
        }
        let text = String::from_utf8_lossy(stdout);
        // A tool below it may have printed something.
        let line = text.lines().rev().find(|line| line.trim_start().starts_with('{')).ok_or("it ended without an answer")?;
        let read = |error: serde_json::Error| format!("its answer is not understood: {error}");
        if serde_json::from_str::<Told>(line).map_err(read)?.ok {
            return serde_json::from_str(line).map(Ok).map_err(read);
        }
        let fault: Fault = serde_json::from_str(line).map_err(read)?;
        Ok(Err(fault))
    }
}

impl From<Fault> for BuildError {
    fn from(fault: Fault) -> Self {
        match fault.stage {
            // Its message has the command that installs what is missing.
            Stage::Toolchain => BuildError::program("the tools", fault.message),
            _ => BuildError::Fault(Box::new(fault)),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// A driver in shell.
    fn run(script: &str) -> Result<Answer, BuildError> {
        let place = tempfile::tempdir().unwrap();
        let (script_file, out) = (place.path().join("build.sh"), place.path().join("out.wasm"));
        std::fs::write(&script_file, script).unwrap();
        Driver {
            interpreter: Path::new("/bin/sh"),
            script: script_file,
            source: Path::new("crawler.js"),
            wit: PathBuf::from("wit"),
            out: &out,
            work: place.path(),
            tools: Some(Path::new("/tools")),
        }
        .run()
    }

    #[test]
    fn a_driver_is_told_everything_and_says_what_went_in() {
        let script = r#"
            test "$*" = "--source crawler.js --wit wit --out $6 --work $8 --tools /tools" || exit 9
            echo component > "$6"
            echo "a tool says something"
            echo '{"ok": true, "entryPoints": ["handler"], "size": 10, "inputs": ["/a/crawler.js"]}'
        "#;
        assert_eq!(run(script).unwrap().inputs, [PathBuf::from("/a/crawler.js")]);
    }

    #[test]
    fn a_fault_names_its_place_in_the_authors_source() {
        let script = r#"echo '{"ok":false,"stage":"syntax","message":"Unexpected }","file":"crawler.js","line":3,"column":5,"snippet":"3 | }"}'; exit 1"#;
        let error = run(script).unwrap_err();
        assert_eq!(error.to_string(), "crawler.js:3:5: Unexpected }");
        assert_eq!(error.details().as_deref(), Some("3 | }"));
    }

    #[test]
    fn a_missing_tool_is_said_in_the_drivers_words() {
        let script = r#"echo '{"ok":false,"stage":"toolchain","message":"esbuild is missing: npm install esbuild"}'; exit 1"#;
        assert!(run(script).unwrap_err().to_string().ends_with("esbuild is missing: npm install esbuild"));
    }

    #[test]
    fn a_driver_that_breaks_the_contract_is_named() {
        for (script, said) in [
            ("exit 3", "without an answer"),
            ("echo '{\"ok\": 7}'", "not understood"),
            ("echo '{\"ok\": true}'", "wrote none"),
            ("echo '{\"ok\": false, \"stage\": \"lunch\", \"message\": \"\"}'", "not understood"),
        ] {
            let error = run(script).unwrap_err().to_string();
            assert!(error.contains("build.sh") && error.contains(said), "{error}");
        }
    }
}
