//! One text for everything that means the same JSON.
//!
//! Owns the canonical form that digests are taken over: keys sorted, no white space, one spelling a number. Invariant: two
//! values that a reader of JavaScript cannot tell apart have one text, and two that it can have two.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// The canonical text of a value.
pub(crate) fn text(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value);
    text
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(string) => write_string(out, string),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            // Sorted here, whatever order the map keeps.
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| name.as_str());
            out.push('{');
            for (place, (name, value)) in sorted.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                write(out, value);
            }
            out.push('}');
        }
    }
}

fn write_string(out: &mut String, string: &str) {
    // The same letters always get the same escapes, whatever they were written as.
    out.push_str(&Value::from(string).to_string());
}

/// `1`, `1.0` and `1e0` are one number. A whole one is written as digits, however large.
fn write_number(out: &mut String, number: &Number) {
    let whole = number.as_f64().filter(|float| float.fract() == 0.0);
    let written = match (number.is_f64(), whole) {
        (true, Some(0.0)) => write!(out, "0"),
        (true, Some(float)) => write!(out, "{float:.0}"),
        _ => write!(out, "{number}"),
    };
    // Writing to a text cannot fail.
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(json: &str) -> String {
        text(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn key_order_white_space_and_escapes_do_not_matter() {
        let one = canonical(r#"{"b":[1,{"y":null,"x":true}],"a":"é\n"}"#);
        let other = canonical(r#" { "a" : "\u00e9\u000a", "b":[ 1, {"x":true,"y":null} ] } "#);
        assert_eq!(one, other);
        assert_eq!(one, r#"{"a":"é\n","b":[1,{"x":true,"y":null}]}"#);
    }

    #[test]
    fn one_number_has_one_spelling() {
        for same in [
            ["1", "1.0", "1e0", "10E-1"],
            ["0", "-0", "0.0", "-0.0"],
            ["-25", "-25.0", "-2.5e1", "-250e-1"],
            [
                "1000000000000000000",
                "1e18",
                "1.0e18",
                "1000000000000000000.0",
            ],
            ["100000000000000000000", "1e20", "1.0e20", "10e19"],
            ["0.5", "5e-1", "0.50", "50e-2"],
        ] {
            let texts = same.map(canonical);
            assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
        }
    }

    #[test]
    fn what_is_not_the_same_has_another_text() {
        let different = [
            "1",
            "\"1\"",
            "1.5",
            "2",
            "true",
            "null",
            "[]",
            "{}",
            "[1]",
            "[[1]]",
            "[1,2]",
            "[2,1]",
            r#"{"a":1}"#,
            r#"{"a":2}"#,
            r#"{"b":1}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":1,"b":1}"#,
            "\"a,b\"",
            r#"["a","b"]"#,
            r#"["a,b"]"#,
            r#""[1]""#,
        ];
        for (place, one) in different.iter().enumerate() {
            for other in &different[place + 1..] {
                assert_ne!(canonical(one), canonical(other), "{one} {other}");
            }
        }
    }
}
