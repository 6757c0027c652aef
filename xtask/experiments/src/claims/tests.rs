//! The claims against worlds made up for it: one that is as the seed says, one where nothing happened, and single facts.

use serde_json::{Value, json};

use super::*;
use crate::letters::Letter::{A, B, C, D, E, F, G, H};
use crate::takes::TakeName::{Calls, Forms, Main, Person, Revised, Root, Unflagged};
use crate::takes::{BROKEN, DENIAL, PLAN, SERVER_TOOL};
use countersign_wire::recording::Direction::{self, In, Out};

/// The wire of one run, as it is written down.
#[derive(Default)]
struct Wire {
    lines: Vec<(Direction, String)>,
    calls: usize,
    file: Option<String>,
}

impl Wire {
    fn add(mut self, direction: Direction, line: Value) -> Self {
        self.lines.push((direction, line.to_string()));
        self
    }

    fn message(self) -> Self {
        self.add(In, json!({"type": "user"}))
    }

    fn init(self, mode: &str) -> Self {
        let line = json!({"type": "system", "subtype": "init", "permissionMode": mode});
        self.add(Out, line)
    }

    fn switch(self) -> Self {
        let request = json!({"subtype": "set_permission_mode", "mode": "plan"});
        let line = json!({"type": "control_request", "request_id": "m", "request": request});
        self.add(In, line)
    }

    fn switched(self, body: Option<Value>) -> Self {
        let mut response = json!({"subtype": "success", "request_id": "m"});
        if let Some(body) = body {
            response["response"] = body;
        }
        self.add(
            Out,
            json!({"type": "control_response", "response": response}),
        )
    }

    fn result(self, denied: &[&str]) -> Self {
        let denials: Vec<_> = denied
            .iter()
            .map(|tool| json!({"tool_name": tool}))
            .collect();
        self.add(
            Out,
            json!({"type": "result", "subtype": "success", "is_error": false, "permission_denials": denials}),
        )
    }

    fn call(mut self, tool: &str) -> Self {
        self.calls += 1;
        let block = json!({"type": "tool_use", "id": self.calls.to_string(), "name": tool});
        self.add(
            Out,
            json!({"type": "assistant", "message": {"content": [block]}}),
        )
    }

    fn returned(self, is_error: bool, text: &str) -> Self {
        let id = self.calls.to_string();
        let block = json!({"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": text});
        self.add(
            Out,
            json!({"type": "user", "message": {"content": [block]}}),
        )
    }

    /// A call that is asked about and answered.
    fn asked(self, tool: &str, fields: Value, behavior: &str) -> Self {
        let wire = self.call(tool);
        let id = format!("q{}", wire.calls);
        let mut request = json!({"subtype": "can_use_tool", "tool_name": tool, "input": {}});
        if let (Some(request), Some(fields)) = (request.as_object_mut(), fields.as_object()) {
            request.extend(fields.clone());
        }
        let answer = json!({"request_id": id, "response": {"behavior": behavior}});
        let wire = wire
            .add(
                Out,
                json!({"type": "control_request", "request_id": id, "request": request}),
            )
            .add(In, json!({"type": "control_response", "response": answer}));
        match behavior {
            "allow" => wire.returned(false, "done"),
            _ => wire.returned(true, DENIAL),
        }
    }

    fn leaves(mut self, text: &str) -> Self {
        self.file = Some(text.to_owned());
        self
    }

    fn seen(&self) -> Seen {
        let lines = self.lines.iter();
        let mut seen = Seen::of(lines.map(|(way, line)| (*way, line.as_bytes())));
        if let Some(text) = &self.file {
            seen.files.insert(BROKEN.0.to_owned(), text.clone());
        }
        seen
    }
}

const MENDED: &str = "def hello():\n    print(\"hello\")\n\n\nhello()\n";

fn suggestion(kind: Value) -> Value {
    json!({"permission_suggestions": [kind], "blocked_path": null})
}

