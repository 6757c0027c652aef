//! The first step of decoding: what a line is and whom it concerns, without reading the rest.
//!
//! Owns [`Route`]. Lines that only pass through (keeper, journal, live view) need no more than this. It is not
//! a check: a line that routes may still be malformed where nobody looked.

use std::borrow::Cow;

use crate::scan::{Member, Members, skip_space, string_end, value_end};

/// What is needed to route a line. Texts borrow from the line unless they hold escapes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Route<'a> {
    /// The `type`.
    pub kind: Cow<'a, str>,
    /// The `subtype`: of the line, or of the `request` or `response` inside a control line.
    pub subtype: Option<Cow<'a, str>>,
    /// The `request_id` of a control line, wherever it stands in it.
    pub request_id: Option<Cow<'a, str>>,
    /// The line's own `uuid`.
    pub uuid: Option<Cow<'a, str>>,
    /// The `session_id`.
    pub session_id: Option<Cow<'a, str>>,
    /// The tool call that the line is about, where it stands at the top or in a control request.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// The tool call whose sub-agent the line comes from.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
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
}

impl<'a> Route<'a> {
    /// Finds `type`, `subtype` and the ids of a line, wherever they stand in it.
    ///
    /// # Errors
    /// When the line is no object with a `type`.
    pub fn of(line: &'a [u8]) -> Result<Self, RouteError> {
        let mut route = Route::default();
        let mut kind = None;
        let mut members = Members::new(line, 0);
        while let Some(member) = members.next() {
            let key = key(line, &member);
            let end = match &*key {
                b"type" => read_text(line, member.value, &mut kind),
                b"subtype" => read_text(line, member.value, &mut route.subtype),
                b"request_id" => read_text(line, member.value, &mut route.request_id),
                b"uuid" => read_text(line, member.value, &mut route.uuid),
                b"session_id" => read_text(line, member.value, &mut route.session_id),
                b"tool_use_id" => read_text(line, member.value, &mut route.tool_use_id),
                b"parent_tool_use_id" => {
                    read_text(line, member.value, &mut route.parent_tool_use_id)
                }
                b"request" | b"response" => route.look_into(line, member.value),
                _ => value_end(line, member.value),
            };
            members.resume(end);
        }
        let end = members.end.ok_or(RouteError::NotAnObject)?;
        if skip_space(line, end) < line.len() {
            return Err(RouteError::NotAnObject);
        }
        route.kind = kind.ok_or(RouteError::NoType)?;
        Ok(route)
    }

    /// The envelope of a control line: its subtype and ids stand one level deeper. Gives its end.
    fn look_into(&mut self, line: &'a [u8], at: usize) -> Option<usize> {
        if line.get(at) != Some(&b'{') {
            return value_end(line, at);
        }
        let mut members = Members::new(line, at);
        while let Some(member) = members.next() {
            let key = key(line, &member);
            let end = match &*key {
                b"subtype" => read_text(line, member.value, &mut self.subtype),
                b"request_id" => read_text(line, member.value, &mut self.request_id),
                b"tool_use_id" => read_text(line, member.value, &mut self.tool_use_id),
                _ => value_end(line, member.value),
            };
            members.resume(end);
        }
        members.end
    }

    /// `type`, or `type/subtype` where there is one.
    pub fn name(&self) -> String {
        match &self.subtype {
            Some(subtype) => format!("{}/{subtype}", self.kind),
            None => self.kind.clone().into_owned(),
        }
    }
}

/// The name of a member, without escapes.
#[inline]
fn key<'a>(line: &'a [u8], member: &Member) -> Cow<'a, [u8]> {
    let bare = &line[member.key.clone()];
    if !member.key_escaped {
        return Cow::Borrowed(bare);
    }
    let quoted = &line[member.key.start - 1..=member.key.end];
    match serde_json::from_slice::<String>(quoted) {
        Ok(name) => Cow::Owned(name.into_bytes()),
        Err(_) => Cow::Borrowed(bare),
    }
}

/// Puts the text at `at` into `slot`, or empties it if the value is no string. Gives the end of the value.
#[inline]
fn read_text<'a>(line: &'a [u8], at: usize, slot: &mut Option<Cow<'a, str>>) -> Option<usize> {
    if line.get(at) != Some(&b'"') {
        *slot = None;
        return value_end(line, at);
    }
    let (end, escaped) = string_end(line, at + 1)?;
    *slot = if escaped {
        serde_json::from_slice(&line[at..=end]).ok().map(Cow::Owned)
    } else {
        std::str::from_utf8(&line[at + 1..end])
            .ok()
            .map(Cow::Borrowed)
    };
    Some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(line: &str) -> Result<(String, [Option<String>; 2]), RouteError> {
        let route = Route::of(line.as_bytes())?;
        let name = route.name();
        let ids = [route.request_id, route.uuid].map(|id| id.map(Cow::into_owned));
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
        assert_eq!(route.tool_use_id.as_deref(), Some("t"));

        let response =
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r"}}"#;
        assert_eq!(
            super::tests::route(response).unwrap(),
            ("control_response/success".to_owned(), [some("r"), None])
        );
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
            r#"{"type" "a"}"#,
            r#"{"a":,"type":"b"}"#,
        ] {
            assert_eq!(route(line), Err(RouteError::NotAnObject), "{line}");
        }
        for line in ["{}", r#"{"type":1}"#, r#"{"type":null,"subtype":"init"}"#] {
            assert_eq!(route(line), Err(RouteError::NoType), "{line}");
        }
    }
}
