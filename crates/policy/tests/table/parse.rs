//! The text of the table.
//!
//! ```text
//! # A comment. Lines without ` => ` are the head of a block: rules, profile, mode, disk. A head after rows starts afresh.
//! allow Bash(git log:*)                 also: ask, deny; then `until TIME`, `in PATH` after two blanks
//! profile edits                         careful where none is given; `hands-off until TIME`
//! mode plan · plan PATH · mark NAME
//! file .env · folder src · link a -> b · added PATH · start PATH
//!
//! git log; rm x              => ask no-rule "rm x"
//! Read {"file_path":".env"}  => deny rule [Read(.env)] ".env"
//! ```
//!
//! A row is a shell command, or a tool with its input, and what is wanted: the effect (`ask!` where only a person may
//! answer, never a blanket yes), the kind of reason, the rule in brackets and the part that decided in quotes. Where a
//! shell command is asked about or denied without a part, the part is the whole command. `<here>`, `<home>`, `<else>`,
//! `<own>` and `<added>` stand for folders, in what is expected also `<root>`, the folder they lie in.

use std::fmt;

use countersign_policy::rule::Matcher;
use countersign_policy::{Effect, Marks};
use jiff::Timestamp;
use serde_json::Value;

/// Rows that are decided in the same surroundings.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) file: String,
    pub(crate) head: Head,
    pub(crate) rows: Vec<Row>,
}

/// The surroundings.
#[derive(Debug, Default, Clone)]
pub(crate) struct Head {
    pub(crate) rules: Vec<RuleLine>,
    pub(crate) profile: String,
    pub(crate) hands_off_until: Option<Timestamp>,
    pub(crate) in_plan_mode: bool,
    pub(crate) plan: Option<String>,
    pub(crate) marks: Marks,
    pub(crate) start: Option<String>,
    pub(crate) added: Vec<String>,
    /// In the order they are made.
    pub(crate) disk: Vec<Made>,
}

#[derive(Debug, Clone)]
pub(crate) struct RuleLine {
    pub(crate) effect: Effect,
    pub(crate) text: String,
    pub(crate) until: Option<Timestamp>,
    pub(crate) within: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Made {
    File(String),
    Folder(String),
    Link { at: String, to: String },
}

/// One call and what is wanted.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) line: usize,
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) expected: Expected,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Expected {
    pub(crate) effect: Effect,
    pub(crate) must_be_a_person: bool,
    pub(crate) why: String,
    pub(crate) rule: Option<String>,
    pub(crate) part: Option<String>,
}

impl Row {
    /// The shell command, if it is one.
    pub(crate) fn command(&self) -> Option<&str> {
        self.input
            .get("command")?
            .as_str()
            .filter(|_| self.tool == "Bash")
    }

    pub(crate) fn shown(&self) -> String {
        self.command()
            .map_or_else(|| format!("{} {}", self.tool, self.input), str::to_owned)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.must_be_a_person { "!" } else { "" };
        write!(f, "{}{mark} {}", self.effect, self.why)?;
        if let Some(rule) = &self.rule {
            write!(f, " [{rule}]")?;
        }
        match &self.part {
            Some(part) => write!(f, " {part:?}"),
            None => Ok(()),
        }
    }
}

/// Reads a file of the table.
pub(crate) fn blocks(file: &str, text: &str) -> Result<Vec<Block>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let wrong = |why: String| format!("{file}:{}: {why}", index + 1);
        let line = line.trim_end();
        if line.is_empty() || line.starts_with("# ") || line == "#" {
            continue;
        }
        let needs_block = |block: &Block, is_row: bool| !is_row && !block.rows.is_empty();
        let row = line.rsplit_once(" => ");
        if blocks
            .last()
            .is_none_or(|block| needs_block(block, row.is_some()))
        {
            blocks.push(Block {
                file: file.to_owned(),
                ..Block::default()
            });
        }
        let block = blocks
            .last_mut()
            .ok_or_else(|| wrong("no block".to_owned()))?;
        match row {
            Some((call, wanted)) => block
                .rows
                .push(self::row(index + 1, call.trim(), wanted.trim()).map_err(wrong)?),
            None => block.head.read(line).map_err(wrong)?,
        }
    }
    match blocks.iter().any(|block| block.rows.is_empty()) {
        true => Err(format!("{file}:1: a head has no rows")),
        false => Ok(blocks),
    }
}

