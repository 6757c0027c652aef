//! Entries and totals as text, for snapshots and for looking things up in tests.
//!
//! Owns the layout alone. Everything an entry says is in it, in an order that does not change.

use std::fmt::Write;

use countersign_transcript::body::{Approval, Standing, Task, Tool, TurnEnd};
use countersign_transcript::{Body, Clip, Entries, Entry, Life, Shown, Totals};

use super::{Owned, fold};

/// The whole transcript of records, with its totals.
pub(crate) fn transcript(records: &[Owned]) -> String {
    let (fold, entries) = fold(records);
    let mut out = String::new();
    for entry in entries.iter() {
        out.push_str(&entry_text(&entries, entry));
        out.push('\n');
    }
    let _ = write!(
        out,
        "── {} open\n{}",
        fold.open(),
        totals_text(fold.totals())
    );
    out
}

fn depth(entries: &Entries, entry: &Entry) -> usize {
    let parent = entry.parent.and_then(|id| entries.get(id));
    parent.map_or(0, |parent| 1 + depth(entries, parent))
}

pub(crate) fn entry_text(entries: &Entries, entry: &Entry) -> String {
    let mut indent = "    ".repeat(depth(entries, entry));
    if entry.speaker.is_some() && entry.parent.is_none() {
        indent.push_str("(orphan) ");
    }
    let life = match entry.life {
        Life::Open => " OPEN",
        Life::Final => "",
        Life::LetGo => " LET GO",
    };
    let range = match entry.first == entry.last {
        true => entry.id.to_string(),
        false => format!("{}..{}", entry.id, entry.last.seq),
    };
    let body = body(&entry.body);
    let mut lines = body.lines();
    let first = lines.next().unwrap_or_default();
    let mut out = format!("{indent}{range}{life} {}{first}", entry.body.name());
    for line in lines {
        let _ = write!(out, "\n{indent}      {line}");
    }
    out
}

fn clip(clip: &Clip) -> String {
    let shown: String = clip.text.chars().take(100).collect();
    let cut = match (&clip.whole, clip.is_cut()) {
        (Some(cursor), _) => format!(
            " [{} of {} bytes, whole in {cursor}]",
            clip.text.len(),
            clip.length
        ),
        (None, true) => format!(" [{} of {} bytes]", clip.text.len(), clip.length),
        (None, false) if shown.len() < clip.text.len() => format!(" [{} bytes]", clip.length),
        _ => String::new(),
    };
    format!("{shown:?}{cut}")
}

fn shown(shown: &Shown) -> String {
    let text: String = shown.json.as_str().chars().take(160).collect();
    match &shown.whole {
        Some(cursor) => format!("{text}… [{} bytes, whole in {cursor}]", shown.length),
        None => text,
    }
}

fn optional(label: &str, value: &Option<impl std::fmt::Debug>) -> String {
    match value {
        Some(value) => format!(" {label}={value:?}"),
        None => String::new(),
    }
}

fn flag(is_set: bool, word: &str) -> String {
    match is_set {
        true => format!(" {word}"),
        false => String::new(),
    }
}

fn body(body: &Body) -> String {
    match body {
        Body::Prompt(prompt) => format!(
            " {:?} {:?} {}{}{}{}{}",
            prompt.origin,
            prompt.state,
            clip(&prompt.text),
            optional("uuid", &prompt.uuid.as_ref().map(|uuid| short(uuid))),
            optional("by", &prompt.by),
            optional("client", &prompt.client),
            flag(prompt.attachments > 0, &format!("+{}", prompt.attachments)),
        ),
        Body::Text(said) => format!(
            " {}{}{}{}{}",
            clip(&said.text),
            optional("message", &said.message.as_ref().map(|id| short(id))),
            flag(said.is_partial, "PARTIAL"),
            flag(said.is_aborted, "ABORTED"),
            optional("error", &said.error),
        ),
        Body::Thinking(thought) => format!(
            " {}{}{}",
            clip(&thought.text),
            flag(thought.is_partial, "PARTIAL"),
            optional("took", &thought.took),
        ),
        Body::Tool(tool) => tool_text(tool),
        Body::Ask(ask) => format!(
            " from {:?}{}{}{}",
            ask.from,
            ask.message
                .as_ref()
                .map(|text| format!(" {}", clip(text)))
                .unwrap_or_default(),
            ask.form
                .as_ref()
                .map(|form| format!(" form {}", shown(form)))
                .unwrap_or_default(),
            approval(&ask.approval),
        ),
        Body::Task(task) => task_text(task),
        Body::Result(end) => result(end),
        Body::Notice(notice) => format!(
            " {:?} {:?} {}: {}",
            notice.level,
            notice.about,
            notice.source,
            clip(&notice.text)
        ),
        Body::Unread(unread) => format!(
            " {} {}{}: {}",
            unread.from,
            unread.name.as_deref().unwrap_or("-"),
            optional("why", &unread.why),
            clip(&unread.line)
        ),
        other => {
            let json = serde_json::to_value(other).unwrap();
            format!(" {}", json["is"])
        }
    }
}

