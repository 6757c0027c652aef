//! What an agent was greeted with, by its journal.
//!
//! Owns the search for the greeting of a generation. Reads a bounded number of records. Invariant: what the journal does not say counts as not
//! registered.

use std::path::Path;

use countersign_journal::{Cursor, Kind, Reader, Step};
use countersign_wire::route::Route;

/// Maximum number of records that are read. The greeting is among the first of a generation.
const MOST_RECORDS: usize = 256;

/// Returns whether the greeting of this generation registered a hook: it has to be answered by every host that follows.
pub(super) fn registers_hook(dir: &Path, generation: u32) -> bool {
    find(dir, generation).unwrap_or_default()
}

fn find(dir: &Path, generation: u32) -> Option<bool> {
    let mut reader = Reader::open(dir).ok()?;
    reader.seek(Cursor::new(generation, 0)).ok()?;
    for _ in 0..MOST_RECORDS {
        match reader.next_of().ok()? {
            (of, Step::Record(record)) if of == generation && record.kind == Kind::Host => {
                if let Some(has_hook) = has_hook(record.payload) {
                    return Some(has_hook);
                }
            }
            (_, Step::End) => return None,
            _ => {}
        }
    }
    None
}

/// Returns whether a greeting registers hooks; nothing for any other line.
fn has_hook(line: &[u8]) -> Option<bool> {
    #[derive(serde::Deserialize)]
    struct Line {
        request: Request,
    }
    #[derive(serde::Deserialize)]
    struct Request {
        #[serde(default)]
        hooks: Option<serde_json::Map<String, serde_json::Value>>,
    }
    let route = Route::of(line).ok()?;
    if route.subtype?.raw() != b"initialize" {
        return None;
    }
    let line: Line = serde_json::from_slice(line).ok()?;
    Some(line.request.hooks.is_some_and(|hooks| !hooks.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::has_hook;

    #[test]
    fn a_greeting_says_whether_hooks_are_to_be_answered() {
        let greeting = |request: &str| {
            has_hook(
                format!(r#"{{"type":"control_request","request_id":"1","request":{request}}}"#)
                    .as_bytes(),
            )
        };
        let with =
            r#"{"subtype":"initialize","hooks":{"PreToolUse":[{"hookCallbackIds":["hook-0"]}]}}"#;
        assert_eq!(greeting(with), Some(true));
        assert_eq!(greeting(r#"{"subtype":"initialize"}"#), Some(false));
        assert_eq!(
            greeting(r#"{"subtype":"initialize","hooks":{}}"#),
            Some(false)
        );
        assert_eq!(greeting(r#"{"subtype":"interrupt"}"#), None);
        assert_eq!(has_hook(b"no line"), None);
    }
}
