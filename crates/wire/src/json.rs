//! JSON that is carried rather than understood, and the two small values serde has no word for.
//!
//! Owns [`Json`] (any value, as text), [`Num`] (a number as the CLI wrote it) and [`Nullable`] (absent, null
//! and a value are three things). Invariant: reading and writing any of them gives equal JSON.

use std::fmt;

use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{fast, slow, surrogate};

/// Any JSON value, kept as text: tool inputs, tool results and fields nobody declared.
///
/// Two are equal when they mean the same JSON, whatever their white space and key order.
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether it is the literal `null`.
    pub fn is_null(&self) -> bool {
        self.0.get() == "null"
    }

    /// `null`.
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// The JSON of any serialisable value.
    ///
    /// # Errors
    /// When `value` has no JSON form, such as a map whose keys are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Reads it as `T`. Half a surrogate pair is read as U+FFFD.
    ///
    /// # Errors
    /// When the text is no `T`.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let refusal = match slow::read(self.0.get()) {
            Ok(value) => return Ok(value),
            Err(refusal) => refusal,
        };
        match surrogate::mend(self.0.get()) {
            Some(mended) => slow::read(&mended).map_err(|refusal| refusal.error),
            None => Err(refusal.error),
        }
    }

    /// Reads it as a tree.
    ///
    /// # Errors
    /// When the text is nested deeper than 128 levels.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        self.to()
    }
}

impl Default for Json {
    fn default() -> Self {
        Self::null()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
            || matches!((self.to_value(), other.to_value()), (Ok(a), Ok(b)) if a == b)
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        // A tree always has a JSON text; `to_raw_value` can only fail on foreign `Serialize` types.
        Self::of(&value).unwrap_or_default()
    }
}

impl std::str::FromStr for Json {
    type Err = serde_json::Error;

    /// Reads a JSON text, which is checked and kept.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(fast::RAW, JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    /// From our quick reader: the text of the value, not yet checked.
    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Json, E> {
        serde_json::from_str(text).map(Json).map_err(E::custom)
    }

    /// From every other reader.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Json)
    }
}

/// A JSON number as it was written: the CLI sends `581.259` where its schema says integer.
#[derive(Clone, Copy)]
pub struct Num(Repr);

#[derive(Clone, Copy, PartialEq)]
enum Repr {
    Unsigned(u64),
    Negative(i64),
    Float(f64),
}

impl Num {
    /// The value, rounded where a double cannot hold it.
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Repr::Unsigned(n) => n as f64,
            Repr::Negative(n) => n as f64,
            Repr::Float(n) => n,
        }
    }

    /// The value as a count: fractions are cut, what is negative or no number is 0.
    pub fn as_u64(self) -> u64 {
        match self.0 {
            Repr::Unsigned(n) => n,
            Repr::Negative(_) => 0,
            Repr::Float(n) => n as u64,
        }
    }
}

/// Two are equal when they are written the same way: `1` is not `1.0`.
impl PartialEq for Num {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// By value.
impl PartialOrd for Num {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self.0, other.0) {
            (Repr::Unsigned(a), Repr::Unsigned(b)) => a.partial_cmp(&b),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

impl From<u32> for Num {
    fn from(n: u32) -> Self {
        Self(Repr::Unsigned(n.into()))
    }
}

impl From<i32> for Num {
    fn from(n: i32) -> Self {
        i64::from(n).into()
    }
}

impl Default for Num {
    fn default() -> Self {
        Self(Repr::Unsigned(0))
    }
}

impl fmt::Debug for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Unsigned(n) => n.fmt(f),
            Repr::Negative(n) => n.fmt(f),
            Repr::Float(n) => n.fmt(f),
        }
    }
}

impl From<u64> for Num {
    fn from(n: u64) -> Self {
        Self(Repr::Unsigned(n))
    }
}

impl From<i64> for Num {
    fn from(n: i64) -> Self {
        Self(u64::try_from(n).map_or(Repr::Negative(n), Repr::Unsigned))
    }
}

