//! Lines whose place among the others is chance are put where they belong. Pure.

use super::accepted::{Place, RACES};
use super::normal::Line;
use super::path::fits;

/// The lines with every one that races (`RACES`) in its place.
pub(crate) fn settled<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Vec<&'a Line> {
    let mut settled: Vec<&Line> = Vec::new();
    for line in lines {
        let race = RACES.iter().find(|race| fits(race.word, &line.word));
        let place = match race.map(|race| race.place) {
            Some(Place::BehindItsRequest) => behind_its_request(&settled, line),
            Some(Place::AheadOf(words)) => ahead_of(words, &settled),
            None => None,
        };
        settled.insert(place.unwrap_or(settled.len()), line);
    }
    settled
}

fn behind_its_request(settled: &[&Line], answer: &Line) -> Option<usize> {
    let answered = answer.node.id(&["response", "request_id"])?;
    let request = settled
        .iter()
        .rposition(|earlier| earlier.node.id(&["request_id"]) == Some(answered))?;
    Some(request + 1)
}

fn ahead_of(words: &[&str], settled: &[&Line]) -> Option<usize> {
    let is_one = |line: &&Line| words.iter().any(|word| fits(word, &line.word));
    let last_other = settled.iter().rposition(|line| !is_one(line))?;
    Some(last_other + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::recorded;

    #[test]
    fn every_race_is_about_lines_that_there_are() {
        for race in RACES {
            let lines = recorded(race.seen_in);
            let seen = lines.iter().any(|line| fits(race.word, &line.word));
            assert!(seen, "{} does not occur in {}", race.word, race.seen_in);
        }
    }

    #[test]
    fn an_answer_that_races_moves_behind_its_request() {
        let lines = recorded("mcp-in-process");
        let answer = lines
            .iter()
            .position(|line| fits(RACES[0].word, &line.word))
            .unwrap();
        let words = |lines: &[&Line]| -> Vec<String> {
            lines.iter().map(|line| line.word.clone()).collect()
        };
        let mut later = lines.clone();
        later.swap(answer, answer + 1);
        let all = |lines| words(&Vec::from_iter(lines));
        assert_ne!(all(&later), all(&lines));
        assert_eq!(words(&settled(&later)), words(&settled(&lines)));
    }

    #[test]
    fn a_greeting_is_the_same_before_and_after_the_first_message_but_not_after_the_turn_began() {
        let lines = recorded("mcp-in-process");
        let of = |word: &str| {
            lines
                .iter()
                .position(|line| fits(word, &line.word))
                .unwrap()
        };
        let message = of("host user");
        let listed = of("control_request/mcp_message tools/list");
        let begun = of("system/init");
        assert!(message < listed && listed < begun);
        let words = |lines: &[Line]| -> Vec<String> {
            settled(lines)
                .iter()
                .map(|line| line.word.clone())
                .collect()
        };
        let moved = |from: usize, to: usize| {
            let mut moved = lines.clone();
            let line = moved.remove(from);
            moved.insert(to, line);
            moved
        };
        assert_eq!(words(&moved(message, begun - 1)), words(&lines));
        assert_ne!(words(&moved(listed, begun)), words(&lines));
    }

    #[test]
    fn where_nothing_races_nothing_moves() {
        let words = |lines: Vec<&Line>| -> Vec<String> {
            lines.iter().map(|line| line.word.clone()).collect()
        };
        let plain = recorded("bash-approved");
        assert_eq!(words(settled(&plain)), words(plain.iter().collect()));
    }
}
