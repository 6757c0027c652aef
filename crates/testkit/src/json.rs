//! JSON that keeps the order of keys, for lines that must be stored as the CLI wrote them.
//!
//! Owns the tree, paths into it and its ASCII form. It knows no message of the wire: what records must
//! carry what it does not know.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// Any JSON value; objects keep their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// Any number.
    Number(serde_json::Number),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// An object, in the order of the text.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// An object of the given entries.
    pub fn object<const N: usize>(entries: [(&str, Json); N]) -> Json {
        Json::Object(
            entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    }

    /// The value under a key of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value at a dotted path; numbers index lists (`message.content.0.text`).
    pub fn at(&self, path: &str) -> Option<&Json> {
        path.split('.').try_fold(self, |value, step| match value {
            Json::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => value.get(step),
        })
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The text at a path, if a string stands there.
    pub fn str_at(&self, path: &str) -> Option<&str> {
        self.at(path).and_then(Json::as_str)
    }

    /// Sets a key of an object, in place or at the end. Does nothing to other values.
    pub fn set(&mut self, key: &str, value: Json) {
        if let Json::Object(entries) = self {
            match entries.iter_mut().find(|(name, _)| name == key) {
                Some(entry) => entry.1 = value,
                None => entries.push((key.to_owned(), value)),
            }
        }
    }

    /// Reads one line's object; anything else on the line is not one.
    pub fn parse_object(line: &[u8]) -> Option<Json> {
        serde_json::from_slice(line)
            .ok()
            .filter(|value| matches!(value, Json::Object(_)))
    }

    /// Rebuilds the tree with every string replaced, keys of objects included.
    pub fn map_strings(self, map: &mut impl FnMut(String) -> String) -> Json {
        match self {
            Json::String(text) => Json::String(map(text)),
            Json::Array(items) => Json::Array(
                items
                    .into_iter()
                    .map(|item| item.map_strings(map))
                    .collect(),
            ),
            Json::Object(entries) => Json::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| (map(key), value.map_strings(map)))
                    .collect(),
            ),
            other => other,
        }
    }

    /// One line of ASCII: every character above it is written as an escape, because the CLIs run by
    /// node break characters that straddle two reads of their stdin.
    pub fn to_ascii(&self) -> String {
        let text = self.to_string();
        if text.is_ascii() {
            return text;
        }
        let mut ascii = String::with_capacity(text.len() * 2);
        for c in text.chars() {
            if c.is_ascii() {
                ascii.push(c);
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    ascii.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        ascii
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Json {
        Json::Number(number.into())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(value) => value.serialize(serializer),
            Json::String(value) => serializer.serialize_str(value),
            Json::Array(items) => items.serialize(serializer),
            Json::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Json, E> {
        serde_json::Number::from_f64(value)
            .map(Json::Number)
            .ok_or_else(|| E::custom("a number that JSON does not have"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut entries: Vec<(String, Json)> = Vec::new();
        while let Some((key, value)) = access.next_entry::<String, Json>()? {
            if entries.iter().any(|(name, _)| *name == key) {
                return Err(A::Error::custom(format!("the key {key:?} stands twice")));
            }
            entries.push((key, value));
        }
        Ok(Json::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_order_of_keys_and_the_kind_of_numbers_survive() {
        let text = r#"{"z":1,"a":[1.5,-2,null,true],"m":{"y":"x","b":1e-7}}"#;
        assert_eq!(json(text).to_string(), text);
    }

    #[test]
    fn a_path_goes_through_objects_and_lists() {
        let line = json(r#"{"message":{"content":[{"text":"hi"}]}}"#);
        assert_eq!(line.str_at("message.content.0.text"), Some("hi"));
        assert_eq!(line.at("message.content.1"), None);
        assert_eq!(line.at("message.content.x"), None);
    }

    #[test]
    fn the_ascii_form_reads_back_as_the_same_text() {
        let text = json("\"caf\u{e9} \u{1f600}\"");
        let ascii = text.to_ascii();
        assert!(ascii.is_ascii());
        assert_eq!(json(&ascii), text);
    }

    #[test]
    fn setting_a_key_keeps_its_place() {
        let mut value = json(r#"{"a":1,"b":2}"#);
        value.set("a", Json::from("x"));
        value.set("c", Json::Null);
        assert_eq!(value.to_string(), r#"{"a":"x","b":2,"c":null}"#);
    }

    #[test]
    fn a_line_that_is_no_object_is_told_apart() {
        assert_eq!(Json::parse_object(b"[1]"), None);
        assert_eq!(Json::parse_object(b"warning: x"), None);
        assert!(Json::parse_object(b"{}").is_some());
    }
}
