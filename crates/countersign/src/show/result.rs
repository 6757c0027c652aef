//! What a tool gave back, folded below its call.
//!
//! Owns the line of a result and the rows under it; `tools` knows what each tool reports. Invariants: pictures and
//! long texts are named, never printed; what is left out is counted; the words of the first line are ours, those of the
//! tool come after a colon or below.

mod rows;
mod tools;

use std::path::Path;

use countersign_wire::content::{Content, ContentBlock, Source};
use countersign_wire::{Json, TextOr};
use serde_json::Value;

pub(crate) use rows::Fold;

use super::{call, gutter, text};
use crate::term::style::{Line, Tone};

/// Structured results beyond this are not read: what the model saw is enough then.
const READ: usize = 16 << 20;

/// A result and what is known of its call.
#[derive(Debug)]
pub(crate) struct Returned<'a> {
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) content: Option<&'a Content>,
    pub(crate) structured: Option<&'a Json>,
    pub(crate) is_error: bool,
    /// It did not run, because somebody or something refused it.
    pub(crate) is_denied: bool,
    /// The change was shown before the call ran.
    pub(crate) is_shown: bool,
    pub(crate) cwd: &'a Path,
}

/// A result before it has its mark.
struct Made {
    tone: Tone,
    head: Line,
    rows: Vec<Line>,
}

impl Made {
    fn new(head: impl AsRef<str>) -> Self {
        Self {
            tone: Tone::Dim,
            head: Line::of(head, Tone::Dim),
            rows: Vec::new(),
        }
    }

    fn good(head: impl AsRef<str>) -> Self {
        Self {
            tone: Tone::Good,
            head: Line::of(head, Tone::Good),
            rows: Vec::new(),
        }
    }

    fn bad(head: impl AsRef<str>) -> Self {
        Self {
            tone: Tone::Bad,
            head: Line::of(head, Tone::Bad),
            rows: Vec::new(),
        }
    }

    fn with(mut self, rows: Vec<Line>) -> Self {
        self.rows = rows;
        self
    }
}

/// The lines of a result. `of` names the call where other lines stand between them.
pub(crate) fn lines(returned: &Returned<'_>, fold: Fold, of: Option<Line>) -> Vec<Line> {
    let made = match returned.is_error {
        true => failed(returned, fold),
        false => {
            let structured = returned
                .structured
                .filter(|json| json.as_str().len() <= READ);
            let structured = structured
                .and_then(|json| json.to_value().ok())
                .unwrap_or_default();
            tools::made(returned, &structured, fold).unwrap_or_else(|| plain(returned, fold))
        }
    };
    let mut head = Line::new();
    if let Some(call) = of {
        head.spans.extend(call.cut(fold.room / 2).spans);
        head = head.add(" › ", Tone::Dim);
    }
    head.spans.extend(made.head.spans);
    let mut lines = vec![head.after(gutter::RESULT, made.tone)];
    lines.extend(made.rows.into_iter().map(gutter::said));
    lines
}

/// The text of a result, pictures and documents named.
pub(crate) fn words(content: Option<&Content>) -> String {
    match content {
        None => String::new(),
        Some(TextOr::Text(words)) => bare(words).to_owned(),
        Some(TextOr::Rich(blocks)) => {
            let parts: Vec<String> = blocks
                .iter()
                .map(block)
                .filter(|part| !part.is_empty())
                .collect();
            parts.join("\n")
        }
    }
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => bare(&text.text).to_owned(),
        ContentBlock::Image(image) => named("image", &image.source),
        ContentBlock::Document(document) => {
            let title = document
                .title
                .as_ref()
                .map(|title| format!("document {}", text::one_row(title, 60)));
            named(title.as_deref().unwrap_or("document"), &document.source)
        }
        ContentBlock::ToolReference(tool) => tool.tool_name.clone(),
        ContentBlock::SearchResult(found) => format!(
            "{} ({})",
            text::one_row(&found.title, 120),
            text::one_row(&found.source, 200)
        ),
        other => {
            let value = serde_json::to_value(other).unwrap_or_default();
            text::json_row(&value, 600)
        }
    }
}

/// `[image 34 KB]`
pub(crate) fn named(what: &str, source: &Source) -> String {
    match source {
        Source::Base64(inline) => {
            format!("[{what} {}]", text::size(text::base64_size(&inline.data)))
        }
        Source::Text(inline) => format!("[{what} {}]", text::size(inline.data.len())),
        Source::Url(at) => format!("[{what} {}]", text::one_row(&at.url, 200)),
        _ => format!("[{what}]"),
    }
}

