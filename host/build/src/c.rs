//! C: clang with a C library for WASI, or zig, which brings its own; the module is then encoded as a component.

use crate::builder::{Made, Place};
use crate::error::Fault;
use crate::process::{on_path, output_if_it_works, say};
use crate::source::Extent;
use crate::tools::Installation;
use crate::{BuildError, Folders, Language, Source, Stage, component, sdk};
use nephila_sdk_c::Compiler as Kind;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What compiles C for WebAssembly.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Compiler {
    kind: Kind,
    /// The program and its first arguments.
    words: Vec<OsString>,
}

pub(crate) fn build(source: &Source, place: &Place<'_>) -> Result<Made, BuildError> {
    let compiler = find(place)?;
    let module = place.work.join("module.wasm");
    let dependencies = place.work.join("module.d");
    let mut command = compiler.command();
    let sources = sources(source);
    // A file at a time, so that each tells what it includes.
    let mut inputs = Vec::new();
    let mut objects = Vec::new();
    for (index, file) in [&sdk_of(place).join("nephila.c")].into_iter().chain(&sources).enumerate() {
        let object = place.work.join(format!("{index}.o"));
        let mut one = compiler.command();
        one.arg("-I").arg(sdk_of(place)).arg("-c").arg(file).arg("-o").arg(&object).args(["-MMD", "-MF"]).arg(&dependencies);
        let mut own = std::ffi::OsString::from("-ffile-prefix-map=");
        own.extend([source.folder.as_os_str(), "/=".as_ref()]);
        one.arg(own);
        run(&mut one)?;
        inputs.extend(included(&std::fs::read_to_string(&dependencies).unwrap_or_default()));
        objects.push(object);
    }
    command.args(compiler.kind.link_flags()).args(&objects).arg("-o").arg(&module);
    run(&mut command)?;
    sdk::write(place.out, &component::encode(&module)?)?;
    Ok(Made { inputs })
}

/// Which compiler a build would take, by its file.
pub(crate) fn fingerprint(folders: &Folders) -> Option<String> {
    let program = clangs().into_iter().find(|path| path.is_file()).or_else(|| on_path("zig")).unwrap_or_else(|| python(folders));
    let file = program.metadata().ok()?;
    let age = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    Some(format!("{} {} of {age}", program.display(), file.len()))
}

pub(crate) fn installation(folders: &Folders) -> Installation {
    let home = folders.tools.join("c");
    Installation::new(["python3".into(), "-m".into(), "venv".into(), home.into()]).then([
        python(folders).into(),
        "-m".into(),
        "pip".into(),
        "install".into(),
        "--quiet".into(),
        "ziglang".into(),
    ])
}

pub(crate) fn is_installed(folders: &Folders) -> bool {
    python(folders).is_file()
}

impl Compiler {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(self.kind.flags());
        command
    }
}

fn sdk_of(place: &Place<'_>) -> PathBuf {
    place.sdk.join("plugin-sdk/c/nephila")
}

/// A single file, or every file of a project but those of tests.
fn sources(source: &Source) -> Vec<PathBuf> {
    if source.extent == Extent::File {
        return vec![source.main.clone()];
    }
    let folder = source.main.parent().unwrap_or(&source.folder);
    let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_own = |file: &PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        file.extension().is_some_and(|ending| ending == "c") && !name.starts_with("test") && !name.ends_with("_test")
    };
    let mut files: Vec<PathBuf> = files.filter(is_own).collect();
    files.sort();
    files
}

fn clangs() -> Vec<PathBuf> {
    let sdk = std::env::var_os("WASI_SDK_PATH").map(PathBuf::from).into_iter().chain([PathBuf::from("/opt/wasi-sdk")]);
    sdk.map(|folder| folder.join("bin/clang")).chain(on_path("clang")).collect()
}

fn python(folders: &Folders) -> PathBuf {
    folders.tools.join("c/bin/python")
}

