//! The notation of types in the wire's inventory, and the fields of a JSON value that such a type does not declare.
//!
//! Owns the reading of the notation and the walk; knows no messages. Lenient: a value of another shape than its type has no
//! undeclared fields, for which fields it may have is not known.

use std::collections::BTreeMap;

use serde_json::Value;

/// Maximum depth of the walk.
const DEPTH: usize = 64;

/// A type such as `{a: string, b?: array<@Name>}|null`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// Any value: nothing in it is undeclared.
    Any,
    /// A word, a number, a boolean or null.
    Scalar,
    Literal(String),
    /// An entry of the named types.
    Named(String),
    List(Box<Type>),
    Map(Box<Type>),
    Object {
        fields: BTreeMap<String, Type>,
        /// Whether it may have more fields than those.
        is_open: bool,
    },
    Union(Vec<Type>),
}

impl Type {
    /// Returns the type that a text describes; what cannot be read is [`Type::Any`].
    pub(super) fn parse(text: &str) -> Self {
        let mut parser = Parser { rest: text };
        let found = parser.union();
        match found {
            Some(found) if parser.rest.trim().is_empty() => found,
            _ => Self::Any,
        }
    }

    /// Returns the type of an object with these fields, as the inventory lists them.
    pub(super) fn of_fields(fields: &Value) -> Self {
        let fields = fields.as_object().into_iter().flatten();
        let fields = fields.map(|(name, field)| {
            let text = field["type"].as_str().unwrap_or("any");
            (name.clone(), Self::parse(text))
        });
        Self::Object {
            fields: fields.collect(),
            is_open: false,
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take(&mut self, keep: impl Fn(char) -> bool) -> String {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn union(&mut self) -> Option<Type> {
        let mut parts = vec![self.both()?];
        while self.eat("|") {
            parts.push(self.both()?);
        }
        Some(match parts.len() {
            1 => parts.remove(0),
            _ => Type::Union(parts),
        })
    }

    /// `{…} & {…}`: the fields of both.
    fn both(&mut self) -> Option<Type> {
        let mut left = self.atom()?;
        while self.eat("&") {
            match (&mut left, self.atom()?) {
                (Type::Object { fields, .. }, Type::Object { fields: more, .. }) => {
                    fields.extend(more);
                }
                _ => left = Type::Any,
            }
        }
        Some(left)
    }

    fn atom(&mut self) -> Option<Type> {
        if self.eat("\"") {
            let text = self.take(|c| c != '"');
            return self.eat("\"").then_some(Type::Literal(text));
        }
        if self.eat("@") {
            let name = self.take(|c| c.is_alphanumeric() || c == '_');
            return Some(Type::Named(name));
        }
        if self.eat("{") {
            return self.object();
        }
        if self.eat("[") {
            // A list of fixed length: its items are of several types.
            let mut depth = 1_u32;
            let end = self.rest.char_indices().find(|(_, c)| {
                depth = match c {
                    '[' => depth + 1,
                    ']' => depth - 1,
                    _ => depth,
                };
                depth == 0
            })?;
            self.rest = &self.rest[end.0 + 1..];
            return Some(Type::Any);
        }
        let word = self.take(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !self.eat("<") {
            return match word.as_str() {
                "" => None,
                "any" => Some(Type::Any),
                _ => Some(Type::Scalar),
            };
        }
        let inner = Box::new(self.union()?);
        if !self.eat(">") {
            return None;
        }
        if self.eat("(") {
            self.take(|c| c != ')');
            self.eat(")");
        }
        Some(match word.as_str() {
            "array" => Type::List(inner),
            _ => Type::Map(inner),
        })
    }

    fn object(&mut self) -> Option<Type> {
        let (mut fields, mut is_open) = (BTreeMap::new(), false);
        while !self.eat("}") {
            if self.eat("...") {
                is_open = true;
            } else {
                let name = match self.eat("\"") {
                    false => self.take(|c| c.is_alphanumeric() || "_-$".contains(c)),
                    true => {
                        let name = self.take(|c| c != '"');
                        self.eat("\"");
                        name
                    }
                };
                self.eat("?");
                if !self.eat(":") {
                    return None;
                }
                fields.insert(name, self.union()?);
            }
            self.eat(",");
        }
        Some(Type::Object { fields, is_open })
    }
}

/// The named types of the inventory.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<String, Type>);

impl Names {
    pub(super) fn new(types: &Value) -> Self {
        let types = types.as_object().into_iter().flatten();
        let types = types.map(|(name, text)| {
            let found = text.as_str().map_or(Type::Any, Type::parse);
            (name.clone(), found)
        });
        Self(types.collect())
    }

    fn resolve<'a>(&'a self, mut found: &'a Type) -> &'a Type {
        for _ in 0..DEPTH {
            match found {
                Type::Named(name) => found = self.0.get(name).unwrap_or(&Type::Any),
                _ => return found,
            }
        }
        &Type::Any
    }

    /// Returns the type at a path such as `a.b[].c`, through all alternatives. None: the type does not say.
    pub(super) fn at(&self, found: &Type, path: &str) -> Option<Type> {
        let mut here = vec![found.clone()];
        for step in path.split('.').filter(|step| !step.is_empty()) {
            let name = step.trim_end_matches("[]");
            if !name.is_empty() {
                here = self.below(&here, |found| match found {
                    Type::Object { fields, .. } => fields.get(name),
                    Type::Map(inner) => Some(inner),
                    _ => None,
                });
            }
            for _ in 0..(step.len() - name.len()) / 2 {
                here = self.below(&here, |found| match found {
                    Type::List(inner) | Type::Map(inner) => Some(inner),
                    _ => None,
                });
            }
        }
        match here.len() {
            0 => None,
            1 => here.pop(),
            _ => Some(Type::Union(here)),
        }
    }

    fn below(&self, here: &[Type], step: impl Fn(&Type) -> Option<&Type>) -> Vec<Type> {
        let mut next = Vec::new();
        let mut open: Vec<&Type> = here.iter().collect();
        while let Some(found) = open.pop() {
            match self.resolve(found) {
                Type::Union(parts) => open.extend(parts),
                found => next.extend(step(found).cloned()),
            }
        }
        next
    }

    /// Lists the undeclared fields of a value, as paths below `path`.
    pub(super) fn undeclared(&self, found: &Type, value: &Value, path: &str) -> Vec<String> {
        self.walk(found, value, path, 0)
    }

    fn walk(&self, found: &Type, value: &Value, path: &str, depth: usize) -> Vec<String> {
        if depth > DEPTH || !(value.is_object() || value.is_array()) {
            return Vec::new();
        }
        let each = |inner: &Type, items: &mut dyn Iterator<Item = &Value>| -> Vec<String> {
            let path = format!("{path}[]");
            let items = items.flat_map(|item| self.walk(inner, item, &path, depth + 1));
            items.collect()
        };
        match (self.resolve(found), value) {
            (Type::Object { fields, is_open }, Value::Object(entries)) => {
                let dot = if path.is_empty() { "" } else { "." };
                let below = entries.iter().flat_map(|(name, value)| {
                    let path = format!("{path}{dot}{name}");
                    match fields.get(name) {
                        Some(field) => self.walk(field, value, &path, depth + 1),
                        None if *is_open => Vec::new(),
                        None => vec![path],
                    }
                });
                below.collect()
            }
            (Type::List(inner), Value::Array(items)) => each(inner, &mut items.iter()),
            (Type::Map(inner), Value::Object(entries)) => each(inner, &mut entries.values()),
            (Type::Union(parts), value) => {
                let fitting = parts.iter().filter(|part| self.fits(part, value));
                let found = fitting.map(|part| self.walk(part, value, path, depth + 1));
                found.min_by_key(Vec::len).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a value may be of this type: shape and fixed words, no more.
    fn fits(&self, found: &Type, value: &Value) -> bool {
        match self.resolve(found) {
            Type::Any | Type::Named(_) => true,
            Type::Scalar => !value.is_object() && !value.is_array(),
            Type::Literal(text) => value == text.as_str(),
            Type::List(_) => value.is_array(),
            Type::Map(_) => value.is_object(),
            Type::Union(parts) => parts.iter().any(|part| self.fits(part, value)),
            Type::Object { fields, .. } => {
                let Some(entries) = value.as_object() else {
                    return false;
                };
                let mut fixed = fields.iter().filter(|(_, field)| self.is_fixed(field));
                fixed.all(|(name, field)| {
                    let entry = entries.get(name);
                    entry.is_none_or(|entry| self.fits(field, entry))
                })
            }
        }
    }

    fn is_fixed(&self, found: &Type) -> bool {
        match self.resolve(found) {
            Type::Literal(_) => true,
            Type::Union(parts) => parts.iter().all(|part| self.is_fixed(part)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn undeclared(text: &str, value: &Value) -> Vec<String> {
        let names = Names::new(&json!({"Leaf": "{a: string, next?: @Leaf}"}));
        names.undeclared(&Type::parse(text), value, "top")
    }

    #[test]
    fn a_field_that_no_alternative_declares_is_found_at_any_depth() {
        let text = r#"{kind: "a", x: {y: integer}}|{kind: "b", list: array<@Leaf>}|string"#;
        for (value, expected) in [
            (json!({"kind": "a", "x": {"y": 1, "z": 1}}), vec!["top.x.z"]),
            (json!({"kind": "a", "list": []}), vec!["top.list"]),
            (
                json!({"kind": "b", "list": [{"a": "", "next": {"a": "", "b": 1}}]}),
                vec!["top.list[].next.b"],
            ),
            (json!("text"), vec![]),
            (json!({"kind": "c", "new": 1}), vec![]),
        ] {
            assert_eq!(undeclared(text, &value), expected, "{value}");
        }
    }

    #[test]
    fn open_objects_maps_and_any_declare_everything() {
        let value = json!({"a": {"b": {"c": 1}}});
        for text in ["{a: any}", "map<any>", "{...}", "any", "[string, integer]"] {
            assert_eq!(undeclared(text, &value), Vec::<String>::new(), "{text}");
        }
        assert_eq!(undeclared("map<@Leaf>", &value), ["top[].b"]);
        assert_eq!(undeclared("{b?: any} & {c: string}", &value), ["top.a"]);
    }

    #[test]
    fn the_type_at_a_path_is_that_of_all_alternatives() {
        let names = Names::new(&json!({"Leaf": "{a: {x: string}}|{a: {y: string}}"}));
        let list = Type::parse("{list: array<@Leaf>}");
        let found = names.at(&list, "list[].a").unwrap();
        let value = json!({"x": "", "y": ""});
        assert_eq!(names.undeclared(&found, &value, "").len(), 1);
        assert_eq!(names.at(&list, "list[].b"), None);
    }
}
