//! Quotation in plain text: what stands in backticks, quotes or JSON, and so is no grammar.
//!
//! Knows no request. Invariant: a quote that is not closed is an ordinary character.

use std::ops::Range;

use serde_json::Value;

/// A quoted text at the start, without its quotes, and what follows it.
pub(super) fn leading(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let span = span_at(text, 0)?;
    let (inner, rest) = (&text[span.clone()], &text[span.end..]);
    if inner.starts_with(['{', '[']) {
        return None;
    }
    Some((inside(inner), rest))
}

/// A JSON value at the start, in quotes or not, and what follows it.
pub(super) fn leading_json(text: &str) -> Option<Result<(Value, &str), serde_json::Error>> {
    let text = text.trim_start();
    if text.starts_with('`') {
        let (inner, rest) = leading(text)?;
        return Some(serde_json::from_str(inner).map(|value| (value, rest)));
    }
    if !text.starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?;
    let end = values.byte_offset();
    Some(value.map(|value| (value, &text[end..])))
}

/// Every stretch of the text that is quoted, in order.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find(['`', '"', '\'', '“', '{', '[']) {
        let start = at + next;
        at = match span_at(text, start) {
            Some(span) => {
                found.push(span.clone());
                span.end
            }
            None => start + text[start..].chars().next().map_or(1, char::len_utf8),
        };
    }
    found
}

/// The quoted stretch that begins exactly here, quotes included.
fn span_at(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let end = match rest.chars().next()? {
        '`' => {
            let ticks = rest.len() - rest.trim_start_matches('`').len();
            let mark = &rest[..ticks];
            match rest[ticks..].find(mark) {
                Some(inner) => ticks + inner + ticks,
                // Nothing, in quotes.
                None if ticks == 2 => ticks,
                None => return None,
            }
        }
        '"' => 1 + unescaped(&rest[1..], '"')? + 1,
        '“' => rest.find('”')? + '”'.len_utf8(),
        '\'' if opens(&text[..start]) => 1 + closing_apostrophe(&rest[1..])? + 1,
        '{' | '[' => {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            values.next()?.ok()?;
            values.byte_offset()
        }
        _ => return None,
    };
    Some(start..start + end)
}

/// An apostrophe after a letter is one.
fn opens(before: &str) -> bool {
    !before.ends_with(char::is_alphanumeric)
}

fn closing_apostrophe(text: &str) -> Option<usize> {
    text.match_indices('\'')
        .map(|(at, _)| at)
        .find(|at| !text[at + 1..].starts_with(char::is_alphanumeric))
        .filter(|at| *at > 0)
}

fn unescaped(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// What a span holds: without its quotes, and in a fence without the name of the language.
fn inside(span: &str) -> &str {
    if let Some(fenced) = span.strip_prefix("```").and_then(|s| s.strip_suffix("```")) {
        return match fenced.split_once('\n') {
            Some((tag, body)) if !tag.trim().contains(' ') => body,
            _ => fenced,
        };
    }
    let ticks = span.len() - span.trim_start_matches('`').len();
    if span.len() == ticks {
        return "";
    }
    if ticks > 0 && span.len() >= 2 * ticks {
        return &span[ticks..span.len() - ticks];
    }
    let mut inner = span.chars();
    inner.next();
    inner.next_back();
    inner.as_str()
}
