//! The road of `serde_json`, which remembers where in the value it stands.
//!
//! Owns the only way in which wire types are read by `serde_json`: a message that the quick reader passed, a value that
//! stood before its tag, carried JSON. One road for all three, because each further one would be a further copy of the
//! code of every type, which is what building this crate takes. Invariant: what it reads, and how it refuses, is what
//! `serde_json::from_str` does.

use serde::de::DeserializeOwned;
use serde_path_to_error::{Deserializer, Path, Track};

/// Reads `text` as `T`.
///
/// # Errors
/// What `serde_json` says, and the path at which it said so.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Box<Refusal>> {
    let mut track = Track::new();
    let mut plain = serde_json::Deserializer::from_str(text);
    match T::deserialize(Deserializer::new(&mut plain, &mut track)) {
        Ok(value) => match plain.end() {
            Ok(()) => Ok(value),
            Err(error) => Err(Refusal::new(track, error)),
        },
        Err(error) => Err(Refusal::new(track, error)),
    }
}

/// Why a text was not read.
pub(crate) struct Refusal {
    /// Where in the value.
    pub(crate) path: Path,
    /// In the words of `serde_json`.
    pub(crate) error: serde_json::Error,
}

impl Refusal {
    #[cold]
    fn new(track: Track, error: serde_json::Error) -> Box<Self> {
        let path = track.path();
        Box::new(Self { path, error })
    }
}
