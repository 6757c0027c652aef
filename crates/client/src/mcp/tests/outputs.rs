//! Schemas, arguments and outputs: what needs no session.

use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::mcp::schema::{self, Layout};
use crate::mcp::{Image, IntoToolOutput, Structured, Tool, ToolError};

/// Whatever it says here is not for the model.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Move {
    /// Where to.
    to: Point,
    speed: Option<f64>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Point {
    x: i64,
    y: i64,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
enum Tree {
    Leaf(u8),
    Fork(Vec<Tree>),
}

fn shown(output: impl IntoToolOutput) -> Value {
    let mut output = output.into_tool_output();
    output.result_type = None;
    serde_json::to_value(output).unwrap()
}

fn arguments(value: Value) -> rmcp::model::JsonObject {
    value.as_object().unwrap().clone()
}

#[test]
fn a_struct_is_the_schema_itself() {
    let (schema, layout) = schema::input::<Move>();
    assert_eq!(layout, Layout::Whole);
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["to"]));
    assert_eq!(schema["properties"]["to"]["description"], "Where to.");
    assert!(!schema.contains_key("title") && !schema.contains_key("description"));
}

#[test]
fn what_is_no_object_is_asked_for_as_value() {
    let (schema, layout) = schema::input::<Tree>();
    assert_eq!(
        (layout, &schema["type"]),
        (Layout::Wrapped, &json!("object"))
    );
    assert_eq!(schema["required"], json!(["value"]));
    // The type contains itself: its references must lead somewhere.
    assert_eq!(schema["properties"]["value"]["$ref"], "#/$defs/Tree");
    assert!(schema["$defs"]["Tree"].is_object());
    let tree = schema::read::<Tree>(layout, arguments(json!({"value": {"Fork": [{"Leaf": 1}]}})));
    assert_eq!(tree, Ok(Tree::Fork(vec![Tree::Leaf(1)])));
    let missing = schema::read::<Tree>(layout, arguments(json!({})));
    assert_eq!(missing, Err("missing field `value`".to_owned()));
}

#[test]
fn no_arguments_are_an_empty_object() {
    let (schema, layout) = schema::input::<()>();
    assert_eq!(
        Value::Object(schema),
        json!({"type": "object", "properties": {}})
    );
    assert_eq!(
        schema::read::<()>(layout, arguments(json!({"more": 1}))),
        Ok(())
    );
}

#[test]
fn bad_arguments_are_named_by_their_path() {
    let read = |value| schema::read::<Move>(Layout::Whole, arguments(value)).unwrap_err();
    assert_eq!(read(json!({})), "missing field `to`");
    let nested = read(json!({"to": {"x": "left", "y": 0}}));
    assert!(
        nested.starts_with("to.x: invalid type: string \"left\""),
        "{nested}"
    );
}

#[test]
fn plain_values_are_text() {
    let shows = |output: Value, said: &str| {
        assert_eq!(
            output,
            json!({"content": [{"type": "text", "text": said}], "isError": false})
        );
    };
    shows(shown("hello"), "hello");
    shows(shown(String::from("hello")), "hello");
    shows(shown(-3_i64), "-3");
    shows(shown(2.5), "2.5");
    shows(shown(true), "true");
    assert_eq!(shown(()), json!({"content": [], "isError": false}));
}

#[test]
fn objects_are_structured_and_text_and_other_json_is_text_alone() {
    #[derive(Serialize)]
    struct Sum {
        sum: i64,
    }
    let object = shown(Structured(Sum { sum: 5 }));
    assert_eq!(object["structuredContent"], json!({"sum": 5}));
    assert_eq!(object["content"][0]["text"], r#"{"sum":5}"#);
    let list = shown(Structured([1, 2]));
    assert_eq!(list["content"][0]["text"], "[1,2]");
    assert!(list.get("structuredContent").is_none());
    // Keys that are no strings have no JSON.
    let none = shown(Structured(std::collections::BTreeMap::from([((1, 2), 3)])));
    assert_eq!(none["isError"], true);
}

#[test]
fn blocks_and_images_are_content() {
    let image = || Image {
        data: "aGk=".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let block = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    assert_eq!(shown(image())["content"], json!([block]));
    let both = shown(vec![ContentBlock::text("see"), image().into()]);
    assert_eq!(
        both["content"],
        json!([{"type": "text", "text": "see"}, block])
    );
}

#[test]
fn an_error_of_any_kind_is_a_result_the_model_reads() {
    let parse = || -> Result<i64, ToolError> { Ok("x".parse::<i64>()?) };
    assert_eq!(shown(parse())["isError"], true);
    assert_eq!(
        shown(parse())["content"][0]["text"],
        "invalid digit found in string"
    );
    let said: Result<CallToolResult, ToolError> = Err("no such thing".into());
    assert_eq!(shown(said)["content"][0]["text"], "no such thing");
}

#[test]
fn what_is_said_of_a_tool_is_listed() {
    let tool = Tool::new("wipe", "Wipes the table", |_: ()| async {})
        .title("Wipe")
        .read_only(false)
        .destructive(true)
        .idempotent(true)
        .open_world(false)
        .always_load()
        .search_hint("clean")
        .output::<Move>();
    let mut listed = serde_json::to_value(tool.listed()).unwrap();
    assert_eq!(listed["outputSchema"].take()["type"], "object");
    assert_eq!(
        listed,
        json!({
            "name": "wipe",
            "title": "Wipe",
            "description": "Wipes the table",
            "inputSchema": {"type": "object", "properties": {}},
            "outputSchema": null,
            "annotations": {
                "readOnlyHint": false,
                "destructiveHint": true,
                "idempotentHint": true,
                "openWorldHint": false,
            },
            "_meta": {"anthropic/alwaysLoad": true, "anthropic/searchHint": "clean"},
        })
    );
}
