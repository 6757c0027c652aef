//! Seals: heads that the host has signed, in a file beside the journal.
//!
//! Owns the key file, the text of a seal and what is signed. The keeper never has the key, and who has it makes the hash: one
//! that nobody has signed proves nothing (docs/decisions/019-who-signs-hashes.md). Invariants: a key is made once, from
//! randomness that the caller brings, and is nobody else's to read; a signature is over session, generation, number, what
//! stands before and hash together, so that none can stand in for another. A host signs what is on the disk only: a head that
//! a power loss takes away would look cut.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use blake3::Hash;
use ed25519_dalek::{Signature, Signer};
pub use ed25519_dalek::{SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use crate::chain;
use crate::cursor::Cursor;
use crate::folder;
use crate::heads::HeadAt;

/// The file in a session folder.
const FILE: &str = "seals";

/// What a signature of ours begins with, so that none made for something else counts. The first is that of seals which say
/// nothing of earlier segments: in version 1 of the format each header did.
const DOMAIN_1: &[u8] = b"countersign journal seal 1\0";
const DOMAIN_2: &[u8] = b"countersign journal seal 2\0";

const KEY: &str = "countersign-seal-key 1 ";

/// A head that was signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// The generation of the head.
    pub generation: u32,
    /// Its number.
    pub seq: u64,
    /// Over all segments before its own, as hex; none in a seal that an earlier build has made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Over those and its own up to it, as hex; without them over its own alone.
    pub hash: String,
    /// The signature, as hex.
    pub sig: String,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The system refused.
    #[error("cannot use the key {}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// It is none of ours.
    #[error("{} is no key of countersign; move it away, and a new one is made with the next seal", path.display())]
    Text {
        /// Which file.
        path: PathBuf,
    },
    /// Others can read it.
    #[error("others can read the key {}: `chmod 600` it, and think about who has", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
    },
}

/// Why the seals cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The system refused.
    #[error("cannot use the seals {}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A line is no seal.
    #[error(
        "what stands behind seal {after} is no seal; `countersign journal verify` says what is left"
    )]
    Line {
        /// The last seal before it.
        after: Cursor,
    },
}

/// The key in this file. It is made from `randomness`, 32 fresh random bytes, when the file is not there.
///
/// # Errors
/// When it cannot be read or made, or others can read it.
pub fn load_or_create(path: &Path, randomness: &[u8; 32]) -> Result<SigningKey, KeyError> {
    match load(path) {
        Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        loaded => return loaded,
    }
    create(path, randomness).map_err(|source| KeyError::Io {
        path: path.to_owned(),
        source,
    })?;
    // Somebody else may have been first. Whichever is there is the key.
    load(path)
}

/// The key in this file.
///
/// # Errors
/// When it is not there or cannot be read, or others can read it.
pub fn load(path: &Path) -> Result<SigningKey, KeyError> {
    let path = path.to_owned();
    match read_key(&path) {
        Ok((_, true)) => Err(KeyError::Open { path }),
        Ok((text, false)) => {
            let bytes = text.trim_end().strip_prefix(KEY).and_then(from_hex);
            let bytes: [u8; 32] = bytes.ok_or(KeyError::Text { path })?;
            Ok(SigningKey::from_bytes(&bytes))
        }
        Err(source) => Err(KeyError::Io { path, source }),
    }
}

/// The text of the file, and whether others can read it.
fn read_key(path: &Path) -> io::Result<(String, bool)> {
    use std::io::Read;
    let file = fs::File::open(path)?;
    #[cfg(unix)]
    let is_open = {
        use std::os::unix::fs::PermissionsExt;
        file.metadata()?.permissions().mode() & 0o077 != 0
    };
    #[cfg(not(unix))]
    let is_open = false;
    let mut text = String::new();
    file.take(4096).read_to_string(&mut text)?;
    Ok((text, is_open))
}

