//! Where a storage folder is to be, and how it gets there when it is whole.
//!
//! Decision: it is written beside its place ([`Beside`]) and moved there in one step, so that a folder of that name is complete
//! or is not there, and what it replaces is there until then. What cannot be moved is found before anything is written. What is
//! replaced is thrown away only when the disk has what takes its place, which costs a synchronisation of the whole file system.

use crate::beside::{self, Beside};
use crate::{Existing, StorageError, mounts};
use nephila_crawlee::is_storage;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The place of a storage folder.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    beside: Beside,
    replaces: Replaces,
}

#[derive(Debug)]
enum Replaces {
    Nothing,
    /// With the folder around it, which is open so that it can be synchronised.
    AStorage {
        parent: File,
    },
}

impl Place {
    /// Makes an empty folder beside the place that `given` says. `job` is the folder of the job, which is not to be touched.
    ///
    /// # Errors
    /// A refusal, and then nothing has changed.
    pub(crate) fn take(given: &Path, existing: Existing, job: &Path) -> Result<Self, StorageError> {
        let failed = |action| move |cause| StorageError::Io { path: given.to_owned(), action, cause };
        let (folder, parent, name) = whereabouts(given)?;
        let job = fs::canonicalize(job).map_err(failed("reach the job's folder from"))?;
        // The job's folder itself is no storage.
        if folder != job && (job.starts_with(&folder) || folder.starts_with(&job)) {
            return Err(StorageError::Job { path: folder, job });
        }
        let replaces = match fs::metadata(&folder) {
            // A link is not replaced, and nothing is where it leads to.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(&folder).is_ok() => {
                return Err(StorageError::LinkToNothing { path: folder });
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Replaces::Nothing,
            Err(cause) => return Err(failed("look at")(cause)),
            Ok(found) if !found.is_dir() => return Err(StorageError::NotAFolder { path: folder }),
            Ok(found) if found.dev() != fs::metadata(&parent).map_err(failed("look at"))?.dev() => {
                return Err(StorageError::MountPoint { path: folder });
            }
            Ok(_) if fs::read_dir(&folder).map_err(failed("list"))?.next().is_none() => Replaces::Nothing,
            Ok(_) if !is_storage(&folder)? => return Err(StorageError::NotAStorage { path: folder }),
            Ok(_) => match existing {
                Existing::Overwrite => {
                    refuse_mounts(&folder)?;
                    Replaces::AStorage { parent: File::open(&parent).map_err(failed("open the folder around"))? }
                }
                Existing::Refuse => return Err(StorageError::Exists { path: folder }),
                Existing::Append => return Err(StorageError::Append { path: folder }),
            },
        };
        let prefix = format!(".{name}.nephila-export-");
        beside::sweep(&parent, &prefix);
        let mut beside = Beside::make(&parent, &prefix)?;
        if let Replaces::AStorage { .. } = replaces {
            let tried = Beside::make(&parent, &prefix).and_then(|other| {
                beside.try_exchange(other).map_err(|cause| StorageError::NoExchange { path: folder.clone(), cause })
            });
            if let Err(error) = tried {
                beside.clear();
                return Err(error);
            }
        }
        Ok(Self { folder, beside, replaces })
    }

    /// Where to write.
    pub(crate) fn beside(&self) -> &Path {
        self.beside.path()
    }

    /// Puts what was written into its place.
    ///
    /// # Errors
    /// What the system says, or a refusal if something else has come to the place meanwhile; then that is as it was, or the error
    /// says where it is.
    pub(crate) fn put(self) -> Result<(), StorageError> {
        let whole = self.beside.is_whole().map_err(|cause| self.failed("write", cause));
        let result = whole.and_then(|()| match &self.replaces {
            Replaces::Nothing => {
                fs::rename(self.beside.path(), &self.folder).map_err(|cause| self.failed("put in its place", cause))
            }
            Replaces::AStorage { parent } => self.exchange(parent),
        });
        if result.is_err() {
            self.clear();
        }
        result
    }

    /// Takes away what was written, and nothing else, whatever is beside the place by now.
    pub(crate) fn clear(&self) {
        self.beside.clear();
    }

