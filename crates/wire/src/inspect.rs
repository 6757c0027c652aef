//! What in a value is new to this build: fields nobody declared, variants and words nobody has heard of, and the values
//! that are carried without looking into them.
//!
//! Owns the walk over a typed value and nothing of what is made of it. Used to see the protocol drift, never to decide.

use std::collections::BTreeMap;
use std::fmt;

use crate::shape::Fields;
use crate::{Extra, Json, Kept, Nullable, Num, TextOr};

/// Something on the wire that the types do not know.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Novelty<'a> {
    /// An undeclared field.
    Field(&'a str),
    /// An object whose tag has no type.
    Variant {
        /// The key of the tag.
        tag: &'static str,
        /// Its value.
        name: &'a str,
    },
    /// A word that is not in the declared set.
    Value(&'a str),
    /// Nothing new by itself: a value that is carried as JSON, into which no type looks.
    Carried(&'a Json),
    /// Nothing new by itself: an object that is known by name only.
    Kept(&'a Kept),
}

/// Where in a message a [`Novelty`] stands. Written as `message.content[].text`.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    parent: Option<&'a At<'a>>,
    step: &'a str,
}

impl<'a> At<'a> {
    /// The message itself.
    pub const ROOT: At<'static> = At {
        parent: None,
        step: "",
    };

    /// A field of this object.
    pub fn field(&'a self, name: &'a str) -> At<'a> {
        At {
            parent: Some(self),
            step: name,
        }
    }

    /// An element of this list or map.
    pub fn item(&'a self) -> At<'a> {
        self.field("[]")
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
            if parent.parent.is_some() && self.step != "[]" {
                f.write_str(".")?;
            }
        }
        f.write_str(self.step)
    }
}

/// Reports what in a value is new to this build.
pub trait Inspect {
    /// Calls `sink` for each novelty in `self`, which stands at `at`.
    fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>));
}

/// The part of [`Inspect`] that all structs share.
pub fn inspect_extra<T: Fields>(
    extra: &Extra,
    at: &At<'_>,
    sink: &mut dyn FnMut(&At<'_>, Novelty<'_>),
) {
    inspect_names(extra, [T::FIELDS, T::INTERNAL], at, sink);
}

fn inspect_names(
    extra: &Extra,
    declared: [&[&str]; 2],
    at: &At<'_>,
    sink: &mut dyn FnMut(&At<'_>, Novelty<'_>),
) {
    for (name, value) in extra.iter() {
        if declared.iter().any(|names| names.contains(&name)) {
            value.inspect(&at.field(name), sink);
        } else {
            sink(at, Novelty::Field(name));
        }
    }
}

macro_rules! nothing_to_inspect {
    ($($type:ty),*) => {$(
        impl Inspect for $type {
            fn inspect(&self, _: &At<'_>, _: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {}
        }
    )*};
}
nothing_to_inspect!(String, bool, Num);

/// What stands in it may be new all the same; whoever knows more of it looks there.
impl Inspect for Json {
    fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {
        sink(at, Novelty::Carried(self));
    }
}

impl<T: Inspect> Inspect for Box<T> {
    fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {
        T::inspect(self, at, sink);
    }
}

impl<T: Inspect> Inspect for Option<T> {
    fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {
        if let Some(value) = self {
            value.inspect(at, sink);
        }
    }
}

impl<T: Inspect> Inspect for Nullable<T> {
    fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {
        if let Nullable::Value(value) = self {
            value.inspect(at, sink);
        }
    }
}

impl<T: Inspect> Inspect for TextOr<T> {
    fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {
        if let TextOr::Rich(rich) = self {
            rich.inspect(at, sink);
        }
    }
}

impl<T: Inspect> Inspect for Vec<T> {
    fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {
        for value in self {
            value.inspect(&at.item(), sink);
        }
    }
}

impl<T: Inspect> Inspect for BTreeMap<String, T> {
    fn inspect(&self, at: &At<'_>, sink: &mut dyn FnMut(&At<'_>, Novelty<'_>)) {
        for value in self.values() {
            value.inspect(&at.item(), sink);
        }
    }
}
