//! Which reply answers which request.
//!
//! Pure: a script, how often each reply was used, and a request give a choice. Replies with a condition are looked
//! at first, in script order; then the next plain one. Invariant: a reply is never chosen more often than it allows.

use super::Vars;
use super::ask::Ask;
use super::script::{Audience, MainRule, Matcher, Reply, Script, Text, Uses};
use super::template;

/// How often each reply was used, by its place in the script.
#[derive(Debug, Clone)]
pub(super) struct Used(Vec<u32>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// The reply at this place in the script.
    Reply(usize),
    /// A side call no reply is for.
    SideDefault,
    /// A main request after the last reply.
    ScriptAtEnd,
}

impl Used {
    pub(super) fn none(script: &Script) -> Self {
        Self(vec![0; script.replies.len()])
    }

    pub(super) fn times(&self, place: usize) -> u32 {
        self.0[place]
    }

    pub(super) fn set(&mut self, place: usize, times: u32) {
        self.0[place] = times;
    }

    /// Uses left, or `None` for a reply that never runs out.
    pub(super) fn left(&self, place: usize, reply: &Reply) -> Option<u32> {
        match reply.uses {
            Uses::Always => None,
            Uses::Times(times) => Some(times.saturating_sub(self.0[place])),
        }
    }
}

/// Whom the request is from: the conversation itself, or a side call of the CLI's.
pub(super) fn audience(script: &Script, ask: &Ask) -> Audience {
    match script.header.main {
        MainRule::Any => Audience::Main,
        MainRule::WithTools if ask.has_tools => Audience::Main,
        MainRule::WithTools => Audience::Side,
    }
}

/// Chooses, and counts the use.
pub(super) fn choose(script: &Script, vars: &Vars, used: &mut Used, ask: &Ask) -> Choice {
    let audience = audience(script, ask);
    let open = |place: &usize| {
        let reply = &script.replies[*place];
        reply.audience == audience && used.left(*place, reply) != Some(0)
    };
    let places = || (0..script.replies.len()).filter(open);
    let conditional =
        places().find(|place| met(&script.replies[*place].matcher, vars, ask) == Some(true));
    let chosen = conditional
        .or_else(|| places().find(|place| script.replies[*place].matcher == Matcher::Next));
    match (chosen, audience) {
        (Some(place), _) => {
            used.0[place] = used.0[place].saturating_add(1);
            Choice::Reply(place)
        }
        (None, Audience::Side) => Choice::SideDefault,
        (None, Audience::Main) => Choice::ScriptAtEnd,
    }
}

/// Whether the condition holds; `None` for a reply that has none.
fn met(matcher: &Matcher, vars: &Vars, ask: &Ask) -> Option<bool> {
    let holds = |text: &Text, place: &str| {
        let wanted = template::expand(&text.template, vars);
        Some(place.contains(&wanted))
    };
    match matcher {
        Matcher::Next => None,
        Matcher::Newest(text) => holds(text, &ask.newest),
        Matcher::First(text) => holds(text, &ask.first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn main_request(newest: &str) -> Ask {
        request(&json!({"tools": [{}], "messages": [
            {"role": "user", "content": "start of it"}, {"role": "user", "content": newest}]}))
    }

    fn side_request() -> Ask {
        request(&json!({"messages": [{"role": "user", "content": "title please"}]}))
    }

    fn request(body: &serde_json::Value) -> Ask {
        Ask::read(body.to_string().as_bytes()).unwrap()
    }

    /// The lines of the replies chosen for the requests; 0 = side default, -1 = script at its end.
    fn lines(script: &str, asks: &[Ask]) -> Vec<i64> {
        let script = Script::parse(script).unwrap();
        let mut used = Used::none(&script);
        let vars = Vars::from([("who".to_owned(), "bug".to_owned())]);
        let line = |choice| match choice {
            Choice::Reply(place) => i64::try_from(script.replies[place].line).unwrap(),
            Choice::SideDefault => 0,
            Choice::ScriptAtEnd => -1,
        };
        asks.iter()
            .map(|ask| line(choose(&script, &vars, &mut used, ask)))
            .collect()
    }

    #[test]
    fn plain_replies_go_in_order_and_then_the_script_is_at_its_end() {
        let script = "reply\nsay \"1\"\nreply\nsay \"2\"";
        let asks = [main_request("a"), main_request("b"), main_request("c")];
        assert_eq!(lines(script, &asks), [1, 3, -1]);
    }

    #[test]
    fn a_condition_is_looked_at_before_the_queue_and_holds_once() {
        let script = "reply\nsay \"1\"\nreply when \"find the ${who}\"\nsay \"2\"";
        let asks = [
            main_request("please find the bug"),
            main_request("find the bug"),
            main_request("find the bug"),
        ];
        assert_eq!(lines(script, &asks), [3, 1, -1]);
    }

    #[test]
    fn always_and_counts_are_kept() {
        let script = "reply always when \"x\"\nsay \"1\"\nreply 2 times\nsay \"2\"";
        let asks = ["x", "x", "y", "x", "y", "y"].map(main_request);
        assert_eq!(lines(script, &asks), [1, 1, 3, 1, 3, -1]);
    }

    #[test]
    fn in_looks_at_how_the_conversation_began() {
        let script = "reply\nsay \"1\"\nreply in \"start of it\"\nsay \"2\"";
        assert_eq!(
            lines(script, &[main_request("later"), main_request("later")]),
            [3, 1]
        );
    }

    #[test]
    fn side_calls_never_use_up_main_replies() {
        let script = "reply\nsay \"1\"\nreply side\nsay \"2\"";
        let asks = [
            side_request(),
            side_request(),
            main_request("a"),
            main_request("b"),
        ];
        assert_eq!(lines(script, &asks), [3, 0, 1, -1]);
    }

    #[test]
    fn main_any_makes_every_request_a_main_one() {
        let script = "main any\nreply\nsay \"1\"";
        assert_eq!(lines(script, &[side_request(), side_request()]), [2, -1]);
    }
}
