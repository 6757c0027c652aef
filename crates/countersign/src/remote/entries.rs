//! A transcript in the terminal, entry by entry.
//!
//! Owns how an entry looks, and which are shown when. What is still being written waits until it is done, and so does what a
//! call gives back; the call itself is shown when it begins, and what a person said at once. Invariants: an entry is shown
//! once, of a call that was shown before only what is new; what an agent or a tool said begins two columns to the right.

use std::collections::BTreeMap;
use std::mem::Discriminant;
use std::path::Path;
use std::time::Duration;

use countersign_journal::KEEP_PLANNING;
use countersign_transcript::body::{
    Level, Prompt, Returned, Said, Standing, Tool, ToolState, TurnEnd, Verdict,
};
use countersign_transcript::{Body, Change, Changes, Clip, Entries, Entry, EntryId, Life};
use serde_json::Value;

use super::words;
use crate::show::markdown::markdown;
use crate::show::{call, gutter, notice, text};
use crate::term::style::{Line, Tone};

/// Rows of a result that are shown.
const FOLD: usize = 6;

/// So many entries are held, for changes of them.
const KEPT: usize = 2_000;

/// How an entry was shown last. Later ones tell more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Running,
    Asking,
    Whole,
}

/// A transcript that is shown as it comes.
#[derive(Debug)]
pub(crate) struct Reader {
    entries: Entries,
    shown: BTreeMap<EntryId, Shown>,
    /// Which entry was shown last, of what kind, and whether an empty line ended it.
    last: Option<(EntryId, Discriminant<Body>)>,
    is_gap: bool,
    width: usize,
    verbose: bool,
}

impl Reader {
    pub(crate) fn new(width: usize, verbose: bool) -> Self {
        Self {
            entries: Entries::default(),
            shown: BTreeMap::new(),
            last: None,
            is_gap: false,
            width,
            verbose,
        }
    }

    /// Entries as they stand.
    pub(crate) fn take(&mut self, entries: Vec<Entry>) -> Vec<Line> {
        let mut lines = Vec::new();
        for entry in entries {
            let id = entry.id;
            self.entries.put(entry);
            lines.extend(self.show(id));
        }
        lines
    }

    /// What a record changed.
    pub(crate) fn change(&mut self, changes: Changes) -> Vec<Line> {
        let ids: Vec<EntryId> = changes.entries.iter().map(Change::id).collect();
        self.entries.apply(changes);
        let lines = ids.into_iter().flat_map(|id| self.show(id)).collect();
        self.forget();
        lines
    }

    /// What of an entry is to be shown now.
    fn show(&mut self, id: EntryId) -> Vec<Line> {
        let Some(entry) = self.entries.get(id) else {
            return Vec::new();
        };
        let wanted = match entry.life {
            Life::Open if is_asking(entry) => Shown::Asking,
            // It is whole from the start; open it stays until its turn has ended.
            Life::Open if matches!(entry.body, Body::Prompt(_)) => Shown::Whole,
            Life::Open if is_running(entry) => Shown::Running,
            Life::Open => return Vec::new(),
            _ => Shown::Whole,
        };
        let before = self.shown.get(&id).copied();
        if before >= Some(wanted) {
            return Vec::new();
        }
        self.shown.insert(id, wanted);
        let kind = std::mem::discriminant(&entry.body);
        let call = match before {
            None => Call::New,
            Some(_) if self.last == Some((id, kind)) => Call::Above,
            Some(_) => Call::Before,
        };
        let mut lines = entry_lines(entry, call, self.width, self.verbose);
        let is_apart = matches!(entry.body, Body::Text(_) | Body::Tool(_));
        let is_same = self.last.is_some_and(|(_, last)| last == kind);
        if lines.is_empty() {
            return lines;
        }
        if is_apart && !is_same && before.is_none() && self.last.is_some() && !self.is_gap {
            lines.insert(0, Line::new());
        }
        self.is_gap = lines.last().is_some_and(|line| line.spans.is_empty());
        self.last = Some((id, kind));
        lines
    }