/// Every run as the seed tells it.
fn as_the_seed_says() -> BTreeMap<TakeName, Seen> {
    let turn = || Wire::default().message().init("default");
    let edits = || suggestion(json!({"type": "setMode", "mode": "acceptEdits"}));
    let write = |name: &str| json!({"input": {"file_path": format!("/project/{name}")}});
    let plan = || json!({"input": {"plan": PLAN}});
    let mut forms = turn();
    for name in [
        "null.txt",
        "missing.txt",
        "snake.txt",
        "plain.txt",
        "mode.txt",
    ] {
        forms = forms.asked("Write", write(name), "allow");
    }
    let mut forms = forms.call("Write").returned(false, "done").seen();
    for name in ["plain.txt", "mode.txt", "free.txt"] {
        forms.files.insert(name.to_owned(), "x".to_owned());
    }
    let a = turn().result(&[]).switch();
    let a = a.switched(Some(json!({"mode": "plan"}))).switched(None);
    let b = Wire::default().message().init("plan");
    let c = Wire::default().switch().message().init("plan");
    let d = turn()
        .asked("Edit", edits(), "allow")
        .asked("Edit", edits(), "allow");
    let d = d.asked(
        "Write",
        suggestion(json!({"type": "addDirectories"})),
        "allow",
    );
    let e = turn()
        .asked("Edit", json!({}), "deny")
        .asked("Bash", json!({}), "deny");
    let f = turn().call("Edit").returned(false, "done");
    let g = turn().asked("ExitPlanMode", plan(), "allow");
    let revised = turn().asked("ExitPlanMode", plan(), "deny");
    let calls = turn().asked("Edit", json!({}), "allow");
    let h = turn().call("Edit").returned(false, "done");
    BTreeMap::from([
        (Main(A), a.seen()),
        (Main(B), b.seen()),
        (Main(C), c.seen()),
        (Main(D), d.leaves(MENDED).seen()),
        (Forms, forms),
        (Main(E), e.leaves(BROKEN.1).result(&["Edit", "Bash"]).seen()),
        (Main(F), f.leaves(MENDED).seen()),
        (Main(G), g.asked("ExitPlanMode", plan(), "allow").seen()),
        (
            Revised,
            revised
                .asked("ExitPlanMode", plan(), "allow")
                .leaves(MENDED)
                .seen(),
        ),
        (Main(H), h.leaves(MENDED).seen()),
        (Calls, calls.asked("Bash", json!({}), "allow").seen()),
        (Person, turn().seen()),
        (Unflagged, turn().leaves(MENDED).seen()),
        (Root, Seen::default()),
    ])
}

fn compared(world: &BTreeMap<TakeName, Seen>) -> Vec<Comparison> {
    let seen = world.iter().map(|(name, seen)| (*name, seen)).collect();
    compare(&Letter::ALL, &seen)
}

fn differing(world: &BTreeMap<TakeName, Seen>) -> Vec<String> {
    let rows = compared(world).into_iter();
    rows.filter(|row| matches!(row.verdict, Verdict::Differs { .. }))
        .map(|row| format!("{:?} {}", row.experiments, row.what))
        .collect()
}

/// F was never asked anything, and yet MCP tools are said to be asked about without the flag.
const CONTRADICTION: &str = "[F] without the flag MCP tools still reach the host's handler";

#[test]
fn a_cli_that_is_as_the_seed_says_agrees_with_it_but_where_it_contradicts_itself() {
    assert_eq!(differing(&as_the_seed_says()), [CONTRADICTION]);
}

#[test]
fn where_nothing_was_seen_nothing_agrees_that_says_something() {
    let empty = as_the_seed_says()
        .into_keys()
        .map(|name| (name, Seen::default()));
    for row in compared(&empty.collect()) {
        let says_nothing = row.seed == Figure::Count(0)
            || row.seed == Figure::list::<String>([])
            || row.seed == Figure::text("none recorded");
        assert!(row.verdict != Verdict::Agrees || says_nothing, "{row:?}");
    }
}

