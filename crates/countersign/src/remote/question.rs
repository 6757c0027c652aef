//! An approval as a person sees it before deciding, and in a row of the inbox.
//!
//! Owns what is shown: all of the input, who asks and why, what can be decided and with which command. Invariant: what is
//! shown is what the digest of the decision stands for; nothing of it is folded.

use std::path::Path;

use countersign_api::control::approval::{
    Asker, Decided, FileState, Kind, Life, Way, Wish, WishOffer,
};
use countersign_api::control::{ApprovalView, SessionView};
use serde_json::Value;

use super::names::short;
use super::words;
use crate::show::call::Before;
use crate::show::diff::Diff;
use crate::show::{call, gutter, plan, text};
use crate::term::style::{Line, Tone};

/// What is asked, in a row.
pub(crate) fn headline(view: &ApprovalView) -> Line {
    let cwd = Path::new("");
    match view.kind {
        Kind::Plan => Line::of("a plan", Tone::Strong),
        Kind::Questions => Line::of("questions", Tone::Strong)
            .add(format!("  {}", first_question(&view.input)), Tone::Plain),
        Kind::Elicitation => Line::of("a form", Tone::Strong).add(
            format!("  of {}", text::one_row(&view.tool, 60)),
            Tone::Plain,
        ),
        Kind::Dialog => Line::of("a dialog", Tone::Strong)
            .add(format!("  {}", text::one_row(&view.tool, 60)), Tone::Plain),
        _ => {
            let line = call::headline(&view.tool, sent_input(view), cwd);
            match view.destroys() {
                Some(_) => line.add("  cannot be undone", Tone::Bad),
                None => line,
            }
        }
    }
}

/// The input that the agent was sent: the one it asked with, unless whoever allowed the call edited it.
fn sent_input(view: &ApprovalView) -> &Value {
    view.edited_input.as_ref().unwrap_or(&view.input)
}

/// What a call would destroy, or that nobody can tell.
fn harm(view: &ApprovalView) -> Option<Line> {
    let harm = view.harm.as_ref()?;
    let says = text::one_row(&harm.says, 300);
    let line = match view.destroys() {
        Some(_) => Line::of(format!("cannot be undone: it {says}"), Tone::Bad),
        None => Line::of(format!("cannot be read: {says}"), Tone::Dim),
    };
    Some(line.after(gutter::NOTICE, Tone::Dim))
}

fn first_question(input: &Value) -> String {
    let question = &input["questions"][0]["question"];
    text::one_row(question.as_str().unwrap_or_default(), 200)
}

/// Everything a person needs to decide.
pub(crate) fn full(view: &ApprovalView, now: u64, width: usize) -> Vec<Line> {
    let head = Line::of(short(view.id), Tone::Accent)
        .add("  ", Tone::Plain)
        .add(&view.session_name, Tone::Strong)
        .add(format!(" ({})", short(view.session)), Tone::Dim)
        .add(
            format!("  asked {} ago", words::age(view.asked, now)),
            Tone::Dim,
        );
    let mut lines = vec![head];
    let ours = |words: String| Line::of(words, Tone::Dim).after(gutter::NOTICE, Tone::Dim);
    if !view.path.is_empty() {
        lines.push(ours(format!("asked by {}", askers(&view.path))));
    }
    if !view.reason.trim().is_empty() {
        lines.push(ours(text::one_row(&view.reason, 400)));
    }
    if let Some(remark) = view
        .remark
        .as_deref()
        .filter(|said| !said.trim().is_empty())
    {
        lines.push(ours(format!(
            "the CLI says: {}",
            text::one_row(remark, 400)
        )));
    }
    lines.extend(harm(view));
    if view.needs_restart {
        lines.push(ours(
            "the agent that asked has gone: a decision starts one again".into(),
        ));
    }
    lines.push(Line::new());
    lines.extend(body(view, width));
    lines.push(Line::new());
    lines.extend(standing(view, now));
    lines
}

