//! Which folders become a job, which are refused untouched, and who may work in one.

use super::lock::{is_in_place, open_lock};
use super::*;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn mode_of(path: &Path) -> u32 {
    std::fs::metadata(path).expect("metadata").mode() & 0o777
}

#[test]
fn a_new_job_folder_is_private_and_so_is_an_empty_one_that_becomes_a_job() {
    let parent = folder();
    let new = parent.path().join("a/b");
    let _held = JobDir::open_or_create(&new).expect("a job");
    assert_eq!(mode_of(&new), 0o700);
    for mode in [0o755, 0o700] {
        let empty = parent.path().join(format!("{mode:o}"));
        std::fs::create_dir(&empty).expect("a folder");
        std::fs::set_permissions(&empty, Permissions::from_mode(mode)).expect("a mode");
        let _held = JobDir::open_or_create(&empty).expect("a job");
        assert_eq!(mode_of(&empty), 0o700);
    }
}

#[test]
fn a_job_in_use_is_refused_with_its_holder_and_free_again_afterwards() {
    let parent = folder();
    let path = parent.path().join("job");
    let (job, mut lock) = JobDir::open_or_create(&path).expect("a job");
    assert!(job.in_use());
    std::fs::write(path.join(DATABASE), "").expect("a file");
    let holder = || match JobDir::open_or_create(&path).expect_err("in use") {
        StoreError::InUse { holder, .. } => holder,
        other => other.to_string(),
    };
    // It has the lock, and has not said who it is; what a dead one said is not its word.
    for said in ["", "0", "-1", "999999999\n"] {
        std::fs::write(path.join(LOCK), said).expect("written");
        assert_eq!(holder(), "another process", "{said}");
    }
    lock.say_who(Timestamp::now());
    assert_eq!(holder(), format!("process {}", std::process::id()));
    drop(lock);
    assert!(!job.in_use());
    assert_eq!(std::fs::read(path.join(LOCK)).expect("bytes"), b"");
    assert!(JobDir::open_or_create(&path).is_ok());
}

#[test]
fn a_job_is_in_use_since_its_process_began_its_first_crawl() {
    let parent = folder();
    let (job, mut lock) = JobDir::open_or_create(parent.path().join("job")).expect("a job");
    // Two crawls that begin beside each other may say so in either order.
    for (said, since) in [(1_010, 1_010), (1_005, 1_005), (1_020, 1_005)] {
        lock.say_who(Timestamp::from_millis(said));
        assert_eq!(job.used_since(), Some(Timestamp::from_millis(since)));
    }
    drop(lock);
    assert_eq!(job.used_since(), None);
}

#[test]
fn who_takes_a_job_and_does_nothing_leaves_the_lock_file_as_it_was() {
    let parent = folder();
    let lock_file = parent.path().join(LOCK);
    let (_, lock) = JobDir::open_or_create(parent.path()).expect("a job");
    assert!(lock_file.exists());
    drop(lock);
    assert!(!lock_file.exists());
    std::fs::write(&lock_file, "4711\n").expect("a file");
    let before = lock_file.metadata().expect("metadata").modified().expect("a time");
    let (_, lock) = JobDir::open_or_create(parent.path()).expect("a job");
    drop(lock);
    assert_eq!(std::fs::read(&lock_file).expect("bytes"), b"4711\n");
    assert_eq!(lock_file.metadata().expect("metadata").modified().expect("a time"), before);
}

#[test]
fn a_lock_file_that_was_taken_away_while_it_was_opened_is_not_the_jobs_lock() {
    let parent = folder();
    let (job, refused) = JobDir::open_or_create(parent.path()).expect("a job");
    let (late, made) = open_lock(&parent.path().join(LOCK)).expect("a file");
    assert!(!made);
    drop(refused);
    late.try_lock().expect("nobody holds it");
    assert!(!is_in_place(&late).expect("an answer"));
    // Whoever comes after has a lock of its own, which is in its place.
    let lock = job.lock().expect("a lock");
    assert!(is_in_place(&lock.file).expect("an answer"));
}

