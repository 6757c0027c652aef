//! The first step of decoding: what a line is and whom it concerns, without reading the rest.
//!
//! Owns [`Route`]. Lines that only pass through (keeper, journal, live view) need no more than this. It is not
//! a check: a line that routes may still be malformed where nobody looked.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

pub use crate::places::Places;
use crate::surrogate;

/// What is needed to route a line. Borrows from it; a text is made only of what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Route<'a> {
    /// The `type`.
    pub kind: Text<'a>,
    /// The `subtype`: of the line, or of the `request` or `response` inside a control line.
    pub subtype: Option<Text<'a>>,
    /// The `request_id` of a control line, wherever it stands in it.
    pub request_id: Option<Text<'a>>,
    /// The line's own `uuid`.
    pub uuid: Option<Text<'a>>,
    /// The `session_id`.
    pub session_id: Option<Text<'a>>,
    /// The tool call that the line is about, where it stands at the top or in a control request.
    pub tool_use_id: Option<Text<'a>>,
    /// The tool call whose sub-agent the line comes from.
    pub parent_tool_use_id: Option<Text<'a>>,
}

/// A string of a line, as it stands there between its quotes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// A string again, from what [`Text::raw`] gave.
    pub fn of_raw(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// The bytes between the quotes, a part of the line that was routed.
    pub fn raw(self) -> &'a [u8] {
        self.0
    }

    /// The text. Borrows unless there are escapes in it; bytes that are no UTF-8 come as U+FFFD.
    pub fn get(self) -> Cow<'a, str> {
        if memchr::memchr(b'\\', self.0).is_none() {
            // Checking is much cheaper than mending, and there is hardly ever anything to mend.
            return match std::str::from_utf8(self.0) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(self.0),
            };
        }
        let quoted = format!("\"{}\"", String::from_utf8_lossy(self.0));
        let quoted = surrogate::mend(&quoted).unwrap_or(quoted);
        match serde_json::from_str::<String>(&quoted) {
            Ok(text) => Cow::Owned(text),
            Err(_) => String::from_utf8_lossy(self.0),
        }
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes() || self.get() == other
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get())
    }
}

/// Why a line cannot be routed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// It is no JSON object, or is cut off.
    #[error("not a complete JSON object")]
    NotAnObject,
    /// It is an object without a `type` that is a string.
    #[error("no `type`")]
    NoType,
    /// It has more than one `type`; readers would differ on which counts.
    #[error("`type` is repeated")]
    RepeatedType,
}

impl<'a> Route<'a> {
    /// Finds `type`, `subtype` and the ids of a line, wherever they stand in it.
    ///
    /// # Errors
    /// When the line is no object with one `type`.
    pub fn of(line: &'a [u8]) -> Result<Self, RouteError> {
        let places = Places::of(line)?;
        let text = |range: Range<usize>| Text(line.get(range).unwrap_or_default());
        Ok(Self {
            kind: text(places.kind()),
            subtype: places.subtype().map(text),
            request_id: places.request_id().map(text),
            uuid: places.uuid().map(text),
            session_id: places.session_id().map(text),
            tool_use_id: places.tool_use_id().map(text),
            parent_tool_use_id: places.parent_tool_use_id().map(text),
        })
    }