impl From<f64> for Num {
    fn from(n: f64) -> Self {
        Self(Repr::Float(n))
    }
}

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Repr::Unsigned(n) => serializer.serialize_u64(n),
            Repr::Negative(n) => serializer.serialize_i64(n),
            Repr::Float(n) => serializer.serialize_f64(n),
        }
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By way of serde_json's own type, which knows how numbers come when a crate elsewhere in the build asks
        // serde_json for arbitrary precision.
        let number = serde_json::Number::deserialize(deserializer)?;
        Ok(match (number.as_u64(), number.as_i64()) {
            (Some(n), _) => n.into(),
            (None, Some(n)) => n.into(),
            (None, None) => number.as_f64().unwrap_or(f64::INFINITY).into(),
        })
    }
}

/// A field the protocol declares as `T | null`.
///
/// The CLI means something by the `null` (a main-thread line has `parent_tool_use_id: null`), and older
/// versions leave some of these fields out: neither may turn into the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Nullable<T> {
    /// The key is not there.
    #[default]
    Absent,
    /// The key is there and `null`.
    Null,
    /// The key has a value.
    Value(T),
}

impl<T> Nullable<T> {
    /// Whether the key is missing.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The value, where absent and null mean the same to the caller.
    pub fn as_ref(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value itself, where absent and null mean the same to the caller.
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

/// `None` is written as `null`: whoever sets such a field means the key to be there.
impl<T> From<Option<T>> for Nullable<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Value)
    }
}

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Absent | Self::Null => serializer.serialize_none(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::from)
    }
}

/// A value that is a plain text or something richer: message content, tool results.
#[derive(Debug, Clone, PartialEq)]
pub enum TextOr<T> {
    /// A bare string.
    Text(String),
    /// The richer form.
    Rich(T),
}

impl<T> From<&str> for TextOr<T> {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T> From<String> for TextOr<T> {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T> From<Vec<T>> for TextOr<Vec<T>> {
    fn from(rich: Vec<T>) -> Self {
        Self::Rich(rich)
    }
}

impl<T: Serialize> Serialize for TextOr<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Rich(rich) => rich.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T> {
            type Value = TextOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or its richer form")
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(text.to_owned()))
            }
            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(TextOr::Text(text))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                seq: A,
            ) -> Result<Self::Value, A::Error> {
                T::deserialize(serde::de::value::SeqAccessDeserializer::new(seq)).map(TextOr::Rich)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<Self::Value, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(TextOr::Rich)
            }
            fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
                Err(E::invalid_type(serde::de::Unexpected::Unit, &self))
            }
        }
        deserializer.deserialize_any(TextOrVisitor(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carried_json_is_compared_by_meaning() {
        let json = |text: &str| text.parse::<Json>().unwrap();
        assert_eq!(
            json(r#"{"a":1,"b":[2]}"#),
            json(r#" {"b": [2], "a": 1}"#.trim())
        );
        assert_ne!(json(r#"{"a":1}"#), json(r#"{"a":2}"#));
        assert_ne!(json("[1,2]"), json("[2,1]"));
        assert!("{".parse::<Json>().is_err());
    }

    #[test]
    fn half_a_surrogate_pair_in_carried_json_is_kept_and_read_as_a_replacement() {
        let json: Json = r#"{"command":"echo \ud83d"}"#.parse().unwrap();
        assert_eq!(json.as_str(), r#"{"command":"echo \ud83d"}"#);
        assert_eq!(json.to_value().unwrap()["command"], "echo \u{fffd}");
    }

    #[test]
    fn numbers_are_counts_where_a_count_is_asked_for() {
        let counts = [
            Num::from(-3),
            Num::from(2.9),
            Num::from(7u64),
            Num::from(f64::NAN),
        ];
        assert_eq!(counts.map(Num::as_u64), [0, 2, 7, 0]);
        assert!(Num::from(1) < Num::from(1.5) && Num::from(-1) < Num::from(0));
    }
}
