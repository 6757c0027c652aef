//! What the seed says of the fields of questions and answers.

use super::{Claim, Here, Measure, Table};
use crate::figure::Figure;
use crate::letters::Letter::{D, E};
use crate::seen::{Presence, Seen};
use crate::takes::DENIAL;
use crate::takes::TakeName::{self, Forms, Main};

const YES: Figure = Figure::Truth(true);

pub(super) fn claims() -> Vec<Claim> {
    [questions(), answers(), denials()].concat()
}

fn claim(
    of: &[TakeName],
    what: &'static str,
    seed: Figure,
    here: Measure,
    truth: (&'static str, &'static str),
) -> Claim {
    Claim {
        table: Table::Wording,
        of: of.to_vec(),
        what,
        seed,
        here: Here::Same(here),
        truth,
    }
}

fn questions() -> Vec<Claim> {
    vec![
        claim(
            &[Main(D)],
            "permission_suggestions of an Edit",
            Figure::list(["setMode acceptEdits"]),
            |seen| {
                let edit = seen[0].asked.iter().find(|ask| ask.tool == "Edit");
                Figure::list(edit.map(|ask| ask.suggestions.clone()).unwrap_or_default())
            },
            ("§4", "an Edit inside the folder is suggested acceptEdits"),
        ),
        claim(
            &[Main(D), Main(E)],
            "addDirectories is among the suggestions",
            YES,
            |seen| {
                let mut asked = seen.iter().flat_map(|seen| &seen.asked);
                let is_there = |suggestion: &String| suggestion == "addDirectories";
                Figure::Truth(asked.any(|ask| ask.suggestions.iter().any(is_there)))
            },
            ("§4", "only where a path or a command calls for it"),
        ),
        claim(
            &[Main(D)],
            "blocked_path where nothing is blocked",
            Figure::text("null"),
            |seen| {
                let edit = seen[0].asked.iter().find(|ask| ask.tool == "Edit");
                Figure::text(match edit.map(|ask| ask.blocked_path) {
                    None => "not asked",
                    Some(Presence::Absent) => "absent",
                    Some(Presence::Null) => "null",
                    Some(Presence::Value) => "a path",
                })
            },
            ("§4", "optional fields are absent, never null"),
        ),
    ]
}

fn answers() -> Vec<Claim> {
    const RUNS_ORIGINAL: (&str, &str) = (
        "§5",
        "2.1.325 runs the original input; up to 2.1.197 it is refused",
    );
    vec![
        claim(
            &[Forms],
            "allow with `updatedInput: null` is refused",
            YES,
            |seen| is_refused(seen, "null.txt"),
            ("§5", "null is refused by every version"),
        ),
        claim(
            &[Forms],
            "allow without `updatedInput` is refused",
            YES,
            |seen| is_refused(seen, "missing.txt"),
            RUNS_ORIGINAL,
        ),
        claim(
            &[Forms],
            "allow with snake_case `updated_input` is refused",
            YES,
            |seen| is_refused(seen, "snake.txt"),
            RUNS_ORIGINAL,
        ),
        claim(
            &[Forms],
            "`updatedPermissions` may be left out",
            YES,
            |seen| Figure::Truth(seen[0].files.contains_key("plain.txt")),
            ("§5", "an allow with the whole input runs everywhere"),
        ),
        claim(
            &[Forms],
            "`updatedPermissions` with setMode acceptEdits takes effect",
            YES,
            |seen| {
                let is_written = |name| seen[0].files.contains_key(name);
                let is_asked = asked_for(seen[0], "free.txt");
                Figure::Truth(is_written("mode.txt") && is_written("free.txt") && !is_asked)
            },
            ("§6", "setMode works everywhere"),
        ),
    ]
}

fn denials() -> Vec<Claim> {
    vec![claim(
        &[Main(E)],
        "the message of a denial reaches the model",
        YES,
        |seen| {
            let mut outcomes = seen[0]
                .calls
                .iter()
                .filter_map(|call| call.outcome.as_ref());
            Figure::Truth(outcomes.any(|outcome| outcome.text.contains(DENIAL)))
        },
        ("§5", "the message of the denial is the tool's error"),
    )]
}

/// Whether the write of that file was asked about and did not happen.
fn is_refused(seen: &[&Seen], name: &str) -> Figure {
    Figure::Truth(asked_for(seen[0], name) && !seen[0].files.contains_key(name))
}

fn asked_for(seen: &Seen, name: &str) -> bool {
    seen.asked.iter().any(|ask| {
        let path = ask.input["file_path"].as_str();
        path.is_some_and(|path| path.ends_with(name))
    })
}
