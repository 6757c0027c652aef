//! One field of a form, as its schema describes it.
//!
//! Owns which schemas are understood (a flat object of strings, numbers, yes or no, and choices), and whether an answer
//! fits. Pure. Whatever else a schema asks for is refused as a whole: half a form would be answered wrongly.

use std::fmt::Display;

use serde_json::{Map, Number, Value};

/// A field.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) is_required: bool,
    pub(crate) kind: Kind,
    pub(crate) default: Option<Value>,
}

/// What a field holds.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Text {
        format: Option<Format>,
        least: Option<u64>,
        most: Option<u64>,
    },
    Number {
        is_whole: bool,
        limits: Limits,
    },
    Flag,
    One(Vec<Choice>),
    Many {
        choices: Vec<Choice>,
        least: Option<u64>,
        most: Option<u64>,
    },
}

/// A text of a certain form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

/// Between what a number lies.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    least: Option<f64>,
    most: Option<f64>,
    above: Option<f64>,
    below: Option<f64>,
}

/// Something to choose.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) value: Value,
    pub(crate) title: String,
}

/// The fields of a schema: first those of `order`, then the rest.
pub(crate) fn fields(schema: &Value, order: Option<&[String]>) -> Result<Vec<Field>, String> {
    let properties = match schema.get("properties") {
        None => &Map::new(),
        Some(Value::Object(properties)) => properties,
        Some(_) => return Err("the `properties` of the form are no object".to_owned()),
    };
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return Err("the form is no object".to_owned());
    }
    let required: Vec<&str> = listed(schema, "required")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if let Some(missing) = required
        .iter()
        .find(|name| !properties.contains_key(**name))
    {
        return Err(format!("`{missing}` is required but not described"));
    }
    let order: Vec<&str> = order
        .unwrap_or_default()
        .iter()
        .map(String::as_str)
        .collect();
    let place = |name: &str| {
        order
            .iter()
            .position(|listed| *listed == name)
            .unwrap_or(order.len())
    };
    let mut names: Vec<&String> = properties.keys().collect();
    names.sort_by_key(|name| place(name));
    let read =
        |name: &String| Field::read(name, &properties[name], required.contains(&name.as_str()));
    names.into_iter().map(read).collect()
}

impl Field {
    fn read(name: &str, schema: &Value, is_required: bool) -> Result<Self, String> {
        let said = |key: &str| {
            schema
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let kind = kind(schema).map_err(|why| format!("`{name}`: {why}"))?;
        let title = Some(said("title"))
            .filter(|title| !title.is_empty())
            .unwrap_or_else(|| name.to_owned());
        Ok(Self {
            name: name.to_owned(),
            title,
            description: said("description"),
            is_required,
            kind,
            default: schema
                .get("default")
                .filter(|default| !default.is_null())
                .cloned(),
        })
    }

    /// What a written answer says. `None`: it is left out.
    pub(crate) fn written(&self, text: &str) -> Result<Option<Value>, String> {
        if text.trim().is_empty() {
            return match self.is_required {
                true => Err("an answer is needed".to_owned()),
                false => Ok(None),
            };
        }
        match &self.kind {
            Kind::Text {
                format,
                least,
                most,
            } => {
                // A form with a fixed shape has no blanks around it.
                let text = if format.is_some() { text.trim() } else { text };
                between(text.chars().count() as u64, *least, *most, "letters")?;
                format.map_or(Ok(()), |format| format.check(text))?;
                Ok(Some(Value::from(text)))
            }
            Kind::Number { is_whole, limits } => number(text.trim(), *is_whole, limits).map(Some),
            _ => Ok(Some(Value::from(text))),
        }
    }

    /// Whether so many choices may be ticked.
    pub(crate) fn ticked(&self, count: usize) -> Result<(), String> {
        match &self.kind {
            Kind::Many { .. } if count == 0 && !self.is_required => Ok(()),
            Kind::Many { least, most, .. } => between(count as u64, *least, *most, "choices"),
            _ => Ok(()),
        }
    }

    /// An answer as a person reads it.
    pub(crate) fn shown(&self, value: &Value) -> String {
        let titled = |choices: &[Choice], value: &Value| {
            let choice = choices.iter().find(|choice| choice.value == *value);
            choice.map_or_else(|| plain(value), |choice| choice.title.clone())
        };
        match (&self.kind, value) {
            (Kind::Flag, Value::Bool(is_so)) => (if *is_so { "yes" } else { "no" }).to_owned(),
            (Kind::One(choices), value) => titled(choices, value),
            (Kind::Many { choices, .. }, Value::Array(values)) => values
                .iter()
                .map(|value| titled(choices, value))
                .collect::<Vec<_>>()
                .join(", "),
            (_, value) => plain(value),
        }
    }
}

/// A value without quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn listed<'a>(schema: &'a Value, key: &str) -> &'a [Value] {
    schema
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn kind(schema: &Value) -> Result<Kind, String> {
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    if let Some(choices) = choices(schema)? {
        return Ok(Kind::One(choices));
    }
    // A type beside `null` is that type, left out.
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .filter(|kind| *kind != "null")
            .collect(),
        _ => Vec::new(),
    };
    let [kind] = types.as_slice() else {
        return Err("it has no single type".to_owned());
    };
    match *kind {
        "string" => Ok(Kind::Text {
            format: schema
                .get("format")
                .and_then(Value::as_str)
                .and_then(Format::named),
            least: count("minLength"),
            most: count("maxLength"),
        }),
        "number" | "integer" => Ok(Kind::Number {
            is_whole: *kind == "integer",
            limits: Limits::read(schema),
        }),
        "boolean" => Ok(Kind::Flag),
        "array" => match schema.get("items").map(choices).transpose()?.flatten() {
            Some(choices) => Ok(Kind::Many {
                choices,
                least: count("minItems"),
                most: count("maxItems"),
            }),
            None => Err("a list can only be of choices".to_owned()),
        },
        other => Err(format!("a form cannot ask for `{other}`")),
    }
}