/// Changes one run of the seed's world, and tells which rows differ by it.
fn changed(take: TakeName, change: impl FnOnce(&mut Seen)) -> Vec<String> {
    let mut world = as_the_seed_says();
    change(world.get_mut(&take).unwrap());
    let mut rows = differing(&world);
    rows.retain(|row| row != CONTRADICTION);
    rows
}

#[test]
fn one_response_to_the_switch_is_told_by_count_and_body() {
    let rows = changed(Main(A), |seen| drop(seen.mode_replies.pop()));
    let count = "[A] responses to set_permission_mode";
    assert_eq!(rows, [count, "[A] bodies of the responses to the switch"]);
}

#[test]
fn a_second_plan_that_is_not_asked_about_is_told() {
    let rows = changed(Main(G), |seen| drop(seen.asked.pop()));
    assert_eq!(
        rows,
        ["[G] can_use_tool requests", "[G] permission responses"]
    );
}

#[test]
fn a_call_that_ran_unasked_is_told_from_one_that_needs_no_permission() {
    let all = "[D] with the flag ALL tools go through the host";
    let read = Wire::default().call("Read").seen().calls;
    let rows = changed(Main(D), |seen| seen.calls.extend(read));
    assert_eq!(rows, [all]);
    let bash = Wire::default().call("Bash").seen().calls;
    let rows = changed(Main(D), |seen| seen.calls.extend(bash));
    assert_eq!(
        rows,
        ["[D] every call that needs permission is asked about", all]
    );
}

#[test]
fn calls_that_are_denied_without_the_flag_are_told_from_calls_that_ran() {
    let rows = changed(Main(F), |seen| seen.denials.push("Edit".to_owned()));
    assert_eq!(rows, ["[F] without the flag, what would be asked is"]);
    let asked = Wire::default()
        .asked(SERVER_TOOL, json!({}), "allow")
        .seen()
        .asked;
    let mut world = as_the_seed_says();
    world.get_mut(&Main(F)).unwrap().asked = asked;
    assert!(!differing(&world).contains(&CONTRADICTION.to_owned()));
}

#[test]
fn an_answer_in_another_form_that_runs_the_call_is_told() {
    let rows = changed(Forms, |seen| {
        seen.files.insert("snake.txt".to_owned(), "x".to_owned());
    });
    assert_eq!(
        rows,
        ["[D] allow with snake_case `updated_input` is refused"]
    );
}

#[test]
fn what_bypass_asks_even_so_is_told() {
    let asked = Wire::default()
        .asked("AskUserQuestion", json!({}), "allow")
        .seen()
        .asked;
    let rows = changed(Person, |seen| seen.asked = asked);
    assert_eq!(rows, ["[H] what is asked about even so"]);
}

#[test]
fn only_what_all_its_experiments_were_run_for_is_compared() {
    let world = as_the_seed_says();
    let seen = world.iter().map(|(name, seen)| (*name, seen)).collect();
    let rows = compare(&[D], &seen);
    assert!(rows.iter().all(|row| row.experiments == [D]));
    assert!(
        compare(&[D, H], &seen)
            .iter()
            .any(|row| row.experiments == [D, H])
    );
}

#[test]
fn a_run_that_only_root_can_make_is_not_measurable_for_others() {
    let mut world = as_the_seed_says();
    world.remove(&Root);
    let rows = compared(&world);
    let root = rows
        .iter()
        .find(|row| row.what.starts_with("as root"))
        .unwrap();
    assert_eq!(root.verdict, Verdict::NotMeasurable { why: NOT_ROOT });
    assert_eq!(root.here, None);
}

#[test]
fn every_difference_names_a_section_and_what_it_says() {
    let empty: BTreeMap<_, _> = as_the_seed_says()
        .into_keys()
        .map(|name| (name, Seen::default()))
        .collect();
    for row in compared(&empty) {
        if let Verdict::Differs { section, why } = row.verdict {
            assert!(section.starts_with('§') && !why.is_empty(), "{}", row.what);
        }
    }
}
