//! From a Rust type to the input schema of a tool, and from a call's arguments back to the type.
//!
//! Pure. Invariant: the schema's root is an object, as MCP demands. A type that is no object (a text, a list, an enum)
//! is asked for as the one property `value`.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The property that holds arguments which are no object.
const ONLY: &str = "value";

/// How a type's value lies in the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// The arguments are the value.
    Whole,
    /// It is the property [`ONLY`].
    Wrapped,
    /// There are no arguments.
    Nothing,
}

/// The input schema for values of `A`.
pub(super) fn input<A: JsonSchema>() -> (JsonObject, Layout) {
    let root = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<A>();
    match root.get("type").and_then(Value::as_str) {
        Some("object") => {
            let mut object = root.as_object().cloned().unwrap_or_default();
            // The name and description of the Rust type; the tool has its own.
            object.remove("title");
            object.remove("description");
            (object, Layout::Whole)
        }
        Some("null") => (
            object(json!({"type": "object", "properties": {}})),
            Layout::Nothing,
        ),
        _ => (wrapped::<A>(), Layout::Wrapped),
    }
}

fn wrapped<A: JsonSchema>() -> JsonObject {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let value = generator.subschema_for::<A>();
    let definitions = generator.take_definitions(true);
    let mut schema =
        object(json!({"type": "object", "properties": {ONLY: value}, "required": [ONLY]}));
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Reads a call's arguments, or says which of them is wrong.
pub(super) fn read<A: DeserializeOwned>(
    layout: Layout,
    mut arguments: JsonObject,
) -> Result<A, String> {
    let value = match layout {
        Layout::Whole => Value::Object(arguments),
        Layout::Nothing => Value::Null,
        Layout::Wrapped => arguments
            .remove(ONLY)
            .ok_or_else(|| format!("missing field `{ONLY}`"))?,
    };
    serde_path_to_error::deserialize(value).map_err(|error| match error.path().to_string() {
        // The error itself names what is missing at the top.
        path if path == "." => error.into_inner().to_string(),
        path => format!("{path}: {}", error.into_inner()),
    })
}