#[test]
fn a_folder_that_others_may_write_to_is_refused_untouched() {
    for mode in [0o770, 0o702, 0o777] {
        let parent = folder();
        let path = parent.path().join("job");
        std::fs::create_dir(&path).expect("a folder");
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
        let error = JobDir::open_or_create(&path).expect_err("exposed");
        assert!(matches!(error, StoreError::Exposed { mode: found, .. } if found == mode));
        assert_eq!((mode_of(&path), std::fs::read_dir(&path).expect("entries").count()), (mode, 0));
    }
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let parent = folder();
    let path = parent.path().join("job");
    std::fs::create_dir(&path).expect("a folder");
    // Only root can arrange this.
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
        let error = JobDir::open_or_create(&path).expect_err("foreign");
        assert!(matches!(error, StoreError::ForeignOwner { owner: 12_345, .. }));
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_refused() {
    let parent = folder();
    let path = parent.path().join("job");
    std::fs::create_dir(&path).expect("a folder");
    std::fs::set_permissions(&path, Permissions::from_mode(0o500)).expect("a mode");
    // Root may write anywhere.
    if !rustix::process::geteuid().is_root() {
        assert!(matches!(JobDir::open_or_create(&path), Err(StoreError::Folder { .. })));
    }
    assert!(matches!(JobDir::open_or_create("/proc/no/such"), Err(StoreError::Folder { .. })));
}

#[test]
fn a_folder_with_other_things_and_a_file_are_no_jobs() {
    let parent = folder();
    let path = parent.path().join("notes");
    std::fs::create_dir(&path).expect("a folder");
    std::fs::write(path.join("lock"), "mine").expect("a file");
    std::fs::write(path.join("a.txt"), "x").expect("a file");
    assert!(matches!(JobDir::open_or_create(&path), Err(StoreError::NotAJob { .. })));
    assert_eq!(std::fs::read_to_string(path.join("lock")).expect("text"), "mine");
    assert!(matches!(JobDir::open_or_create(path.join("a.txt")), Err(StoreError::Folder { .. })));
    assert!(matches!(JobDir::existing(&path), Err(StoreError::NoJob { .. })));
}

#[test]
fn a_folder_whose_maker_died_before_the_database_was_there_is_used() {
    let parent = folder();
    std::fs::write(parent.path().join("lock"), "4711\n").expect("a file");
    assert!(JobDir::open_or_create(parent.path()).is_ok());
}

#[test]
fn a_lock_that_is_something_else_is_left_alone() {
    let parent = folder();
    let (other, job) = (parent.path().join("prec.txt"), parent.path().join("job"));
    type Make = fn(&Path, &Path);
    let cases: [(&str, Make); 4] = [
        ("a link", |other, lock| std::os::unix::fs::symlink(other, lock).expect("a link")),
        ("a second name", |other, lock| std::fs::hard_link(other, lock).expect("a link")),
        ("a folder", |_, lock| std::fs::create_dir(lock).expect("a folder")),
        ("a pipe", |_, lock| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, lock, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        }),
    ];
    std::fs::write(&other, "4711\n").expect("a file");
    for (what, make) in cases {
        for has_database in [false, true] {
            std::fs::create_dir(&job).expect("a folder");
            std::fs::set_permissions(&job, Permissions::from_mode(0o700)).expect("a mode");
            make(&other, &job.join(LOCK));
            if has_database {
                std::fs::write(job.join(DATABASE), "").expect("a file");
            }
            let error = JobDir::open_or_create(&job).expect_err(what);
            match error {
                StoreError::NotAJob { .. } => assert!(!has_database, "{what}"),
                StoreError::Folder { .. } => assert!(has_database, "{what}"),
                other => panic!("{what}: {other}"),
            }
            assert_eq!(std::fs::read(&other).expect("bytes"), b"4711\n", "{what}");
            assert!(!JobDir { path: job.clone() }.in_use());
            std::fs::remove_dir_all(&job).expect("removed");
        }
    }
    // The database itself under the lock's name.
    std::fs::create_dir(&job).expect("a folder");
    std::fs::write(job.join(DATABASE), "rows").expect("a file");
    std::os::unix::fs::symlink(DATABASE, job.join(LOCK)).expect("a link");
    assert!(matches!(JobDir::open_or_create(&job), Err(StoreError::Folder { .. })));
    assert_eq!(std::fs::read(job.join(DATABASE)).expect("bytes"), b"rows");
}

#[test]
fn a_lone_lock_with_something_in_it_is_not_ours() {
    let parent = folder();
    let lock = parent.path().join(LOCK);
    for text in ["mine", "4711 4712", "1234567890123456789012345"] {
        std::fs::write(&lock, text).expect("a file");
        assert!(matches!(JobDir::open_or_create(parent.path()), Err(StoreError::NotAJob { .. })), "{text}");
        assert_eq!(std::fs::read_to_string(&lock).expect("text"), text);
    }
}

#[test]
fn a_database_that_is_no_file_is_refused_at_once() {
    let parent = folder();
    let (job, database) = (parent.path(), parent.path().join(DATABASE));
    let refused = || {
        assert!(matches!(JobDir::open_or_create(job), Err(StoreError::Damaged { .. })));
        assert!(matches!(JobDir::existing(job), Err(StoreError::Damaged { .. })));
        assert_eq!(std::fs::read_dir(job).expect("entries").count(), 1);
    };
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &database, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    refused();
    std::fs::remove_file(&database).expect("removed");
    std::os::unix::fs::symlink("elsewhere.db", &database).expect("a link");
    refused();
    std::fs::remove_file(&database).expect("removed");
    std::fs::create_dir(&database).expect("a folder");
    refused();
}

#[test]
fn a_folder_that_cannot_be_looked_into_is_not_said_to_hold_no_job() {
    let parent = folder();
    let around = parent.path().join("around");
    std::os::unix::fs::symlink(&around, &around).expect("a link");
    assert!(matches!(JobDir::existing(&around), Err(StoreError::Folder { .. })));
    assert!(matches!(JobDir::existing(parent.path().join("none")), Err(StoreError::NoJob { .. })));
    // Root may look anywhere.
    if !rustix::process::geteuid().is_root() {
        let closed = parent.path().join("closed");
        std::fs::create_dir(&closed).expect("a folder");
        std::fs::set_permissions(&closed, Permissions::from_mode(0o000)).expect("a mode");
        let error = JobDir::existing(&closed).expect_err("closed");
        assert!(matches!(error, StoreError::Folder { cause, .. } if cause.kind() == ErrorKind::PermissionDenied));
    }
}
