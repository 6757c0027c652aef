//! Words and ids: strings with a type.
//!
//! Owns `open_enum!` (a set of words that may grow) and `id_type!` (ids that must not be mixed up).
//! Invariant: a word this build does not know is kept and written back as it came.

/// Declares an enum of words whose last variant, `Other`, keeps a word the list does not have.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$vmeta:meta])* $variant:ident = $text:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$vmeta])* #[doc = concat!("`", $text, "`")] $variant, )*
            /// A word this build does not know.
            Other(Box<str>),
        }

        impl $name {
            /// The declared words.
            pub const KNOWN: &'static [&'static str] = &[$($text),*];

            /// The word as it stands on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $( $text => Self::$variant, )*
                    other => Self::Other(other.into()),
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = std::convert::Infallible;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(Self::from(text))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::open::read_text(deserializer)
            }
        }

        impl $crate::inspect::Inspect for $name {
            fn inspect(
                &self,
                at: &$crate::inspect::At<'_>,
                sink: &mut dyn FnMut(&$crate::inspect::At<'_>, $crate::inspect::Novelty<'_>),
            ) {
                if let Self::Other(text) = self {
                    sink(at, $crate::inspect::Novelty::Value(text));
                }
            }
        }
    };
}
pub(crate) use open_enum;

/// Declares an id: a string on the wire, never interchangeable with another kind of id in code.
macro_rules! id_type {
    ($( $(#[$meta:meta])* $name:ident ),* $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// The id as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        /// Sound because equality, order and hash are those of the string.
        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::open::read_text(deserializer)
            }
        }

        impl $crate::inspect::Inspect for $name {
            fn inspect(
                &self,
                _: &$crate::inspect::At<'_>,
                _: &mut dyn FnMut(&$crate::inspect::At<'_>, $crate::inspect::Novelty<'_>),
            ) {}
        }
    )*};
}
pub(crate) use id_type;

/// Reads a string without an allocation of its own, for types made from `&str`.
pub(crate) fn read_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: for<'a> From<&'a str>,
{
    struct TextVisitor<T>(std::marker::PhantomData<T>);
    impl<T: for<'a> From<&'a str>> serde::de::Visitor<'_> for TextVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a string")
        }
        fn visit_str<E>(self, text: &str) -> Result<T, E> {
            Ok(T::from(text))
        }
    }
    deserializer.deserialize_str(TextVisitor(std::marker::PhantomData))
}
