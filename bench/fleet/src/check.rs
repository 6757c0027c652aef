//! Whether anything was lost, ran twice or was asked of a person.
//!
//! Owns the comparison of what the host has with what the scene says. Everything is read through the host, as a client does.
//! Invariant: the first difference fails the run, by the name of its session.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail, ensure};
use countersign_host::control::approval::{Effect, Life, Outcome};
use countersign_host::control::{
    ApprovalFilter, ApprovalView, Control as _, Followed, Happened, SessionId,
};
use futures_util::StreamExt as _;
use serde::Deserialize;

use crate::scene::{ALLOWED, DENIED, Scene, WORK, message};
use crate::stage::Stage;

/// Longer records do not matter here.
const MAX_INLINE: usize = 64 << 10;

/// Whatever the host has of these sessions is what the scene says.
pub(crate) async fn all(stage: &Stage, sessions: &[SessionId], scene: Scene) -> anyhow::Result<()> {
    let mut marks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mark in stage.marks()? {
        let agent = mark.split(' ').nth(2).unwrap_or_default().to_owned();
        marks.entry(agent).or_default().push(mark);
    }
    for (index, session) in sessions.iter().enumerate() {
        let name = format!("agent-{index}");
        let left = marks.remove(&name).unwrap_or_default();
        let wanted = Scene::marks(&message(WORK, index));
        ensure!(left == wanted, "{name}: its calls ran otherwise: {left:?}");
        approvals(stage, *session).await.context(name.clone())?;
        let heard = hear(stage, *session).await.context(name.clone())?;
        heard.compare(scene).context(name)?;
    }
    ensure!(marks.is_empty(), "marks of nobody: {marks:?}");
    Ok(())
}

/// Every call was decided by a rule, and what came of it is known.
async fn approvals(stage: &Stage, session: SessionId) -> anyhow::Result<()> {
    let filter = ApprovalFilter {
        session: Some(session),
        most: 100,
        ..ApprovalFilter::default()
    };
    let page = stage.host()?.approvals(filter).await?;
    let mut counts = BTreeMap::new();
    for one in &page.items {
        *counts.entry(settled_by_rule(one)?).or_insert(0) += 1;
    }
    let wanted = BTreeMap::from([
        (ALLOWED, Scene::CALLS_ALLOWED),
        (DENIED, Scene::CALLS_DENIED),
    ]);
    ensure!(counts == wanted, "decided otherwise: {counts:?}");
    Ok(())
}

fn settled_by_rule(one: &ApprovalView) -> anyhow::Result<&'static str> {
    let decided = one
        .decided
        .as_ref()
        .with_context(|| format!("nobody decided {one:?}"))?;
    ensure!(decided.by == "rule", "not by a rule: {one:?}");
    let command = one.input["command"].as_str().unwrap_or_default();
    match (&decided.effect, &one.life) {
        (
            Effect::Allow,
            Life::Settled {
                outcome: Outcome::Ran,
            },
        ) if command.starts_with("./mark ") => Ok(ALLOWED),
        (
            Effect::Deny,
            Life::Settled {
                outcome: Outcome::Refused,
            },
        ) if command.starts_with("./wreck ") => Ok(DENIED),
        _ => bail!("it did not come to its end: {one:?}"),
    }
}

/// What the records of one session say.
#[derive(Debug, Default)]
struct Heard {
    /// The numbers of the deltas, as they came.
    deltas: Vec<usize>,
    /// How many there were when the turn with calls ended: the second one.
    worked: usize,
    results: usize,
    questions: usize,
    answers: usize,
}

#[derive(Deserialize)]
struct Line {
    r#type: String,
    #[serde(default)]
    event: Option<Event>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    delta: Option<Delta>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    text: String,
}

impl Heard {
    fn take(&mut self, kind: char, payload: &[u8]) -> anyhow::Result<()> {
        if !matches!(kind, 'a' | 'h') {
            return Ok(());
        }
        let line: Line = serde_json::from_slice(payload).context("a line that is none")?;
        match (kind, line.r#type.as_str()) {
            ('a', "stream_event") => {
                let text = line
                    .event
                    .and_then(|event| event.delta)
                    .map(|delta| delta.text);
                let number = text.and_then(|text| text.trim().parse::<usize>().ok());
                self.deltas.extend(number);
            }
            ('a', "result") => {
                self.results += 1;
                if self.results == 2 {
                    self.worked = self.deltas.len();
                }
            }
            ('a', "control_request") => self.questions += 1,
            ('h', "control_response") => self.answers += 1,
            _ => {}
        }
        Ok(())
    }

