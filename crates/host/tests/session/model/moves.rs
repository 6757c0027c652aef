//! What may happen in the world of the model, fitting or not.
//!
//! Owns the draw: mostly what an agent says, now and then a death, a wish, a restart of the host. Knows nothing of what is
//! right.

use countersign_host::session::{Begin, Fact, Input, Report, Seen, TurnEnd};
use proptest::prelude::*;

use super::World;
use crate::lines::message;
use crate::stage::{SECOND, exit};

/// What may happen next.
#[derive(Debug, Clone)]
pub(super) enum Move {
    Fact(u8, u8),
    Agent(u8),
    Wish(u8),
    Enqueue,
    Queue(u8, u8),
    Host(u8),
    Wait(u16),
}

pub(super) fn a_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        16 => (0..26u8, 0..4u8).prop_map(|(what, which)| Move::Fact(what, which)),
        4 => (0..16u8).prop_map(Move::Agent),
        3 => (0..12u8).prop_map(Move::Wish),
        3 => Just(Move::Enqueue),
        2 => (0..4u8, 0..4u8).prop_map(|(what, which)| Move::Queue(what, which)),
        3 => (0..9u8).prop_map(Move::Host),
        3 => prop_oneof![0..20u16, Just(301), Just(2000)].prop_map(Move::Wait),
    ]
}

impl World {
    pub(super) fn make(&mut self, it: &Move) {
        match it {
            Move::Fact(what, which) => {
                let fact = self.fact(*what, *which);
                self.give(Input::Fact(fact));
            }
            Move::Agent(what) => self.agent(*what),
            Move::Wish(what) => self.wish(*what),
            Move::Enqueue => {
                self.queue.push(self.next_message);
                self.next_message += 1;
                self.tell_queue();
            }
            Move::Queue(what, which) => self.edit(*what, *which),
            Move::Host(what) => self.host(*what),
            Move::Wait(seconds) => self.wait(u64::from(*seconds)),
        }
    }

    /// A fact of the wire, fitting or not.
    fn fact(&self, what: u8, which: u8) -> Fact {
        let request_id = format!("r{which}");
        let id = format!("t{which}");
        let message = message(u64::from(which) + 1);
        match what {
            0..=2 => Fact::Init(Seen::default()),
            3..=5 => Fact::Ended(self.end(which)),
            6 | 7 => Fact::Asked {
                request_id,
                subtype: "can_use_tool".into(),
                tool: None,
            },
            8 | 9 => Fact::Answered {
                request_id,
                ends_turn: which == 3,
            },
            10 => Fact::Withdrawn { request_id },
            11 => Fact::ToolBegan {
                id,
                name: "Bash".into(),
                parent: None,
            },
            12 => Fact::ToolEnded {
                id,
                goes_on: which == 1,
            },
            13 => Fact::TaskBegan {
                id: format!("a{which}"),
                tool_use_id: Some(id),
                background: [None, Some(true), Some(false), None][usize::from(which)],
            },
            14 => Fact::TaskEnded {
                id: format!("a{which}"),
            },
            15 => Fact::Tasks(Vec::new()),
            16 => Fact::Limit {
                reached: which > 0,
                until: (which > 1).then(|| self.stage.now + u64::from(which) * 100 * SECOND),
            },
            17 => Fact::Taken { message },
            18 => Fact::Cancelled { message },
            19 => Fact::Completed { message },
            20 => Fact::Interrupted,
            21 => Fact::Retry {
                delay: u64::from(which) * SECOND,
            },
            22 => Fact::Sign,
            23 => Fact::Written {
                message: Some(message).filter(|_| self.next_message > u64::from(which) + 1),
            },
            24 => Fact::Reported([Report::Running, Report::Idle][usize::from(which % 2)]),
            _ => Fact::Ending { why: "x".into() },
        }
    }