/// Puts a whole key in place, or leaves the one that is there.
fn create(path: &Path, randomness: &[u8; 32]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    folder::make_dir(dir)?;
    let mine = path.with_extension(format!("new.{}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = folder::open_private(options.write(true).create(true).truncate(true), &mine)?;
    writeln!(file, "{KEY}{}", to_hex(randomness))?;
    file.sync_all()?;
    let linked = fs::hard_link(&mine, path);
    fs::remove_file(&mine)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => folder::sync_dir(dir),
    }
}

/// Signs heads and appends them to the seals of the session, on the disk when this returns. Heads up to the last seal
/// are passed over.
///
/// # Errors
/// When the seals cannot be read or written.
pub fn seal(
    session_dir: &Path,
    session: &str,
    key: &SigningKey,
    heads: &[HeadAt],
) -> Result<usize, SealError> {
    let path = session_dir.join(FILE);
    let fail = |source| SealError::Io {
        path: path.clone(),
        source,
    };
    let known = read(session_dir)?;
    let last = known.last().map_or(Cursor::START, Seal::cursor);
    let mut text = String::new();
    let mut count = 0;
    for head in heads.iter().filter(|head| head.cursor > last) {
        let mut seal = Seal {
            generation: head.cursor.generation,
            seq: head.cursor.seq,
            before: Some(head.before.clone()),
            hash: head.hash.clone(),
            sig: String::new(),
        };
        seal.sig = to_hex(&key.sign(&seal.message(session)).to_bytes());
        text.push_str(&serde_json::to_string(&seal).map_err(|error| fail(error.into()))?);
        text.push('\n');
        count += 1;
    }
    if count > 0 {
        append(&path, text.as_bytes()).map_err(fail)?;
    }
    Ok(count)
}

/// Appends behind the last whole line: a host may have been stopped in the middle of one.
fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    let is_new = !path.exists();
    let whole = match fs::read(path) {
        Ok(there) => memchr::memrchr(b'\n', &there).map_or(0, |last| last + 1),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let mut options = OpenOptions::new();
    let options = options.append(true).create(true);
    let mut file = folder::open_private(options, path)?;
    file.set_len(whole as u64)?;
    file.write_all(text)?;
    file.sync_data()?;
    match path.parent() {
        Some(dir) if is_new => folder::sync_dir(dir),
        _ => Ok(()),
    }
}

/// All seals of a session, in order; none if there is no file. An unfinished last line is none yet.
///
/// # Errors
/// When a line is no seal, or the file cannot be read.
pub fn read(session_dir: &Path) -> Result<Vec<Seal>, SealError> {
    let path = session_dir.join(FILE);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(SealError::Io { path, source }),
    };
    let whole = memchr::memrchr(b'\n', &text).map_or(0, |last| last);
    let mut seals: Vec<Seal> = Vec::new();
    for line in text[..whole].split(|byte| *byte == b'\n') {
        if line.is_empty() && whole == 0 {
            break;
        }
        let after = seals.last().map_or(Cursor::START, Seal::cursor);
        match serde_json::from_slice::<Seal>(line) {
            Ok(seal) if seal.cursor() > after => seals.push(seal),
            _ => return Err(SealError::Line { after }),
        }
    }
    Ok(seals)
}

impl Seal {
    /// The head that was signed.
    pub fn cursor(&self) -> Cursor {
        Cursor::new(self.generation, self.seq)
    }

    /// Whether this key has signed it, for this session.
    pub fn is_by(&self, key: &VerifyingKey, session: &str) -> bool {
        let Some(sig) = from_hex::<64>(&self.sig) else {
            return false;
        };
        let message = self.message(session);
        key.verify_strict(&message, &Signature::from_bytes(&sig))
            .is_ok()
    }

    /// What is signed. Each part has a fixed length or its length before it: no two heads give the same bytes.
    fn message(&self, session: &str) -> Vec<u8> {
        let domain = match self.before {
            None => DOMAIN_1,
            Some(_) => DOMAIN_2,
        };
        let mut message = domain.to_vec();
        let texts = [Some(session), self.before.as_deref(), Some(&self.hash)];
        for text in texts.into_iter().flatten() {
            message.extend_from_slice(&(text.len() as u64).to_be_bytes());
            message.extend_from_slice(text.as_bytes());
        }
        message.extend_from_slice(&self.generation.to_be_bytes());
        message.extend_from_slice(&self.seq.to_be_bytes());
        message
    }

    /// Whether it is the seal of a head with this hash over its segment, behind segments with that one.
    pub(crate) fn is_of(&self, before: &Hash, segment: &Hash) -> bool {
        match &self.before {
            None => self.hash == segment.to_hex().as_str(),
            Some(said) => {
                *said == before.to_hex().as_str()
                    && self.hash == chain::join(before, segment).to_hex().as_str()
            }
        }
    }

    /// How its segment begins, if it says so.
    pub(crate) fn before(&self) -> Option<Hash> {
        Hash::from_hex(self.before.as_ref()?).ok()
    }
}

/// The public half as text, for whoever verifies elsewhere.
pub fn public_text(key: &VerifyingKey) -> String {
    to_hex(key.as_bytes())
}

/// Reads the public half back.
pub fn public_from_text(text: &str) -> Option<VerifyingKey> {
    VerifyingKey::from_bytes(&from_hex(text)?).ok()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = text.len() == 2 * N && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate().filter(|_| is_hex) {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    is_hex.then_some(bytes)
}