    /// A session may go on for days: what was long ago is not told again.
    fn forget(&mut self) {
        if self.entries.len() > 2 * KEPT {
            self.entries.keep_newest(KEPT);
            let entries = &self.entries;
            self.shown.retain(|id, _| entries.get(*id).is_some());
        }
    }
}

fn is_asking(entry: &Entry) -> bool {
    match &entry.body {
        Body::Tool(tool) => tool.state == ToolState::Asking,
        Body::Ask(ask) => ask.approval.standing == Standing::Open,
        _ => false,
    }
}

/// A call whose result has not come. While its input is being written, nobody knows what it is.
fn is_running(entry: &Entry) -> bool {
    match &entry.body {
        Body::Tool(tool) => {
            matches!(tool.state, ToolState::Called | ToolState::Answered) && tool.result.is_none()
        }
        _ => false,
    }
}

/// Where the call of an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// It was not shown.
    New,
    /// It was shown last.
    Above,
    /// It was shown, and something else since.
    Before,
}

fn entry_lines(entry: &Entry, call: Call, width: usize, verbose: bool) -> Vec<Line> {
    let depth = usize::from(entry.speaker.is_some());
    let room = gutter::room(width, depth);
    let lines = match &entry.body {
        Body::Prompt(prompt) => prompt_lines(prompt),
        Body::Text(said) => text_lines(said, room),
        Body::Thinking(thought) if verbose => whole(&thought.text, Tone::Dim),
        Body::Thinking(_) => Vec::new(),
        Body::Tool(tool) => tool_lines(tool, entry.life, call),
        Body::Result(end) => end_lines(end),
        other => notices(other, verbose),
    };
    gutter::nested(lines, depth, width)
}

fn prompt_lines(prompt: &Prompt) -> Vec<Line> {
    let mut lines = vec![Line::new()];
    lines.extend(prompt.why.as_ref().map(notice::note));
    let rows = prompt.text.text.lines();
    lines.extend(rows.map(|row| Line::of(row, Tone::Strong).after("› ", Tone::Accent)));
    if prompt.attachments > 0 {
        let with = text::count(prompt.attachments as usize, "attachment");
        lines.push(notice::note(format!("with {with}")));
    }
    if prompt.text.is_cut() {
        lines.push(cut(&prompt.text));
    }
    lines.push(Line::new());
    lines
}

fn text_lines(said: &Said, room: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = markdown(&said.text.text, room)
        .into_iter()
        .map(gutter::said)
        .collect();
    if said.text.is_cut() {
        lines.push(cut(&said.text));
    }
    if let Some(error) = &said.error {
        lines.push(notice::bad(text::one_row(error, 300)));
    }
    lines
}

fn whole(clip: &Clip, tone: Tone) -> Vec<Line> {
    let rows = clip
        .text
        .lines()
        .map(|row| gutter::said(Line::of(row, tone)));
    let mut lines: Vec<Line> = rows.collect();
    if clip.is_cut() {
        lines.push(cut(clip));
    }
    lines
}

fn cut(clip: &Clip) -> Line {
    let left = clip.length.saturating_sub(clip.text.len() as u64);
    gutter::said(Line::of(
        format!("… {} more", text::size(left as usize)),
        Tone::Dim,
    ))
}

/// What ran, or is to run: the input as it was sent.
fn headline(tool: &Tool) -> Line {
    headline_of(tool, tool.edited_input().or(tool.input.as_ref()))
}

fn headline_of(tool: &Tool, input: Option<&countersign_transcript::Shown>) -> Line {
    let input = input.map(|shown| &shown.json);
    let input: Value = input
        .and_then(|json| serde_json::from_str(json.as_str()).ok())
        .unwrap_or_default();
    call::headline(&tool.name, &input, Path::new(""))
}

