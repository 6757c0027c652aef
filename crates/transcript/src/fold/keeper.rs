//! What happened beside the wire: starts, ends, pauses, hosts that come and go.
//!
//! Owns what is left of a session when its agent is gone: every question is withdrawn or of unknown outcome, every call that
//! had no result is of unknown outcome.

use countersign_journal::{Exit, KeeperEvent, ProcessName};

use super::Fold;
use super::live::Place;
use super::turn::Turn;
use crate::body::{
    Away, Ended, HookState, Level, Lost, NoticeKind, Outcome, Paused, Process, PromptState,
    Started, TaskState, ToolState, Unread, Withdrawn,
};
use crate::bounds;
use crate::clip::{Clip, word};
use crate::entry::{Body, Entry};
use crate::id::EntryId;

impl Fold {
    pub(super) fn keeper(&mut self, line: &[u8]) {
        let Ok(event) = serde_json::from_slice::<KeeperEvent>(line) else {
            return self.unread('k', line, None, Some("not an event"));
        };
        match event {
            KeeperEvent::Open {
                generation,
                argv,
                cwd,
                ..
            } => self.started(generation, &argv, &cwd),
            KeeperEvent::Spawned { pid, .. } => self.spawned(pid),
            KeeperEvent::Attached { .. } => self.attached(),
            KeeperEvent::Detached { epoch } => {
                self.attached();
                let body = Body::Away(Away { epoch, until: None });
                self.known.away = Some(self.live.open(Place::default(), body));
            }
            KeeperEvent::Refused { why, .. } => self.kept(Level::Warning, "k/refused", &why),
            KeeperEvent::Paused { errno } => {
                self.resumed();
                let body = Body::Paused(Paused { errno, until: None });
                self.known.paused = Some(self.live.open(Place::default(), body));
            }
            KeeperEvent::Resumed => self.resumed(),
            KeeperEvent::Clock { jump } => {
                let text = format!("the clock of the machine jumped by {jump} µs");
                self.kept(Level::Info, "k/clock", &text);
            }
            KeeperEvent::Ending { step, why } => {
                let why = why.as_deref().map(word);
                self.known.ending = why.or(self.known.ending.take()).or(Some(word(&step)));
            }
            KeeperEvent::Exit(exit) => self.exited(exit),
            KeeperEvent::Lost { killed } => {
                self.gone(&[]);
                let body = Lost {
                    killed: processes(&killed),
                };
                self.live.put(Place::default(), Body::Lost(Box::new(body)));
            }
            KeeperEvent::Carried { .. } | KeeperEvent::Head { .. } => {}
            _ => self.unknown_event(line),
        }
    }

    fn kept(&mut self, level: Level, source: &str, text: &str) {
        self.notice(Place::default(), level, NoticeKind::Keeper, source, text);
    }

    /// An event of a later build.
    fn unknown_event(&mut self, line: &[u8]) {
        self.sums().unknown += 1;
        let body = Unread {
            from: 'k',
            name: None,
            why: None,
            line: Clip::of(&String::from_utf8_lossy(line), self.live.here()),
        };
        let body = Body::Unread(Box::new(body));
        self.live.put(Place::default(), body);
    }

    fn started(&mut self, generation: u32, argv: &[String], cwd: &str) {
        self.sums().starts += 1;
        let is_flag = |argument: &String| {
            matches!(&**argument, "--resume" | "-r" | "--continue" | "-c")
                || argument.starts_with("--resume=")
        };
        let is_resumed = argv.iter().any(is_flag);
        self.meter.resumed(is_resumed);
        let body = Started {
            generation,
            cwd: word(cwd),
            argv: argv
                .iter()
                .take(4 * bounds::ITEMS)
                .map(|argument| word(argument))
                .collect(),
            is_resumed,
            pid: None,
        };
        let body = Body::Started(Box::new(body));
        self.known.started = Some(self.live.open(Place::default(), body));
    }

    fn spawned(&mut self, pid: u32) {
        let Some(id) = self.known.started.take() else {
            return;
        };
        if let Some(Body::Started(started)) = self.live.change(id).map(|entry| &mut entry.body) {
            started.pid = Some(pid);
        }
        self.close(id);
    }

