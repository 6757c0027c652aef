//! The folder of a session: what its files are called, and how they are written so that a crash leaves old or new.
//!
//! Owns names and `keeper.json`. The journal in it belongs to `countersign-journal`.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The folder of one session.
#[derive(Debug, Clone)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The folder, made if it is not there. Nobody else may look into it, whoever made it.
    pub(crate) fn make(path: &Path) -> io::Result<Self> {
        make_private(path)?;
        let path = path.canonicalize()?;
        close_to_others(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn spec(&self, generation: u32) -> PathBuf {
        self.0.join(format!("spec.{generation}"))
    }

    pub(crate) fn keeper_lock(&self) -> PathBuf {
        self.0.join("keeper.lock")
    }

    pub(crate) fn agent_lock(&self) -> PathBuf {
        self.0.join("agent.lock")
    }

    pub(crate) fn keeper_json(&self) -> PathBuf {
        self.0.join("keeper.json")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.join("keeper.log")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }

    /// Whether the folder is on another machine, where locks do not prove what they prove here.
    pub(crate) fn is_on_network(&self) -> bool {
        #[cfg(target_os = "linux")]
        return rustix::fs::statfs(&self.0).is_ok_and(|disk| is_network(disk.f_type as u64));
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Brings the names in the folder to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::open(&self.0)?.sync_all()
    }

    /// Who keeps this session, as the last keeper wrote it.
    pub(crate) fn read_keeper_json(&self) -> io::Result<KeeperJson> {
        serde_json::from_slice(&std::fs::read(self.keeper_json())?).map_err(io::Error::from)
    }

    /// To be called under `keeper.lock`, so that nobody takes an earlier keeper for the one that has it now.
    pub(crate) fn forget_keeper_json(&self) -> io::Result<()> {
        match std::fs::remove_file(self.keeper_json()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(crate) fn write_keeper_json(&self, keeper: &KeeperJson) -> io::Result<()> {
        let bytes = serde_json::to_vec(keeper)?;
        let new = self.0.join("keeper.json.new");
        write_private(&new, &bytes)?;
        std::fs::rename(&new, self.keeper_json())
    }
}

/// Whether a folder is on another machine, where locks do not prove what they prove here.
pub fn is_on_network(folder: &Path) -> bool {
    Folder::new(folder).is_on_network()
}

/// The numbers by which Linux names file systems that lock on another machine: NFS, SMB (three of them), AFS, Ceph.
#[cfg(target_os = "linux")]
fn is_network(kind: u64) -> bool {
    // Some are told with their sign.
    let kind = kind & 0xffff_ffff;
    [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x5346_414f,
        0x00c3_6400,
    ]
    .contains(&kind)
}

/// A folder that only its owner may enter.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Takes from everybody else what they may do in a folder that is there. Not by a link, and not from a folder that is
/// meant for many, as temp folders are.
pub(crate) fn close_to_others(path: &Path) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, fchmod, fstat, open};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = open(path, flags, Mode::empty())?;
    let mode = Mode::from_raw_mode(fstat(&folder)?.st_mode);
    if mode.contains(Mode::SVTX) {
        let why = format!("{} is for many: name a folder of its own", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    if mode.intersects(Mode::RWXG | Mode::RWXO) {
        fchmod(&folder, Mode::RWXU)?;
    }
    Ok(())
}

/// A file that only its owner may read, with these bytes on the disk.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Who keeps a session: `keeper.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeeperJson {
    /// Where it listens.
    pub socket: PathBuf,
    /// The pid of its guard; that of the keeper where there is none.
    pub guard: u32,
    /// Its pid.
    pub keeper: u32,
    /// The session.
    pub session: String,
    /// The generation of the agent.
    pub generation: u32,
    /// The build of the keeper.
    pub build: String,
    /// The newest version of the socket protocol that it speaks.
    pub proto: u32,
    /// When it started, as the system counts: its pid with another start is another process. 0 if not known.
    #[serde(default)]
    pub started: u64,
    /// When its guard started.
    #[serde(default)]
    pub guard_started: u64,
    /// The boot of the machine; pids of another boot mean nothing. Empty if not known.
    #[serde(default)]
    pub boot_id: String,
}

impl KeeperJson {
    /// Reads it from a session's folder.
    ///
    /// # Errors
    /// When there is none, or it is not of this form.
    pub fn read(dir: &Path) -> io::Result<Self> {
        Folder::new(dir).read_keeper_json()
    }

    /// Whether the keeper or its guard may still be the processes that it names. What is not known speaks for it.
    pub(crate) fn is_of_the_living(&self) -> bool {
        let is_this_boot = self.boot_id.is_empty() || self.boot_id == boot_id();
        // An older keeper has not said when it started; one may be hidden from this user.
        let lives = |pid, started| match countersign_process::is_running(pid, started) {
            Some(is_running) if started != 0 => is_running,
            _ => is_there(pid),
        };
        is_this_boot && (lives(self.keeper, self.started) || lives(self.guard, self.guard_started))
    }
}

fn is_there(pid: u32) -> bool {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Which run of the machine this is; empty where the system has no name for it.
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_disks_of_other_machines_are_told_apart() {
        assert!(is_network(0x6969));
        assert!(is_network(0xffff_ffff_ff53_4d42));
        // ext4, tmpfs, overlay.
        for here in [0xef53, 0x0102_1994, 0x794c_7630] {
            assert!(!is_network(here));
        }
        assert!(!Folder::new(std::env::temp_dir()).is_on_network());
    }

    #[test]
    fn a_folder_that_was_there_is_closed_to_others() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode_of = |path: &Path| {
            let found = std::fs::symlink_metadata(path).unwrap();
            found.permissions().mode() & 0o7777
        };
        let place = tempfile::tempdir().unwrap();
        let open = place.path().join("open");
        std::fs::create_dir(&open).unwrap();
        let set = |mode| {
            std::fs::set_permissions(&open, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(0o755);
        Folder::make(&open).unwrap();
        assert_eq!(mode_of(&open), 0o700);
        // The temp directory of everybody stays theirs.
        set(0o1777);
        assert!(Folder::make(&open).is_err());
        assert_eq!(mode_of(&open), 0o1777);
    }

    #[test]
    fn a_keeper_is_known_by_its_start_and_its_boot() {
        let own = std::process::id();
        let started = countersign_process::started(own).unwrap();
        let text = format!(
            r#"{{"socket":"/s","guard":{own},"keeper":{own},"session":"s","generation":1,"build":"b","proto":1}}"#
        );
        let old: KeeperJson = serde_json::from_str(&text).unwrap();
        assert!(old.is_of_the_living());
        let own = KeeperJson {
            started,
            guard_started: started,
            boot_id: boot_id(),
            ..old
        };
        assert!(own.is_of_the_living());
        let mut other = own.clone();
        other.started += 1;
        assert!(other.is_of_the_living(), "its guard lives");
        other.guard_started += 1;
        assert!(!other.is_of_the_living());
        let mut other = own.clone();
        other.boot_id = "another".into();
        assert!(!other.is_of_the_living());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let gone = KeeperJson {
            keeper: child.id(),
            guard: child.id(),
            ..own
        };
        assert!(!gone.is_of_the_living());
    }
}
