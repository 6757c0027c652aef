//! The type notation of `inventory.json`, and samples made from it.
//!
//! A sample is a JSON value of the type; `pick` chooses among the alternatives of unions, so that a few picks
//! together go through all of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

#[derive(Debug, Clone)]
pub(crate) enum Type {
    Word(String),
    Literal(String),
    Named(String),
    List(Box<Type>),
    Table(Box<Type>),
    Object { fields: Vec<Field>, open: bool },
    Union(Vec<Type>),
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) optional: bool,
    pub(crate) ty: Type,
}

/// Reads a type such as `{a: string, b?: array<@Name>}|null`.
pub(crate) fn parse(text: &str) -> Type {
    let mut parser = Parser { rest: text };
    let ty = parser.union();
    parser.space();
    assert!(
        parser.rest.is_empty(),
        "left over in {text}: {}",
        parser.rest
    );
    ty
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) {
        assert!(self.eat(token), "expected {token} before {}", self.rest);
    }

    fn take(&mut self, keep: impl Fn(char) -> bool) -> String {
        self.space();
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn union(&mut self) -> Type {
        let mut parts = vec![self.both()];
        while self.eat("|") {
            parts.push(self.both());
        }
        if parts.len() == 1 {
            parts.remove(0)
        } else {
            Type::Union(parts)
        }
    }

    /// `{…} & {…}`: the fields of both.
    fn both(&mut self) -> Type {
        let mut left = self.atom();
        while self.eat("&") {
            let right = self.atom();
            if let (Type::Object { fields, .. }, Type::Object { fields: more, .. }) =
                (&mut left, right)
            {
                fields.extend(more);
            }
        }
        left
    }

    fn atom(&mut self) -> Type {
        if self.eat("\"") {
            let text = self.take(|c| c != '"');
            self.expect("\"");
            Type::Literal(text)
        } else if self.eat("@") {
            Type::Named(self.take(|c| c.is_alphanumeric() || c == '_'))
        } else if self.eat("{") {
            self.object()
        } else if self.eat("[") {
            self.take(|c| c != ']');
            self.expect("]");
            Type::Word("any".to_owned())
        } else {
            let word = self.take(char::is_alphanumeric);
            if !self.eat("<") {
                return Type::Word(word);
            }
            let inner = Box::new(self.union());
            self.expect(">");
            if self.eat("(") {
                self.take(|c| c != ')');
                self.expect(")");
            }
            match word.as_str() {
                "array" => Type::List(inner),
                _ => Type::Table(inner),
            }
        }
    }

    fn object(&mut self) -> Type {
        let (mut fields, mut open) = (Vec::new(), false);
        while !self.eat("}") {
            if self.eat("...") {
                open = true;
            } else {
                let name = if self.eat("\"") {
                    let name = self.take(|c| c != '"');
                    self.expect("\"");
                    name
                } else {
                    self.take(|c| c.is_alphanumeric() || "_-".contains(c))
                };
                let optional = self.eat("?");
                self.expect(":");
                fields.push(Field {
                    name,
                    optional,
                    ty: self.union(),
                });
            }
            self.eat(",");
        }
        Type::Object { fields, open }
    }
}

/// What stands for any string. A field that is declared as a string and typed as a set of words does not know it.
pub(crate) const TEXT: &str = "some \"text\" – ü";

/// Makes samples of types.
pub(crate) struct Sampler {
    pub(crate) types: BTreeMap<String, Type>,
    /// Leave optional fields out.
    pub(crate) required_only: bool,
    /// Which alternative of a union to take, modulo their number.
    pub(crate) pick: usize,
}

impl Sampler {
    pub(crate) fn sample(&self, ty: &Type) -> Value {
        self.at_depth(ty, 0)
    }

    fn at_depth(&self, ty: &Type, depth: usize) -> Value {
        match ty {
            Type::Word(word) => self.word(word),
            Type::Literal(text) => json!(text),
            // The types are recursive (a reply lists requests): stop with the smallest form.
            Type::Named(name) if depth > 8 => self.smallest(&self.types[name]),
            Type::Named(name) => self.at_depth(&self.types[name], depth + 1),
            Type::List(inner) => json!([self.at_depth(inner, depth + 1)]),
            Type::Table(inner) => json!({"key one": self.at_depth(inner, depth + 1)}),
            Type::Union(parts) => self.at_depth(&parts[self.pick % parts.len()], depth),
            Type::Object { fields, open } => {
                let mut object = Map::new();
                for field in fields {
                    if !(field.optional && (self.required_only || depth > 6)) {
                        object.insert(field.name.clone(), self.at_depth(&field.ty, depth + 1));
                    }
                }
                if *open {
                    complete(&mut object);
                }
                Value::Object(object)
            }
        }
    }

    fn smallest(&self, ty: &Type) -> Value {
        let smallest = Sampler {
            types: self.types.clone(),
            required_only: true,
            pick: 0,
        };
        smallest.at_depth(ty, 7)
    }

    fn word(&self, word: &str) -> Value {
        match word {
            "string" => json!(TEXT),
            "integer" => json!(41),
            // The CLI sends fractions where integers are declared, too.
            "number" => json!(1.25),
            "boolean" | "true" => json!(true),
            "false" => json!(false),
            "null" => Value::Null,
            "any" | "object" => json!({"deep": [1, {"er": null}]}),
            number => json!(number.parse::<u64>().expect("a known word of the notation")),
        }
    }
}

/// The inventory gives some blocks by their tag alone; these are their required fields.
fn complete(object: &mut Map<String, Value>) {
    let tag = object["type"].as_str().unwrap_or_default().to_owned();
    let fields = match tag.as_str() {
        "server_tool_use" => json!({"id": "srvtoolu_1", "name": "web_search", "input": {}}),
        "mcp_tool_use" => json!({"id": "mcptoolu_1", "name": "n", "server_name": "s", "input": {}}),
        "mcp_tool_result" => json!({"tool_use_id": "mcptoolu_1", "is_error": false, "content": []}),
        "container_upload" => json!({"file_id": "file_1"}),
        "compaction" => json!({"content": null, "encrypted_content": "x"}),
        "fallback" => json!({"from": {"model": "a"}, "to": {"model": "b"}, "trigger": {}}),
        result if result.ends_with("_tool_result") => {
            json!({"tool_use_id": "srvtoolu_1", "content": {"type": "x"}})
        }
        _ => json!({}),
    };
    if let Value::Object(fields) = fields {
        object.extend(fields);
    }
}