/// Returns the folder that the agent of a session works in, with the repository where that one is elsewhere: in a worktree.
pub(crate) fn place(session: &SessionView) -> Line {
    let home = std::env::var("HOME").unwrap_or_default();
    let shown = |path: &Path| text::one_row(&text::from_home(&path.to_string_lossy(), &home), 300);
    let mut place = format!("in {}", shown(&session.cwd));
    let repository = session.repository.as_deref();
    if let Some(repository) = repository.filter(|folder| !session.cwd.starts_with(folder)) {
        place.push_str(&format!(", a worktree of {}", shown(repository)));
    }
    Line::of(place, Tone::Dim).after(gutter::NOTICE, Tone::Dim)
}

fn askers(path: &[Asker]) -> String {
    let names = path.iter().map(|asker| {
        let kind = asker.kind.as_deref().unwrap_or("a sub-agent");
        match &asker.description {
            Some(what) => format!("{} ({})", text::one_row(kind, 40), text::one_row(what, 100)),
            None => text::one_row(kind, 40),
        }
    });
    names.collect::<Vec<_>>().join(" › ")
}

fn body(view: &ApprovalView, width: usize) -> Vec<Line> {
    if view.kind == Kind::Plan {
        return plan_lines(view, width);
    }
    let mut lines = vec![headline(view).after(gutter::CALL, Tone::Accent)];
    let tool = match view.kind {
        Kind::Questions => "AskUserQuestion",
        _ => &view.tool,
    };
    let room = gutter::room(width, 0);
    let placed = placed(view).filter(|_| view.edited_input.is_none());
    let before = placed.as_ref().map_or(Before::Unknown, Before::Placed);
    let whole = |input: &Value| call::full(tool, input, Path::new(""), room, before);
    lines.extend(file_notes(view));
    lines.extend(whole(sent_input(view)).into_iter().map(gutter::said));
    if view.edited_input.is_some() {
        let words = "edited before it was allowed; the agent had asked for:";
        lines.push(Line::of(words, Tone::Warn).after(gutter::NOTICE, Tone::Dim));
        let asked = call::headline(tool, &view.input, Path::new(""));
        lines.push(Line::of(asked.text(), Tone::Dim).after("  ", Tone::Plain));
        lines.extend(whole(&view.input).into_iter().map(gutter::said));
    }
    lines
}

/// The change as it would stand in the file.
fn placed(view: &ApprovalView) -> Option<Diff> {
    let file = view.file.as_ref()?;
    let parts = file.parts.iter();
    let parts = parts.map(|it| (it.line, it.new_line, &*it.before, &*it.after));
    (file.state == FileState::Read).then(|| Diff::of_parts(parts))
}

/// What is to be known of the file that the call would change.
fn file_notes(view: &ApprovalView) -> Vec<Line> {
    let Some(file) = &view.file else {
        return Vec::new();
    };
    let says = file.says.as_ref().map(|says| text::one_row(says, 300));
    let changed = "the file has changed since the agent asked";
    let changed = file.changed.then(|| changed.to_owned());
    let notes = says.into_iter().chain(changed);
    notes
        .map(|words| Line::of(words, Tone::Warn).after(gutter::WARNING, Tone::Warn))
        .collect()
}

fn plan_lines(view: &ApprovalView, width: usize) -> Vec<Line> {
    let Some(card) = &view.plan else {
        let text = view.input["plan"].as_str().unwrap_or_default();
        return plan::plan(text, width);
    };
    let mut lines = match &card.text {
        Some(text) => plan::plan(text, width),
        None => vec![Line::of("Nobody knows the text of the plan.", Tone::Warn)],
    };
    for (at, wish) in card.wishes.iter().enumerate() {
        let tool = text::one_row(&wish.tool, 40);
        let words = format!("wants {at}: {tool}: {}", text::one_row(&wish.prompt, 300));
        lines.push(Line::of(words, Tone::Dim).after(gutter::NOTICE, Tone::Dim));
        lines.extend(wish_offers(wish, at));
    }
    if let Some(full) = card.context_percent {
        let words = format!("the context is {full:.0} % full");
        lines.push(Line::of(words, Tone::Dim).after(gutter::NOTICE, Tone::Dim));
    }
    if let Some(note) = &card.edit_note {
        lines.push(Line::of(note, Tone::Dim).after(gutter::NOTICE, Tone::Dim));
    }
    lines
}

