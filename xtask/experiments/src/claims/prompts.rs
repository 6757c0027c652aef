//! What the seed says of experiments D to H: who is asked, what a denial does, what plan and bypass mode change.

use super::{Claim, Here, Measure, Table};
use crate::figure::Figure;
use crate::letters::Letter::{D, E, F, G, H};
use crate::seen::Seen;
use crate::takes::TakeName::{self, Calls, Main, Person, Revised, Root, Unflagged};
use crate::takes::{BROKEN, DENIAL, PLAN, SERVER_TOOL};

pub(super) fn claims() -> Vec<Claim> {
    [
        table(),
        key_questions(),
        built_in(),
        unasked(),
        plans(),
        bypass(),
    ]
    .concat()
}

fn claim(
    of: &[TakeName],
    what: &'static str,
    seed: Figure,
    here: Measure,
    truth: (&'static str, &'static str),
) -> Claim {
    Claim {
        table: Table::Findings,
        of: of.to_vec(),
        what,
        seed,
        here: Here::Same(here),
        truth,
    }
}

const YES: Figure = Figure::Truth(true);
const ASKS: (&str, &str) = ("§4", "what rules and mode do not decide is asked");
const DENIES: (&str, &str) = ("§7", "without the flag everything that would ask is denied");
const PERSONAL: (&str, &str) = ("§7", "AskUserQuestion and ExitPlanMode ask in every mode");
const PLANLESS: (&str, &str) = (
    "§8",
    "outside of plan mode ExitPlanMode is a tool error on newer versions, and is not asked",
);

fn table() -> Vec<Claim> {
    let experiments: [(_, usize, &[&str], _); 5] = [
        (D, 3, &["Edit", "Write"], ASKS),
        (E, 2, &["Edit", "Bash"], ASKS),
        (F, 0, &[], DENIES),
        (G, 2, &["ExitPlanMode"], PLANLESS),
        (H, 0, &[], PERSONAL),
    ];
    let mut rows = Vec::new();
    for (letter, count, tools, truth) in experiments {
        let row = |what, seed, here| Claim {
            table: Table::Prompts,
            ..claim(&[Main(letter)], what, seed, here, truth)
        };
        let count = Figure::Count(count);
        rows.push(row("can_use_tool requests", count.clone(), |seen| {
            Figure::Count(seen[0].asked.len())
        }));
        rows.push(row("permission responses", count, |seen| {
            Figure::Count(seen[0].answers())
        }));
        rows.push(row(
            "tools requested",
            Figure::list(tools.iter().copied()),
            |seen| Figure::list(seen[0].tools_asked()),
        ));
    }
    rows
}

fn key_questions() -> Vec<Claim> {
    let row = |of: &[TakeName], what, here, truth| Claim {
        table: Table::KeyQuestions,
        ..claim(of, what, YES, here, truth)
    };
    vec![
        row(
            &[Main(D), Main(E), Main(F)],
            "1. does the flag send can_use_tool for built-in tools, and nothing without it?",
            |seen| {
                let asks = |seen: &Seen| !seen.asked.is_empty();
                Figure::Truth(asks(seen[0]) && asks(seen[1]) && !asks(seen[2]))
            },
            ASKS,
        ),
        row(
            &[Main(E)],
            "2. does a denial reach the model as a tool error, and the turn go on?",
            |seen| Figure::Truth(denials_reach_the_model(seen[0])),
            ("§5", "the message of the denial is the tool's error"),
        ),
        row(
            &[Main(G)],
            "3. does plan mode still send can_use_tool?",
            |seen| Figure::Truth(!seen[0].asked.is_empty()),
            PLANLESS,
        ),
        row(
            &[Main(H)],
            "4. does bypassPermissions override the flag?",
            |seen| Figure::Truth(seen[0].asked.is_empty() && is_mended(seen[0])),
            PERSONAL,
        ),
    ]
}