/// The choices of a schema, if it is one of choices. They have titles of their own, or a list of names beside them.
fn choices(schema: &Value) -> Result<Option<Vec<Choice>>, String> {
    let titled = ["oneOf", "anyOf"]
        .into_iter()
        .find_map(|key| schema.get(key).and_then(Value::as_array));
    let choices: Vec<Choice> = if let Some(titled) = titled {
        let choice = |choice: &Value| {
            let value = choice
                .get("const")
                .cloned()
                .ok_or("a choice has no `const`")?;
            let title = choice
                .get("title")
                .and_then(Value::as_str)
                .map_or_else(|| plain(&value), str::to_owned);
            Ok(Choice { value, title })
        };
        titled.iter().map(choice).collect::<Result<_, String>>()?
    } else if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let names = listed(schema, "enumNames");
        let title = |at: usize, value: &Value| {
            names
                .get(at)
                .and_then(Value::as_str)
                .map_or_else(|| plain(value), str::to_owned)
        };
        values
            .iter()
            .enumerate()
            .map(|(at, value)| Choice {
                value: value.clone(),
                title: title(at, value),
            })
            .collect()
    } else {
        return Ok(None);
    };
    match choices.is_empty() {
        true => Err("there is nothing to choose".to_owned()),
        false => Ok(Some(choices)),
    }
}

impl Limits {
    fn read(schema: &Value) -> Self {
        let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
        Self {
            least: limit("minimum"),
            most: limit("maximum"),
            above: limit("exclusiveMinimum"),
            below: limit("exclusiveMaximum"),
        }
    }

    fn check(&self, number: f64) -> Result<(), String> {
        match self {
            Self {
                least: Some(limit), ..
            } if number < *limit => Err(format!("at least {limit}")),
            Self {
                most: Some(limit), ..
            } if number > *limit => Err(format!("at most {limit}")),
            Self {
                above: Some(limit), ..
            } if number <= *limit => Err(format!("more than {limit}")),
            Self {
                below: Some(limit), ..
            } if number >= *limit => Err(format!("less than {limit}")),
            _ => Ok(()),
        }
    }
}

fn number(text: &str, is_whole: bool, limits: &Limits) -> Result<Value, String> {
    // JSON knows no plus sign, people do.
    let text = text.strip_prefix('+').unwrap_or(text);
    let whole = text
        .parse::<i64>()
        .map(Number::from)
        .or_else(|_| text.parse::<u64>().map(Number::from));
    let number = match (whole, is_whole) {
        (Ok(number), _) => number,
        (Err(_), true) => return Err("not a whole number".to_owned()),
        (Err(_), false) => text
            .parse()
            .ok()
            .and_then(Number::from_f64)
            .ok_or("not a number")?,
    };
    limits.check(number.as_f64().unwrap_or(f64::NAN))?;
    Ok(Value::Number(number))
}

fn between(
    count: u64,
    least: Option<u64>,
    most: Option<u64>,
    what: impl Display,
) -> Result<(), String> {
    match (least, most) {
        (Some(least), _) if count < least => Err(format!("at least {least} {what}, not {count}")),
        (_, Some(most)) if count > most => Err(format!("at most {most} {what}, not {count}")),
        _ => Ok(()),
    }
}

impl Format {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "email" => Self::Email,
            "uri" => Self::Uri,
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            // Unknown ones are for the asker to check.
            _ => return None,
        })
    }

    /// What it looks like.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Self::Email => "name@host.org",
            Self::Uri => "https://host.org/page",
            Self::Date => "2026-01-31",
            Self::DateTime => "2026-01-31T17:00:00Z",
        }
    }

    fn check(self, text: &str) -> Result<(), String> {
        let is_one_word =
            !text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
        let fits = is_one_word
            && match self {
                Self::Email => text.split_once('@').is_some_and(|(name, host)| {
                    !name.is_empty()
                        && !host.contains('@')
                        && host.split('.').all(|part| !part.is_empty())
                }),
                Self::Uri => text.split_once(':').is_some_and(|(scheme, rest)| {
                    let is_first = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic());
                    let is_word = scheme
                        .chars()
                        .all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
                    is_first && is_word && !rest.is_empty()
                }),
                Self::Date => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
                Self::DateTime => {
                    text.contains(['T', 't']) && text.parse::<jiff::Timestamp>().is_ok()
                }
            };
        match fits {
            true => Ok(()),
            false => Err(format!("it has to look like {}", self.example())),
        }
    }
}

#[cfg(test)]
mod tests;
