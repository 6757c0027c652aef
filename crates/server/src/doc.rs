//! The OpenAPI document.
//!
//! Owns what stands in it beside the routes: who we are, how one signs in, and what can go wrong with any of them. It is
//! made from the code and nothing else.

use std::sync::OnceLock;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use countersign_api::{BASE, HostEvents, IDEMPOTENCY_KEY, Problem, RecordEvents, TranscriptEvents};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::Type;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    ComponentsBuilder, Content, Info, License, ObjectBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
    Required, ResponseBuilder, Schema,
};
use utoipa::{PartialSchema, ToSchema};

use crate::routes;

/// What can go wrong with a question.
const READ: [(&str, &str); 8] = [
    ("400", "The request cannot be read"),
    ("401", "Not signed in"),
    (
        "403",
        "The token may not do this, or the request comes from another site",
    ),
    ("404", "There is no such thing"),
    ("409", "Somebody was first, or not in this state"),
    ("422", "It makes no sense as it is"),
    ("429", "Too many tries"),
    ("503", "Not at the moment"),
];

/// What can go wrong with a write beyond that.
const WRITE: [(&str, &str); 4] = [
    ("408", "The deadline has passed"),
    ("413", "The body is too large"),
    ("415", "The body is not JSON"),
    ("507", "The disk is full: nothing was done"),
];

/// The document as it is served, made once.
pub(crate) async fn served() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| serde_json::to_string(&document()).unwrap_or_default());
    ([(header::CONTENT_TYPE, "application/json")], text.as_str()).into_response()
}

/// The document of all routes.
pub fn document() -> OpenApi {
    let table = routes::table();
    let all = routes::login::open()
        .merge(table.read)
        .merge(table.answer)
        .merge(table.full);
    let mut info = Info::new("Countersign", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "Sessions of Claude Code agents, their questions, and the decisions on them. Times are microseconds of Unix time."
            .to_owned(),
    );
    let mut license = License::new("MIT OR Apache-2.0");
    license.identifier = Some("MIT OR Apache-2.0".to_owned());
    info.license = Some(license);
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token of `countersign token create`."))
        .build();
    let cookie = ApiKey::Cookie(ApiKeyValue::new("countersign"));
    let mut events = Vec::new();
    let tables = [
        told::<RecordEvents<'_>>(&mut events),
        told::<TranscriptEvents<'_>>(&mut events),
        told::<HostEvents>(&mut events),
    ];
    let components = ComponentsBuilder::new()
        .schemas_from_iter(events)
        .schema(Problem::name(), Problem::schema())
        .schema(
            countersign_api::Code::name(),
            countersign_api::Code::schema(),
        )
        .security_scheme("bearer", SecurityScheme::Http(bearer))
        .security_scheme("cookie", SecurityScheme::ApiKey(cookie))
        .build();
    let document = OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([
            SecurityRequirement::new("bearer", [""; 0]),
            SecurityRequirement::new("cookie", [""; 0]),
        ]))
        .build();
    let mut document = document.nest(BASE, all.into_openapi());
    for item in document.paths.paths.values_mut() {
        let reads = [item.get.as_mut()];
        let writes = [
            item.post.as_mut(),
            item.put.as_mut(),
            item.patch.as_mut(),
            item.delete.as_mut(),
        ];
        for operation in reads.into_iter().flatten() {
            may_fail(operation, &READ);
        }
        for operation in writes.into_iter().flatten() {
            may_fail(operation, &READ);
            may_fail(operation, &WRITE);
            let parameters = operation.parameters.get_or_insert_default();
            parameters.push(key().into());
        }
    }
    for (path, table) in STREAMS.iter().zip(tables) {
        let item = document.paths.paths.get_mut(&format!("{BASE}{path}"));
        if let Some(operation) = item.and_then(|item| item.get.as_mut()) {
            operation.extensions = Some(table);
        }
    }
    document
}