    fn attached(&mut self) {
        let at = self.live.at();
        let Some(id) = self.known.away.take() else {
            return;
        };
        if let Some(Body::Away(away)) = self.live.change(id).map(|entry| &mut entry.body) {
            away.until = Some(at);
        }
        self.close(id);
    }

    fn resumed(&mut self) {
        let at = self.live.at();
        let Some(id) = self.known.paused.take() else {
            return;
        };
        if let Some(Body::Paused(paused)) = self.live.change(id).map(|entry| &mut entry.body) {
            paused.until = Some(at);
        }
        self.close(id);
    }

    fn exited(&mut self, exit: Exit) {
        self.gone(&exit.unwritten);
        let body = Ended {
            code: exit.code,
            signal: exit.signal,
            error: exit.error.as_deref().map(word),
            step: exit.step.as_deref().map(word),
            why: self.known.ending.take(),
            unwritten: exit.unwritten.len() as u64,
            killed: processes(&exit.killed),
        };
        self.live.put(Place::default(), Body::Ended(Box::new(body)));
    }

    /// Another generation begins: whatever the earlier one left open is over.
    pub(super) fn generation(&mut self) {
        self.gone(&[]);
        self.agents.clear();
        self.requests.clear();
        self.note = None;
        self.known.limit = None;
        self.meter.process();
    }

    /// The agent is gone. Lines of these numbers did not reach it whole.
    fn gone(&mut self, unwritten: &[u64]) {
        if self.turn.is_running {
            self.sums().turns.lost += 1;
        }
        self.turn = Turn::default();
        for id in self.live.ids() {
            self.gone_entry(id, unwritten);
        }
        self.streams.clear();
        self.tasks.clear();
        self.known.retries.clear();
        self.known.compaction = None;
        self.known.away = None;
        self.known.paused = None;
        self.known.started = None;
    }

    fn gone_entry(&mut self, id: EntryId, unwritten: &[u64]) {
        let at = self.live.at();
        let Some(entry) = self.live.change(id) else {
            return;
        };
        let lost_answer = answer_seq(entry).is_some_and(|seq| unwritten.contains(&seq));
        let first = entry.first.seq;
        match &mut entry.body {
            Body::Prompt(prompt) if unwritten.contains(&first) => {
                prompt.state = PromptState::Undelivered;
            }
            Body::Tool(tool) => {
                if tool.result.is_none() {
                    tool.state = ToolState::Unknown;
                }
                if let Some(agent) = &mut tool.agent
                    && !agent.state.is_over()
                {
                    agent.state = TaskState::Unknown;
                    agent.ended_at = Some(at);
                }
            }
            Body::Task(task) if !task.state.is_over() => {
                task.state = TaskState::Unknown;
                task.ended_at = Some(at);
            }
            Body::Hook(hook) => hook.state = HookState::Unknown,
            _ => {}
        }
        self.settle(id, |verdict| match verdict {
            Some(_) if !lost_answer => Ok(Outcome::Unknown),
            _ => Err(Withdrawn::AgentGone),
        });
        self.close(id);
    }

    /// An entry was let go of: what is counted as open must not wait for it.
    pub(super) fn let_go(&mut self, id: EntryId) {
        let is_open = match self.live.get(id).map(|entry| &entry.body) {
            Some(Body::Tool(tool)) => tool.approval.as_deref().is_some_and(is_waiting),
            Some(Body::Ask(ask)) => is_waiting(&ask.approval),
            _ => false,
        };
        if is_open {
            let counts = &mut self.sums().approvals;
            counts.open = counts.open.saturating_sub(1);
        }
    }
}

fn is_waiting(approval: &crate::body::Approval) -> bool {
    approval.standing == crate::body::Standing::Open
}

/// The record of the answer to the question of an entry.
fn answer_seq(entry: &Entry) -> Option<u64> {
    let approval = match &entry.body {
        Body::Tool(tool) => tool.approval.as_deref()?,
        Body::Ask(ask) => &ask.approval,
        _ => return None,
    };
    Some(approval.answer.as_ref()?.written.seq)
}

fn processes(names: &[ProcessName]) -> Vec<Process> {
    let names = names.iter().take(bounds::ITEMS);
    let process = |name: &ProcessName| Process {
        pid: name.pid,
        command: word(&name.command),
    };
    names.map(process).collect()
}
