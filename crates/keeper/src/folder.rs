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

    /// The folder, made if it is not there. Nobody else may look into it.
    pub(crate) fn make(path: &Path) -> io::Result<Self> {
        make_private(path)?;
        Ok(Self(path.canonicalize()?))
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

    pub(crate) fn write_keeper_json(&self, keeper: &KeeperJson) -> io::Result<()> {
        let bytes = serde_json::to_vec(keeper)?;
        let new = self.0.join("keeper.json.new");
        write_private(&new, &bytes)?;
        std::fs::rename(&new, self.keeper_json())
    }
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
}

impl KeeperJson {
    /// Reads it from a session's folder.
    ///
    /// # Errors
    /// When there is none, or it is not of this form.
    pub fn read(dir: &Path) -> io::Result<Self> {
        Folder::new(dir).read_keeper_json()
    }
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
}
