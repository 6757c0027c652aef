//! What the seed says of experiments A to C: modes, and when control messages take effect.

use super::{Claim, Here, Measure, Table};
use crate::figure::Figure;
use crate::letters::Letter::{self, A, B, C, D, E, F, G, H};
use crate::seen::Seen;
use crate::takes::TakeName::Main;

const STREAMED: &str = "depends on what the model says and how it streams";
const INTRODUCED: &str = "the client introduces itself, and the switch of mode counts here";

pub(super) fn claims() -> Vec<Claim> {
    [reported(), flow(), timing(), cost()].concat()
}

fn claim(table: Table, of: &[Letter], what: &'static str, seed: Figure, here: Here) -> Claim {
    Claim {
        table,
        of: of.iter().copied().map(Main).collect(),
        what,
        seed,
        here,
        truth: ("§1", ""),
    }
}

fn reported() -> Vec<Claim> {
    let row = |letter, mode: &str| Claim {
        truth: ("§1", "init carries the mode in force"),
        ..claim(
            Table::ReportedMode,
            &[letter],
            "permissionMode of the first init",
            Figure::text(mode),
            Here::Same(first_mode),
        )
    };
    vec![row(A, "default"), row(B, "plan"), row(C, "plan")]
}

fn flow() -> Vec<Claim> {
    let mut rows = Vec::new();
    for (letter, from, replies) in [(A, 11, 2), (B, 45, 0), (C, 60, 0)] {
        let row = |what, seed, here| {
            claim(
                Table::MessageFlow,
                &[letter],
                what,
                Figure::Count(seed),
                here,
            )
        };
        let from_cli: Measure = |seen| Figure::Count(seen[0].from_cli.values().sum());
        let to_cli: Measure = |seen| Figure::Count(seen[0].to_cli.values().sum());
        let replied: Measure = |seen| Figure::Count(seen[0].mode_replies.len());
        rows.push(row(
            "messages from the CLI",
            from,
            Here::Shown(STREAMED, from_cli),
        ));
        rows.push(row(
            "messages to the CLI",
            1,
            Here::Shown(INTRODUCED, to_cli),
        ));
        rows.push(Claim {
            truth: match letter {
                A => ONE_RESPONSE,
                _ => AT_ONCE,
            },
            ..row(
                "responses to set_permission_mode",
                replies,
                Here::Same(replied),
            )
        });
    }
    rows
}

const ONE_RESPONSE: (&str, &str) = ("§7", "two up to 2.1.30, one from 2.1.45 on");
const AT_ONCE: (&str, &str) = (
    "§1",
    "a switch before the first message is answered at once",
);

fn timing() -> Vec<Claim> {
    let row = |of: &[Letter], what, seed, measure, truth| Claim {
        truth,
        ..claim(Table::Timing, of, what, seed, Here::Same(measure))
    };
    let yes = || Figure::Truth(true);
    let two = Figure::list([r#"{"mode":"plan"}"#, NO_BODY]);
    vec![
        row(
            &[A],
            "bodies of the responses to the switch",
            two,
            bodies,
            ONE_RESPONSE,
        ),
        row(
            &[A],
            "they come after the result",
            yes(),
            come_late,
            ("§7", "it is answered within milliseconds"),
        ),
        row(
            &[C],
            "a switch before the first message takes effect",
            yes(),
            |seen| Figure::Truth(first_mode(seen) == Figure::text("plan")),
            ("§1", "the first init carries the new mode"),
        ),
        row(
            &[C],
            "the response to it",
            Figure::text(NONE_RECORDED),
            first_reply,
            AT_ONCE,
        ),
        row(
            &[A, B, C],
            "init comes only after the first message",
            yes(),
            begin_with_a_message,
            ("§1", "init marks the beginning of a turn"),
        ),
        row(
            &[B, C],
            "a switch before the message is like starting in plan mode",
            yes(),
            same_modes,
            ("§1", "both are in force at the first init"),
        ),
    ]
}

const NONE_RECORDED: &str = "none recorded";

fn come_late(seen: &[&Seen]) -> Figure {
    let replies = &seen[0].mode_replies;
    Figure::Truth(!replies.is_empty() && replies.iter().all(|reply| reply.after_result))
}

fn first_reply(seen: &[&Seen]) -> Figure {
    Figure::text(match seen[0].mode_replies.first() {
        None => NONE_RECORDED,
        Some(reply) if reply.before_message => "before the first message",
        Some(_) => "after the first message",
    })
}

fn begin_with_a_message(seen: &[&Seen]) -> Figure {
    let is_late = |seen: &&Seen| !seen.init_modes.is_empty() && !seen.init_before_message;
    Figure::Truth(seen.iter().all(is_late))
}

fn same_modes(seen: &[&Seen]) -> Figure {
    let modes = |at: usize| &seen[at].init_modes;
    Figure::Truth(!modes(0).is_empty() && modes(0) == modes(1))
}

/// A response that carries nothing.
const NO_BODY: &str = "(no body)";

fn bodies(seen: &[&Seen]) -> Figure {
    let replies = seen[0].mode_replies.iter();
    Figure::list(replies.map(|reply| match &reply.body {
        None => NO_BODY.to_owned(),
        Some(body) => body.to_string(),
    }))
}

fn first_mode(seen: &[&Seen]) -> Figure {
    Figure::text(seen[0].init_modes.first().map_or("", String::as_str))
}

fn cost() -> Vec<Claim> {
    let row = |of: &[Letter], what, seed: &str| {
        claim(
            Table::CostAndStyle,
            of,
            what,
            Figure::text(seed),
            Here::Nothing,
        )
    };
    let costs = [
        (A, "$0.006632"),
        (B, "$0.08952"),
        (C, "$0.02505"),
        (D, "$0.021507"),
        (E, "$0.016977"),
        (F, "$0.013281"),
        (G, "$0.128360"),
        (H, "$0.013111"),
    ];
    let mut rows: Vec<Claim> = costs
        .into_iter()
        .map(|(letter, cost)| row(&[letter], "cost", cost))
        .collect();
    rows.push(row(
        &[A, B, C],
        "answers in plan mode explain the mode",
        "yes",
    ));
    rows.push(row(&[A, B, C], "plan mode costs more", "yes"));
    rows.push(row(
        &[D, H],
        "bypassPermissions is a little cheaper than allowing all",
        "yes",
    ));
    rows
}
