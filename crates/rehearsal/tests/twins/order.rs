//! Lines whose place among the others is a race in the real CLI itself are put where they belong. Pure.

use super::normal::Line;
use super::table::fits;

/// Where a line that races is taken to stand.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// It is an answer: right behind the request that it answers.
    BehindItsRequest,
    /// Ahead of what a host and the CLI say when it begins, if that stands right before it.
    WhileItBegins,
}

/// The lines that may stand in another place, by their word: `*` at the end stands for any rest.
const RACES: [(&str, Place); 5] = [
    // The host answers at once, while the CLI says the next call of the same message.
    (
        "host control_response/success can_use_tool*",
        Place::BehindItsRequest,
    ),
    // The host answers as soon as it is asked, while the CLI goes on; which is first changes from run to run.
    (
        "host control_response/success mcp_message*",
        Place::BehindItsRequest,
    ),
    // The same: the CLI starts the sub-agent beside asking, and prints on meanwhile.
    (
        "host control_response/success hook_callback SubagentStart*",
        Place::BehindItsRequest,
    ),
    // The CLI greets a server beside its own beginning; the host may have sent its first message by then, or not.
    (
        "control_request/mcp_message notifications/initialized",
        Place::WhileItBegins,
    ),
    (
        "control_request/mcp_message tools/list",
        Place::WhileItBegins,
    ),
];

/// The lines with every one that races in its place.
pub(crate) fn settled<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Vec<&'a Line> {
    let mut settled: Vec<&Line> = Vec::new();
    for line in lines {
        let race = RACES.iter().find(|(word, _)| fits(word, &line.word));
        let place = race.and_then(|(_, place)| match place {
            Place::BehindItsRequest => {
                let answered = line.id("response.request_id")?;
                let mut earlier = settled.iter();
                earlier.rposition(|line| line.id("request_id") == Some(answered))
            }
            Place::WhileItBegins => settled.iter().rposition(|line| {
                !["control_response/success initialize", "host user"].contains(&&*line.word)
            }),
        });
        let place = place.map_or(settled.len(), |place| place + 1);
        settled.insert(place, line);
    }
    settled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::recorded;

    fn words(lines: &[Line]) -> Vec<String> {
        let settled = settled(lines);
        settled.iter().map(|line| line.word.clone()).collect()
    }

    #[test]
    fn lines_that_race_are_put_in_their_place_and_no_others() {
        let lines = recorded("mcp-in-process");
        let of = |word: &str| {
            let found = lines.iter().position(|line| fits(word, &line.word));
            found.unwrap()
        };
        let moved = |from: usize, to: usize| {
            let mut moved = lines.clone();
            let line = moved.remove(from);
            moved.insert(to, line);
            words(&moved)
        };
        let answer = of("host control_response/success mcp_message*");
        assert_eq!(moved(answer, answer + 1), words(&lines));
        let (message, begun) = (of("host user"), of("system/init"));
        assert_eq!(moved(message, begun - 1), words(&lines));
        let listed = of("control_request/mcp_message tools/list");
        assert_ne!(moved(listed, begun), words(&lines));
    }
}