    fn exchange(&self, parent: &File) -> Result<(), StorageError> {
        self.beside.sync().map_err(|cause| self.failed("sync the disk of", cause))?;
        // No other export is to find it without a lock under the name that it gets now.
        let old = beside::open(&self.folder).map_err(|cause| self.failed("open", cause))?;
        drop(old.try_lock());
        // What was mounted there since would be emptied with the folder.
        refuse_mounts(&self.folder)?;
        self.swap().map_err(|cause| self.failed("put in its place", cause))?;
        self.settle(parent)
    }

    // What was in the place is beside it now: it is thrown away, or goes back.
    fn settle(&self, parent: &File) -> Result<(), StorageError> {
        // It may have become something else since it was looked at.
        match is_storage(self.beside.path()) {
            Ok(true) => {}
            other => {
                let (path, kept) = (self.folder.clone(), self.beside.path().to_owned());
                self.swap().map_err(|cause| StorageError::PutAside { path: path.clone(), kept, cause })?;
                return Err(other.err().map_or_else(|| StorageError::NotAStorage { path }, Into::into));
            }
        }
        match parent.sync_all() {
            Ok(()) => beside::remove(self.beside.path()),
            Err(cause) => {
                let (folder, kept) = (self.folder.display(), self.beside.path().display());
                tracing::warn!(
                    %folder,
                    %kept,
                    %cause,
                    "the storage is whole and in its place, but the disk may not know yet; what was there before is kept, \
                     remove it when it is of no more use"
                );
            }
        }
        Ok(())
    }

    fn swap(&self) -> io::Result<()> {
        beside::exchange(self.beside.path(), &self.folder)
    }

    fn failed(&self, action: &'static str, cause: io::Error) -> StorageError {
        StorageError::Io { path: self.folder.clone(), action, cause }
    }
}

fn refuse_mounts(folder: &Path) -> Result<(), StorageError> {
    match mounts::within(folder) {
        Some(place) if place == folder => Err(StorageError::MountPoint { path: folder.to_owned() }),
        Some(place) => Err(StorageError::MountWithin { path: folder.to_owned(), place }),
        None => Ok(()),
    }
}

