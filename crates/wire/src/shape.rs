//! The machinery below `#[derive(Wire)]`: how one object is read and written, field by field.
//!
//! Owns the traits the derive implements and the [`Source`] it reads from. Users of the crate need none of
//! it. Invariant: a tag may stand anywhere in its object; only what stands before it is buffered, as text.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, Visitor};
pub use serde::de::{Error as DeError, MapAccess};
pub use serde::ser::SerializeMap;

use crate::Json;
use crate::scan::is_deeper;
use crate::slow;

/// How an error names a field that stood before its tag and was read apart from the line.
pub(crate) const BEFORE_TAG: &str = "field `";

/// One JSON object as a type.
pub trait Body: Sized {
    /// Its name in error messages.
    const NAME: &'static str;

    /// Reads what is left of the object.
    ///
    /// # Errors
    /// When a declared field is missing or broken.
    fn read<'de, A: MapAccess<'de>>(source: Source<'de, A>) -> Result<Self, A::Error>;

    /// Writes the fields into an object that is already open; `tags` are written by the caller.
    ///
    /// # Errors
    /// When the serialiser fails.
    fn write<M: SerializeMap>(&self, tags: Tags, map: &mut M) -> Result<(), M::Error>;
}

impl<T: Body> Body for Box<T> {
    const NAME: &'static str = T::NAME;

    fn read<'de, A: MapAccess<'de>>(source: Source<'de, A>) -> Result<Self, A::Error> {
        T::read(source).map(Box::new)
    }

    fn write<M: SerializeMap>(&self, tags: Tags, map: &mut M) -> Result<(), M::Error> {
        T::write(self, tags, map)
    }
}

/// The declared names of a struct.
pub trait Fields {
    /// Fields with a type.
    const FIELDS: &'static [&'static str];
    /// Fields that are known to exist and only carried, in `extra`.
    const INTERNAL: &'static [&'static str];
    /// The place of a name in [`Fields::FIELDS`].
    fn index(name: &str) -> Option<usize>;
}

/// The declared names of a tagged enum.
pub trait Tagged {
    /// The key that holds the tag.
    const TAG: &'static str;
    /// Tag values with a type.
    const NAMES: &'static [&'static str];
    /// Tag values that are recognised by name, their bodies kept.
    const INTERNAL: &'static [&'static str];
}

/// The tag keys of the enums around a body: they are not fields of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tags([&'static str; 2]);

impl Tags {
    /// These and one more. Two is the deepest nesting in one object (`type` and `subtype`).
    #[must_use]
    pub fn and(self, tag: &'static str) -> Self {
        Self([tag, self.0[0]])
    }

    /// Whether `name` is one of them.
    pub fn contains(self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(self, name: &str) -> Option<&'static str> {
        self.0
            .into_iter()
            .find(|tag| *tag == name && !tag.is_empty())
    }
}

/// The place of a name among the declared ones: [`Fields::index`] of some type.
type Index = fn(&str) -> Option<usize>;

/// A key of the object being read.
#[derive(Debug)]
pub enum Key {
    /// A declared field, by its index.
    Field(usize),
    /// Any other name.
    Other(Box<str>),
}

/// The rest of an object: first what stood before the tag, then the map itself.
pub struct Source<'de, A> {
    /// Apart, because it is rare and this is handed from type to type.
    early: Option<Box<Early>>,
    tags: Tags,
    map: A,
    lifetime: PhantomData<&'de ()>,
}

type Entries = Vec<(Box<str>, Json)>;

/// Entries that were read before anybody knew what they belong to.
struct Early {
    left: std::vec::IntoIter<(Box<str>, Json)>,
    /// The one whose key was read last.
    current: Option<(Box<str>, Json)>,
}

impl Early {
    #[inline]
    fn of(entries: Entries) -> Option<Box<Self>> {
        if entries.is_empty() {
            return None;
        }
        Some(Box::new(Self {
            left: entries.into_iter(),
            current: None,
        }))
    }

    /// Takes the tag out, if it is among them, and gives the rest.
    fn tag<E: DeError>(self, tag: &'static str) -> Result<(Option<String>, Entries), E> {
        let (tags, rest): (Vec<_>, Vec<_>) = self.left.partition(|(name, _)| &**name == tag);
        let mut texts = tags
            .iter()
            .map(|(_, value)| serde_json::from_str(value.as_str()));
        let found = texts.next().transpose().map_err(E::custom)?;
        match texts.next() {
            Some(_) => Err(E::duplicate_field(tag)),
            None => Ok((found, rest)),
        }
    }

    fn next_name(&mut self) -> Option<&str> {
        self.current = self.left.next();
        self.current.as_ref().map(|(name, _)| &**name)
    }
}

impl<A> fmt::Debug for Source<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("tags", &self.tags)
            .finish_non_exhaustive()
    }
}