/// What the agent had asked for, where something else was sent; the latter, where the line above shows the former.
fn edited(tool: &Tool, call: Call) -> Option<Line> {
    let sent = tool.edited_input()?;
    let words = match call {
        Call::Above => format!("edited, sent: {}", headline_of(tool, Some(sent)).text()),
        Call::New | Call::Before => {
            let asked = headline_of(tool, tool.input.as_ref()).text();
            format!("edited, the agent had asked for: {asked}")
        }
    };
    let line = Line::of(words, Tone::Warn).after(gutter::NOTICE, Tone::Dim);
    Some(line.after("  ", Tone::Plain))
}

fn tool_lines(tool: &Tool, life: Life, call: Call) -> Vec<Line> {
    let is_running = life == Life::Open && tool.state != ToolState::Asking;
    let mut lines = match call {
        Call::New => vec![headline(tool).after(gutter::CALL, Tone::Accent)],
        Call::Above => Vec::new(),
        // Calls run beside each other: what came of one does not stand under another without its name.
        Call::Before => vec![Line::of(headline(tool).text(), Tone::Dim).after("  of ", Tone::Dim)],
    };
    if is_running {
        return lines
            .into_iter()
            .map(|line| line.add(" …", Tone::Dim))
            .collect();
    }
    if tool.state == ToolState::Asking {
        let words = "waits for a decision: countersign inbox";
        lines.push(Line::of(words, Tone::Warn).after(gutter::WARNING, Tone::Warn));
        return lines;
    }
    lines.extend(decided(tool));
    lines.extend(edited(tool, call));
    match &tool.result {
        Some(result) => lines.extend(result_lines(result)),
        None if tool.state == ToolState::Unknown => {
            lines.push(result_row(Line::of(
                "what came of it is not known",
                Tone::Dim,
            )));
        }
        None => {}
    }
    lines
}

/// Who decided, where somebody did.
fn decided(tool: &Tool) -> Option<Line> {
    let answer = tool.approval.as_ref()?.answer.as_ref()?;
    let (mark, word, tone) = match (answer.verdict, answer.way.as_deref()) {
        (Verdict::Deny, Some(KEEP_PLANNING)) => ("· ", "Kept planning", Tone::Dim),
        (Verdict::Deny, Some(_)) => ("✓ ", "Approved", Tone::Good),
        (Verdict::Allow, _) => ("✓ ", "Allowed", Tone::Good),
        (Verdict::Deny, None) => ("✗ ", "Refused", Tone::Bad),
        _ => ("· ", "Answered", Tone::Dim),
    };
    let mut words = word.to_owned();
    if let Some(by) = &answer.by {
        words.push_str(&format!(" by {}", text::one_row(by, 60)));
    }
    let says_more = |why: &&str| !why.is_empty() && !why.eq_ignore_ascii_case(word);
    if let Some(why) = answer.why.as_deref().filter(says_more) {
        words.push_str(&format!(": {}", text::one_row(why, 300)));
    }
    Some(
        Line::of(words, tone)
            .after(mark, tone)
            .after("  ", Tone::Plain),
    )
}

fn result_row(line: Line) -> Line {
    line.after(gutter::RESULT, Tone::Dim)
        .after("  ", Tone::Plain)
}

fn result_lines(result: &Returned) -> Vec<Line> {
    let tone = if result.is_error {
        Tone::Bad
    } else {
        Tone::Dim
    };
    let said = &result.text.text;
    let mut lines: Vec<Line> = said
        .lines()
        .take(FOLD)
        .enumerate()
        .map(|(at, row)| {
            let row = Line::of(text::clip(row, 2_000).0, tone);
            match at {
                0 => result_row(row),
                _ => row.after("    ", Tone::Plain),
            }
        })
        .collect();
    let more = text::lines(said).saturating_sub(FOLD);
    if more > 0 || result.text.is_cut() {
        let words = match result.text.is_cut() {
            true => format!("… {} in all", text::size(result.text.length as usize)),
            false => format!("… {}", text::count(more, "more line")),
        };
        lines.push(Line::of(words, Tone::Dim).after("    ", Tone::Plain));
    }
    if lines.is_empty() {
        lines.push(result_row(Line::of("done", Tone::Dim)));
    }
    lines
}

