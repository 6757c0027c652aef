//! Which reply answers which request, with which values, or why none.
//!
//! Pure: changes only the counts and values it is given. Replies with a condition are looked at first, in script order;
//! then the next plain one. Invariants: a reply is never chosen more often than it allows, and what the script has no
//! answer for is an error, never a made-up turn. Only the CLI's own small questions (a title, a quota probe) get something
//! made up: a value that fits the schema they set.

use super::Vars;
use super::ask::Ask;
use super::fit::fitting;
use super::script::{Matcher, Part, Reply, Script, Spoken};
use super::template::expand;

const TITLE: &str = "Rehearsal";

/// Whether the request is a small question of the CLI's own.
pub(super) fn is_side(script: &Script, ask: &Ask) -> bool {
    !script.main_any && !ask.has_tools
}

/// Chooses a reply, counts its use and fills it in; also the line it stands on. The error says why there is none.
pub(super) fn choose(
    script: &Script,
    used: &mut [u32],
    vars: &mut Vars,
    ask: &Ask,
) -> Result<(Option<usize>, Spoken), String> {
    let side = is_side(script, ask);
    let open = |place: &usize| {
        let reply = &script.replies[*place];
        reply.side == side && reply.times.is_none_or(|times| used[*place] < times)
    };
    let is_met = |reply: &Reply| match &reply.matcher {
        None => false,
        Some(Matcher::Newest(text)) => ask.newest.contains(&expand(text, vars)),
        Some(Matcher::First(text)) => ask.first.contains(&expand(text, vars)),
    };
    let places = || (0..script.replies.len()).filter(open);
    let chosen = places()
        .find(|place| is_met(&script.replies[*place]))
        .or_else(|| places().find(|place| script.replies[*place].matcher.is_none()));
    let Some(place) = chosen else {
        return match side {
            true => Ok((None, side_default(script, vars, ask))),
            false => Err(format!(
                "the script is at its end; replies in it: {}, and this request needs one more",
                script.replies()
            )),
        };
    };
    used[place] = used[place].saturating_add(1);
    let reply = &script.replies[place];
    for take in &reply.takes {
        let found = ask.between(&take.after, &take.until).ok_or_else(|| {
            format!(
                "script {}: nothing in the request stands between {:?} and {:?}",
                take.at, take.after, take.until
            )
        })?;
        vars.insert(take.name.clone(), found.to_owned());
    }
    let spoken = reply.filled(vars);
    let spoken = spoken.map_err(|error| format!("script {error}"))?;
    Ok((Some(reply.line), spoken))
}

/// What a side call gets that no reply is for: the header's `side`, or something made up.
fn side_default(script: &Script, vars: &Vars, ask: &Ask) -> Spoken {
    let text = match (&script.side, &ask.schema) {
        (Some(text), _) => expand(text, vars),
        (None, Some(schema)) => fitting(schema, TITLE).to_string(),
        (None, None) => "ok".to_owned(),
    };
    Spoken {
        parts: vec![Part::Say(text)],
        ..Spoken::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// What each request gets: the line of its reply, nothing for what is made up, or why there is none.
    fn answers(script: &str, asks: &[Value]) -> Vec<Result<Option<usize>, String>> {
        let script = Script::parse(script).unwrap();
        let mut used = vec![0; script.replies()];
        let mut vars = Vars::from([("who".to_owned(), "bug".to_owned())]);
        let mut answer = |ask: &Value| {
            let ask = Ask::read(ask.to_string().as_bytes()).unwrap();
            choose(&script, &mut used, &mut vars, &ask).map(|(line, _)| line)
        };
        asks.iter().map(&mut answer).collect()
    }

    fn asked(newest: &str) -> Value {
        json!({"tools": [{}], "messages": [
            {"role": "user", "content": "start of it"}, {"role": "user", "content": newest}]})
    }

    #[test]
    fn replies_are_chosen_by_condition_then_in_order_as_often_as_they_allow() {
        let side = || json!({"messages": [{"role": "user", "content": "title please"}]});
        let table: [(&str, Vec<Value>, &[i32]); 6] = [
            (
                "reply\nsay \"1\"\nreply\nsay \"2\"",
                ["a", "b", "c"].map(asked).into(),
                &[1, 3, -1],
            ),
            (
                "reply\nsay \"1\"\nreply when \"find the ${who}\"\nsay \"2\"",
                ["please find the bug", "find the bug", "x"]
                    .map(asked)
                    .into(),
                &[3, 1, -1],
            ),
            (
                "reply always when \"x\"\nsay \"1\"\nreply 2 times\nsay \"2\"",
                ["x", "x", "y", "x", "y", "y"].map(asked).into(),
                &[1, 1, 3, 1, 3, -1],
            ),
            (
                "reply\nsay \"1\"\nreply in \"start of it\"\nsay \"2\"",
                ["later", "later"].map(asked).into(),
                &[3, 1],
            ),
            (
                "reply\nsay \"1\"\nreply side\nsay \"2\"",
                vec![side(), side(), asked("a"), asked("b")],
                &[3, 0, 1, -1],
            ),
            ("main any\nreply\nsay \"1\"", vec![side(), side()], &[2, -1]),
        ];
        for (script, asks, expected) in table {
            let line = |answer: Result<Option<usize>, String>| match answer {
                Ok(line) => i32::try_from(line.unwrap_or(0)).unwrap(),
                Err(why) => {
                    assert!(why.starts_with("the script is at its end"), "{why}");
                    -1
                }
            };
            let lines: Vec<i32> = answers(script, &asks).into_iter().map(line).collect();
            assert_eq!(lines, expected, "{script}");
        }
    }

    #[test]
    fn values_are_taken_from_requests_and_one_not_taken_yet_is_refused() {
        let script = "reply when \"first\"\ntake id after \"<\" until \">\"\nsay \"${id}\"\nreply\nsay \"${id}\"";
        let found = answers(script, &["other", "first", "first <1>"].map(asked));
        let why = found[0].as_ref().unwrap_err();
        assert!(
            why.contains("line 5, column 5") && why.contains("${id}"),
            "{why}"
        );
        let why = found[1].as_ref().unwrap_err();
        assert!(
            why.contains("line 2, column 6: nothing in the request"),
            "{why}"
        );
    }
}
