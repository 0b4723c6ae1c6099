//! Compiled plugins on disk.
//!
//! Decision: compiled code is native code, so that only what this host wrote is ever loaded: from a folder that is ours alone
//! (0700), from plain files that are ours alone, under a name made of the plugin's digest and the engine's settings, with a digest
//! over what is in them. What was checked in memory is what runs; the file is not mapped. The price is one copy per load, some
//! milliseconds for a script engine. A folder that does not qualify is not used, and said; nothing fails for want of a cache.

use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use wasmtime::Engine;
use wasmtime::component::Component;

const MAGIC: &[u8; 16] = b"nephila-cwasm-01";
const HEADER: usize = MAGIC.len() + 8 + 32;
const EXTENSION: &str = "nephila-cwasm";

/// A folder of compiled plugins.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    most_bytes: u64,
    settings: u64,
}

impl Cache {
    /// Opens a folder, which is made if it is not there. `None`, with a warning, if it is not ours alone.
    pub(crate) fn open(folder: &Path, most_bytes: u64, engine: &Engine) -> Option<Self> {
        if let Err(cause) = prepare(folder) {
            tracing::warn!(folder = %folder.display(), cause, "compiled plugins are not kept; each start compiles them again");
            return None;
        }
        // The name also has our own version: what we do around the code may change too.
        let mut hasher = DefaultHasher::new();
        (env!("CARGO_PKG_VERSION"), engine.precompile_compatibility_hash()).hash(&mut hasher);
        Some(Self { folder: folder.to_owned(), most_bytes, settings: hasher.finish() })
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{digest}-{:016x}.{EXTENSION}", self.settings))
    }

    /// The compiled form of a plugin, if there is a good one.
    pub(crate) fn get(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let path = self.path(digest);
        let code = match read(&path) {
            Ok(code) => code?,
            Err(cause) => {
                tracing::warn!(file = %path.display(), cause, "a compiled plugin is not used; it is compiled again");
                return None;
            }
        };
        // SAFETY: `deserialize` needs bytes that `Component::serialize` made. These were written by `put` of this host, which only
        // serialises: the folder and the file belong to this user and nobody else may write to them, and their digest is right.
        // (Who can act as this user can replace the host itself.)
        match unsafe { Component::deserialize(engine, &code) } {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!(file = %path.display(), error = %error, "a compiled plugin is not used; it is compiled again");
                None
            }
        }
    }

    /// Keeps the compiled form of a plugin, and removes the oldest ones beyond the bound. Failing is no error.
    pub(crate) fn put(&self, digest: &str, component: &Component) {
        let written = component
            .serialize()
            .map_err(|error| error.to_string())
            .and_then(|code| write(&self.folder, &self.path(digest), &code).map_err(|error| error.to_string()));
        if let Err(cause) = written {
            tracing::warn!(folder = %self.folder.display(), cause, "a compiled plugin could not be kept");
        }
        self.trim();
    }

    fn trim(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let now = SystemTime::now();
        let mut kept = Vec::new();
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let (path, modified) = (entry.path(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
            let extension = path.extension().and_then(OsStr::to_str);
            if extension == Some(EXTENSION) {
                kept.push((modified, metadata.len(), path));
            } else if extension == Some("nephila-tmp")
                && now.duration_since(modified).is_ok_and(|age| age > Duration::from_secs(3_600))
            {
                // A writer was killed.
                let _ = fs::remove_file(path);
            }
        }
        kept.sort();
        let mut bytes: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, path) in kept {
            if bytes <= self.most_bytes {
                break;
            }
            if fs::remove_file(path).is_ok() {
                bytes -= size;
            }
        }
    }
}

fn prepare(folder: &Path) -> Result<(), String> {
    if fs::symlink_metadata(folder).is_err() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| format!("it cannot be made: {error}"))?;
    }
    let metadata = fs::symlink_metadata(folder).map_err(|error| error.to_string())?;
    if !metadata.is_dir() {
        return Err("it is not a folder".to_owned());
    }
    ours_alone(&metadata)
}