fn built_in() -> Vec<Claim> {
    vec![
        claim(
            &[Main(D)],
            "every call that needs permission is asked about",
            YES,
            |seen| {
                let mut unasked = unasked_tools(seen[0]).into_iter();
                Figure::Truth(!seen[0].asked.is_empty() && unasked.all(|tool| tool == "Read"))
            },
            ASKS,
        ),
        claim(
            &[Main(D)],
            "with the flag ALL tools go through the host",
            YES,
            |seen| {
                let is_seen = !seen[0].asked.is_empty();
                Figure::Truth(is_seen && unasked_tools(seen[0]).is_empty())
            },
            (
                "§4",
                "Read inside the folder and read-only commands run unasked",
            ),
        ),
        claim(
            &[Main(D)],
            "allowed calls run, and hello.py is mended",
            YES,
            |seen| Figure::Truth(is_mended(seen[0])),
            ("§5", "an allow runs the call"),
        ),
        claim(
            &[Main(E)],
            "denied calls do not run",
            YES,
            |seen| Figure::Truth(is_untouched(seen[0])),
            ("§5", "a denied call does not run"),
        ),
    ]
}

fn unasked() -> Vec<Claim> {
    const NOT_LOOKED_AT: &str = "the seed did not look";
    let shown = |what, here| Claim {
        here: Here::Shown(NOT_LOOKED_AT, here),
        ..claim(&[Main(F)], what, Figure::text("not observed"), here, DENIES)
    };
    vec![
        claim(
            &[Main(F)],
            "without the flag, what would be asked is",
            Figure::text("executed"),
            |seen| Figure::text(fate(seen[0], "Edit")),
            DENIES,
        ),
        claim(
            &[Main(F)],
            "without the flag MCP tools still reach the host's handler",
            YES,
            |seen| Figure::Truth(seen[0].tools_asked().iter().any(|tool| tool == SERVER_TOOL)),
            ("§7", "an MCP tool is denied like any other"),
        ),
        shown("permission_denials of the result", |seen| {
            Figure::list(seen[0].denials.clone())
        }),
        shown("what the model reads of Edit", |seen| {
            read_by_model(seen[0], "Edit")
        }),
        shown("what the model reads of Bash", |seen| {
            read_by_model(seen[0], "Bash")
        }),
        shown("what the model reads of the MCP tool", |seen| {
            read_by_model(seen[0], SERVER_TOOL)
        }),
    ]
}

fn plans() -> Vec<Claim> {
    vec![
        claim(
            &[Main(G)],
            "ExitPlanMode carries the plan in input.plan",
            YES,
            |seen| Figure::Truth(plan_asked(seen[0])),
            (
                "§8",
                "newer versions read it from the plan file, and only from there",
            ),
        ),
        claim(
            &[Main(G)],
            "allow means: leave plan mode",
            YES,
            |seen| {
                let mut exits = seen[0].calls_of("ExitPlanMode");
                let first = exits.next().and_then(|call| call.outcome.as_ref());
                Figure::Truth(first.is_some_and(|outcome| !outcome.is_error))
            },
            ("§8", "the mode goes back to the one before"),
        ),
        claim(
            &[Calls],
            "in plan mode other calls are asked about as in default mode",
            Figure::list(["Edit", "Bash"]),
            |seen| Figure::list(seen[0].tools_asked()),
            (
                "§8",
                "2.1.325 puts a Bash that writes to a classifier of its own",
            ),
        ),
        claim(
            &[Revised],
            "deny means: revise; the model reads why and presents another plan",
            YES,
            |seen| {
                let exits: Vec<_> = seen[0].calls_of("ExitPlanMode").collect();
                let first = exits.first().and_then(|call| call.outcome.as_ref());
                let sent_back =
                    first.is_some_and(|outcome| outcome.is_error && outcome.text.contains(DENIAL));
                let asked = seen[0]
                    .asked
                    .iter()
                    .filter(|ask| ask.tool == "ExitPlanMode");
                Figure::Truth(sent_back && asked.count() == 2)
            },
            ("§8", "the mode stays plan"),
        ),
        claim(
            &[Revised],
            "allow means: proceed with the implementation",
            YES,
            |seen| Figure::Truth(left(seen[0]).is_some_and(|text| text.starts_with(MENDED))),
            ("§8", "the mode goes back to the one before"),
        ),
    ]
}