/// Streams, in the order of their tables of events.
const STREAMS: [&str; 3] = [
    "/sessions/{id}/events",
    "/sessions/{id}/transcript/stream",
    "/events",
];

/// A table of the events of a stream as the document names it. Data of events have no place of their own in OpenAPI 3.1.
fn told<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) -> Extensions {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
    let table = Ref::from_schema_name(T::name());
    let table = serde_json::to_value(table).unwrap_or_default();
    Extensions::builder().add("x-events", table).build()
}

fn may_fail(operation: &mut Operation, problems: &[(&str, &str)]) {
    for (status, what) in problems {
        let body = Content::new(Some(Ref::from_schema_name(Problem::name())));
        let response = ResponseBuilder::new()
            .description(*what)
            .content("application/problem+json", body)
            .build();
        let known = &mut operation.responses.responses;
        let status = (*status).to_owned();
        known.entry(status).or_insert_with(|| response.into());
    }
}

/// The key of a write.
fn key() -> Parameter {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^[!-~]{1,128}$"));
    ParameterBuilder::new()
        .name(IDEMPOTENCY_KEY)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Names the write: the same key gives the same receipt and does nothing twice.",
        ))
        .schema(Some(text))
        .build()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;

    fn operations() -> (Value, Vec<(String, Value)>) {
        let document = serde_json::to_value(document()).unwrap();
        let mut operations = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for method in ["get", "post", "put", "patch", "delete"] {
                if let Some(operation) = item.get(method) {
                    operations.push((format!("{method} {path}"), operation.clone()));
                }
            }
        }
        (document, operations)
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let mut named = BTreeMap::new();
        for (at, operation) in operations().1 {
            let name = operation["operationId"].as_str().unwrap_or_default();
            let is_camel = name.starts_with(|first: char| first.is_ascii_lowercase())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            assert!(is_camel, "{at} is called `{name}`");
            let other = named.insert(name.to_owned(), at.clone());
            assert_eq!(other, None, "`{name}` is also {at}");
        }
    }

    /// Only what an agent wrote may be anything.
    #[test]
    fn every_answer_and_every_body_has_a_shape() {
        for (at, operation) in operations().1 {
            let answers = operation["responses"].as_object().unwrap().values();
            for place in answers.chain(operation.get("requestBody")) {
                let Some(contents) = place["content"].as_object() else {
                    continue;
                };
                for content in contents.values() {
                    let says = content["schema"].as_object().is_some_and(|it| {
                        it.contains_key("$ref")
                            || it.contains_key("type")
                            || it.contains_key("oneOf")
                    });
                    let is_record = operation["operationId"] == "getRecord";
                    assert!(says || is_record, "{at}: {content}");
                }
            }
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn look(value: &Value, document: &Value) {
            match value {
                Value::Object(members) => {
                    if let Some(Value::String(to)) = members.get("$ref") {
                        let found = document.pointer(to.trim_start_matches('#'));
                        assert!(found.is_some(), "{to}");
                    }
                    members.values().for_each(|value| look(value, document));
                }
                Value::Array(values) => values.iter().for_each(|value| look(value, document)),
                _ => {}
            }
        }
        let (document, _) = operations();
        look(&document, &document);
    }

    #[test]
    fn a_stream_names_its_events_and_the_shape_of_each() {
        let (document, operations) = operations();
        let mut streams = 0;
        for (at, operation) in operations {
            let answer = &operation["responses"]["200"];
            if answer["content"].get("text/event-stream").is_none() {
                continue;
            }
            streams += 1;
            let table = operation["x-events"]["$ref"].as_str().expect(&at);
            let table = document.pointer(table.trim_start_matches('#')).unwrap();
            let described = answer["description"].as_str().unwrap();
            let names = described.split('`').skip(1).step_by(2);
            for name in names {
                let event = &table["properties"][name];
                assert!(event.is_object(), "{at} does not say what `{name}` is");
            }
        }
        assert_eq!(streams, STREAMS.len());
    }
}