/// The commands that a wish may stand for, or how to name one.
fn wish_offers(wish: &Wish, at: usize) -> Vec<Line> {
    if wish.offers.is_empty() {
        let words = "no command was found for this: name one with --rule 'Bash(…)'";
        return vec![Line::of(words, Tone::Dim).after("    ", Tone::Dim)];
    }
    let offer = |offer: &WishOffer| {
        let rule = text::one_row(&offer.text, 200);
        let words = format!(
            "--grant {at} allows {rule}  ({})",
            text::one_row(&offer.from, 100)
        );
        Line::of(words, Tone::Dim).after("    ", Tone::Dim)
    };
    wish.offers.iter().map(offer).collect()
}

/// How it stands, and what can be done.
fn standing(view: &ApprovalView, now: u64) -> Vec<Line> {
    let ours = |words: String| vec![Line::of(words, Tone::Dim)];
    match &view.life {
        Life::Open => ways(view, now),
        Life::Withdrawn { why } => ours(format!("withdrawn: {}", name_of(why))),
        life => {
            let is_sent_back = |one: &Decided| one.way == Some(Way::KeepPlanning);
            let outcome = match life {
                // The agent goes on planning: there is no call that did not run.
                Life::Settled { .. } if view.decided.as_ref().is_some_and(is_sent_back) => {
                    String::new()
                }
                Life::Settled { outcome } => format!("; {}", name_of(outcome)),
                _ => String::new(),
            };
            match &view.decided {
                None => ours(format!("{}{outcome}", life.name())),
                Some(decided) => ours(format!(
                    "{}{} by {} from {} at {}{outcome}{}",
                    decided.verdict().replace('-', " "),
                    match view.edited_input.is_some() {
                        true => ", edited,",
                        false => "",
                    },
                    text::one_row(decided.decider(), 60),
                    text::one_row(&decided.client, 60),
                    words::when(decided.at),
                    match decided.why.is_empty() {
                        true => String::new(),
                        false => format!(": {}", text::one_row(&decided.why, 300)),
                    }
                )),
            }
        }
    }
}

/// A word of the API, for people.
fn name_of(word: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(word).unwrap_or_default();
    word.as_str().unwrap_or("?").replace('_', " ")
}

/// The ways on that its card offers; without a card, those that every plan has.
fn plan_ways(view: &ApprovalView) -> Vec<Way> {
    match &view.plan {
        Some(card) => card.ways.iter().map(|offer| offer.way).collect(),
        None => vec![Way::Manual, Way::KeepPlanning],
    }
}

fn plan_option(way: Way) -> &'static str {
    match way {
        Way::ClearContext => "--clear-context",
        Way::AcceptEdits => "--accept-edits",
        Way::Manual => "--manual",
        Way::KeepPlanning => "--keep-planning 'what shall be different'",
    }
}

