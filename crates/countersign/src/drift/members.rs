//! Reads the members of an object in JavaScript or of an object type in TypeScript, without parsing the rest.
//!
//! Pure. Works on minified code, since the CLI is nothing else. Invariant: text that does not balance within
//! [`MAX_OBJECT`] bytes gives `None`, never half an object.

use std::ops::Range;

/// Longest object that is read, in bytes.
pub(crate) const MAX_OBJECT: usize = 96 * 1024;

/// One member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    /// Whether a `?` follows the name, as in TypeScript.
    pub(crate) is_marked_optional: bool,
    pub(crate) value: &'a str,
    /// Offset of the name in the text that was read.
    pub(crate) offset: usize,
}

/// The members of an object, and whether it spreads others into itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Members<'a> {
    pub(crate) list: Vec<Member<'a>>,
    pub(crate) has_spread: bool,
}

impl<'a> Members<'a> {
    /// Returns the value of the member called `name`.
    pub(crate) fn value(&self, name: &str) -> Option<&'a str> {
        let member = self.list.iter().find(|member| member.name == name)?;
        Some(member.value)
    }
}

/// Reads the object that begins at `text[0] == '{'`.
pub(crate) fn members(text: &str) -> Option<Members<'_>> {
    let text = text.get(..floor_boundary(text, MAX_OBJECT))?;
    if !text.starts_with('{') {
        return None;
    }
    let mut members = Members::default();
    let mut at = 1;
    loop {
        let (part, end) = next_part(text, at)?;
        add_member(text, part, &mut members);
        at = end + 1;
        if text.as_bytes()[end] == b'}' {
            return Some(members);
        }
    }
}

/// Returns whether `value` calls one of these methods itself, not in an argument: `r().describe("…").optional()`.
pub(crate) fn calls_any(value: &str, methods: &[&str]) -> bool {
    let bytes = value.as_bytes();
    let mut depth = 0_u32;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' | b'`' => match end_of_string(bytes, at) {
                Some(end) => at = end,
                None => return false,
            },
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 => {
                let called = value.get(at + 1..).unwrap_or_default();
                if methods.iter().any(|method| {
                    called
                        .strip_prefix(method)
                        .is_some_and(|rest| rest.starts_with('('))
                }) {
                    return true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// Returns the range of one member's text, and the offset of the separator or brace that ends it.
fn next_part(text: &str, start: usize) -> Option<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let mut depth = 0_u32;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' | b'`' => at = end_of_string(bytes, at)?,
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = end_of_comment(text, at)?,
            b'/' if is_regex(bytes, at) => at = end_of_regex(bytes, at)?,
            b'{' | b'(' | b'[' => depth += 1,
            b'}' if depth == 0 => return Some((start..at, at)),
            b'}' | b')' | b']' => depth = depth.checked_sub(1)?,
            b',' | b';' if depth == 0 => return Some((start..at, at)),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the offset of the quote that ends the string beginning at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let mut next = at + 1;
    while *bytes.get(next)? != quote {
        next += if bytes[next] == b'\\' { 2 } else { 1 };
    }
    Some(next)
}

/// Returns the offset of the slash that ends the comment beginning at `at`.
fn end_of_comment(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at + 2..)?;
    Some(at + 2 + rest.find("*/")? + 1)
}

/// Returns whether the slash at `at` begins a regular expression: nothing stands before it that could be divided.
fn is_regex(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at]
        .iter()
        .rev()
        .find(|byte| !byte.is_ascii_whitespace());
    before.is_some_and(|byte| {
        matches!(
            byte,
            b'(' | b',' | b'=' | b':' | b'[' | b'!' | b'&' | b'|' | b'?'
        )
    })
}

/// Returns the offset of the slash that ends the regular expression beginning at `at`.
fn end_of_regex(bytes: &[u8], at: usize) -> Option<usize> {
    let mut is_in_class = false;
    let mut next = at + 1;
    loop {
        match *bytes.get(next)? {
            b'\\' => next += 1,
            b'[' => is_in_class = true,
            b']' => is_in_class = false,
            b'/' if !is_in_class => return Some(next),
            b'\n' => return None,
            _ => {}
        }
        next += 1;
    }
}

fn add_member<'a>(text: &'a str, range: Range<usize>, members: &mut Members<'a>) {
    let (part, offset) = without_comments(&text[range.clone()], range.start);
    if part.starts_with("...") {
        members.has_spread = true;
        return;
    }
    let name_end = match part.as_bytes().first() {
        Some(b'"' | b'\'') => match end_of_string(part.as_bytes(), 0) {
            Some(end) => end + 1,
            None => return,
        },
        _ => part.find(|c: char| !is_name(c)).unwrap_or(part.len()),
    };
    let name = part[..name_end].trim_matches(['"', '\'']);
    let rest = part[name_end..].trim_start();
    let (is_marked_optional, rest) = match rest.strip_prefix('?') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let Some(value) = rest.strip_prefix(':') else {
        return;
    };
    if !name.is_empty() {
        members.list.push(Member {
            name,
            is_marked_optional,
            value: value.trim(),
            offset,
        });
    }
}

/// Drops the comments and spaces in front of a member.
fn without_comments(part: &str, offset: usize) -> (&str, usize) {
    let mut rest = part.trim_start();
    while rest.starts_with("/*") {
        match rest.find("*/") {
            Some(end) => rest = rest[end + 2..].trim_start(),
            None => return ("", offset),
        }
    }
    (rest, offset + part.len() - rest.len())
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// Returns the last boundary of a character at or before `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&str> {
        let members = members(text).unwrap();
        members.list.iter().map(|member| member.name).collect()
    }

    #[test]
    fn members_of_minified_schemas_are_read_whatever_their_values_hold() {
        let text = r#"{type:T("system"),a:r().describe("a, } \" brace"),b:c({x:r(),y:r()}).optional(),d:f(/[,}/"]/),...e}rest"#;
        let read = members(text).unwrap();
        assert_eq!(names(text), ["type", "a", "b", "d"]);
        assert_eq!(read.value("b"), Some("c({x:r(),y:r()}).optional()"));
        assert!(read.has_spread);
        assert_eq!(&text[read.list[1].offset..][..2], "a:");
    }

    #[test]
    fn members_of_a_declared_type_are_read_past_their_comments() {
        let text = "{\n  /**\n   * Don't; stop}\n   */\n  a: 'x';\n  b?: { c: string; }[];\n  'd-e': 1;\n}";
        let read = members(text).unwrap();
        assert_eq!(names(text), ["a", "b", "d-e"]);
        let optional: Vec<_> = read
            .list
            .iter()
            .map(|member| member.is_marked_optional)
            .collect();
        assert_eq!(optional, [false, true, false]);
    }

    #[test]
    fn what_does_not_balance_is_no_object() {
        for text in ["{a:1", "{a:(1}", "a:1}", "{a:\"}", ""] {
            assert_eq!(members(text), None, "{text}");
        }
    }

    #[test]
    fn divisions_methods_and_an_empty_object_do_no_harm() {
        assert_eq!(names("{a:b/2,c:d}"), ["a", "c"]);
        assert_eq!(names("{get(){return{x:1}},a:1}"), ["a"]);
        assert_eq!(names("{}"), [""; 0]);
    }
}
