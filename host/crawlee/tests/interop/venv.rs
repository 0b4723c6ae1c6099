//! A Python with Crawlee in it, made once and kept beside the other things that are built.
//!
//! Decision: the packages are pinned to exact versions, and the folder is rebuilt when the list changes. A lock keeps two test runs
//! from building it at once. A machine without Python or without the package index skips what needs it, by name; CI may not.

use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const REQUIREMENTS: &str = include_str!("requirements.txt");

/// The oldest Python that the pinned packages run on. Crawlee itself needs 3.10.
const OLDEST: (u32, u32) = (3, 11);

/// The interpreter; `None`, said on both outputs, if this machine cannot have one.
pub fn python_with_crawlee(test: &str) -> Result<Option<PathBuf>> {
    match python() {
        Ok(python) => Ok(Some(python)),
        // Machines of the CI have Python and the package index, so that there it may not be left out.
        Err(cause) if std::env::var_os("CI").is_some() => Err(cause),
        Err(cause) => {
            let line = format!("SKIPPED: {test} ({cause:#})");
            // Not by the macros: what they print is kept back when a test passes.
            writeln!(std::io::stdout(), "{line}")?;
            writeln!(std::io::stderr(), "{line}")?;
            Ok(None)
        }
    }
}

fn python() -> Result<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().context("the target folder has no parent")?;
    let venv = target.join("interop-venv");
    let (python, stamp) = (venv.join("bin/python"), venv.join("requirements.installed"));
    let lock = File::create(target.join("interop-venv.lock"))?;
    lock.lock()?;
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == REQUIREMENTS) {
        return Ok(python);
    }
    let version =
        run(Command::new("python3").args(["-c", "import sys; print(*sys.version_info[:2])"])).context("python3 is needed")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let parts: Vec<u32> = version.split_whitespace().filter_map(|part| part.parse().ok()).collect();
    ensure!(
        matches!(parts[..], [major, minor] if (major, minor) >= OLDEST),
        "python3 is {}, and the pinned packages need {}.{}",
        version.trim(),
        OLDEST.0,
        OLDEST.1
    );
    if venv.exists() {
        fs::remove_dir_all(&venv)?;
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv))
        .context("python3 has no venv; on Debian: apt-get install python3-venv")?;
    let list = venv.join("requirements.txt");
    fs::write(&list, REQUIREMENTS)?;
    let options =
        ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--only-binary", ":all:", "-r"];
    run(Command::new(&python).args(options).arg(&list)).context("pip cannot install Crawlee; is the package index reachable?")?;
    fs::write(stamp, REQUIREMENTS)?;
    Ok(python)
}

/// Runs a command to its end; what it says when it fails is the error.
pub fn run(command: &mut Command) -> Result<Output> {
    let output = command.output().with_context(|| format!("running {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(output)
}
