//! What must hold after every fault, as pure functions from what lies on the disk to what is wrong with it.
//!
//! Owns the judgement. Nothing here knows which fault there was: a round says only whether all processes of the agent
//! lived ([`Extent::Whole`]) or some died ([`Extent::Begun`]). The same functions judge the keepers that leave something
//! out on purpose, and must find it there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use countersign_journal::Kind;

use crate::evidence::{Entry, Journal, Witness, answer, question, tool_results};

/// What was promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Every frame of the agent is in the journal, once, byte for byte.
    Frames,
    /// What a host's session gave it is what the journal has, without a gap and nothing twice.
    Heard,
    /// What reached stdin is what the journal says.
    HostLines,
    /// Each answer and each message was written once.
    Once,
    /// Each tool ran as often as it was allowed.
    Tools,
    /// Every question got an answer, or was taken back.
    Answers,
    /// Numbers without a gap, times that do not fall, a note before each host line.
    Order,
    /// The journal is of its format, and its chain holds.
    Readable,
    /// One agent for a generation.
    OneAgent,
    /// No grant reached an agent before it was on the disk.
    Grants,
    /// Nothing of the process tree is left.
    NothingLeft,
}

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) promise: Promise,
    pub(crate) what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.what)
    }
}

fn broken(promise: Promise, what: impl Into<String>) -> Violation {
    Violation {
        promise,
        what: what.into(),
    }
}

/// How much of a generation there must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it: only hosts died.
    Whole,
    /// A beginning: keeper, guard or agent died, and what was under way went with them.
    Begun,
}

/// One session on the disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Case {
    pub(crate) journal: Journal,
    /// By generation.
    pub(crate) witnesses: BTreeMap<u32, Witness>,
    /// The marks that tools left, one for each run.
    pub(crate) ran: Vec<String>,
    /// What each host was given by its session.
    pub(crate) hosts: Vec<Heard>,
}

/// What one host was given, from where it came in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    pub(crate) generation: u32,
    /// The last record before.
    pub(crate) after: u64,
    pub(crate) lines: Vec<u8>,
}

/// What a session's tools came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) asked: usize,
    pub(crate) allowed: usize,
    /// Allowed, and the wire was silent about what became of it.
    pub(crate) unknown: usize,
}

impl Case {
    /// Everything that is wrong, with so much of each generation to be there: the newest as `last`, those before as begun.
    pub(crate) fn violations(&self, last: Extent) -> Vec<Violation> {
        let mut wrong = self.order();
        let newest = self.witnesses.keys().last().copied();
        for (generation, witness) in &self.witnesses {
            let extent = match Some(*generation) == newest {
                true => last,
                false => Extent::Begun,
            };
            wrong.extend(self.frames(*generation, witness, extent));
            wrong.extend(self.host_lines(*generation, witness, extent));
            if witness.starts > 1 {
                let what = format!("{} agents in generation {generation}", witness.starts);
                wrong.push(broken(Promise::OneAgent, what));
            }
        }
        wrong.extend(self.hosts.iter().flat_map(|host| self.heard(host)));
        wrong.extend(self.once());
        wrong.extend(self.tools());
        if last == Extent::Whole {
            wrong.extend(self.settled(newest.unwrap_or_default()));
        }
        wrong
    }

    fn frames(&self, generation: u32, witness: &Witness, extent: Extent) -> Vec<Violation> {
        let said = |entry: &&Entry| matches!(entry.kind, Kind::Agent | Kind::AgentPiece);
        let entries = self.journal.entries.iter();
        let entries = entries.filter(|entry| entry.generation == generation);
        let journal = text_of(entries.filter(said));
        let differs = match extent {
            Extent::Whole => journal != witness.out,
            Extent::Begun => !witness.out.starts_with(&journal),
        };
        let what = || first_difference("the journal", &journal, "the agent", &witness.out);
        let found = differs.then(|| broken(Promise::Frames, format!("g{generation}: {}", what())));
        found.into_iter().collect()
    }

    /// What a host was given is what the journal has from there on, without a gap, up to where the host ended. Questions
    /// and replies have their own ways.
    fn heard(&self, host: &Heard) -> Option<Violation> {
        let said = self.journal.of(host.generation, Kind::Agent);
        let said = said.filter(|entry| entry.seq > host.after && !is_control(entry));
        let said = text_of(said);
        let what = || first_difference("the host", &host.lines, "the journal", &said);
        let differs = !said.starts_with(&host.lines);
        differs.then(|| broken(Promise::Heard, what()))
    }

