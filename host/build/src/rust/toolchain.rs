//! Which Rust compiles plugins, and where their standard library comes from.
//!
//! Decision: one target for all, `wasm32-unknown-unknown`. Its output imports nothing but the contract, so a sandbox needs
//! no WASI at all, which makes components smaller and instances cheaper. It costs a step that encodes the core module as
//! a component (`component`), and standard output is lost; a panic reaches the log through the SDK's hook.
//!
//! The standard library for that target is compiled already (rustup's target), or its source is at hand (Debian's packages,
//! rustup's component rust-src) and cargo compiles it along, once per target folder. That second way needs the unstable
//! `-Zbuild-std`, hence `RUSTC_BOOTSTRAP=1`, and a linker, which every rustup toolchain ships.

use crate::process::{cargo, on_path, output_if_it_works, without_outer_cargo, works_within};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What plugins are compiled for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Bytes of a plugin's own stack, which are part of its memory and cleared with it between two calls: 128 KiB, twice what WebAssembly's linker
/// gives by itself (enough for JSON of 128 levels), instead of the MiB that rustc asks it for. With the SDK's heap it keeps a small plugin
/// within 256 KiB, so that a fresh sandbox faults in no page; a plugin that recurses beyond it traps.
const STACK: &str = "-Clink-arg=-zstack-size=131072";

/// Debian's compiler and the source of its standard library; they do not touch a rustup toolchain.
pub const DEBIAN: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// How long `rustup target add` may take: without a network it may hang instead of failing.
const RUSTUP_LIMIT: Duration = Duration::from_secs(180);

/// A Rust that can compile plugins.
#[derive(Debug)]
pub struct Toolchain {
    rust: Rust,
    library: Library,
}

/// Where the standard library comes from.
#[derive(Debug)]
enum Library {
    Compiled,
    FromSource { linker: PathBuf },
}

/// A cargo and its compiler.
#[derive(Debug)]
struct Rust {
    name: &'static str,
    cargo: PathBuf,
    rustc: PathBuf,
}

impl Toolchain {
    /// One that is ready.
    pub fn find() -> Option<Self> {
        let active = Rust::active();
        if active.has_library() {
            return Some(Toolchain { rust: active, library: Library::Compiled });
        }
        let linker = find_linker(&active)?;
        let rusts = [active].into_iter().chain(Rust::distribution());
        let rust = rusts.into_iter().find(Rust::has_source)?;
        Some(Toolchain { rust, library: Library::FromSource { linker } })
    }

    /// Lets rustup add the target to the active toolchain; whether that worked.
    pub fn add_target() -> bool {
        Rust::active().add_target()
    }

    /// Whether there is a linker for the standard library from source.
    pub fn has_linker() -> bool {
        find_linker(&Rust::active()).is_some()
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        let version = output_if_it_works(Command::new(&self.rust.rustc).arg("--version")).unwrap_or_default();
        let library = match &self.library {
            Library::Compiled => "with its compiled standard library".to_owned(),
            Library::FromSource { linker } => {
                format!("with -Zbuild-std (the standard library from source) and the linker {}", linker.display())
            }
        };
        format!("plugins: {TARGET} by the {} Rust ({version}), {library}", self.rust.name)
    }

    /// `cargo build` for the plugins' target.
    pub fn cargo_build(&self, flags: &[String]) -> Command {
        let flags: Vec<&str> = flags.iter().map(String::as_str).chain([STACK]).collect();
        let mut command = Command::new(&self.rust.cargo);
        without_outer_cargo(&mut command)
            .args(["build", "--target", TARGET])
            .env("RUSTC", &self.rust.rustc)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        if let Library::FromSource { linker } = &self.library {
            command
                .arg("-Zbuild-std=std,panic_abort")
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        command
    }

    /// The folder of the toolchain itself, whose paths should not get into plugins.
    pub fn sysroot(&self) -> Option<PathBuf> {
        self.rust.sysroot()
    }
}

impl Rust {
    /// The one that runs this program.
    fn active() -> Self {
        let cargo = cargo();
        // Beside a toolchain's own cargo is its own compiler; a bare name goes through the path, perhaps to rustup.
        let rustc = cargo.with_file_name(format!("rustc{}", std::env::consts::EXE_SUFFIX));
        Rust { name: "active", rustc: if rustc.is_file() { rustc } else { "rustc".into() }, cargo }
    }

    /// The distribution's.
    fn distribution() -> Option<Self> {
        let rust = Rust { name: "distribution's", cargo: "/usr/bin/cargo".into(), rustc: "/usr/bin/rustc".into() };
        (rust.cargo.is_file() && rust.rustc.is_file()).then_some(rust)
    }

    fn ask(&self, arguments: &[&str]) -> Option<String> {
        output_if_it_works(without_outer_cargo(&mut Command::new(&self.rustc)).args(arguments))
    }

    fn sysroot(&self) -> Option<PathBuf> {
        self.ask(&["--print", "sysroot"]).map(PathBuf::from)
    }

    fn has_library(&self) -> bool {
        let Some(folder) = self.ask(&["--print", "target-libdir", "--target", TARGET]) else { return false };
        let Ok(files) = std::fs::read_dir(folder) else { return false };
        let is_std = |name: OsString| name.to_string_lossy().starts_with("libstd-");
        files.filter_map(Result::ok).any(|file| is_std(file.file_name()))
    }

    fn has_source(&self) -> bool {
        self.sysroot().is_some_and(|root| root.join("lib/rustlib/src/rust/library/std/Cargo.toml").is_file())
    }

    fn add_target(&self) -> bool {
        let (Some(rustup), Some(sysroot)) = (on_path("rustup"), self.sysroot()) else { return false };
        // Only a toolchain that rustup manages can be added to; its folder bears its name.
        let Some(name) = sysroot.file_name().filter(|_| sysroot.parent().is_some_and(|dir| dir.ends_with("toolchains"))) else {
            return false;
        };
        let mut command = Command::new(rustup);
        without_outer_cargo(&mut command).args(["target", "add", "--toolchain"]).arg(name).arg(TARGET);
        command.env("RUST_BACKTRACE", "0");
        works_within(RUSTUP_LIMIT, &mut command)
    }

    /// `rust-lld`, which rustup's toolchains ship for their own use.
    fn own_linker(&self) -> Option<PathBuf> {
        let version = self.ask(&["--version", "--verbose"])?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "))?;
        let file = Path::new("lib/rustlib").join(host).join("bin/rust-lld");
        Some(self.sysroot()?.join(file)).filter(|file| file.is_file())
    }
}

fn find_linker(active: &Rust) -> Option<PathBuf> {
    active.own_linker().or_else(|| ["rust-lld", "wasm-ld"].into_iter().find_map(on_path))
}
