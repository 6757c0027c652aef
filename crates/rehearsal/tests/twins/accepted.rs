//! The one list of differences that are accepted between the real CLI and the scripted one, each with its reason: fields
//! that differ, and lines whose place among the others is a race in the real CLI itself.
//!
//! An entry names both sides, so that it covers one difference and no other change of the field. It must occur in the
//! scenario that it names: one that no longer does fails that scenario's test.

use super::compare::{Difference, Side};
use super::path::{Pattern, fits};

/// Not more than this many.
pub(crate) const MOST: usize = 30;

/// One accepted difference.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// A scenario in which it occurs.
    pub seen_in: &'static str,
    /// Whether it is accepted in all others, too.
    pub anywhere: bool,
    /// The line's word; `*` at the end stands for any rest.
    pub word: &'static str,
    /// The field's pattern.
    pub path: &'static str,
    pub real: Has,
    pub scripted: Has,
    /// Why it is accepted.
    pub why: &'static str,
}

/// What one side has there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Has {
    Nothing,
    /// This, as a report shows it.
    This(&'static str),
    /// Whatever it is, if it is there.
    Something,
}

/// Lines that may stand in another place.
#[derive(Debug)]
pub(crate) struct Race {
    /// A scenario in which such a line occurs.
    pub seen_in: &'static str,
    /// The line's word; `*` at the end stands for any rest.
    pub word: &'static str,
    /// Where it is taken to stand.
    pub place: Place,
    /// Why it is accepted.
    pub why: &'static str,
}

/// Where a line that races is taken to stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// It is an answer: right behind the request that it answers.
    BehindItsRequest,
    /// Ahead of lines of these words, if they stand right before it.
    AheadOf(&'static [&'static str]),
}

/// Fields that differ.
pub(crate) const ACCEPTED: &[Accepted] = &[];

/// Lines that may stand in another place.
pub(crate) const RACES: &[Race] = &[
    Race {
        seen_in: "mcp-in-process",
        word: "host control_response/success mcp_message*",
        place: Place::BehindItsRequest,
        why: "The host answers as soon as it is asked, while the CLI goes on; which is first changes from run to run.",
    },
    Race {
        seen_in: "hook-events",
        word: "host control_response/success hook_callback SubagentStart*",
        place: Place::BehindItsRequest,
        why: "The same: the CLI starts the sub-agent beside asking, and prints on meanwhile.",
    },
    Race {
        seen_in: "mcp-in-process",
        word: "control_request/mcp_message notifications/initialized",
        place: WHILE_IT_BEGINS,
        why: "The CLI greets a server beside its own beginning; the host may have sent its first message by then, or not.",
    },
    Race {
        seen_in: "mcp-in-process",
        word: "control_request/mcp_message tools/list",
        place: WHILE_IT_BEGINS,
        why: "The same: the last line of the greeting.",
    },
];

/// Ahead of what a host and the CLI say when it begins.
const WHILE_IT_BEGINS: Place =
    Place::AheadOf(&["control_response/success initialize", "host user"]);

impl Accepted {
    fn covers(&self, scenario: &str, difference: &Difference) -> bool {
        (self.anywhere || self.seen_in == scenario)
            && fits(self.word, &difference.word)
            && !difference.path.0.is_empty()
            && Pattern::parse(self.path).matches(&difference.path)
            && self.real.is(&difference.real)
            && self.scripted.is(&difference.scripted)
    }
}

impl Has {
    fn is(self, side: &Side) -> bool {
        match (self, side) {
            (Has::Nothing, Side::Nothing) => true,
            (Has::This(text), Side::Value(shown)) => text == shown,
            (Has::Something, Side::Value(_)) => true,
            _ => false,
        }
    }
}

/// The differences of one scenario, told apart.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// Not accepted.
    pub open: Vec<Difference>,
    /// How many are accepted.
    pub accepted: usize,
    /// Entries that must occur in this scenario and do not.
    pub unused: Vec<&'static Accepted>,
}

/// Tells accepted differences from others.
pub(crate) fn sort(
    list: &'static [Accepted],
    scenario: &str,
    differences: Vec<Difference>,
) -> Sorted {
    let mut sorted = Sorted::default();
    let mut used = vec![false; list.len()];
    for difference in differences {
        let covering = list
            .iter()
            .position(|entry| entry.covers(scenario, &difference));
        match covering {
            Some(index) => {
                used[index] = true;
                sorted.accepted += 1;
            }
            None => sorted.open.push(difference),
        }
    }
    let must = list.iter().zip(used);
    let unused = must.filter(|(entry, used)| entry.seen_in == scenario && !used);
    sorted.unused = unused.map(|(entry, _)| entry).collect();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Path, Step};

    #[test]
    fn the_list_is_short_and_gives_reasons() {
        let entries = ACCEPTED.len() + RACES.len();
        assert!(entries <= MOST, "{entries} entries");
        let reasons = ACCEPTED.iter().map(|entry| entry.why);
        for why in reasons.chain(RACES.iter().map(|race| race.why)) {
            assert!(why.split(' ').count() >= 4, "{why:?} is no reason");
        }
    }

    static SOME: [Accepted; 2] = [
        Accepted {
            seen_in: "here",
            anywhere: false,
            word: "system/init",
            path: "tools[]",
            real: Has::This("\"Cron\""),
            scripted: Has::Nothing,
            why: "for this test only",
        },
        Accepted {
            seen_in: "there",
            anywhere: true,
            word: "result*",
            path: "speed",
            real: Has::Something,
            scripted: Has::Something,
            why: "for this test only",
        },
    ];

    fn difference(word: &str, keys: &[Step], real: Side, scripted: Side) -> Difference {
        Difference {
            number: 1,
            word: word.to_owned(),
            path: Path(keys.to_vec()),
            real,
            scripted,
        }
    }

    #[test]
    fn an_entry_covers_its_difference_and_no_other() {
        let tool = [Step::Key("tools".into()), Step::Item(3)];
        let value = |text: &str| Side::Value(text.to_owned());
        let init = |real, scripted| difference("system/init", &tool, real, scripted);
        let covered = init(value("\"Cron\""), Side::Nothing);
        let sorted = |scenario, difference: &Difference| {
            let sorted = sort(&SOME, scenario, vec![difference.clone()]);
            (sorted.accepted, sorted.open.len(), sorted.unused.len())
        };
        assert_eq!(sorted("here", &covered), (1, 0, 0));
        assert_eq!(sorted("elsewhere", &covered), (0, 1, 0));
        // The entry for this scenario is of no use any more.
        let others = [
            init(value("\"Bash\""), Side::Nothing),
            init(Side::Nothing, value("\"Cron\"")),
            difference("system/init", &[], Side::Line, Side::Nothing),
        ];
        for other in others {
            assert_eq!(sorted("here", &other), (0, 1, 1), "{other:?}");
        }
        let speed = [Step::Key("speed".into())];
        let faster = difference("result/success", &speed, value("1"), value("2"));
        assert_eq!(sorted("elsewhere", &faster), (1, 0, 0));
    }
}
