//! The key from which the secrets of keepers are made, so that whoever has the data folder can reach its agents, whatever
//! became of the database.
//!
//! Owns `host.key` and the way from it to the token of one agent. Invariants: the file is this user's alone; the token of an
//! agent follows from key, session and generation and is stored nowhere.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use crate::control::SessionId;

/// What the file begins with.
const NAME: &str = "countersign-host-key 1 ";

/// The key of a data folder.
#[derive(Clone)]
pub(crate) struct HostKey([u8; 32]);

impl fmt::Debug for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostKey(..)")
    }
}

impl HostKey {
    /// The key in this file, made if it is not there.
    pub(crate) fn load_or_create(path: &Path) -> io::Result<Self> {
        match Self::load(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            loaded => return loaded,
        }
        create(path)?;
        // Somebody else may have been first. Whichever is there is the key.
        Self::load(path)
    }

    fn load(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        close_to_others(&file)?;
        let mut text = String::new();
        file.take(4096).read_to_string(&mut text)?;
        let hash = text.trim_end().strip_prefix(NAME);
        let hash = hash.and_then(|hex| blake3::Hash::from_hex(hex).ok());
        let hash = hash.ok_or_else(|| {
            let why = "it holds no key: put it back from a copy, or move it away (agents that run \
                       can then only be ended by force)";
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?;
        Ok(Self(*hash.as_bytes()))
    }

    /// The secret of one agent's keeper.
    pub(crate) fn token(&self, session: SessionId, generation: u32) -> String {
        let of = format!("keeper token 1 {session} {generation}");
        blake3::keyed_hash(&self.0, of.as_bytes())
            .to_hex()
            .to_string()
    }
}

/// Numbers that nobody guesses.
pub(crate) fn randomness() -> [u8; 32] {
    let mut chance = blake3::Hasher::new();
    for _ in 0..4 {
        chance.update(uuid::Uuid::new_v4().as_bytes());
    }
    *chance.finalize().as_bytes()
}

/// Puts a whole key in place, or leaves the one that is there.
fn create(path: &Path) -> io::Result<()> {
    let mine = path.with_extension(format!("key.new.{}", std::process::id()));
    let _ = fs::remove_file(&mine);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(&mine)?;
    let hex = blake3::Hash::from_bytes(randomness()).to_hex();
    let written = writeln!(file, "{NAME}{hex}").and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&mine, path));
    fs::remove_file(&mine)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => match path.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        },
    }
}

/// A copy that was put back may have lost who may read it.
#[cfg(unix)]
fn close_to_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn close_to_others(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_of_a_keeper_follows_from_key_session_and_generation() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("host.key");
        let key = HostKey::load_or_create(&path).unwrap();
        let again = HostKey::load_or_create(&path).unwrap();
        let (one, other) = (SessionId::new(1, 1), SessionId::new(1, 2));
        let token = key.token(one, 1);
        assert_eq!(token.len(), 64);
        assert_eq!(token, again.token(one, 1));
        assert_ne!(token, key.token(one, 2));
        assert_ne!(token, key.token(other, 1));
        let elsewhere = HostKey::load_or_create(&place.path().join("other.key")).unwrap();
        assert_ne!(token, elsewhere.token(one, 1));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn the_key_is_this_users_alone_and_one_that_is_damaged_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("host.key");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        HostKey::load_or_create(&path).unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        HostKey::load_or_create(&path).unwrap();
        assert_eq!(mode(), 0o600);
        fs::write(&path, "nothing").unwrap();
        let error = HostKey::load_or_create(&path).unwrap_err();
        assert!(error.to_string().contains("put it back"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "nothing");
    }
}
