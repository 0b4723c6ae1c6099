//! Components that were built before: found by their source's path, kept by what they were built of, bounded.
//!
//! `builds/DIGEST.json` is the record of the last build of a path; `components/KEY/NAME.wasm` is what it came to. The folder's name is the
//! key, so that the file can have the plugin's name, which a plugin without a manifest goes by.

use crate::record::{Record, digest};
use crate::{BuildError, Source, inputs};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of components that are kept: some dozens in Python, hundreds in JavaScript. The ones that were not used for longest go.
const BYTES: u64 = 1 << 30;

/// The cache of a user.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    bytes: u64,
}

impl Cache {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), bytes: BYTES }
    }

    /// The component of a source, if what it was built of is unchanged, and the files that are.
    pub(crate) fn get(&self, source: &Source, tools: Option<&str>) -> Option<(PathBuf, Vec<PathBuf>)> {
        let record = Record::read(&self.record_of(source)).filter(|record| record.holds(source, tools))?;
        let component = self.component_of(source, &record.key(source));
        // The time of its last use; a file that is gone is no hit.
        let file = std::fs::File::options().append(true).open(&component).ok()?;
        let _ = file.set_modified(SystemTime::now());
        Some((component, record.files()))
    }

    /// Keeps a component, which is moved from where it was built.
    pub(crate) fn put(&self, source: &Source, record: &Record, built: &Path) -> Result<PathBuf, BuildError> {
        let component = self.component_of(source, &record.key(source));
        if let Some(folder) = component.parent() {
            std::fs::create_dir_all(folder).map_err(|cause| BuildError::file(folder, "made", cause))?;
        }
        let part = component.with_extension(format!("part-{}", std::process::id()));
        // Never across file systems half-way: a copy beside its place, then its name.
        std::fs::copy(built, &part).map_err(|cause| BuildError::file(&part, "written", cause))?;
        std::fs::rename(&part, &component).map_err(|cause| BuildError::file(&component, "written", cause))?;
        record.write(&self.record_of(source))?;
        self.prune(&component);
        Ok(component)
    }

    fn record_of(&self, source: &Source) -> PathBuf {
        let of = format!("{}\0{}", source.language.word(), inputs::absolute(&source.main).display());
        self.folder.join("builds").join(format!("{}.json", &digest(of.as_bytes())[..32]))
    }

    fn component_of(&self, source: &Source, key: &str) -> PathBuf {
        self.folder.join("components").join(&key[..32]).join(format!("{}.wasm", source.name))
    }

    /// Removes what was not used for longest beyond the bound, and records that lead to nothing any more are overwritten by the next
    /// build. What cannot be removed stays: a cache is no reason to fail.
    fn prune(&self, but: &Path) {
        let folders = std::fs::read_dir(self.folder.join("components")).into_iter().flatten().filter_map(Result::ok);
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten()).filter_map(Result::ok);
        let mut all: Vec<(SystemTime, u64, PathBuf)> = files
            .filter_map(|file| {
                let metadata = file.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), file.path()))
            })
            .collect();
        all.sort();
        let mut total: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, file) in all {
            if total <= self.bytes {
                break;
            }
            if file != but && std::fs::remove_file(&file).is_ok() {
                total -= bytes;
                // Only if it is empty.
                let _ = file.parent().map(std::fs::remove_dir);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    struct Bench {
        place: tempfile::TempDir,
        cache: Cache,
    }

    impl Bench {
        fn new(bytes: u64) -> Self {
            let place = tempfile::tempdir().unwrap();
            let cache = Cache { folder: place.path().join("cache"), bytes };
            Self { place, cache }
        }

        fn source(&self, name: &str) -> Source {
            let file = self.place.path().join(name);
            std::fs::write(&file, name).unwrap();
            Source::find(&file).unwrap()
        }

        fn put(&self, source: &Source) -> PathBuf {
            let built = self.place.path().join("built");
            std::fs::write(&built, [0; 100]).unwrap();
            let record = Record::of(&[inputs::absolute(&source.main)], None).unwrap();
            self.cache.put(source, &record, &built).unwrap()
        }
    }

    #[test]
    fn a_component_is_found_until_its_source_changes() {
        let bench = Bench::new(1_000);
        let source = bench.source("crawler.js");
        assert_eq!(bench.cache.get(&source, None), None);
        let component = bench.put(&source);
        assert!(component.ends_with("crawler.wasm"));
        assert_eq!(bench.cache.get(&source, None).unwrap().0, component);
        std::fs::write(&source.main, "changed").unwrap();
        assert_eq!(bench.cache.get(&source, None), None);
        bench.put(&source);
        assert_ne!(bench.cache.get(&source, None).unwrap().0, component);
    }

    #[test]
    fn a_component_that_was_removed_is_built_again() {
        let bench = Bench::new(1_000);
        let source = bench.source("crawler.js");
        std::fs::remove_file(bench.put(&source)).unwrap();
        assert_eq!(bench.cache.get(&source, None), None);
    }

    #[test]
    fn beyond_the_bound_those_go_that_were_not_used_for_longest() {
        let bench = Bench::new(250);
        let sources: Vec<Source> = ["a.js", "b.js", "c.js"].iter().map(|name| bench.source(name)).collect();
        let old = |component: &Path, hours: u64| {
            let file = std::fs::File::options().append(true).open(component).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3_600)).unwrap();
        };
        let (a, b) = (bench.put(&sources[0]), bench.put(&sources[1]));
        old(&a, 2);
        old(&b, 1);
        // A use makes the older one the newer.
        assert!(bench.cache.get(&sources[0], None).is_some());
        bench.put(&sources[2]);
        let kept: Vec<bool> = sources.iter().map(|source| bench.cache.get(source, None).is_some()).collect();
        assert_eq!(kept, [true, false, true]);
        assert!(!b.parent().unwrap().exists());
    }
}