    fn end(&self, which: u8) -> TurnEnd {
        let (ok, why) = match which {
            0 | 1 => (true, ""),
            2 => (false, "API Error: 500"),
            _ => (false, "Please run /login"),
        };
        TurnEnd {
            ok,
            aborted: false,
            why: why.into(),
            status: None,
            is_capped: which == 2,
        }
    }

    /// The agent and its keeper.
    fn agent(&mut self, what: u8) {
        let generation = self.stage.core.generation();
        match what {
            0..=5 => {
                self.give(Input::Admitted);
                let generation = self.stage.core.generation();
                if self.agent == Some(generation) {
                    self.give(Input::Fact(Fact::Opened { generation }));
                }
            }
            6..=11 => self.give(Input::Attached {
                generation: match self.agent {
                    Some(_) => generation,
                    // One that has ended is still connected.
                    None => self.number_in("ended"),
                },
                paused: None,
            }),
            12 => self.give(Input::Gone {
                generation,
                exit: exit(i32::from(what)),
                stderr: String::new(),
            }),
            13 if self.next_message.is_multiple_of(2) => {
                self.give(Input::NeverBegan { generation })
            }
            13 => self.give(Input::Lost { generation }),
            14 => self.give(Input::SpawnFailed {
                generation,
                why: "No conversation found".into(),
                fix: None,
                trap: Some(Begin::NewSameId),
            }),
            _ if self.agent.is_some() => self.give(Input::Fact(Fact::Exited(exit(0)))),
            _ => {}
        }
        self.open();
    }

    /// The records of the agent are read from its first one on.
    fn open(&mut self) {
        let heard = self.number_in("hearing");
        if let Some(generation) = self.agent.filter(|agent| *agent > heard) {
            self.give(Input::Fact(Fact::Opened { generation }));
        }
    }

    fn number_in(&self, field: &str) -> u32 {
        let core = serde_json::to_value(&self.stage.core).unwrap();
        core[field].as_u64().unwrap_or_default() as u32
    }

    /// The host begins anew and finds that the agent has ended, if it is to; whatever is wanted since is left alone.
    fn restart(&mut self, has_ended: bool) {
        self.give(Input::HostBegan);
        let generation = self.stage.core.generation();
        if has_ended && generation > 0 {
            self.give(Input::Gone {
                generation,
                exit: exit(0),
                stderr: String::new(),
            });
            let newest = self.stage.core.generation();
            if newest > generation {
                self.give(Input::NeverBegan { generation: newest });
            }
        }
        self.tell_queue();
        self.give(Input::CaughtUp);
        self.open();
    }

    fn wish(&mut self, what: u8) {
        self.give(match what {
            0..=2 => Input::Interrupt,
            3 => Input::Stop,
            4 => Input::ForceEnd,
            5..=7 => Input::Resume,
            8 => Input::ReleaseQueue,
            9 | 10 => Input::TryAgain,
            _ => Input::Restart,
        });
    }

    fn edit(&mut self, what: u8, which: u8) {
        let Some(number) = self.queue.get(usize::from(which)).copied() else {
            return;
        };
        match what {
            0 => {
                self.queue.retain(|one| *one != number);
                self.tell_queue();
            }
            1 => {
                self.queue.retain(|one| *one != number);
                self.queue.insert(0, number);
                self.tell_queue();
            }
            _ => self.give(Input::SendNow(message(number))),
        }
    }

    fn host(&mut self, what: u8) {
        match what {
            0 => self.give(Input::DiskPaused),
            1 => self.give(Input::DiskResumed),
            2 if self.agent.is_some() => self.give(Input::Unreachable),
            3 => self.give(Input::Budget {
                spent: 2.0,
                budget: Some(1.0),
            }),
            4 => self.give(Input::Budget {
                spent: 2.0,
                budget: None,
            }),
            5 => self.restart(false),
            8 => self.restart(true),
            6 => self.give(Input::Children { others: 0 }),
            _ => self.give(Input::MakeRoom),
        }
    }
}