#[cfg(unix)]
fn ours_alone(metadata: &fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user; name one that is yours".to_owned());
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(format!("others may use it (mode {:o}); run chmod go-rwx on it", metadata.mode() & 0o777));
    }
    Ok(())
}

#[cfg(not(unix))]
fn ours_alone(_: &fs::Metadata) -> Result<(), String> {
    Err("this system does not say who may write to it".to_owned())
}

/// The code in a file: `None` if there is no file, an error if it is not one of ours, or not whole.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        i32::try_from((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits()).unwrap_or(0),
    );
    let mut file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a plain file".to_owned());
    }
    ours_alone(&metadata)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let (header, code) = bytes.split_at_checked(HEADER).ok_or("it is too short")?;
    let (magic, rest) = header.split_at(MAGIC.len());
    let (length, digest) = rest.split_at(8);
    if magic != MAGIC {
        return Err("it is not a file of this host".to_owned());
    }
    if length != (code.len() as u64).to_le_bytes() {
        return Err("it is truncated".to_owned());
    }
    if digest != Sha256::digest(code).as_slice() {
        return Err("its contents were changed".to_owned());
    }
    // What is used stays: the oldest are removed first.
    let _ = file.set_modified(SystemTime::now());
    bytes.drain(..HEADER);
    Ok(Some(bytes))
}