fn find(place: &Place<'_>) -> Result<Compiler, BuildError> {
    let zig = |words: &[&std::ffi::OsStr]| Compiler { kind: Kind::Zig, words: words.iter().map(OsString::from).collect() };
    let clangs =
        clangs().into_iter().filter(|path| path.is_file()).map(|path| Compiler { kind: Kind::Clang, words: vec![path.into()] });
    let zigs = on_path("zig").map(|path| zig(&[path.as_os_str(), "cc".as_ref()]));
    let pythons = [Some(python(place.folders)).filter(|path| path.is_file()), on_path("python3")].into_iter().flatten();
    let ziglangs = pythons.map(|path| zig(&[path.as_os_str(), "-m".as_ref(), "ziglang".as_ref(), "cc".as_ref()]));
    clangs.chain(zigs).chain(ziglangs).find(|compiler| works(compiler, place.work)).ok_or_else(|| BuildError::NoToolchain {
        language: Language::C,
        needs: "building C needs a clang with a C library for WebAssembly, or zig (running it does not)".to_owned(),
        looked: [
            "$WASI_SDK_PATH",
            "/opt/wasi-sdk",
            "clang, zig and python3 -m ziglang on $PATH",
            &python(place.folders).display().to_string(),
        ]
        .map(str::to_owned)
        .into(),
        install: vec![
            "sudo apt-get install clang lld wasi-libc libclang-rt-dev-wasm32      (Debian 12, Ubuntu)".to_owned(),
            installation(place.folders).lines().join(" && "),
        ],
    })
}

/// Whether a compiler has all that it needs: library, headers, linker.
fn works(compiler: &Compiler, work: &Path) -> bool {
    let file = work.join("probe.c");
    if std::fs::write(&file, "#include <stdio.h>\nint probe(void) { return puts(\"\"); }\n").is_err() {
        return false;
    }
    let mut command = compiler.command();
    command.arg("-fno-sanitize=all").args(compiler.kind.link_flags());
    output_if_it_works(command.arg(&file).arg("-o").arg(work.join("probe.wasm"))).is_some()
}

/// Runs the compiler. Warnings go to standard error; the first error is the author's.
fn run(command: &mut Command) -> Result<(), BuildError> {
    let output = command.output().map_err(|error| BuildError::program("the C compiler", error))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        say(&said);
        return Ok(());
    }
    Err(match fault(&said) {
        Some(fault) => BuildError::Fault(Box::new(fault)),
        None => BuildError::program("the C compiler", said.trim()),
    })
}

/// The first `FILE:LINE:COLUMN: error: MESSAGE`, and the source below it.
fn fault(said: &str) -> Option<Fault> {
    let mut lines = said.lines();
    let (place, message) =
        lines.by_ref().find_map(|line| line.split_once(": error: ").or_else(|| line.split_once(": fatal error: ")))?;
    let mut parts = place.rsplitn(3, ':');
    let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    // The line itself and the mark; what may come behind them is a proposal, or another message.
    let is_message = |line: &&str| [": error: ", ": warning: ", ": note: ", " generated."].iter().any(|sign| line.contains(sign));
    let snippet: Vec<&str> = lines.take_while(|line| !is_message(line)).take(2).collect();
    Some(Fault {
        stage: Stage::Syntax,
        message: message.to_owned(),
        file: Some(parts.next()?.to_owned()),
        line: Some(line),
        column: Some(column),
        snippet: (!snippet.is_empty()).then(|| snippet.join("\n")),
    })
}

/// The files of a rule for make, `OBJECT: FILE FILE \` over several lines.
fn included(rule: &str) -> Vec<PathBuf> {
    let Some((_, files)) = rule.split_once(": ") else { return Vec::new() };
    let files = files.replace("\\\n", " ").replace("\\ ", "\0");
    files.split_whitespace().map(|file| PathBuf::from(file.replace('\0', " "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_the_authors() {
        let said = "crawler.c:2:1: warning: unused\n x\n ^\nshop/crawler.c:7:12: error: expected ';'\n    int x = 1\n             ^\n             ;\n1 error generated.\n";
        let fault = fault(said).unwrap();
        assert_eq!(fault.to_string(), "shop/crawler.c:7:12: expected ';'");
        assert_eq!(fault.snippet.unwrap(), "    int x = 1\n             ^");
        assert_eq!(super::fault("wasm-ld: error: undefined symbol: x"), None);
    }

    #[test]
    fn what_a_file_includes_is_read_from_the_rule() {
        let rule = "a.o: src/a.c \\\n  src/my\\ shop.h ../sdk/nephila.h\n";
        assert_eq!(included(rule), ["src/a.c", "src/my shop.h", "../sdk/nephila.h"].map(PathBuf::from));
    }

    #[test]
    fn tests_are_no_part_of_a_plugin() {
        let place = tempfile::tempdir().unwrap();
        for name in ["crawler.c", "text.c", "test_text.c", "text.h"] {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let source = Source::find(place.path()).unwrap();
        let names: Vec<_> = sources(&source).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["crawler.c", "text.c"]);
    }
}