fn bypass() -> Vec<Claim> {
    vec![
        claim(
            &[Main(H)],
            "with bypassPermissions all calls run",
            YES,
            |seen| Figure::Truth(is_mended(seen[0])),
            ("§7", "nothing is asked or denied"),
        ),
        claim(
            &[Unflagged],
            "the same without the flag",
            YES,
            |seen| Figure::Truth(is_mended(seen[0])),
            ("§7", "nothing is asked or denied"),
        ),
        claim(
            &[Person],
            "what is asked about even so",
            Figure::list::<String>([]),
            |seen| Figure::list(seen[0].tools_asked()),
            PERSONAL,
        ),
        claim(
            &[Main(D), Main(H)],
            "allowing everything and bypassing give the same result",
            YES,
            |seen| Figure::Truth(is_mended(seen[0]) && seen[0].files == seen[1].files),
            ("§7", "nothing is asked or denied"),
        ),
        Claim {
            here: Here::Shown("the seed does not say who ran it", started_as_root),
            ..claim(
                &[Root],
                "as root, without IS_SANDBOX=1",
                Figure::text("not observed"),
                started_as_root,
                ("§7", "root is refused unless IS_SANDBOX=1"),
            )
        },
    ]
}

fn started_as_root(seen: &[&Seen]) -> Figure {
    Figure::text(match &seen[0].refusal {
        None => "it started".to_owned(),
        Some(refusal) => match refusal.code {
            Some(code) => format!("refused, exit code {code}: {}", refusal.words),
            None => format!("refused: {}", refusal.words),
        },
    })
}

/// Whether every call that was denied came back as an error with the words of the denial, and the turn ended well.
fn denials_reach_the_model(seen: &Seen) -> bool {
    let denied = seen.asked.iter().map(|ask| ask.tool.as_str());
    let mut outcomes = denied.flat_map(|tool| seen.calls_of(tool));
    let all_told = outcomes.all(|call| {
        let outcome = call.outcome.as_ref();
        outcome.is_some_and(|outcome| outcome.is_error && outcome.text.contains(DENIAL))
    });
    !seen.asked.is_empty() && all_told && seen.results == ["success"]
}

/// The tools that were called more often than they were asked about.
fn unasked_tools(seen: &Seen) -> Vec<&str> {
    let asked = |tool: &str| seen.asked.iter().filter(|ask| ask.tool == tool).count();
    let mut tools: Vec<&str> = seen.calls.iter().map(|call| call.tool.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    tools.retain(|tool| seen.calls_of(tool).count() > asked(tool));
    tools
}

/// Whether the plan that was written is what was asked about.
fn plan_asked(seen: &Seen) -> bool {
    let first = seen.asked.iter().find(|ask| ask.tool == "ExitPlanMode");
    first.is_some_and(|ask| {
        ask.input["plan"]
            .as_str()
            .is_some_and(|plan| plan.trim() == PLAN)
    })
}

/// What became of the calls of a tool.
fn fate(seen: &Seen, tool: &str) -> &'static str {
    let mut outcomes = seen.calls_of(tool).filter_map(|call| call.outcome.as_ref());
    match (
        outcomes.next(),
        seen.denials.iter().any(|denied| denied == tool),
    ) {
        (None, _) => "not called",
        (Some(_), true) => "denied",
        (Some(outcome), false) if outcome.is_error => "failed",
        (Some(_), false) => "executed",
    }
}

fn read_by_model(seen: &Seen, tool: &str) -> Figure {
    let mut outcomes = seen.calls_of(tool).filter_map(|call| call.outcome.as_ref());
    Figure::text(outcomes.next().map_or("", |outcome| outcome.text.as_str()))
}

/// How the broken line looks when it is mended.
const MENDED: &str = "def hello():\n";

/// The file as it was left.
fn left(seen: &Seen) -> Option<&str> {
    seen.files.get(BROKEN.0).map(String::as_str)
}

/// Whether every call of experiment D was carried out.
fn is_mended(seen: &Seen) -> bool {
    left(seen).is_some_and(|text| text.starts_with(MENDED) && text.ends_with("\nhello()\n"))
}

fn is_untouched(seen: &Seen) -> bool {
    left(seen) == Some(BROKEN.1)
}
