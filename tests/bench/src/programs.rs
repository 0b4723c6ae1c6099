//! The programs that take part, and how each is called.

use crate::arguments::usual;
use crate::cost::Cost;
use crate::leash::{leash, leashed};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// One of the two that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Contestant {
    /// The yardstick.
    BareLoop,
    /// Nephila with a plugin.
    Nephila,
}

/// Where everything is.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `nephila`.
    pub nephila: PathBuf,
    /// The plugin that it runs.
    pub plugin: PathBuf,
    /// Further arguments of `nephila run`.
    pub nephila_arguments: Vec<String>,
    /// `bare_loop`.
    pub bare_loop: PathBuf,
    /// `nephila-site`.
    pub site: PathBuf,
    /// `measure`.
    pub measure: PathBuf,
}

impl Programs {
    /// Those beside this program, and the plugin where `cargo xtask plugins` leaves it.
    ///
    /// # Errors
    /// If this program's own place is not known.
    pub fn beside_this_one() -> Result<Self> {
        let this = std::env::current_exe().context("where is this program?")?;
        let folder = this.parent().context("this program is in no folder")?;
        let beside = |name: &str| folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        Ok(Self {
            nephila: beside("nephila"),
            plugin: folder.join("../test-plugins/bench.wasm"),
            nephila_arguments: Vec::new(),
            bare_loop: beside("bare_loop"),
            site: beside("nephila-site"),
            measure: beside("measure"),
        })
    }

    /// Says what is missing before anything has begun.
    ///
    /// # Errors
    /// If something is not built.
    pub fn check(&self) -> Result<()> {
        for file in [&self.nephila, &self.plugin, &self.bare_loop, &self.site, &self.measure, &leash()?] {
            if !file.is_file() {
                bail!("{} is not built; `cargo xtask bench` builds everything and runs this", file.display());
            }
        }
        Ok(())
    }

    /// Lets one crawl from `url` in an empty folder. Its items are then in [`items`].
    pub(crate) fn run(&self, contestant: Contestant, url: &str, folder: &Path) -> Result<Cost> {
        let (cost, said) = (folder.join("cost.json"), folder.join("said.txt"));
        let mut command = leashed(&std::path::absolute(&self.measure)?)?;
        command.arg("cost.json").current_dir(folder).stdin(Stdio::null());
        match contestant {
            Contestant::BareLoop => command.arg(std::path::absolute(&self.bare_loop)?).arg(url).arg(ITEMS),
            Contestant::Nephila => {
                command.arg(std::path::absolute(&self.nephila)?).arg("run").arg(std::path::absolute(&self.plugin)?).arg(url);
                command.args(["--job", "job", "-o", ITEMS]).args(usual(&self.nephila_arguments)).args(&self.nephila_arguments)
            }
        };
        // To a file, as a service would: a pipe would have to be read meanwhile, at somebody's cost.
        let out = File::create(&said).with_context(|| format!("cannot write {}", said.display()))?;
        let status = command.stdout(out.try_clone()?).stderr(out).status().context("cannot start `measure`")?;
        let read = |file: &Path| std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()));
        if !status.success() {
            bail!("{} ended with {status}; it said: {}", contestant.name(), read(&said)?);
        }
        serde_json::from_str(&read(&cost)?).context("what `measure` wrote is no JSON")
    }
}

const ITEMS: &str = "items.jsonl";

/// Where a run leaves its items.
pub(crate) fn items(folder: &Path) -> PathBuf {
    folder.join(ITEMS)
}

impl Contestant {
    /// Both.
    pub const ALL: [Self; 2] = [Self::BareLoop, Self::Nephila];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BareLoop => "bare loop",
            Self::Nephila => "nephila",
        }
    }
}
