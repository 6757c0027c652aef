//! What the agent of a session said last, in a line.
//!
//! Owns the way from a line of the wire to the end of what was said in it. Lenient and bounded: a line that cannot be read says
//! nothing, and of a long one no more is looked at than is told. What is told is masked by whoever stores it, before it is cut.

use countersign_wire::route::Route;
use memchr::memmem;
use serde::Deserialize;

/// How a piece of a streamed answer begins. Most lines are one.
const PIECE: &[u8] = b"{\"type\":\"stream_event\"";

#[derive(Deserialize)]
struct Said {
    message: Answer,
}

#[derive(Deserialize)]
struct Answer {
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

/// The last line of what the agent itself says here, if it says something. What sub-agents say is for it alone.
pub(super) fn said(line: &[u8]) -> Option<String> {
    if line.starts_with(PIECE) || memmem::find(line, b"\"text\"").is_none() {
        return None;
    }
    let route = Route::of(line).ok()?;
    if route.kind.raw() != b"assistant" || route.parent_tool_use_id.is_some() {
        return None;
    }
    let Said { message } = serde_json::from_slice(line).ok()?;
    let blocks = message.content.into_iter().rev();
    let mut texts = blocks.filter(|block| block.kind == "text");
    texts.find_map(|block| {
        let text = block.text?;
        let last = text.lines().rev().find(|line| is_said(line))?;
        Some(last.trim().to_owned())
    })
}

/// Fences of code and empty lines say nothing.
fn is_said(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with("```")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(content: &Value, parent: Option<&str>) -> Option<String> {
        let line = json!({"type": "assistant", "parent_tool_use_id": parent,
            "message": {"role": "assistant", "model": "m", "content": content}});
        said(line.to_string().as_bytes())
    }

    #[test]
    fn the_last_line_that_says_something_is_told() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        assert_eq!(of(&text("One.\nTwo.\n\n"), None).as_deref(), Some("Two."));
        let code = "See:\n```\nx\n```\n";
        assert_eq!(of(&text(code), None).as_deref(), Some("x"));
        assert_eq!(of(&text(" \n"), None), None);
        let calls =
            json!([{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "Read"}]);
        assert_eq!(of(&calls, None).as_deref(), Some("I look."));
        assert_eq!(of(&text("Of a sub-agent."), Some("toolu_1")), None);
        assert_eq!(said(b"{\"type\":\"user\",\"text\":1}"), None);
        assert_eq!(said(b"no JSON, \"text\""), None);
    }
}