fn end_lines(end: &TurnEnd) -> Vec<Line> {
    let took = text::duration(Duration::from_millis(end.duration_ms));
    let cost = words::dollars(end.cost_usd);
    let mut lines = Vec::new();
    for error in &end.errors {
        lines.push(notice::bad(text::one_row(error, 400)));
    }
    lines.push(match (end.is_interrupted, end.is_success) {
        (true, _) => notice::warn(format!("interrupted after {took}, {cost}")),
        (false, true) => notice::note(format!("done in {took}, {cost}")),
        (false, false) => notice::bad(match why(end) {
            Some(why) => format!("failed after {took}: {why}"),
            None => format!("failed after {took}"),
        }),
    });
    lines
}

/// Why a turn failed, where the lines above do not say it. Its subtype may be `success` all the same.
fn why(end: &TurnEnd) -> Option<String> {
    let said = end.text.as_ref().map(|clip| text::one_row(&clip.text, 400));
    let status = || Some(format!("the API answered {}", end.api_status?));
    let subtype = || {
        let says = end.errors.is_empty() && end.subtype != "success" && !end.subtype.is_empty();
        says.then(|| text::one_row(&end.subtype, 60))
    };
    said.filter(|said| !said.is_empty())
        .or_else(status)
        .or_else(subtype)
}

/// What happens around a conversation.
fn notices(body: &Body, verbose: bool) -> Vec<Line> {
    let line = match body {
        Body::Ask(ask) if ask.approval.standing == Standing::Open => {
            let from = text::one_row(&ask.from, 60);
            notice::warn(format!("{from} asks: countersign inbox"))
        }
        Body::Ask(ask) => notice::note(format!("{} asked", text::one_row(&ask.from, 60))),
        Body::Notice(told) => {
            let words = text::one_row(&told.text.text, 400);
            match told.level {
                Level::Info if !verbose => return Vec::new(),
                Level::Info => notice::note(words),
                Level::Warning => notice::warn(words),
                Level::Error => notice::bad(words),
            }
        }
        Body::Retry(retry) => notice::warn(format!(
            "the model does not answer: try {} of {}",
            retry.attempt, retry.most
        )),
        Body::Limit(limit) => notice::warn(format!(
            "limit of the account: {}",
            text::one_row(&limit.status, 60)
        )),
        Body::Compaction(done) if done.is_done => notice::note("the conversation was compacted"),
        Body::Mode(mode) => notice::note(format!("mode: {}", text::one_row(&mode.to, 40))),
        Body::Model(model) => notice::note(format!("model: {}", text::one_row(&model.to, 60))),
        Body::Reset(_) => notice::note("the conversation begins anew"),
        Body::Started(start) if start.generation > 1 => notice::note("the agent is started again"),
        Body::Ended(end) => match (end.code, &end.error) {
            (_, Some(error)) => notice::bad(format!("not started: {}", text::one_row(error, 300))),
            (Some(0), _) => notice::note("the agent ended"),
            (Some(code), _) => notice::warn(format!("the agent ended with exit code {code}")),
            (None, _) => notice::note("the agent was ended"),
        },
        Body::Lost(_) => notice::warn("the agent was lost: its keeper ended without a word"),
        Body::Paused(_) => notice::warn("nothing could be written: the agent waited"),
        Body::Task(task) => notice::note(format!(
            "in the background: {}",
            text::one_row(&task.description, 200)
        )),
        Body::Stderr(said) if verbose => return whole(&said.text, Tone::Dim),
        _ => return Vec::new(),
    };
    vec![line]
}

#[cfg(test)]
mod tests;