/// The text without the tags the CLI puts around it; a picture written as text is named.
fn bare(words: &str) -> &str {
    let words = words.trim_end();
    let inner = words
        .strip_prefix("<tool_use_error>")
        .and_then(|words| words.strip_suffix("</tool_use_error>"));
    inner.unwrap_or(words)
}

/// A picture that a command printed, written as an address.
pub(super) fn data_address(words: &str) -> Option<String> {
    let rest = words.trim_start().strip_prefix("data:")?;
    let (kind, data) = rest
        .get(..80.min(rest.len()))?
        .split_once(";base64,")
        .map(|(kind, _)| (kind, rest))?;
    let kind = if kind.starts_with("image/") {
        "image"
    } else {
        "data"
    };
    Some(format!("[{kind} {}]", text::size(text::base64_size(data))))
}

/// How the CLI begins the results of calls that were refused; older ones have no other sign of it.
const REFUSALS: [&str; 4] = [
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "Permission to use ",
    "Claude requested permissions to ",
];

fn failed(returned: &Returned<'_>, fold: Fold) -> Made {
    let words = words(returned.content);
    let is_refusal = REFUSALS.iter().any(|refusal| words.starts_with(refusal));
    let is_plan = matches!(returned.tool, "ExitPlanMode" | "exit_plan_mode");
    let (what, words) = match returned.is_denied || is_refusal {
        // What was said about a plan, which may have been sent back to be made better.
        true if is_plan => ("answered".to_owned(), without_stock(&words)),
        true => ("denied".to_owned(), without_stock(&words)),
        false => match exit_code(&words) {
            Some((code, rest)) => (format!("exit code {code}"), rest),
            None => ("failed".to_owned(), words.as_str()),
        },
    };
    let mut made = Made::bad(&what);
    let count = text::lines(words);
    match count {
        0 => {}
        1 => {
            let room = fold.room.saturating_mul(3).saturating_sub(what.len() + 2);
            made.head = made
                .head
                .add(": ", Tone::Bad)
                .add(text::one_row(words, room.max(20)), Tone::Bad);
        }
        _ => made.rows = fold.rows(words, Tone::Bad, false),
    }
    made
}

/// A refusal without what the CLI tells the model to do about it.
fn without_stock(words: &str) -> &str {
    match words.split_once(". ") {
        Some((first, _)) if first.starts_with("The user doesn't want to") => &words[..=first.len()],
        _ => words,
    }
}

/// The code a command ended with, and what it printed.
fn exit_code(words: &str) -> Option<(&str, &str)> {
    let rest = words.strip_prefix("Exit code ")?;
    let (code, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    code.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some((code, rest))
}

/// Any text: how much it is, and its first rows.
fn plain(returned: &Returned<'_>, fold: Fold) -> Made {
    said(&words(returned.content), fold, false)
}

/// A text of a tool below a line of ours; `is_log` keeps its end as well.
fn said(words: &str, fold: Fold, is_log: bool) -> Made {
    if let Some(name) = data_address(words) {
        return Made::new(name);
    }
    match text::lines(words) {
        0 => Made::new("no output"),
        1 if words == "(Bash completed with no output)" => Made::new("no output"),
        1 => {
            let mut made = Made::new("1 line: ");
            made.head = made.head.add(
                fold.cut(words.trim_end(), Tone::Plain, 10).text(),
                Tone::Plain,
            );
            made
        }
        count => Made::new(text::count(count, "line")).with(fold.rows(words, Tone::Plain, is_log)),
    }
}

/// What a call changed, from its report or else from its input.
fn changed(returned: &Returned<'_>, structured: &Value, fold: Fold) -> Option<Made> {
    let reported = structured
        .get("structuredPatch")
        .and_then(super::diff::Diff::reported);
    let is_new = text::field(structured, "type") == Some("create");
    let created = text::field(structured, "content")
        .filter(|_| is_new)
        .map(|content| super::diff::Diff::between("", content));
    let diff = reported
        .or(created)
        .or_else(|| call::change(returned.tool, returned.input, call::Before::Unknown))?;
    let mut head = diff.summary();
    if is_new {
        head = format!("new file, {}", text::count(diff.added, "line"));
    }
    if structured.get("userModified").and_then(Value::as_bool) == Some(true) {
        head.push_str(", as you changed it");
    }
    let made = Made::good(head);
    Some(match returned.is_shown {
        true => made,
        false => made.with(
            diff.lines(fold.rows.saturating_mul(2))
                .into_iter()
                .map(|line| fold.fit(line))
                .collect(),
        ),
    })
}

#[cfg(test)]
mod tests;
