//! Lines whose place among the others is chance are put where they belong. Pure.

use super::accepted::RACES;
use super::normal::Line;
use super::path::fits;

/// The lines with every answer that races (`RACES`) right behind its request.
pub(crate) fn settled<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Vec<&'a Line> {
    let mut settled: Vec<&Line> = Vec::new();
    for line in lines {
        let races = RACES.iter().any(|race| fits(race.word, &line.word));
        let answered = line.node.id(&["response", "request_id"]);
        let request = settled.iter().rposition(|earlier| {
            answered.is_some() && earlier.node.id(&["request_id"]) == answered
        });
        match request {
            Some(place) if races => settled.insert(place + 1, line),
            _ => settled.push(line),
        }
    }
    settled
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
    fn an_answer_that_races_moves_behind_its_request_and_nothing_else_moves() {
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
        let plain = recorded("bash-approved");
        assert_eq!(words(&settled(&plain)), all(&plain));
    }
}
