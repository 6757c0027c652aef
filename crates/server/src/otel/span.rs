//! One span, and how it hangs together with others.
//!
//! Owns the ids, the header `traceparent` by which a caller names the trace it is part of, and the JSON that a collector
//! takes. Pure but for ids and the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use serde_json::{Value, json};

/// Where in which trace a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    trace: [u8; 16],
    span: [u8; 8],
    is_sampled: bool,
}

impl Context {
    /// The place that a caller names; none if it names none, or one that cannot be read.
    pub(super) fn of_headers(headers: &HeaderMap) -> Option<Self> {
        Self::parse(headers.get("traceparent")?.to_str().ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version: [u8; 1] = unhex(version)?;
        let is_known = version == [0] && parts.next().is_none();
        // A later version may have more parts, but not fewer; 255 is none.
        if !is_known && matches!(version, [0 | 255]) {
            return None;
        }
        let [flags] = unhex(flags)?;
        let read = Self {
            trace: unhex(trace)?,
            span: unhex(span)?,
            is_sampled: flags & 1 == 1,
        };
        (read.trace != [0; 16] && read.span != [0; 8]).then_some(read)
    }

    /// A new place below another one, or in a trace of its own. None where the caller does not want the trace, or the system
    /// gives no ids.
    pub(super) fn within(above: Option<&Self>) -> Option<Self> {
        let trace = match above {
            Some(above) => above.is_sampled.then_some(above.trace)?,
            None => random()?,
        };
        Some(Self {
            trace,
            span: random()?,
            is_sampled: true,
        })
    }
}

/// A span.
#[derive(Debug)]
pub(super) struct Span {
    own: Context,
    parent: Option<Context>,
    name: String,
    /// In the words of OpenTelemetry: 1 is internal, 2 is that of a server.
    kind: u8,
    began: u64,
    ended: u64,
    attributes: Vec<Value>,
    pub(super) is_error: bool,
}

impl Span {
    pub(super) fn server(own: Context, parent: Option<Context>, name: String, began: u64) -> Self {
        Self {
            own,
            parent,
            name,
            kind: 2,
            began,
            ended: began,
            attributes: Vec::new(),
            is_error: false,
        }
    }

    pub(super) fn within(own: Context, parent: Option<Context>, name: String, began: u64) -> Self {
        Self {
            kind: 1,
            ..Self::server(own, parent, name, began)
        }
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        let attribute = json!({"key": key, "value": {"stringValue": value}});
        self.attributes.push(attribute);
    }

    pub(super) fn number(&mut self, key: &str, value: i64) {
        // Numbers of 64 bits are texts in this form of JSON.
        let attribute = json!({"key": key, "value": {"intValue": value.to_string()}});
        self.attributes.push(attribute);
    }

    #[must_use]
    pub(super) fn ended(self, at: u64) -> Self {
        Self {
            ended: at.max(self.began),
            ..self
        }
    }

    /// As a collector reads it.
    pub(super) fn json(&self) -> Value {
        let mut span = json!({
            "traceId": hex(&self.own.trace),
            "spanId": hex(&self.own.span),
            "name": self.name,
            "kind": self.kind,
            "startTimeUnixNano": self.began.to_string(),
            "endTimeUnixNano": self.ended.to_string(),
            "attributes": self.attributes,
            "status": if self.is_error { json!({"code": 2}) } else { json!({}) },
        });
        if let Some(parent) = &self.parent {
            span["parentSpanId"] = Value::String(hex(&parent.span));
        }
        span
    }
}

/// Now, in nanoseconds of Unix time.
pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).ok()?;
    (bytes != [0; N]).then_some(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Small letters alone, as the header has it.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    if text.len() != 2 * N || !text.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn a_trace_that_a_caller_names_goes_on_and_one_it_does_not_want_is_not_made() {
        let above = Context::parse(&format!("00-{TRACE}-b7ad6b7169203331-01")).unwrap();
        let own = Context::within(Some(&above)).unwrap();
        assert_eq!(own.trace, above.trace);
        assert_ne!(own.span, above.span);
        let span = Span::server(own, Some(above), "GET /x".to_owned(), 5).ended(3);
        let told = span.json();
        assert_eq!(
            (&told["traceId"], &told["parentSpanId"]),
            (&json!(TRACE), &json!("b7ad6b7169203331"))
        );
        assert_eq!(
            told["endTimeUnixNano"], "5",
            "a clock that jumps makes no negative time"
        );
        let unwanted = Context::parse(&format!("00-{TRACE}-b7ad6b7169203331-00")).unwrap();
        assert_eq!(Context::within(Some(&unwanted)), None);
    }

    #[test]
    fn what_is_no_traceparent_is_none() {
        let zeros = "0".repeat(32);
        for bad in [
            String::new(),
            format!("00-{TRACE}-b7ad6b7169203331"),
            format!("00-{TRACE}-b7ad6b7169203331-01-more"),
            format!("ff-{TRACE}-b7ad6b7169203331-01"),
            format!("00-{zeros}-b7ad6b7169203331-01"),
            format!("00-{}-b7ad6b7169203331-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-b7ad6b716920333-01"),
            format!("00-{TRACE}-b7ad6b71692033é1-01"),
        ] {
            assert_eq!(Context::parse(&bad), None, "{bad}");
        }
        assert!(Context::parse(&format!("01-{TRACE}-b7ad6b7169203331-01-more")).is_some());
    }
}