    /// Bursts come whole and in order, but for the last one of the turn that was interrupted.
    fn compare(&self, scene: Scene) -> anyhow::Result<()> {
        let expected = (0..self.deltas.len()).map(|place| place % scene.deltas + 1);
        ensure!(
            self.deltas.iter().copied().eq(expected),
            "deltas are missing or out of order: {:?}",
            self.deltas
        );
        let worked = scene.bursts * scene.deltas;
        ensure!(
            self.worked == worked,
            "{} deltas of the turn with calls, {worked} were said",
            self.worked
        );
        ensure!(self.deltas.len() > worked, "nothing of the turn after it");
        let calls = Scene::CALLS_ALLOWED + Scene::CALLS_DENIED;
        ensure!(self.results == 3, "{} results of 3 turns", self.results);
        ensure!(
            self.questions == calls,
            "{} questions, not {calls}",
            self.questions
        );
        ensure!(
            self.answers == calls,
            "{} answers, not {calls}",
            self.answers
        );
        Ok(())
    }
}

/// All records of a session, through the host.
async fn hear(stage: &Stage, session: SessionId) -> anyhow::Result<Heard> {
    let mut records = stage.host()?.follow(session, None, MAX_INLINE).await?;
    let mut heard = Heard::default();
    let mut last = 0;
    while let Some(followed) = records.next().await {
        match followed? {
            Followed::Record {
                cursor,
                kind,
                payload,
                ..
            } => {
                let seq = seq_of(&cursor)?;
                ensure!(seq == last + 1, "record {seq} comes after {last}");
                last = seq;
                heard.take(kind, &payload)?;
            }
            Followed::CaughtUp { .. } => return Ok(heard),
            other => bail!("not what was looked for: {other:?}"),
        }
    }
    bail!("the records end before they are all there")
}

fn seq_of(cursor: &str) -> anyhow::Result<u64> {
    let seq = cursor.rsplit('-').next().and_then(|seq| seq.parse().ok());
    seq.with_context(|| format!("{cursor} is no cursor"))
}

/// No approval was ever laid before a person, and nothing went wrong on the way. All sessions are stopped.
pub(crate) async fn nobody_was_called(stage: &Stage, sessions: &[SessionId]) -> anyhow::Result<()> {
    let mut events = stage.host()?.events(Some(0)).await?;
    let mut running: BTreeSet<SessionId> = sessions.iter().copied().collect();
    while !running.is_empty() {
        let event = events.next().await.context("the events end")?;
        match &event.what {
            Happened::Session { state, .. } if state == "stopped" => {
                if let Some(session) = &event.session {
                    running.remove(session);
                }
            }
            Happened::Session { state, reason } => ensure!(
                ["queued", "starting", "running", "idle", "ending"].contains(&state.as_str()),
                "a session was {state}: {reason}"
            ),
            Happened::Approval { approval, life } => {
                ensure!(life != "open", "{approval} was asked of a person");
            }
            Happened::Trouble { text } => bail!("{text}"),
            Happened::Gap => bail!("events are missing"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: Scene = Scene {
        bursts: 2,
        deltas: 3,
    };

    /// The lines of a session that did what the scene says.
    fn whole() -> Vec<(char, String)> {
        let delta = |number: usize| {
            let text = format!("{number}     ");
            let line = serde_json::json!({"type": "stream_event",
                "event": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}});
            ('a', line.to_string())
        };
        let line = |kind: char, name: &str| (kind, format!("{{\"type\":\"{name}\"}}"));
        let mut lines = vec![line('a', "result")];
        lines.extend((1..=3).chain(1..=3).map(delta));
        for _ in 0..6 {
            lines.extend([line('a', "control_request"), line('h', "control_response")]);
        }
        lines.push(line('a', "result"));
        lines.extend((1..=3).chain(1..=2).map(delta));
        lines.push(line('a', "result"));
        lines
    }

    fn heard(lines: &[(char, String)]) -> anyhow::Result<()> {
        let mut heard = Heard::default();
        for (kind, line) in lines {
            heard.take(*kind, line.as_bytes())?;
        }
        heard.compare(SCENE)
    }

    #[test]
    fn whatever_is_missing_or_out_of_order_is_found() {
        let lines = whole();
        heard(&lines).unwrap();
        // The last delta of a turn that was interrupted may be any.
        let free = lines.len() - 2;
        for missing in (0..lines.len()).filter(|place| *place != free) {
            let mut fewer = lines.clone();
            let gone = fewer.remove(missing);
            assert!(
                heard(&fewer).is_err(),
                "nobody misses line {missing}: {gone:?}"
            );
        }
        let mut turned = lines.clone();
        turned.swap(2, 3);
        assert!(heard(&turned).is_err());
        let mut doubled = lines;
        doubled.insert(4, doubled[4].clone());
        assert!(heard(&doubled).is_err());
    }

    #[test]
    fn a_record_is_known_by_its_number() {
        assert_eq!(seq_of("2-17").unwrap(), 17);
        assert!(seq_of("2-").is_err());
    }
}