fn write(folder: &Path, path: &Path, code: &[u8]) -> std::io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let temporary = folder.join(format!("{}-{}.nephila-tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&temporary).and_then(|mut file| {
        file.write_all(MAGIC)?;
        file.write_all(&(code.len() as u64).to_le_bytes())?;
        file.write_all(&Sha256::digest(code))?;
        file.write_all(code)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::engine::{Allocation, config};
    use std::os::unix::fs::PermissionsExt;

    struct Bench {
        folder: tempfile::TempDir,
        engine: Engine,
        component: Component,
        cache: Cache,
    }

    fn bench() -> Bench {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = Engine::new(&config(Allocation::OnDemand, crate::Metering::Time)).expect("an engine");
        let wasm = wat::parse_str("(component (core module $m (func (export \"f\"))) (core instance (instantiate $m)))");
        let component = Component::new(&engine, wasm.expect("well-formed")).expect("compiles");
        let cache = Cache::open(&folder.path().join("cache"), 1 << 20, &engine).expect("a cache");
        Bench { folder, engine, component, cache }
    }

    #[test]
    fn what_was_put_is_got_and_the_folder_is_ours_alone() {
        let bench = bench();
        assert!(bench.cache.get(&bench.engine, "abc").is_none());
        bench.cache.put("abc", &bench.component);
        assert!(bench.cache.get(&bench.engine, "abc").is_some());
        assert!(bench.cache.get(&bench.engine, "abd").is_none());
        let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
        assert_eq!((mode(&bench.cache.folder), mode(&bench.cache.path("abc"))), (0o700, 0o600));
    }

    #[test]
    fn truncated_changed_and_foreign_files_are_never_loaded() {
        let bench = bench();
        bench.cache.put("abc", &bench.component);
        let path = bench.cache.path("abc");
        let whole = fs::read(&path).expect("the file");
        let mut changed = whole.clone();
        let last = changed.len() - 1;
        changed[last] ^= 1;
        let raw = bench.component.serialize().expect("serialises");
        for bad in [&whole[..whole.len() - 1], &whole[..10], &[], &changed, &raw] {
            fs::write(&path, bad).expect("written");
            assert!(bench.cache.get(&bench.engine, "abc").is_none());
        }
        fs::write(&path, &whole).expect("written");
        assert!(bench.cache.get(&bench.engine, "abc").is_some());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("changed");
        assert!(bench.cache.get(&bench.engine, "abc").is_none(), "others may write to it");
        fs::rename(&path, bench.folder.path().join("elsewhere")).expect("moved");
        std::os::unix::fs::symlink(bench.folder.path().join("elsewhere"), &path).expect("linked");
        assert!(bench.cache.get(&bench.engine, "abc").is_none(), "a link");
    }

    #[test]
    fn a_folder_that_is_not_ours_alone_is_not_used() {
        let bench = bench();
        let open = bench.folder.path().join("open");
        fs::create_dir(&open).expect("made");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).expect("changed");
        assert!(Cache::open(&open, 1, &bench.engine).is_none());
        let link = bench.folder.path().join("link");
        std::os::unix::fs::symlink(bench.folder.path().join("cache"), &link).expect("linked");
        assert!(Cache::open(&link, 1, &bench.engine).is_none());
        let file = bench.folder.path().join("file");
        fs::write(&file, "x").expect("written");
        assert!(Cache::open(&file, 1, &bench.engine).is_none());
        if rustix::process::geteuid().is_root() {
            let other = bench.folder.path().join("other");
            fs::create_dir(&other).expect("made");
            fs::set_permissions(&other, fs::Permissions::from_mode(0o700)).expect("changed");
            std::os::unix::fs::chown(&other, Some(12_345), None).expect("given away");
            assert!(Cache::open(&other, 1, &bench.engine).is_none());
        }
    }

    #[test]
    fn the_oldest_go_when_it_is_full() {
        let bench = bench();
        bench.cache.put("a", &bench.component);
        let size = fs::metadata(bench.cache.path("a")).expect("metadata").len();
        let small = Cache { folder: bench.cache.folder.clone(), most_bytes: 2 * size, settings: bench.cache.settings };
        for (age, name) in [(300, "a"), (200, "b"), (100, "c")] {
            small.put(name, &bench.component);
            let file = File::options().write(true).open(small.path(name)).expect("the file");
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("aged");
        }
        small.trim();
        let left: Vec<_> = ["a", "b", "c"].into_iter().filter(|name| small.path(name).exists()).collect();
        assert_eq!(left, ["b", "c"]);
    }

    #[test]
    fn what_was_used_last_stays() {
        let bench = bench();
        bench.cache.put("a", &bench.component);
        let size = fs::metadata(bench.cache.path("a")).expect("metadata").len();
        let small = Cache { folder: bench.cache.folder.clone(), most_bytes: 2 * size, settings: bench.cache.settings };
        small.put("b", &bench.component);
        for (age, name) in [(300, "a"), (200, "b")] {
            let file = File::options().write(true).open(small.path(name)).expect("the file");
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("aged");
        }
        assert!(small.get(&bench.engine, "a").is_some(), "now it was used last");
        small.put("c", &bench.component);
        let left: Vec<_> = ["a", "b", "c"].into_iter().filter(|name| small.path(name).exists()).collect();
        assert_eq!(left, ["a", "c"]);
    }

    #[test]
    fn several_processes_may_use_one_folder_at_a_time() {
        let bench = bench();
        bench.cache.put("0", &bench.component);
        let size = fs::metadata(bench.cache.path("0")).expect("metadata").len();
        // Each has handles of its own and room for half of what they keep, so that they remove each other's files all the time.
        let names: Vec<String> = (0..8).map(|n| n.to_string()).collect();
        let found: usize = std::thread::scope(|scope| {
            let users: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let own = Cache::open(&bench.cache.folder, 4 * size, &bench.engine).expect("a cache");
                        let mut found = 0;
                        for name in names.iter().cycle().take(40) {
                            match own.get(&bench.engine, name) {
                                // What is loaded was checked: it is whole.
                                Some(_) => found += 1,
                                None => own.put(name, &bench.component),
                            }
                        }
                        found
                    })
                })
                .collect();
            users.into_iter().map(|user| user.join().expect("no panic")).sum()
        });
        assert!(found <= 160);
        bench.cache.put("0", &bench.component);
        let small = Cache { folder: bench.cache.folder.clone(), most_bytes: 4 * size, settings: bench.cache.settings };
        small.trim();
        let files: Vec<_> = fs::read_dir(&small.folder).expect("the folder").flatten().map(|entry| entry.path()).collect();
        let kept = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION)).count();
        assert!((1..=4).contains(&kept) && files.len() == kept, "{files:?}");
    }
}
