//! What tells a storage folder of Crawlee's from any other folder.

use crate::CrawleeError;
use crate::folder::Part;
use std::fs;
use std::path::Path;

/// Whether there is nothing in the folder but the parts of a Crawlee storage: `key_value_stores`, `datasets` and `request_queues`. An empty
/// folder is one.
///
/// # Errors
/// [`CrawleeError::Io`] if it cannot be listed.
pub fn is_storage(folder: &Path) -> Result<bool, CrawleeError> {
    let failed = |cause| CrawleeError::io(folder, "list", cause);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_part = Part::ALL.iter().any(|part| entry.file_name() == part.folder());
        if !is_part || !entry.file_type().map_err(failed)?.is_dir() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
