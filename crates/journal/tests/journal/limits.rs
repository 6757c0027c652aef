//! Real limits of a real system: a file that may grow no further, and a umask that takes everything away.
//!
//! Limits are a process's own, so each test runs itself again in one that has them, with nothing of our environment.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use countersign_journal::{
    AppendError, Kind, Limits, Reader, Step, Writer, compress_closed, seal, verify,
};

use crate::common::carried;

const AGAIN: &str = "COUNTERSIGN_TEST_AGAIN";

const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether this is the process with the limits. Else starts one, and waits until it has succeeded.
fn is_inside(limits: &str, test: &str) -> bool {
    is_inside_by(&format!("{limits}; exec \"$0\" \"$@\""), test)
}

/// As [`is_inside`]; the script starts the test itself.
fn is_inside_by(script: &str, test: &str) -> bool {
    if std::env::var_os(AGAIN).is_some() {
        return true;
    }
    let own = std::env::current_exe().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new("/bin/sh")
        .args(["-c", script])
        .arg(own)
        .args(["--exact", test, "--nocapture"])
        .env_clear()
        .env(AGAIN, "1")
        .env("PATH", PATH)
        .env("TMPDIR", dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    false
}

#[test]
fn a_write_that_the_system_cuts_short_is_taken_back() {
    // 64 blocks of 512 bytes, and no signal when a file would grow beyond them.
    let limits = "trap '' XFSZ; ulimit -f 64";
    let test = "limits::a_write_that_the_system_cuts_short_is_taken_back";
    if !is_inside(limits, test) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits {
        reserve: 0,
        ..Limits::default()
    };
    let (mut writer, _) = Writer::open(dir.path(), "s-1", 1, limits).unwrap();
    writer.push(1, Kind::Agent, &[b'x'; 10_000]);
    let before = writer.commit().unwrap();
    writer.push(2, Kind::Agent, &[b'x'; 15_000]);
    writer.push(3, Kind::Agent, &[b'x'; 200_000]);
    let full = writer.commit();
    assert!(matches!(full, Err(AppendError::Full { .. })), "{full:?}");
    let path = dir.path().join("000001.j");
    assert_eq!(fs::metadata(&path).unwrap().len(), before.off);
    assert_eq!(writer.tail(), before);
    // What is too much is dropped, and it goes on.
    writer.discard();
    writer.push(4, Kind::Agent, b"smaller");
    writer.head(5);
    writer.commit().unwrap();
    writer.sync().unwrap();
    let verdict = verify(dir.path(), &[]).unwrap();
    assert_eq!((verdict.fault, verdict.records), (None, 3));
}

/// Whether a process may have a small disk of its own here. Not everywhere: some containers and distributions forbid it.
fn may_mount() -> bool {
    let script = "mount -t tmpfs -o size=64k none /mnt";
    let output = Command::new("unshare")
        .args(["-rm", "/bin/sh", "-c", script])
        .env_clear()
        .env("PATH", PATH)
        .output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn on_a_full_disk_the_end_of_a_session_finds_room() {
    let test = "limits::on_a_full_disk_the_end_of_a_session_finds_room";
    let is_outside = std::env::var_os(AGAIN).is_none();
    if is_outside && !may_mount() {
        // The same on a disk in memory: `writer::tests`.
        eprintln!("passed over: no disk of its own can be mounted here");
        return;
    }
    let mount = "mount -t tmpfs -o size=600k none \"$TMPDIR\" && exec \"$0\" \"$@\"";
    let script = format!("exec unshare -rm /bin/sh -c '{mount}' \"$0\" \"$@\"");
    if !is_inside_by(&script, test) {
        return;
    }
    let disk = std::env::temp_dir();
    let limits = Limits {
        reserve: 128 << 10,
        ..Limits::default()
    };
    fs::write(disk.join("old"), vec![0; 100 << 10]).unwrap();
    let (mut writer, _) = Writer::open(&disk.join("journal"), "s-1", 1, limits).unwrap();
    let mut told = None;
    for at in 0..1_000 {
        writer.push(at, Kind::Agent, &[b'x'; 5_000]);
        if let Err(error) = writer.commit() {
            told = Some(error);
            break;
        }
    }
    assert!(
        matches!(told, Some(AppendError::Full { errno: 28 })),
        "{told:?}"
    );
    // Somebody else takes all that is left.
    let _ = fs::write(disk.join("other"), vec![0; 1 << 20]);
    assert!(fs::write(disk.join("another"), vec![0; 8 << 10]).is_err());
    assert!(matches!(writer.commit(), Err(AppendError::Full { .. })));
    // The end of the session finds room where nothing else does: half of the reserve at least.
    writer.discard();
    for at in 0..12 {
        writer.push(2_000 + at, Kind::Keeper, &[b'y'; 5_000]);
    }
    writer.head(3_000);
    let last = writer.commit_from_reserve().unwrap();
    writer.sync().unwrap();
    let verdict = verify(&disk.join("journal"), &[]).unwrap();
    assert_eq!((verdict.fault, verdict.end.seq), (None, last.seq));
    writer.push(4_000, Kind::Agent, b"on");
    assert!(matches!(writer.commit(), Err(AppendError::Full { .. })));
    writer.discard();
    // With room again it goes on.
    fs::remove_file(disk.join("old")).unwrap();
    writer.push(4_000, Kind::Agent, b"on");
    assert_eq!(writer.commit().unwrap().seq, last.seq + 1);
}

#[test]
fn modes_do_not_hang_on_the_umask() {
    // The folder for temporary files itself is made before.
    let test = "limits::modes_do_not_hang_on_the_umask";
    for umask in ["0000", "0777"] {
        if !is_inside(&format!("umask {umask}"), test) {
            continue;
        }
        let root = std::env::temp_dir().join("session");
        let journal = root.join("journal");
        let (mut writer, _) = Writer::open(&journal, "s-1", 1, Limits::default()).unwrap();
        for at in 0..400 {
            writer.push(at, Kind::Agent, &[b'x'; 1_000]);
        }
        writer.head(400);
        writer.commit().unwrap();
        writer.roll(401, &carried()).unwrap();
        let mut reader = Reader::open(&root).unwrap();
        reader.seek(reader.cursor()).unwrap();
        reader.seek("1-399".parse().unwrap()).unwrap();
        assert!(matches!(reader.next().unwrap(), Step::Record(_)));
        compress_closed(&journal).unwrap();
        let heads = countersign_journal::heads(&root, None).unwrap().heads;
        let key = seal::load_or_create(&root.join("seal.key"), &[3; 32]).unwrap();
        seal::seal(&root, "s-1", &key, &heads).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&root), mode(&journal)), (0o700, 0o700));
        let mut names = Vec::new();
        for folder in [&root, &journal] {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_file() {
                    let name = entry.file_name().into_string().unwrap();
                    assert_eq!(mode(&entry.path()), 0o600, "{name}");
                    names.push(name);
                }
            }
        }
        names.sort();
        let all = ["000001.ix", "000001.j.zst", "000002.j", "seal.key", "seals"];
        assert_eq!(names, all);
        break;
    }
}

#[test]
fn what_was_kept_is_returned_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("000001.j");
    let held = || fs::metadata(&path).unwrap().blocks() * 512;
    let (mut writer, _) = Writer::open(dir.path(), "s-1", 1, Limits::default()).unwrap();
    writer.push(1, Kind::Agent, b"x");
    writer.commit().unwrap();
    writer.finish();
    assert!(held() < 64 << 10, "{}", held());
    // A writer that was killed returns nothing; the next one does it.
    let (mut writer, _) = Writer::open(dir.path(), "s-1", 2, Limits::default()).unwrap();
    writer.push(1, Kind::Agent, b"x");
    writer.commit().unwrap();
    drop(writer);
    let (writer, _) = Writer::open(dir.path(), "s-1", 3, Limits::default()).unwrap();
    let second = fs::metadata(dir.path().join("000002.j")).unwrap();
    assert!(second.blocks() * 512 < 64 << 10);
    drop(writer);
}