fn tool_text(tool: &Tool) -> String {
    let mut out = format!(" {} {:?} {:?}", tool.name, tool.role, tool.state);
    out.push_str(&optional("took", &tool.took));
    if let Some(input) = &tool.input {
        let _ = write!(out, "\ninput {}", shown(input));
    }
    if let Some(question) = &tool.approval {
        out.push_str(&approval(question));
    }
    if let Some(denial) = &tool.denial {
        let _ = write!(
            out,
            "\ndenied by the CLI: {:?}{}",
            denial.message,
            optional("code", &denial.code)
        );
    }
    if let Some(signed) = &tool.signed {
        let _ = write!(
            out,
            "\nsigned{}{}{}{}",
            optional("decision", &signed.decision),
            optional("by", &signed.source),
            optional("for", &signed.reason),
            optional("not_run", &signed.not_run)
        );
    }
    if let Some(agent) = &tool.agent {
        let _ = write!(out, "\nagent{}", task_text(agent));
    }
    if let Some(result) = &tool.result {
        let _ = write!(
            out,
            "\nresult{} {}",
            flag(result.is_error, "ERROR"),
            clip(&result.text)
        );
        if let Some(structured) = &result.structured {
            let _ = write!(out, "\nstructured {}", shown(structured));
        }
    }
    out
}

fn task_text(task: &Task) -> String {
    format!(
        " {:?} {:?}{}{}{}{}{}{}{}",
        task.state,
        task.description,
        flag(task.is_background, "BACKGROUND"),
        optional("kind", &task.kind),
        optional("type", &task.agent_type),
        optional("tokens", &task.tokens),
        optional("tools", &task.tool_uses),
        optional("last", &task.last_tool),
        task.summary
            .as_ref()
            .map(|summary| format!(" → {}", clip(summary)))
            .unwrap_or_default(),
    )
}

fn approval(approval: &Approval) -> String {
    let standing = match approval.standing {
        Standing::Open => "open".to_owned(),
        Standing::Written => "written".to_owned(),
        Standing::Settled(outcome) => format!("settled: {outcome:?}"),
        Standing::Withdrawn(why) => format!("withdrawn: {why:?}"),
    };
    let mut out = format!(
        "\nasked in {} {standing}{}{}{}{}",
        approval.asked.seq,
        flag(approval.needs_person, "NEEDS A PERSON"),
        optional("reason", &approval.reason),
        optional(
            "path",
            &(!approval.path.is_empty()).then_some(&approval.path)
        ),
        approval
            .input
            .as_ref()
            .map(|input| format!(" would run {}", shown(input)))
            .unwrap_or_default(),
    );
    if let Some(answer) = &approval.answer {
        let _ = write!(
            out,
            "\nanswer {:?} {:?} in {} waited={}{}{}{}{}{}{}{}",
            answer.verdict,
            answer.word,
            answer.written.seq,
            answer.waited,
            flag(answer.interrupts, "INTERRUPTS"),
            optional("by", &answer.by),
            optional("why", &answer.why),
            optional("client", &answer.client),
            answer
                .message
                .as_ref()
                .map(|text| format!(" {}", clip(text)))
                .unwrap_or_default(),
            answer
                .input
                .as_ref()
                .map(|input| format!(" runs {}", shown(input)))
                .unwrap_or_default(),
            answer
                .updates
                .as_ref()
                .map(|updates| format!(" and {}", shown(updates)))
                .unwrap_or_default(),
        );
    }
    out
}

fn result(end: &TurnEnd) -> String {
    let mut out = format!(
        " {} {}{}{}{}",
        end.subtype,
        if end.is_success { "ok" } else { "FAILED" },
        flag(end.is_interrupted, "INTERRUPTED"),
        optional("by", &end.interrupted_by),
        optional("reason", &end.reason),
    );
    let _ = write!(
        out,
        " cost={:.6} total={:.6} steps={} ms={} tokens={}/{}",
        end.cost_usd,
        end.total_usd,
        end.steps,
        end.duration_ms,
        end.tokens.input,
        end.tokens.output
    );
    if let Some(text) = &end.text {
        let _ = write!(out, "\ntext {}", clip(text));
    }
    if let Some(structured) = &end.structured {
        let _ = write!(out, "\nstructured {}", shown(structured));
    }
    for error in &end.errors {
        let _ = write!(
            out,
            "\nerror {:?}",
            error.chars().take(80).collect::<String>()
        );
    }
    out
}

pub(crate) fn totals_text(totals: &Totals) -> String {
    let json = serde_json::to_value(totals).unwrap();
    let mut out = String::new();
    for (name, value) in json.as_object().unwrap() {
        if value != 0 && value != 0.0 && *value != serde_json::json!({}) {
            let _ = writeln!(out, "{name} {}", without_zeros(value));
        }
    }
    out
}

fn without_zeros(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(members) => members
            .iter()
            .filter(|(_, value)| **value != 0 && **value != 0.0 && **value != serde_json::json!({}))
            .map(|(key, value)| (key.clone(), without_zeros(value)))
            .collect(),
        serde_json::Value::Number(number) if number.is_f64() => {
            format!("{:.6}", number.as_f64().unwrap()).into()
        }
        other => other.clone(),
    }
}

/// The end of an id: the recordings fill the rest with zeros.
fn short(id: &str) -> String {
    let kept = id.len().saturating_sub(4);
    id.get(kept..).unwrap_or(id).to_owned()
}
