//! A path in JSON: text where it is UTF-8, else its bytes.
//!
//! Owns the form alone, for `#[serde(with)]`. Invariant: a path comes back as the bytes it was, whatever they are.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes(Vec<u8>),
}

pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => to.serialize_str(text),
        None => path.as_os_str().as_bytes().serialize(to),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Ok(match Form::deserialize(from)? {
        Form::Text(text) => PathBuf::from(text),
        Form::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Holder(#[serde(with = "super")] PathBuf);

    #[test]
    fn a_path_comes_back_as_the_bytes_it_was() {
        for bytes in [&b"/a/b"[..], b"/a\n\"b", b"/\xff\xfe", "/ä".as_bytes(), b""] {
            let path = Holder(PathBuf::from(OsString::from_vec(bytes.to_vec())));
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), path);
        }
        assert_eq!(
            serde_json::to_string(&Holder("/a".into())).unwrap(),
            r#""/a""#
        );
    }
}