    fn host_lines(&self, generation: u32, witness: &Witness, extent: Extent) -> Vec<Violation> {
        let journal = text_of(self.journal.of(generation, Kind::Host));
        let differs = match extent {
            Extent::Whole => journal != witness.heard,
            // What was journalled may not have been written; what was written is journalled.
            Extent::Begun => !journal.starts_with(&witness.heard),
        };
        let what = || first_difference("stdin", &witness.heard, "the journal", &journal);
        let found =
            differs.then(|| broken(Promise::HostLines, format!("g{generation}: {}", what())));
        found.into_iter().collect()
    }

    /// Each answer at most once, ever; each message and each request at most once for each agent.
    fn once(&self) -> Vec<Violation> {
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        let mut others: BTreeMap<(u32, String), usize> = BTreeMap::new();
        for (generation, witness) in &self.witnesses {
            for line in witness.lines_heard() {
                if let Some((id, _)) = answer(&line) {
                    *answers.entry(id.to_owned()).or_default() += 1;
                } else if let Some(id) = line["uuid"].as_str().or(line["request_id"].as_str()) {
                    *others.entry((*generation, id.to_owned())).or_default() += 1;
                }
            }
        }
        let answers = answers.into_iter().filter(|(_, times)| *times > 1);
        let answers = answers.map(|(id, times)| format!("answer {id} was written {times} times"));
        let others = others.into_iter().filter(|(_, times)| *times > 1);
        let others =
            others.map(|((g, id), times)| format!("g{g}: line {id} was written {times} times"));
        let all = answers.chain(others);
        all.map(|what| broken(Promise::Once, what)).collect()
    }

    /// For each mark: how often its tool ran, and how often it must and may have.
    fn tools(&self) -> Vec<Violation> {
        let mut wrong = Vec::new();
        let bounds = self.runs_by_mark();
        for (mark, (least, most)) in &bounds {
            let ran = self.ran.iter().filter(|one| *one == mark).count();
            if ran < *least || ran > *most {
                let what = format!("{mark} ran {ran} times, allowed for {least} to {most}");
                wrong.push(broken(Promise::Tools, what));
            }
        }
        let strange = self.ran.iter().filter(|mark| !bounds.contains_key(*mark));
        wrong.extend(
            strange.map(|mark| broken(Promise::Tools, format!("{mark} ran without a question"))),
        );
        wrong
    }

    /// Least and most runs by mark.
    fn runs_by_mark(&self) -> BTreeMap<String, (usize, usize)> {
        let mut bounds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (_, mark, fate) in self.fates() {
            let (least, most) = bounds.entry(mark).or_default();
            *least += usize::from(fate == Fate::Ran);
            *most += usize::from(matches!(fate, Fate::Ran | Fate::Unknown));
        }
        bounds
    }

    /// What became of each question, by what can be seen.
    pub(crate) fn fates(&self) -> Vec<(String, String, Fate)> {
        let mut results = BTreeMap::new();
        for (entry, line) in self.journal.said() {
            for (call, failed) in tool_results(&line) {
                results.insert((entry.generation, call), failed);
            }
        }
        let mut answers = BTreeMap::new();
        for (generation, witness) in &self.witnesses {
            for line in witness.lines_heard() {
                if let Some((id, allows)) = answer(&line) {
                    answers.insert((*generation, id.to_owned()), allows);
                }
            }
        }
        let mut fates = Vec::new();
        for (entry, line) in self.journal.said() {
            let Some((id, call, mark)) = question(&line) else {
                continue;
            };
            let answered = answers.get(&(entry.generation, id.to_owned()));
            let result = results.get(&(entry.generation, call.to_owned()));
            let fate = match (answered, result) {
                (None, _) => Fate::Unanswered,
                (Some(false), _) => Fate::Refused,
                (Some(true), Some(false)) => Fate::Ran,
                (Some(true), Some(true) | None) => Fate::Unknown,
            };
            fates.push((id.to_owned(), mark.to_owned(), fate));
        }
        fates
    }

    /// How many questions there were, and what is known of them.
    pub(crate) fn tally(&self) -> Tally {
        let fates = self.fates();
        let count = |fits: fn(Fate) -> bool| fates.iter().filter(|(.., fate)| fits(*fate)).count();
        Tally {
            asked: fates.len(),
            allowed: count(|fate| matches!(fate, Fate::Ran | Fate::Unknown)),
            unknown: count(|fate| fate == Fate::Unknown),
        }
    }