impl<'de, A: MapAccess<'de>> Source<'de, A> {
    /// A whole object, from its first key.
    pub fn new(map: A) -> Self {
        Self {
            early: None,
            tags: Tags::default(),
            map,
            lifetime: PhantomData,
        }
    }

    /// The next key.
    ///
    /// # Errors
    /// When the JSON is broken, or a tag is repeated: what an object is must not depend on who reads it.
    // `index` is no type parameter: there would be a copy of all this for each type.
    pub fn key(&mut self, index: Index) -> Result<Option<Key>, A::Error> {
        if let Some(early) = &mut self.early {
            match early.next_name() {
                Some(name) => {
                    let other = || Key::Other(name.into());
                    return Ok(Some(index(name).map_or_else(other, Key::Field)));
                }
                None => self.early = None,
            }
        }
        let seed = KeySeed {
            index,
            tags: self.tags,
        };
        match self.map.next_key_seed(seed)? {
            Some(Found::Key(key)) => Ok(Some(key)),
            Some(Found::Tag(tag)) => Err(DeError::duplicate_field(tag)),
            None => Ok(None),
        }
    }

    /// The value of the key that was just read.
    ///
    /// # Errors
    /// When it is no `T`.
    #[inline]
    pub fn value<T: DeserializeOwned>(&mut self) -> Result<T, A::Error> {
        match self.early_entry() {
            Some((name, raw)) => early_value(&name, &raw).map_err(DeError::custom),
            None => self.map.next_value(),
        }
    }

    #[inline]
    fn early_entry(&mut self) -> Option<(Box<str>, Json)> {
        self.early.as_mut()?.current.take()
    }

    /// Passes over the value of the key that was just read.
    ///
    /// # Errors
    /// When the JSON is broken.
    pub fn skip(&mut self) -> Result<(), A::Error> {
        match self.early_entry() {
            Some(_) => Ok(()),
            None => self.map.next_value::<IgnoredAny>().map(drop),
        }
    }

    /// Finds the tag. What stands before it is kept for the body to read.
    ///
    /// # Errors
    /// When the JSON is broken or the tag is no string.
    pub fn tag(&mut self, tag: &'static str) -> Result<Option<Cow<'de, str>>, A::Error> {
        let outer = self.tags;
        self.tags = outer.and(tag);
        let mut early = Vec::new();
        if let Some(known) = self.early.take() {
            let found;
            (found, early) = known.tag(tag)?;
            if found.is_some() {
                self.early = Early::of(early);
                return Ok(found.map(Cow::Owned));
            }
        }
        while let Some(TagText(name)) = self.map.next_key()? {
            if &*name == tag {
                let TagText(found) = self.map.next_value()?;
                self.early = Early::of(early);
                return Ok(Some(found));
            }
            if let Some(tag) = outer.find(&name) {
                return Err(DeError::duplicate_field(tag));
            }
            early.push((name.into(), shallow(self.map.next_value()?)?));
        }
        self.early = Early::of(early);
        Ok(None)
    }
}

impl<E: DeError> Source<'_, NoMore<E>> {
    /// An object given as its entries: what a flattened body shares with the struct around it.
    pub fn of_entries(entries: Vec<(Box<str>, Json)>) -> Self {
        Self {
            early: Early::of(entries),
            tags: Tags::default(),
            map: NoMore(PhantomData),
            lifetime: PhantomData,
        }
    }
}

/// Reads what stood before the tag, whatever the map is that it came from.
#[cold]
fn early_value<T: DeserializeOwned>(name: &str, raw: &Json) -> Result<T, String> {
    match slow::read(raw.as_str()) {
        Ok(value) => Ok(value),
        Err(refusal) => Err(early_refusal(name, &refusal.error)),
    }
}

fn early_refusal(name: &str, error: &serde_json::Error) -> String {
    format!("{BEFORE_TAG}{name}`: {error}")
}

/// A map at its end.
#[derive(Debug)]
pub struct NoMore<E>(PhantomData<E>);

impl<'de, E: DeError> MapAccess<'de> for NoMore<E> {
    type Error = E;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, _: K) -> Result<Option<K::Value>, E> {
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, _: V) -> Result<V::Value, E> {
        Err(E::custom("no value without a key"))
    }
}

/// Text that is read apart from its line starts at depth 0 again; without a bound of its own, tags that stand last could
/// be nested until the stack is full.
const MAX_BUFFERED_DEPTH: usize = 128;

/// Refuses a value that is nested too deeply to be read apart from its line.
///
/// # Errors
/// When it is.
pub fn shallow<E: DeError>(value: Json) -> Result<Json, E> {
    match is_deeper(value.as_str().as_bytes(), MAX_BUFFERED_DEPTH) {
        true => Err(E::custom("nested too deeply before its tag")),
        false => Ok(value),
    }
}

/// What a key of the map turned out to be.
enum Found {
    Key(Key),
    Tag(&'static str),
}

/// Tells declared fields from others without allocating.
struct KeySeed {
    index: Index,
    tags: Tags,
}

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Found;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    #[inline]
    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        if let Some(index) = (self.index)(name) {
            Ok(Found::Key(Key::Field(index)))
        } else if let Some(tag) = self.tags.find(name) {
            Ok(Found::Tag(tag))
        } else {
            Ok(Found::Key(Key::Other(name.into())))
        }
    }
}

/// A string that borrows from the line where it can.
struct TagText<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for TagText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = TagText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TagText(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TagText(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Reads a [`Body`] from any map.
pub struct BodyVisitor<T>(PhantomData<T>);

impl<T> Default for BodyVisitor<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T> fmt::Debug for BodyVisitor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BodyVisitor")
    }
}

impl<'de, T: Body> Visitor<'de> for BodyVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expecting_object(f, T::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::read(Source::new(map))
    }
}

fn expecting_object(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    write!(f, "an object ({name})")
}

/// Gives a [`Body`] serde's own traits.
#[doc(hidden)]
#[macro_export]
macro_rules! serde_by_body {
    ($type:ty) => {
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(::core::option::Option::None)?;
                $crate::shape::Body::write(self, $crate::shape::Tags::default(), &mut map)?;
                map.end()
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                deserializer.deserialize_map($crate::shape::BodyVisitor::<Self>::default())
            }
        }
    };
}
pub use serde_by_body;
