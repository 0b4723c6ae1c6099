//! Files of authors: read whole if they are files and not too large, and written so that what was there stays until all is written.

use crate::FixtureError;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes of a file at most; what a page may have in a crawl by default.
const MOST: u64 = 32 << 20;

/// The bytes of a file.
///
/// # Errors
/// [`FixtureError::Read`] also for what is no file (a pipe could be waited for, a device read, for ever), and for one that is too large.
pub fn read(path: &Path) -> Result<Vec<u8>, FixtureError> {
    let bytes = || -> io::Result<Vec<u8>> {
        // Before it is opened: to open a pipe is to wait for its writer.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST {
            return Err(io::Error::other(format!("it has more than the {MOST} bytes that a page may have")));
        }
        Ok(bytes)
    };
    bytes().map_err(|cause| FixtureError::Read { path: path.display().to_string(), cause })
}

/// Writes a file beside its place, and then puts it there: what was there is replaced whole or not at all. A link is followed if it leads
/// to something.
///
/// # Errors
/// [`FixtureError::Write`], and then nothing has changed.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FixtureError> {
    let put = || -> io::Result<()> {
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // The umask takes away what it takes away from every file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut beside = builder.prefix(".nephila-").tempfile_in(folder)?;
        beside.write_all(bytes)?;
        beside.as_file().sync_all()?;
        beside.persist(&place)?;
        Ok(())
    };
    put().map_err(|cause| FixtureError::Write { path: path.display().to_string(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_replaces_a_file_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("a.json"), folder.path().join("link.json"));
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        write(&file, b"1").expect("written");
        write(&link, b"22").expect("written");
        assert_eq!((read(&file).expect("read"), read(&link).expect("read")), (b"22".to_vec(), b"22".to_vec()));
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2);
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        for path in ["/dev/zero", "/"] {
            let error = read(Path::new(path)).expect_err(path).to_string();
            assert!(error.contains("it is not a file"), "{error}");
        }
    }
}
