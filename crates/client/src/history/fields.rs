//! The fields of a JSON object in their order, values as text. The CLI looks at how some lines begin, so what is
//! written again must keep its order.

use std::fmt;

use countersign_wire::Json;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An object as it was written.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields(Vec<(String, Json)>);

impl Fields {
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        // As in JavaScript, the last of equal names counts.
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value)
    }

    /// Puts a value in the place of the old one, or at the end.
    pub(super) fn set(&mut self, name: &str, value: Json) {
        match self.0.iter_mut().rev().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| key != name);
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_stay() {
        let text = r#"{"z":1.50,"a":"\ud83d","m":{"y":1,"b":2}}"#;
        let mut fields: Fields = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&fields).unwrap(), text);
        fields.set("a", Json::null());
        fields.remove("z");
        fields.set("new", Json::of("x").unwrap());
        let changed = r#"{"a":null,"m":{"y":1,"b":2},"new":"x"}"#;
        assert_eq!(serde_json::to_string(&fields).unwrap(), changed);
    }
}