    /// `type`, or `type/subtype` where there is one.
    pub fn name(&self) -> String {
        match &self.subtype {
            Some(subtype) => format!("{}/{subtype}", self.kind),
            None => self.kind.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(line: &str) -> Result<(String, [Option<String>; 2]), RouteError> {
        let route = Route::of(line.as_bytes())?;
        let name = route.name();
        let ids = [route.request_id, route.uuid].map(|id| id.map(|id| id.to_string()));
        Ok((name, ids))
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_type_may_stand_anywhere() {
        for line in [
            r#"{"type":"system","subtype":"init","uuid":"u"}"#,
            r#"{"uuid":"u","tools":["}","{\\\""],"subtype":"init","x":{"type":"no","subtype":"no"},"type":"system"}"#,
            "  { \"subtype\" : \"init\" ,\t\"n\" : -1.5e3 , \"uuid\":\"u\", \"type\" : \"system\" } ",
            r#"{"\u0074ype":"sy\u0073tem","subtype":"init","uuid":"u"}"#,
        ] {
            let found = route(line).unwrap();
            assert_eq!(
                found,
                ("system/init".to_owned(), [None, some("u")]),
                "{line}"
            );
        }
    }

    #[test]
    fn control_lines_have_their_subtype_and_id_inside() {
        let request = r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","input":{"subtype":"no"},"tool_use_id":"t"}}"#;
        assert_eq!(
            route(request).unwrap(),
            ("control_request/can_use_tool".to_owned(), [some("r"), None])
        );
        let route = Route::of(request.as_bytes()).unwrap();
        assert!(route.tool_use_id.is_some_and(|id| id == "t"));

        let response =
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r"}}"#;
        assert_eq!(
            super::tests::route(response).unwrap(),
            ("control_response/success".to_owned(), [some("r"), None])
        );
    }

    #[test]
    fn an_envelope_counts_on_its_own_kind_of_line_only() {
        for (line, name, request_id) in [
            (
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"B"},"request_id":"A"}"#,
                "control_response/success",
                Some("B"),
            ),
            (
                r#"{"request_id":"A","response":{"subtype":"success"},"type":"control_response"}"#,
                "control_response/success",
                None,
            ),
            (
                r#"{"type":"control_request","request":{"request_id":"B","subtype":"s"},"request_id":"A"}"#,
                "control_request/s",
                Some("A"),
            ),
            (
                r#"{"type":"control_request","request_id":"A","request":{"subtype":"s"},"response":{"subtype":"t","request_id":"B"}}"#,
                "control_request/s",
                Some("A"),
            ),
            (
                r#"{"type":"user","request":{"subtype":"can_use_tool","request_id":"B"}}"#,
                "user",
                None,
            ),
            (
                r#"{"type":"system","subtype":"init","response":{"subtype":"x"}}"#,
                "system/init",
                None,
            ),
        ] {
            let found = route(line).unwrap();
            assert_eq!(
                found,
                (name.to_owned(), [request_id.map(str::to_owned), None]),
                "{line}"
            );
        }
    }

    #[test]
    fn the_ids_of_a_line_are_its_own() {
        let line = br#"{"type":"assistant","message":{"uuid":"no"},"parent_tool_use_id":"p","session_id":"s","tool_use_id":"t\ud83d"}"#;
        let route = Route::of(line).unwrap();
        assert!(route.parent_tool_use_id.is_some_and(|id| id == "p"));
        assert!(route.session_id.is_some_and(|id| id == "s"));
        assert!(route.tool_use_id.is_some_and(|id| id == "t\u{fffd}"));
        assert_eq!(route.uuid, None);
    }

    #[test]
    fn a_repeated_type_is_refused() {
        for line in [
            r#"{"type":"a","type":"b"}"#,
            r#"{"type":"a","x":1,"t\u0079pe":"a"}"#,
        ] {
            assert_eq!(route(line), Err(RouteError::RepeatedType), "{line}");
        }
    }

    #[test]
    fn what_is_no_whole_object_is_refused() {
        for line in [
            "",
            "[1]",
            "42",
            "null",
            "{",
            r#"{"type":"a""#,
            r#"{"type":"a"}}"#,
            r#"{"type":"a","b":"}"#,
        ] {
            assert_eq!(route(line), Err(RouteError::NotAnObject), "{line}");
        }
        for line in ["{}", r#"{"type":1}"#, r#"{"type":null,"subtype":"init"}"#] {
            assert_eq!(route(line), Err(RouteError::NoType), "{line}");
        }
    }
}
