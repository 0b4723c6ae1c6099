//! What tells a storage folder of Crawlee's from any other folder.
//!
//! Decision: it is asked before a folder is thrown away, so a name proves nothing: `datasets` is what many people call theirs.
//! What is in the parts must be stores, each with the metadata that Crawlee for Python, and this crate, write. The price: a store
//! that Crawlee for JavaScript wrote without metadata is not recognised.

use crate::CrawleeError;
use crate::folder::Part;
use crate::key::{INPUT, STORE_METADATA};
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::Path;

/// Whether there is nothing in the folder but the parts of a Crawlee storage (`key_value_stores`, `datasets` and
/// `request_queues`), and nothing in those but stores. An empty folder is one.
///
/// # Errors
/// [`CrawleeError::Io`] if it, or what is in it, cannot be listed.
pub fn is_storage(folder: &Path) -> Result<bool, CrawleeError> {
    all(folder, |entry| {
        let is_part = Part::ALL.iter().any(|part| entry.file_name() == part.folder());
        Ok(is_part && is_folder(entry)? && all(&entry.path(), |store| Ok(is_folder(store)? && is_store(&store.path())?))?)
    })
}

// One with nothing in it, or nothing but an input's file, has not been opened yet.
fn is_store(folder: &Path) -> Result<bool, CrawleeError> {
    let metadata = folder.join(STORE_METADATA);
    match fs::symlink_metadata(&metadata) {
        Ok(found) if found.is_file() => Ok(true),
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(CrawleeError::io(&metadata, "look at", cause)),
        _ => all(folder, |entry| {
            let name = entry.file_name();
            let is_input = name.to_str().is_some_and(|name| name.split('.').next() == Some(INPUT));
            Ok(is_input && kind(entry)?.is_file())
        }),
    }
}

fn all(folder: &Path, mut is_so: impl FnMut(&DirEntry) -> Result<bool, CrawleeError>) -> Result<bool, CrawleeError> {
    let failed = |cause| CrawleeError::io(folder, "list", cause);
    for entry in fs::read_dir(folder).map_err(failed)? {
        if !is_so(&entry.map_err(failed)?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

// A link is none.
fn is_folder(entry: &DirEntry) -> Result<bool, CrawleeError> {
    Ok(kind(entry)?.is_dir())
}

fn kind(entry: &DirEntry) -> Result<FileType, CrawleeError> {
    entry.file_type().map_err(|cause| CrawleeError::io(&entry.path(), "look at", cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatasetWriter, KeyValueWriter, StoreName};

    #[test]
    fn only_its_parts_make_a_storage() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_storage(folder.path()).unwrap());
        fs::create_dir(folder.path().join("datasets")).unwrap();
        assert!(is_storage(folder.path()).unwrap());
        fs::write(folder.path().join("thesis.txt"), "").unwrap();
        assert!(!is_storage(folder.path()).unwrap());
        fs::remove_file(folder.path().join("thesis.txt")).unwrap();
        fs::write(folder.path().join("key_value_stores"), "").unwrap();
        assert!(!is_storage(folder.path()).unwrap());
        assert!(is_storage(&folder.path().join("none")).is_err());
    }

    #[test]
    fn what_was_written_as_a_storage_is_one() {
        let folder = tempfile::tempdir().unwrap();
        KeyValueWriter::open(folder.path(), &StoreName::DEFAULT).unwrap();
        DatasetWriter::create(folder.path(), &StoreName::named("prices").unwrap()).unwrap().finish().unwrap();
        let input = folder.path().join("key_value_stores/new");
        fs::create_dir(&input).unwrap();
        fs::write(input.join("INPUT.json"), "{}").unwrap();
        assert!(is_storage(folder.path()).unwrap());
    }

    #[test]
    fn datasets_of_somebody_else_are_no_storage() {
        for (path, is_one) in [
            ("datasets/train.csv", false),
            ("datasets/images/1.png", false),
            ("datasets/a/INPUT.json", true),
            ("datasets/a/INPUT/thesis.txt", false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            assert_eq!(is_storage(folder.path()).unwrap(), is_one, "{}", path.display());
        }
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("datasets")).unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("datasets/all")).unwrap();
        assert!(!is_storage(folder.path()).unwrap());
    }
}