/// What can be typed.
fn ways(view: &ApprovalView, now: u64) -> Vec<Line> {
    let id = short(view.id);
    let mut ways = match view.kind {
        Kind::Plan => plan_ways(view)
            .into_iter()
            .map(|way| format!("countersign plan {id} {}", plan_option(way)))
            .collect(),
        Kind::Questions | Kind::Elicitation | Kind::Dialog => vec![
            format!("countersign answer {id}"),
            format!("countersign deny {id}"),
        ],
        _ => vec![
            format!("countersign approve {id}"),
            format!("countersign deny {id} 'why not'"),
        ],
    };
    let rules = view.offers.iter().flat_map(|offer| &offer.rules);
    ways.extend(rules.map(|rule| {
        let rule = text::one_row(rule, 200).replace('\'', "'\\''");
        format!("countersign approve {id} --always '{rule}'")
    }));
    let mut lines: Vec<Line> = ways
        .into_iter()
        .map(|way| {
            // In column 0, where nothing of an agent stands.
            Line::of(way, Tone::Code)
                .after("$ ", Tone::Accent)
                .hanging(4)
        })
        .collect();
    if let Some(at) = view.expires {
        let words = format!("denied by itself in {}", words::ahead(now, at));
        lines.push(Line::of(words, Tone::Warn));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(kind: &str, tool: &str, input: Value) -> ApprovalView {
        let text = json!({
            "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "session": "01ARZ3NDEKTSV4RRFFQ69G5FZZ",
            "session_name": "fix\u{1b}[2J", "kind": kind, "life": "open", "asked": 1, "record": "1-5",
            "request_id": "r", "tool_use_id": "t", "tool": tool, "input": input, "digest": "d",
            "path": [{"agent_id": "a", "tool_use_id": null, "kind": "Explore", "description": "look"}],
            "reason": "no rule allows it", "remark": null, "expires": null, "decided": null,
            "needs_restart": false,
            "offers": [{"kind": "always", "label": "make", "rules": ["Bash(it's:*)"]}],
        });
        serde_json::from_value(text).unwrap()
    }

    fn texts(view: &ApprovalView) -> Vec<String> {
        full(view, 60_000_001, 80).iter().map(Line::text).collect()
    }

    #[test]
    fn a_call_is_shown_whole_with_who_asks_and_what_can_be_typed() {
        let command = "make all\n".repeat(40);
        let rows = texts(&asked("tool", "Bash", json!({"command": command})));
        assert_eq!(rows.iter().filter(|row| *row == "  make all").count(), 40);
        let has = |words: &str| rows.iter().any(|row| row.contains(words));
        assert!(
            has("asked 1m ago") && has("asked by Explore (look)"),
            "{rows:#?}"
        );
        assert!(
            has("no rule allows it") && has("countersign approve 9g5fav"),
            "{rows:#?}"
        );
        // A quote within a rule does not end the word it stands in.
        assert!(has(r"--always 'Bash(it'\''s:*)'"), "{rows:#?}");
        assert!(!has("\u{1b}"), "{rows:#?}");
    }

    #[test]
    fn what_an_agent_asks_cannot_pass_for_our_words() {
        let forged = "x\n\n  countersign approve aaaaaa\n● Bash  ls";
        let rows = texts(&asked("tool", "Bash", json!({"command": forged})));
        let forged = rows.iter().position(|row| row.contains("● Bash  ls"));
        assert!(rows[forged.unwrap()].starts_with("  ●"), "{rows:#?}");
        let ways = rows
            .iter()
            .filter(|row| row.contains("countersign approve"));
        let ours = |row: &&String| row.starts_with("$ ") == row.contains("9g5fav");
        assert!(
            ways.clone().count() >= 3 && ways.clone().all(|row| ours(&row)),
            "{rows:#?}"
        );
    }

    #[test]
    fn a_decided_call_shows_what_was_sent_and_what_was_asked() {
        let mut view = asked("tool", "Bash", json!({"command": "rm -rf dist"}));
        view.life = Life::Written;
        view.edited_input = Some(json!({"command": "rm -rf dist/cache"}));
        view.decided = serde_json::from_value(
            json!({"effect": "allow", "by": "anna", "why": "", "client": "web",
            "at": 1, "decision": {"decision": "allow"}}),
        )
        .unwrap();
        assert_eq!(headline(&view).text(), "Bash  rm -rf dist/cache");
        let rows = texts(&view);
        let at = |row: &str| rows.iter().position(|one| one == row);
        let (sent, said) = (
            at("● Bash  rm -rf dist/cache"),
            at("· edited before it was allowed; the agent had asked for:"),
        );
        assert!(
            sent.is_some() && sent < said && said < at("  Bash  rm -rf dist"),
            "{rows:#?}"
        );
        let by = rows
            .iter()
            .any(|row| row.starts_with("allow, edited, by anna from web"));
        assert!(by, "{rows:#?}");
    }

    #[test]
    fn an_edit_stands_at_its_lines_of_the_file_and_says_when_that_changed() {
        let input = json!({"file_path": "/p/a.rs", "old_string": "two", "new_string": "2\n2b"});
        let mut view = asked("tool", "Edit", input);
        let part = json!({"line": 41, "new_line": 43, "before": "one\ntwo\nthree", "after": "one\n2\n2b\nthree"});
        view.file = serde_json::from_value(json!({"state": "read", "parts": [part]})).unwrap();
        let rows = texts(&view);
        for row in [
            "  43   one",
            "  42 - two",
            "  44 + 2",
            "  45 + 2b",
            "  46   three",
        ] {
            assert!(rows.iter().any(|one| one == row), "{row}: {rows:#?}");
        }
        let says = |view: &ApprovalView, words: &str| texts(view).iter().any(|row| row == words);
        let changed = "! the file has changed since the agent asked";
        assert!(!says(&view, changed));
        view.file.as_mut().unwrap().changed = true;
        assert!(says(&view, changed));
        view.file =
            serde_json::from_value(json!({"state": "unknown", "says": "The file is not text."}))
                .unwrap();
        assert!(says(&view, "! The file is not text."));
    }

    #[test]
    fn what_cannot_be_undone_or_read_says_so() {
        let mut view = asked("tool", "Bash", json!({"command": "rm -rf dist"}));
        let has = |view: &ApprovalView, words: &str| {
            let rows = texts(view);
            rows.iter().any(|row| row.contains(words))
        };
        assert!(!has(&view, "cannot be"));
        view.harm = serde_json::from_value(json!({"kind": "destructive", "says": "removes files"}))
            .unwrap();
        assert!(has(&view, "cannot be undone: it removes files"));
        assert!(headline(&view).text().ends_with("cannot be undone"));
        view.harm =
            serde_json::from_value(json!({"kind": "unread", "says": "`x` runs code"})).unwrap();
        assert!(has(&view, "cannot be read: `x` runs code"));
        assert!(!headline(&view).text().contains("undone"));
    }

    #[test]
    fn a_plan_names_the_ways_that_its_card_offers() {
        let options = |ways: &[&str]| {
            let mut view = asked("plan", "ExitPlanMode", json!({}));
            let ways = ways
                .iter()
                .map(|way| json!({"way": way, "label": "l", "may_compact": false}));
            let card = json!({
                "text": null, "wishes": [], "ways": ways.collect::<Vec<_>>(), "context_percent": null,
                "restarts": false, "edit_note": null,
            });
            view.plan = serde_json::from_value(card).unwrap();
            view.offers.clear();
            let rows = texts(&view);
            let options = rows
                .iter()
                .filter_map(|row| row.strip_prefix("$ countersign plan 9g5fav "));
            options.map(str::to_owned).collect::<Vec<_>>()
        };
        let keep = "--keep-planning 'what shall be different'";
        assert_eq!(options(&["manual", "keep-planning"]), ["--manual", keep]);
        assert_eq!(
            options(&["clear-context", "accept-edits", "manual", "keep-planning"]),
            ["--clear-context", "--accept-edits", "--manual", keep]
        );
    }

    #[test]
    fn each_kind_names_its_own_command() {
        let questions = json!({"questions": [{"question": "Which?", "options": [{"label": "A"}]}]});
        for (kind, tool, input, command) in [
            (
                "plan",
                "ExitPlanMode",
                json!({"plan": "# P"}),
                "countersign plan 9g5fav --manual",
            ),
            (
                "questions",
                "AskUserQuestion",
                questions,
                "countersign answer 9g5fav",
            ),
            (
                "elicitation",
                "srv",
                json!({"message": "m"}),
                "countersign answer 9g5fav",
            ),
        ] {
            let rows = texts(&asked(kind, tool, input));
            assert!(
                rows.iter().any(|row| row.contains(command)),
                "{kind}: {rows:#?}"
            );
        }
    }
}