    /// Where nobody of the agent died, every question has its answer and every allow its outcome.
    fn settled(&self, newest: u32) -> Vec<Violation> {
        let asked = self.journal.of(newest, Kind::Agent).map(Entry::json);
        let asked: BTreeSet<String> = asked
            .filter_map(|line| question(&line).map(|(id, ..)| id.to_owned()))
            .collect();
        let fates = self.fates().into_iter();
        let wrong = fates.filter(|(id, ..)| asked.contains(id));
        let wrong = wrong.filter_map(|(id, mark, fate)| match fate {
            Fate::Unanswered => Some((Promise::Answers, format!("{id} was never answered"))),
            Fate::Unknown => Some((Promise::Tools, format!("{mark}: allowed, and no more"))),
            Fate::Ran | Fate::Refused => None,
        });
        wrong.map(|(promise, what)| broken(promise, what)).collect()
    }

    fn order(&self) -> Vec<Violation> {
        let mut wrong: Vec<Violation> = (self.journal.damaged.iter())
            .map(|what| broken(Promise::Readable, what.clone()))
            .collect();
        let mut say = |what: String| wrong.push(broken(Promise::Order, what));
        let mut last_n = 0;
        let mut before: Option<&Entry> = None;
        for entry in &self.journal.entries {
            let expected = before.map_or(1, |before| before.seq + 1);
            if entry.seq != expected {
                say(format!("{} stands where {expected} was due", entry.seq));
            }
            let same = before.filter(|before| before.generation == entry.generation);
            if same.is_some_and(|before| before.at > entry.at) {
                say(format!("the time falls at {}", entry.seq));
            }
            let behind_note = before.is_some_and(|before| before.kind == Kind::Note);
            if (entry.kind == Kind::Host) != behind_note {
                say(format!("note and host line are apart at {}", entry.seq));
            }
            if entry.kind == Kind::Note
                && let Some(n) = entry.json()["n"].as_u64()
            {
                if n != last_n + 1 {
                    say(format!("line {n} of the outbox follows {last_n}"));
                }
                last_n = n;
            }
            before = Some(entry);
        }
        wrong
    }

    /// After a loss of power: every grant that reached an agent is in what is left of the journal.
    pub(crate) fn grants(&self) -> Vec<Violation> {
        let mut wrong = Vec::new();
        for (generation, witness) in &self.witnesses {
            let journal: Vec<_> = self.journal.of(*generation, Kind::Host).collect();
            for line in witness.lines_heard() {
                let Some((id, true)) = answer(&line) else {
                    continue;
                };
                if !journal.iter().any(|entry| entry.json() == line) {
                    let what =
                        format!("g{generation}: {id} was allowed, and the disk has no word of it");
                    wrong.push(broken(Promise::Grants, what));
                }
            }
        }
        wrong
    }
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Unanswered,
    Refused,
    Ran,
    /// Allowed, and nothing was heard of it since, or that it failed.
    Unknown,
}

fn is_control(entry: &Entry) -> bool {
    let kind = entry.json()["type"].clone();
    kind.as_str()
        .is_some_and(|kind| kind.starts_with("control_"))
}

/// The records as they crossed the wire.
fn text_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<u8> {
    let mut text = Vec::new();
    for entry in entries {
        text.extend_from_slice(&entry.payload);
        if !matches!(entry.kind, Kind::AgentPiece | Kind::StderrPiece) {
            text.push(b'\n');
        }
    }
    text
}

/// Names the first line in which two texts differ, and how.
fn first_difference(left: &str, ours: &[u8], right: &str, theirs: &[u8]) -> String {
    let cut = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.chars().take(160).collect::<String>()
    };
    let ours: Vec<&[u8]> = ours.split_inclusive(|byte| *byte == b'\n').collect();
    let theirs: Vec<&[u8]> = theirs.split_inclusive(|byte| *byte == b'\n').collect();
    let both = ours.iter().zip(&theirs);
    let at = both.take_while(|(one, other)| one == other).count();
    let (one, other) = (ours.get(at), theirs.get(at));
    let how = match (one, other) {
        (Some(one), _) if at > 0 && *one == theirs[at - 1] => "a line twice",
        (Some(_), None) => "a line too many",
        (None, Some(_)) => "lines missing",
        (one, _) if one == theirs.get(at + 1) => "a line lost",
        _ => "another line",
    };
    let show = |line: Option<&&[u8]>| line.map_or_else(|| "nothing".to_owned(), |line| cut(line));
    format!(
        "{how}, at line {} of {} ({left}) and {} ({right}):\n  {left}: {}\n  {right}: {}",
        at + 1,
        ours.len(),
        theirs.len(),
        show(one),
        show(other)
    )
}
