//! Schemas and what fits them.

use serde_json::{Value, json};

use super::fitting;
use crate::cli::schema::violation;

fn check(schema: Value, prompt: &str, expected: Value) {
    let made = fitting(&schema, prompt);
    assert_eq!(made, expected, "{schema}");
    assert_eq!(violation(&schema, &made), None, "{schema}");
}

#[test]
fn every_type_has_a_value() {
    check(json!({"type":"string"}), "hello", json!("hello"));
    check(json!({"type":"integer"}), "no number", json!(1));
    check(json!({"type":"number"}), "about 2.5 litres", json!(2.5));
    check(json!({"type":"boolean"}), "", json!(true));
    check(json!({"type":"boolean"}), "false, please", json!(false));
    check(json!({"type":"null"}), "", json!(null));
    check(json!({"type":["null","integer"]}), "", json!(1));
    check(json!(true), "x", json!("x"));
    check(json!({}), "", json!("text"));
}

#[test]
fn bounds_hold() {
    check(json!({"type":"integer","minimum":10}), "", json!(10));
    check(
        json!({"type":"integer","exclusiveMinimum":10,"maximum":12}),
        "11 or 99",
        json!(11),
    );
    check(
        json!({"type":"integer","minimum":1,"exclusiveMinimum":true}),
        "",
        json!(2),
    );
    check(json!({"type":"integer","maximum":-3}), "", json!(-3));
    check(
        json!({"type":"integer","multipleOf":7,"minimum":8}),
        "10",
        json!(14),
    );
    check(
        json!({"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.5}),
        "",
        json!(0.25),
    );
    check(
        json!({"type":"string","minLength":8}),
        "abc",
        json!("abc....."),
    );
    check(
        json!({"type":"string","maxLength":3}),
        "abcdef",
        json!("abc"),
    );
    check(
        json!({"type":"string","pattern":"^[A-Z]{2}-\\d+$"}),
        "",
        json!("AA-0"),
    );
    check(
        json!({"type":"string","format":"date"}),
        "",
        json!("2026-01-01"),
    );
}

#[test]
fn constants_and_choices_are_kept() {
    check(json!({"const":{"a":1}}), "", json!({"a":1}));
    check(
        json!({"enum":["red","green"]}),
        "make it GREEN",
        json!("green"),
    );
    check(json!({"enum":[null,"red"]}), "", json!("red"));
    check(json!({"type":"string","default":"d"}), "x", json!("d"));
    check(
        json!({"anyOf":[{"type":"null"},{"type":"integer"}]}),
        "",
        json!(1),
    );
    let shapes = json!({"oneOf":[
        {"type":"object","properties":{"kind":{"const":"circle"},"radius":{"type":"integer"}},"required":["kind","radius"]},
        {"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"integer"}},"required":["kind","side"]}]});
    check(
        shapes.clone(),
        "a square, side 4",
        json!({"kind":"square","side":4}),
    );
    check(shapes, "", json!({"kind":"circle","radius":1}));
}

#[test]
fn objects_and_lists_nest() {
    let schema = json!({
        "type":"object",
        "properties":{
            "title":{"type":"string"},
            "tags":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":2,"uniqueItems":true},
            "point":{"type":"array","prefixItems":[{"type":"integer"},{"type":"boolean"}],"minItems":2},
            "inner":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n","free"]}
        },
        "required":["title","tags"], "additionalProperties":false
    });
    check(
        schema,
        "title: \"Big one\"",
        json!({
            "title":"Big one","tags":["a","b"],"point":[1,true],"inner":{"n":1,"free":"title: \"Big one\""}
        }),
    );
    check(
        json!({"type":"array","items":{"type":"integer"},"minItems":3}),
        "",
        json!([1, 2, 3]),
    );
    check(
        json!({"type":"array","items":{"type":"string"},"maxItems":0}),
        "x",
        json!([]),
    );
    check(
        json!({"type":"object","additionalProperties":{"type":"integer"}}),
        "",
        json!({"key1":1}),
    );
    check(
        json!({"type":"object","minProperties":2}),
        "x",
        json!({"key1":"x","key2":"x"}),
    );
}

#[test]
fn references_and_parts_are_laid_together() {
    let schema = json!({
        "$defs":{"id":{"type":"integer","minimum":5},"named":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},
        "allOf":[{"$ref":"#/$defs/named"},{"properties":{"id":{"$ref":"#/$defs/id"}},"required":["id"]}]
    });
    check(schema, "x", json!({"name":"x","id":5}));
}

#[test]
fn a_circle_ends() {
    let tree = json!({"type":"object","properties":{"value":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#"}}},"required":["value"]});
    let made = fitting(&tree, "");
    assert_eq!(made["children"][0]["value"], 1);
    let forced = json!({"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]});
    assert!(fitting(&forced, "")["next"]["next"].is_object());
    let own = json!({"$ref":"#"});
    assert!(fitting(&own, "x").is_string());
    let wide = json!({"type":"array","minItems":1_000_000_000_u64,"items":{"type":"array","minItems":1_000_000,"items":{}}});
    assert!(
        fitting(&wide, "x")
            .as_array()
            .is_some_and(|items| items.len() <= super::MOST)
    );
}

#[test]
fn exactly_one_branch_fits() {
    check(
        json!({"oneOf":[{"type":"integer"},{"type":"number"}]}),
        "",
        json!(1.5),
    );
    check(
        json!({"oneOf":[{"type":"string"},{"type":"string","maxLength":3}, {"type":"boolean"}]}),
        "word",
        json!("word"),
    );
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn schema(&mut self, depth: u64) -> Value {
        let least = self.roll(4);
        match self.roll(if depth == 0 { 5 } else { 9 }) {
            0 => json!({"type":"string","minLength":least,"maxLength":least + self.roll(5)}),
            1 => json!({"type":"integer","minimum":least,"maximum":least + self.roll(5)}),
            2 => json!({"type":["null","number"],"exclusiveMinimum":least}),
            3 => json!({"enum":["red",least,null]}),
            4 => json!({"type":"boolean"}),
            5 => json!({"type":"array","items":self.schema(depth - 1),"minItems":least}),
            6 => json!({"anyOf":[{"type":"null"},self.schema(depth - 1)]}),
            7 => json!({"allOf":[self.object(depth - 1),self.object(depth - 1)]}),
            _ => self.object(depth - 1),
        }
    }

    fn object(&mut self, depth: u64) -> Value {
        // Names of their own, so that two objects can hold at the same time.
        let (a, b) = (
            format!("a{}", self.roll(1 << 30)),
            format!("b{}", self.roll(1 << 30)),
        );
        json!({"type":"object","properties":{&a:self.schema(depth),&b:self.schema(depth)},"required":[a]})
    }
}

#[test]
fn whatever_can_be_met_is_met() {
    let mut dice = Dice(7);
    for _ in 0..2_000 {
        let schema = dice.schema(4);
        let made = fitting(&schema, "3 red words");
        assert_eq!(violation(&schema, &made), None, "{made} for {schema}");
    }
}
