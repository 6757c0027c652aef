//! One field of a form: what is taken and what is not.

use serde_json::json;

use super::*;

fn field(schema: Value) -> Field {
    Field::read("it", &schema, false).unwrap()
}

#[track_caller]
fn fits(schema: &Value, texts: &[&str]) {
    for text in texts {
        assert!(field(schema.clone()).written(text).is_ok(), "{text}");
    }
}

#[track_caller]
fn fails(schema: &Value, texts: &[&str]) {
    for text in texts {
        assert!(field(schema.clone()).written(text).is_err(), "{text}");
    }
}

#[test]
fn formats_are_checked() {
    let email = json!({"type": "string", "format": "email"});
    fits(&email, &["a@b", "first.last+tag@host.org", " a@b.c "]);
    fails(&email, &["a", "@b", "a@", "a@b@c", "a b@c", "a@b..c"]);
    let uri = json!({"type": "string", "format": "uri"});
    fits(&uri, &["https://a.b/c?d", "mailto:a@b", "urn:x:y"]);
    fails(&uri, &["a.b/c", ":x", "1a:b", "https:", "ht tp://x"]);
    let date = json!({"type": "string", "format": "date"});
    fits(&date, &["2026-02-28", "2024-02-29"]);
    fails(&date, &["2026-02-30", "28.2.2026", "2026-2-8", "20260228"]);
    let moment = json!({"type": "string", "format": "date-time"});
    fits(
        &moment,
        &["2026-02-28T12:00:00Z", "2026-02-28T12:00:00.5+01:00"],
    );
    fails(
        &moment,
        &[
            "2026-02-28",
            "2026-02-28T25:00:00Z",
            "2026-02-28T12:00:00",
            "2026-02-28 12:00:00Z",
        ],
    );
}

#[test]
fn numbers_keep_their_kind_and_their_limits() {
    let whole = json!({"type": "integer", "minimum": 1, "maximum": 10});
    fits(&whole, &["1", "10", " +3 "]);
    fails(
        &whole,
        &["0", "11", "1.5", "1e1", "x", "99999999999999999999999"],
    );
    let any = json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1});
    fits(&any, &["0.5", "1e-3"]);
    fails(&any, &["0", "1", "NaN", "inf", "0,5"]);
    assert_eq!(
        field(json!({"type": "number"})).written("3").unwrap(),
        Some(json!(3))
    );
    assert_eq!(
        field(json!({"type": "number"})).written("2.50").unwrap(),
        Some(json!(2.5))
    );
}

#[test]
fn lengths_are_counted_in_letters_and_what_is_needed_is_needed() {
    let text = json!({"type": "string", "minLength": 2, "maxLength": 3});
    fits(&text, &["你好", "abc"]);
    fails(&text, &["a", "abcd"]);
    assert_eq!(field(text.clone()).written("").unwrap(), None);
    assert!(
        Field::read("it", &text, true)
            .unwrap()
            .written(" ")
            .is_err()
    );
}

#[test]
fn choices_are_read_in_each_of_their_ways() {
    for schema in [
        json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
        json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}),
        json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}}),
    ] {
        let field = field(schema);
        let (Kind::One(choices) | Kind::Many { choices, .. }) = &field.kind else {
            panic!("{field:?}");
        };
        let read: Vec<_> = choices
            .iter()
            .map(|choice| (plain(&choice.value), choice.title.clone()))
            .collect();
        assert_eq!(
            read,
            [
                ("a".to_owned(), "A".to_owned()),
                ("b".to_owned(), "B".to_owned())
            ]
        );
    }
}

#[test]
fn a_schema_that_is_not_understood_is_refused() {
    for schema in [
        json!({"type": "object", "properties": {}}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"enum": []}),
        json!({"oneOf": [{"type": "string"}]}),
        json!({"type": ["string", "number"]}),
        json!({}),
    ] {
        let form = json!({"type": "object", "properties": {"x": schema}});
        let refused = fields(&form, None).unwrap_err();
        assert!(refused.starts_with("`x`: "), "{refused}");
    }
    assert!(fields(&json!({"type": "object", "required": ["y"]}), None).is_err());
    assert!(fields(&json!({"type": "string"}), None).is_err());
}

#[test]
fn fields_come_in_the_order_that_was_given() {
    let text = json!({"type": "string"});
    let form = json!({"properties": {"a": text, "b": text, "c": text, "d": text}});
    let names = |order: Option<&[String]>| -> Vec<String> {
        fields(&form, order)
            .unwrap()
            .into_iter()
            .map(|field| field.name)
            .collect()
    };
    assert_eq!(
        names(Some(&["d".to_owned(), "x".to_owned(), "b".to_owned()])),
        ["d", "b", "a", "c"]
    );
    assert_eq!(names(None), ["a", "b", "c", "d"]);
}
