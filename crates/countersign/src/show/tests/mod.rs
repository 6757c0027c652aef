//! What a person sees of whole sessions: the recordings of real CLIs, and texts of any shape.

mod forging;
mod properties;
mod recordings;
mod scenes;

use std::time::Duration;

use countersign_wire::CliMessage;
use countersign_wire::decode::decode;
use serde_json::Value;

use super::{Feed, View};
use crate::term::style::{Line, Tone};

pub(super) fn view(width: usize) -> View {
    View {
        width,
        fold: 6,
        verbose: false,
        cwd: "/project".into(),
    }
}

pub(super) fn message(value: &Value) -> CliMessage {
    decode(value.to_string().as_bytes()).unwrap()
}

/// Everything a feed shows of these messages, a tenth of a second apart.
pub(super) fn shown(feed: &mut Feed, messages: &[Value]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, value) in messages.iter().enumerate() {
        lines.extend(feed.take(&message(value), Duration::from_millis(100 * index as u64)));
    }
    lines.extend(feed.finish());
    lines
}

/// As it stands in a terminal of this width.
pub(super) fn text(lines: &[Line], width: usize) -> String {
    let rows = lines.iter().flat_map(|line| line.rows(width));
    rows.map(|row| row.text().trim_end().to_owned() + "\n")
        .collect()
}

/// The same with the tone of each piece: `{Good|+ gamma}`.
pub(super) fn toned(lines: &[Line], width: usize) -> String {
    let rows = lines.iter().flat_map(|line| line.rows(width));
    let piece = |tone: Tone, text: &str| match tone {
        Tone::Plain => text.to_owned(),
        tone => format!("{{{tone:?}|{text}}}"),
    };
    rows.map(|row| {
        row.spans
            .iter()
            .map(|span| piece(span.tone, &span.text))
            .collect::<String>()
            .trim_end()
            .to_owned()
            + "\n"
    })
    .collect()
}
