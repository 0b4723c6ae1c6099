//! The distribution's packages, where this program may install them.

use std::process::Command;
use std::time::Duration;

use crate::process::{on_path, output_if_it_works, works_within};

const LIMIT: Duration = Duration::from_secs(600);

/// Whether packages can be installed without asking anybody: as root, with apt.
pub(crate) fn can_install() -> bool {
    on_path("apt-get").is_some() && output_if_it_works(Command::new("id").arg("-u")).is_some_and(|id| id == "0")
}

/// Installs packages; whether that worked.
pub(crate) fn install(names: &[&str]) -> bool {
    println!("trying: apt-get update && apt-get install --no-install-recommends {}", names.join(" "));
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").arg("--quiet");
        command
    };
    // An update may fail in part and still have brought what is needed: the install tells.
    works_within(LIMIT, apt().arg("update"));
    works_within(LIMIT, apt().args(["install", "--yes", "--no-install-recommends"]).args(names))
}
