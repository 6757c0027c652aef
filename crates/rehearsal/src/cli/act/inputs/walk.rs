//! Compares an input with a shape: collects what is wrong, and gives back what is taken. Pure.

use serde_json::{Map, Value};

use super::issue::{Issue, Step};
use super::shapes::{Field, Kind, Need, Others, Shape};
use crate::cli::schema::kind as received;

/// The fields that are taken. What is wrong is added to the issues, in the order of the shape.
pub(super) fn object(
    shape: &Shape,
    fields: &Map<String, Value>,
    at: &mut Vec<Step>,
    issues: &mut Vec<Issue>,
) -> Map<String, Value> {
    let mut taken = Map::new();
    for field in shape.fields {
        at.push(Step::Key(field.name.to_owned()));
        if let Some(value) = member(field, fields.get(field.name), at, issues) {
            taken.insert(field.name.to_owned(), value);
        }
        at.pop();
    }
    let known = |name: &str| shape.fields.iter().any(|field| field.name == name);
    let others = fields.iter().filter(|(name, _)| !known(name));
    match shape.others {
        Others::Kept => taken.extend(others.map(|(name, value)| (name.clone(), value.clone()))),
        Others::Dropped => {}
        Others::Refused => {
            let names: Vec<String> = others.map(|(name, _)| name.clone()).collect();
            if !names.is_empty() {
                issues.push(Issue::unexpected(at, names));
            }
        }
    }
    taken
}

fn member(
    field: &Field,
    value: Option<&Value>,
    at: &mut Vec<Step>,
    issues: &mut Vec<Issue>,
) -> Option<Value> {
    match (value, &field.need) {
        (Some(value), _) => Some(one(&field.kind, value, at, issues)),
        (None, Need::May) => None,
        (None, Need::OrFalse) => Some(Value::Bool(false)),
        (None, Need::Must) => {
            issues.push(Issue::missing(at, expected(&field.kind)));
            None
        }
    }
}

fn one(kind: &Kind, value: &Value, at: &mut Vec<Step>, issues: &mut Vec<Issue>) -> Value {
    let value = coerced(kind, value);
    if !is_of_type(kind, &value) {
        issues.push(Issue::mistyped(at, expected(kind), received(&value)));
        return value;
    }
    match (kind, &value) {
        (Kind::Int, Value::Number(number)) if number.as_f64().is_some_and(|n| n.fract() != 0.0) => {
            issues.push(Issue::not_whole(at));
        }
        (Kind::Longer(least), Value::String(text)) if text.encode_utf16().count() < *least => {
            issues.push(Issue::too_small(at, "string", *least));
        }
        (Kind::Url, Value::String(text)) if !is_url(text) => issues.push(Issue::no_url(at)),
        (Kind::One(words), Value::String(word)) if !words.contains(&word.as_str()) => {
            issues.push(Issue::no_option(at, words));
        }
        (Kind::List(kind, least, most), Value::Array(items)) => {
            return list((kind, *least, *most), items, at, issues);
        }
        (Kind::Object(shape), Value::Object(fields)) => {
            return Value::Object(object(shape, fields, at, issues));
        }
        _ => {}
    }
    value
}

fn list(
    (kind, least, most): (&Kind, usize, usize),
    items: &[Value],
    at: &mut Vec<Step>,
    issues: &mut Vec<Issue>,
) -> Value {
    let mut taken = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        at.push(Step::Index(index));
        taken.push(one(kind, item, at, issues));
        at.pop();
    }
    if items.len() < least {
        issues.push(Issue::too_small(at, "array", least));
    }
    if items.len() > most {
        issues.push(Issue::too_big(at, "array", most));
    }
    Value::Array(taken)
}

/// Models write numbers and flags as texts now and then.
fn coerced(kind: &Kind, value: &Value) -> Value {
    let Value::String(text) = value else {
        return value.clone();
    };
    match (kind, text.as_str()) {
        (Kind::Flag, "true") => true.into(),
        (Kind::Flag, "false") => false.into(),
        (Kind::Number | Kind::Int, text) if is_plain_number(text) => {
            match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(number), _) => number.into(),
                (_, Ok(number)) => number.into(),
                _ => value.clone(),
            }
        }
        _ => value.clone(),
    }
}

fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match digits.split_once('.') {
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
        None => all_digits(digits),
    }
}

fn is_of_type(kind: &Kind, value: &Value) -> bool {
    match kind {
        // A word that is none of the options is told as such, whatever its type.
        Kind::Anything => true,
        Kind::One(_) => value.is_string(),
        Kind::Text | Kind::Longer(_) | Kind::Url => value.is_string(),
        Kind::Number | Kind::Int => value.is_number(),
        Kind::Flag => value.is_boolean(),
        Kind::List(..) => value.is_array(),
        Kind::Object(_) => value.is_object(),
    }
}

fn expected(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Longer(_) | Kind::Url | Kind::One(_) | Kind::Anything => "string",
        Kind::Number | Kind::Int => "number",
        Kind::Flag => "boolean",
        Kind::List(..) => "array",
        Kind::Object(_) => "object",
    }
}

/// A scheme, a colon, and something after it.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let mut letters = scheme.bytes();
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    letters.next().is_some_and(|b| b.is_ascii_alphabetic())
        && letters.all(plain)
        && match scheme {
            "http" | "https" => !rest.trim_start_matches('/').is_empty(),
            _ => true,
        }
}