fn row(line: usize, call: &str, wanted: &str) -> Result<Row, String> {
    let is_tool = |name: &str| {
        let begins =
            name.starts_with(|c: char| c.is_ascii_uppercase()) || name.starts_with("mcp__");
        begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_json = |text: &str| text.starts_with(['{', '[']) || text == "null";
    let (tool, input) = match call.split_once(' ') {
        Some((tool, input)) if is_tool(tool) && is_json(input.trim()) => {
            let input = serde_json::from_str(input)
                .map_err(|error| format!("the input is no JSON: {error}"))?;
            (tool, input)
        }
        _ => ("Bash", serde_json::json!({ "command": call })),
    };
    let mut row = Row {
        line,
        tool: tool.to_owned(),
        input,
        expected: expected(wanted)?,
    };
    let has_part = matches!(
        row.expected.why.as_str(),
        "rule" | "no-rule" | "protected" | "plan-mode"
    );
    if row.expected.part.is_none() && row.expected.effect != Effect::Allow && has_part {
        row.expected.part = row.command().map(str::to_owned);
    }
    Ok(row)
}

fn expected(text: &str) -> Result<Expected, String> {
    let (text, part) = match (text.split_once('"'), text.strip_suffix('"')) {
        (Some((before, after)), Some(_)) => {
            (before.trim(), after.strip_suffix('"').map(str::to_owned))
        }
        _ => (text, None),
    };
    let (text, rule) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((before, rule)) => (before.trim(), Some(rule.to_owned())),
        None => (text, None),
    };
    let (effect, why) = match text.split_once(' ') {
        Some((effect, why)) if !why.trim().contains(' ') => (effect, why.trim()),
        _ => {
            return Err(format!(
                "`{text}` is no verdict: write an effect and a reason"
            ));
        }
    };
    Ok(Expected {
        effect: self::effect(effect.trim_end_matches('!'))
            .ok_or_else(|| format!("`{effect}` is no effect"))?,
        must_be_a_person: effect.ends_with('!'),
        why: why.to_owned(),
        rule,
        part,
    })
}

fn effect(word: &str) -> Option<Effect> {
    match word {
        "allow" => Some(Effect::Allow),
        "ask" => Some(Effect::Ask),
        "deny" => Some(Effect::Deny),
        _ => None,
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|error| format!("`{text}` is no time: {error}"))
}

impl Head {
    fn read(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line
            .split_once(' ')
            .ok_or_else(|| format!("`{line}` says nothing"))?;
        let rest = rest.trim().to_owned();
        match word {
            "allow" | "ask" | "deny" => self.rules.push(rule(word, &rest)?),
            "profile" => match rest.strip_prefix("hands-off until ") {
                Some(until) => self.hands_off_until = Some(time(until)?),
                None => self.profile = rest,
            },
            "mode" if rest == "plan" => self.in_plan_mode = true,
            "plan" => self.plan = Some(rest),
            "mark" => self.mark(&rest)?,
            "start" => self.start = Some(rest),
            "added" => self.added.push(rest),
            "file" => self.disk.push(Made::File(rest)),
            "folder" => self.disk.push(Made::Folder(rest)),
            "link" => {
                let (at, to) = rest.split_once(" -> ").ok_or("write `link AT -> TO`")?;
                self.disk.push(Made::Link {
                    at: at.to_owned(),
                    to: to.to_owned(),
                });
            }
            _ => return Err(format!("`{word}` begins no line of a head")),
        }
        Ok(())
    }

    fn mark(&mut self, name: &str) -> Result<(), String> {
        let mark = match name {
            "safety-check" => &mut self.marks.safety_check,
            "no-rule" => &mut self.marks.no_rule,
            "ask-only" => &mut self.marks.ask_only,
            "needs-person" => &mut self.marks.needs_person,
            "default-to-no" => &mut self.marks.default_to_no,
            _ => return Err(format!("`{name}` is no mark")),
        };
        *mark = true;
        Ok(())
    }
}

fn rule(word: &str, rest: &str) -> Result<RuleLine, String> {
    let mut parts = rest
        .split("  ")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let text = parts.next().unwrap_or_default().to_owned();
    // Without placeholders it must be a rule as it stands.
    if !text.contains('<') {
        Matcher::parse(&text, std::path::Path::new("/")).map_err(|error| error.to_string())?;
    }
    let effect = effect(word).ok_or("no effect")?;
    let mut rule = RuleLine {
        effect,
        text,
        until: None,
        within: None,
    };
    for part in parts {
        match part.split_once(' ') {
            Some(("until", at)) => rule.until = Some(time(at)?),
            Some(("in", path)) => rule.within = Some(path.to_owned()),
            _ => return Err(format!("`{part}` says nothing about a rule")),
        }
    }
    Ok(rule)
}