// A link stands for the folder that it leads to.
fn whereabouts(given: &Path) -> Result<(PathBuf, PathBuf, String), StorageError> {
    let failed = |cause| StorageError::Io { path: given.to_owned(), action: "reach", cause };
    let folder = match fs::canonicalize(given) {
        Ok(folder) => folder,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => given.to_owned(),
        Err(cause) => return Err(failed(cause)),
    };
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(StorageError::NoName { path: given.to_owned() });
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = fs::canonicalize(parent).map_err(failed)?;
    Ok((parent.join(name), parent, name.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A folder with a job's folder and a storage in it.
    fn given() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (job, storage) = (folder.path().join("job"), folder.path().join("storage"));
        fs::create_dir(&job).unwrap();
        fs::create_dir_all(storage.join("datasets/default")).unwrap();
        fs::write(storage.join("datasets/default/__metadata__.json"), "old").unwrap();
        (folder, job, storage)
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_replaced_goes_when_the_new_one_is_whole() {
        let (folder, job, storage) = given();
        let place = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        fs::create_dir(place.beside().join("datasets")).unwrap();
        assert_eq!(names(&storage.join("datasets")), ["default"]);
        place.put().unwrap();
        assert!(names(&storage.join("datasets")).is_empty());
        assert_eq!(names(folder.path()), ["job", "storage"]);
    }

    #[test]
    fn what_has_become_something_else_meanwhile_stays() {
        let (folder, job, storage) = given();
        let place = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        fs::write(storage.join("thesis.txt"), "mine").unwrap();
        assert!(matches!(place.put(), Err(StorageError::NotAStorage { .. })));
        assert_eq!(names(&storage), ["datasets", "thesis.txt"]);
        assert_eq!(names(folder.path()), ["job", "storage"]);
    }

    #[test]
    fn the_jobs_folder_and_the_storage_are_apart() {
        let (folder, job, storage) = given();
        let inside = storage.join("datasets/default/job");
        fs::create_dir(&inside).unwrap();
        for (given, job) in [(&storage, &inside), (&job.join("storage"), &job)] {
            assert!(matches!(Place::take(given, Existing::Overwrite, job), Err(StorageError::Job { .. })), "{}", given.display());
        }
        assert_eq!(names(folder.path()), ["job", "storage"]);
    }

    #[test]
    fn a_mount_point_is_refused_at_once() {
        let job = tempfile::tempdir().unwrap();
        let refused = Place::take(Path::new("/proc"), Existing::Overwrite, job.path());
        assert!(matches!(refused, Err(StorageError::MountPoint { .. })), "{refused:?}");
    }

    #[test]
    fn what_dead_exports_left_is_taken_away_and_what_others_write_is_not() {
        let (folder, job, storage) = given();
        let left = folder.path().join(".storage.nephila-export-1");
        fs::create_dir_all(left.join("datasets")).unwrap();
        let other = folder.path().join(".others.nephila-export-1");
        fs::create_dir(&other).unwrap();
        let first = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        assert!(!left.exists() && other.exists());
        let second = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        assert!(first.beside().exists() && second.beside().exists() && first.beside() != second.beside());
        let path = first.beside().to_owned();
        drop(first);
        let third = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        assert!(!path.exists() && third.beside().exists());
    }

    /// A place whose storage was exchanged with a new one, and is something else by now.
    fn exchanged(folder: &Path, job: &Path) -> Place {
        let storage = folder.join("storage");
        let place = Place::take(&storage, Existing::Overwrite, job).unwrap();
        place.beside.is_whole().unwrap();
        fs::write(storage.join("thesis.txt"), "mine").unwrap();
        place.swap().unwrap();
        place
    }

    #[test]
    fn what_cannot_go_back_stays_where_the_error_says_and_no_later_export_takes_it_away() {
        let (folder, job, storage) = given();
        let place = exchanged(folder.path(), &job);
        // The new one is moved, so that nothing can be exchanged with it.
        fs::rename(&storage, folder.path().join("moved")).unwrap();
        let refused = place.settle(&File::open(folder.path()).unwrap()).unwrap_err();
        let StorageError::PutAside { ref kept, .. } = refused else { panic!("{refused}") };
        assert!(refused.to_string().contains(&kept.display().to_string()), "{refused}");
        place.clear();
        assert_eq!(names(kept), ["datasets", "thesis.txt"]);
        let kept = kept.clone();
        drop(place);
        Place::take(&storage, Existing::Overwrite, &job).unwrap().clear();
        assert_eq!(names(&kept), ["datasets", "thesis.txt"]);
    }

    #[test]
    fn what_goes_back_is_as_it_was_and_the_new_one_is_taken_away() {
        let (folder, job, storage) = given();
        let place = exchanged(folder.path(), &job);
        let refused = place.settle(&File::open(folder.path()).unwrap()).unwrap_err();
        assert!(matches!(refused, StorageError::NotAStorage { .. }), "{refused}");
        place.clear();
        assert_eq!(names(&storage), ["datasets", "thesis.txt"]);
        assert_eq!(names(folder.path()), ["job", "storage"]);
    }

    #[test]
    fn what_is_replaced_is_kept_where_the_disk_cannot_be_told() {
        let (_folder, job, storage) = given();
        let place = Place::take(&storage, Existing::Overwrite, &job).unwrap();
        place.beside.is_whole().unwrap();
        place.swap().unwrap();
        // A device that synchronises nothing.
        place.settle(&File::open("/dev/null").unwrap()).unwrap();
        assert!(names(&storage).is_empty());
        assert_eq!(names(place.beside()), ["datasets"]);
    }

    #[test]
    fn a_folder_around_that_cannot_be_opened_is_refused_at_once() {
        let (folder, job, storage) = given();
        let set = |mode| fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode)).unwrap();
        // Root may open anything.
        if !rustix::process::geteuid().is_root() {
            set(0o300);
            let refused = Place::take(&storage, Existing::Overwrite, &job);
            set(0o700);
            assert!(matches!(refused, Err(StorageError::Io { .. })), "{refused:?}");
            assert_eq!(names(folder.path()), ["job", "storage"]);
        }
    }

    #[test]
    fn a_link_to_nothing_is_refused_at_once() {
        let (folder, job, _) = given();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("none", &link).unwrap();
        for existing in [Existing::Refuse, Existing::Overwrite] {
            let refused = Place::take(&link, existing, &job);
            assert!(matches!(refused, Err(StorageError::LinkToNothing { .. })), "{refused:?}");
        }
        assert_eq!(names(folder.path()), ["job", "link", "storage"]);
        // One that leads somewhere stands for that.
        fs::create_dir(folder.path().join("none")).unwrap();
        Place::take(&link, Existing::Refuse, &job).unwrap().put().unwrap();
        assert_eq!(names(folder.path()), ["job", "link", "none", "storage"]);
    }
}
