//! JSON whose keys stay in the order of the file, for files that are changed in one place and kept elsewhere.
//!
//! Owns reading, writing and the few changes that are made to settings. Knows nothing of what the keys mean.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

/// A value of a file.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) enum Node {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Plain(Value),
}

impl Node {
    pub(in crate::cli) fn empty() -> Self {
        Self::Object(Vec::new())
    }

    pub(in crate::cli) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The value of a key; added at the end if it is not there, and replaced if its parent is no object.
    pub(in crate::cli) fn entry(&mut self, key: &str, new: impl FnOnce() -> Node) -> &mut Node {
        if !self.is_object() {
            *self = Self::empty();
        }
        let Self::Object(entries) = self else {
            unreachable!("made an object above")
        };
        let index = match entries.iter().position(|(known, _)| known == key) {
            Some(index) => index,
            None => {
                entries.push((key.to_owned(), new()));
                entries.len() - 1
            }
        };
        &mut entries[index].1
    }

    /// The value of a key; none if this is no object or has no such key.
    pub(in crate::cli) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Object(entries) => {
                let found = entries.iter().find(|(known, _)| known == key);
                found.map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The text of a key.
    pub(in crate::cli) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Self::Plain(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Changes the value of a key that is there.
    pub(in crate::cli) fn put(&mut self, key: &str, value: &str) {
        if let Self::Object(entries) = self
            && let Some((_, old)) = entries.iter_mut().find(|(known, _)| known == key)
        {
            *old = Self::Plain(value.into());
        }
    }

    /// The same without its order.
    pub(in crate::cli) fn to_value(&self) -> Value {
        match self {
            Self::Object(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| (key.clone(), value.to_value()));
                Value::Object(entries.collect())
            }
            Self::Array(items) => items.iter().map(Node::to_value).collect(),
            Self::Plain(value) => value.clone(),
        }
    }

    /// The items of this list, which is made one if it is something else.
    pub(in crate::cli) fn list(&mut self) -> &mut Vec<Node> {
        if !matches!(self, Self::Array(_)) {
            *self = Self::Array(Vec::new());
        }
        match self {
            Self::Array(items) => items,
            _ => unreachable!("made a list above"),
        }
    }

    /// As the CLI writes its settings: two spaces, a newline at the end.
    pub(in crate::cli) fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        match value {
            Value::Object(entries) => {
                let entries = entries.into_iter().map(|(key, value)| (key, value.into()));
                Self::Object(entries.collect())
            }
            Value::Array(items) => Self::Array(items.into_iter().map(Node::from).collect()),
            plain => Self::Plain(plain),
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Self::Array(items) => items.serialize(serializer),
            Self::Plain(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Node>()? {
            // The last of two equal keys counts, as in every JSON reader.
            entries.retain(|(known, _)| *known != key);
            entries.push((key, value));
        }
        Ok(Node::Object(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::Array(items))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Plain(text.into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Plain(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Plain(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back_with_its_keys_in_order() {
        let text = r#"{"z":1,"a":{"y":[1.5,true,null,"x"],"b":-2},"m":[]}"#;
        let node: Node = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&node).unwrap(), text);
    }

    #[test]
    fn text_has_two_spaces_and_ends_with_a_newline() {
        let node: Node = serde_json::from_str(r#"{"a":{"b":["c"]},"d":[]}"#).unwrap();
        let text = "{\n  \"a\": {\n    \"b\": [\n      \"c\"\n    ]\n  },\n  \"d\": []\n}\n";
        assert_eq!(node.to_text().unwrap(), text);
    }

    #[test]
    fn a_key_is_added_at_the_end_or_found_where_it_is() {
        let mut node: Node = serde_json::from_str(r#"{"b":1,"a":2}"#).unwrap();
        *node.entry("a", Node::empty) = Node::Plain(3.into());
        *node.entry("c", Node::empty) = Node::Plain(4.into());
        assert_eq!(
            serde_json::to_string(&node).unwrap(),
            r#"{"b":1,"a":3,"c":4}"#
        );
    }
}
