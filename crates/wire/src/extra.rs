//! What the types do not know, kept so that it can be written back.
//!
//! Owns [`Extra`] (undeclared fields of a known object) and [`Kept`] (a whole object of a known or unknown
//! name without a type). Invariant: nothing that was read is dropped.

use countersign_wire_derive::Wire;
use serde::de::MapAccess;
use serde::ser::SerializeMap;

use crate::Json;
use crate::shape::{Key, Source, Tags};

/// The fields of an object that its type does not declare, in the order they came.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extra(Vec<(Box<str>, Json)>);

impl Extra {
    /// Whether there is none, which is the usual case.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of an undeclared field; the last one if the wire repeated it.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    /// Adds a field. What was there under the same name is replaced.
    pub fn set(&mut self, name: &str, value: Json) {
        self.0.retain(|(n, _)| &**n != name);
        self.0.push((name.into(), value));
    }

    /// Takes a field out; the last one if the wire repeated it. Also how an optional field that came as null is made
    /// absent: the null is remembered here.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        let found = self.get(name).cloned();
        self.0.retain(|(n, _)| &**n != name);
        found
    }

    /// All of them, in the order they came.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Appends without looking for the name: an object with very many fields stays linear to read, and a
    /// repeated name is written back repeated.
    #[doc(hidden)]
    pub fn put(&mut self, name: Box<str>, value: Json) {
        self.0.push((name, value));
    }

    /// Remembers that an optional field was there and `null`.
    #[doc(hidden)]
    pub fn put_null(&mut self, name: &'static str) {
        self.0.push((name.into(), Json::null()));
    }
}

/// An object without declared fields.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct Bare {
    /// Fields this build does not know.
    pub extra: Extra,
}

/// An object that has a name on the wire but no type here; its body is kept whole.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Kept {
    /// The value of its tag (`type`, `subtype`, …).
    pub name: Box<str>,
    /// Everything but the tag.
    pub body: Extra,
}

impl Kept {
    /// An object by its name, for what has no type here.
    pub fn new(name: impl Into<Box<str>>, body: Extra) -> Self {
        Self {
            name: name.into(),
            body,
        }
    }

    #[doc(hidden)]
    pub fn read<'de, A: MapAccess<'de>>(
        name: &str,
        mut source: Source<'de, A>,
    ) -> Result<Self, A::Error> {
        let mut body = Extra::default();
        while let Some(key) = source.key(|_| None)? {
            match key {
                Key::Other(field) => body.put(field, source.value()?),
                Key::Field(_) => source.skip()?,
            }
        }
        Ok(Self {
            name: name.into(),
            body,
        })
    }

    #[doc(hidden)]
    pub fn write<M: SerializeMap>(&self, tags: Tags, map: &mut M) -> Result<(), M::Error> {
        for (name, value) in self.body.iter() {
            if !tags.contains(name) {
                map.serialize_entry(name, value)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::CliMessage;
    use crate::cli::Informational;
    use crate::decode::decode;

    #[test]
    fn of_a_repeated_field_the_last_one_counts() {
        let mut bare: Bare = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(bare.extra.get("a").map(Json::as_str), Some("3"));
        assert_eq!(bare.extra.remove("a").as_ref().map(Json::as_str), Some("3"));
        assert_eq!(serde_json::to_value(&bare).unwrap(), json!({"b": 2}));
    }

    #[test]
    fn a_null_gives_way_to_the_value_that_is_set_and_can_be_removed() {
        let line = br#"{"type":"system","subtype":"informational","content":"c","level":"info","tag":null}"#;
        let Ok(CliMessage::System(crate::cli::SystemMessage::Informational(mut notice))) =
            decode(line)
        else {
            panic!("it is informational");
        };
        assert_eq!(serde_json::to_value(&notice).unwrap()["tag"], json!(null));
        notice.tag = Some("t".to_owned());
        let written = serde_json::to_string(&notice).unwrap();
        assert_eq!(written.matches("\"tag\"").count(), 1, "{written}");
        notice.tag = None;
        notice.extra.remove("tag");
        assert_eq!(serde_json::to_value(&notice).unwrap().get("tag"), None);
    }

    #[test]
    fn a_tag_that_was_read_as_a_field_is_written_once() {
        let line = r#"{"type":"system","subtype":"informational","content":"c","level":"info"}"#;
        let alone: Informational = serde_json::from_str(line).unwrap();
        assert!(alone.extra.get("type").is_some());
        let wrapped = CliMessage::System(crate::cli::SystemMessage::Informational(alone));
        let written = serde_json::to_string(&wrapped).unwrap();
        assert_eq!(written.matches("type\"").count(), 2, "{written}");
    }
}
