//! The lifecycle storm: commands that start, end and change an agent, on one that takes its time to end, while hosts, keepers
//! and guards are killed.
//!
//! Owns the rounds. In each, hosts are told a handful of commands drawn at random and die with keepers and guards around them;
//! then one host is left alone with a resume, and everything must come to rest: nothing that was acknowledged lost or doubled,
//! one agent at a time, a session that goes on. Sessions are drawn each for itself: `FAULTS_SEED=… FAULTS_SESSION=…` plays one
//! again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use countersign_host::control::{Command, Mode};

use crate::accounts::Died;
use crate::figures::Figures;
use crate::hosted::Hosted;
use crate::orders::{Leave, Ordered, Orders};
use crate::procs::{self, Process};
use crate::scenes;
use crate::slow_end::GRACES;
use crate::stage::{Stage, lines};
use crate::wait::{self, Dice};

/// So many rounds are one session.
const SESSION: u32 = 6;

/// How long a session may take to come to rest. Far more than it takes, on a machine six times too slow, too.
const REST: Duration = Duration::from_secs(300);

/// Who is killed in the middle of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Host,
    Keeper,
    Guard,
    Both,
    /// Keeper and host at once: nobody sees the other go.
    KeeperAndHost,
    Nobody,
}

const VICTIMS: [Victim; 8] = [
    Victim::Host,
    Victim::Host,
    Victim::Host,
    Victim::Keeper,
    Victim::Guard,
    Victim::Both,
    Victim::KeeperAndHost,
    Victim::Nobody,
];

/// One session of the storm and what was said in it so far.
struct Storm {
    stage: Stage,
    dice: Dice,
    commands: Vec<Ordered>,
    messages: u32,
    keys: u32,
}

fn storm(name: &'static str, count: u32) {
    let mut figures = Figures::of(name);
    let only = std::env::var("FAULTS_SESSION").ok();
    let only: Option<u32> = only.map(|text| text.parse().expect("a whole number"));
    for session in 0..count.div_ceil(SESSION) {
        if only.is_some_and(|only| only != session) {
            continue;
        }
        let of = format!("{name}, FAULTS_SESSION={session}");
        let mut dice = Dice::of(&of);
        let mut storm = Storm {
            stage: Stage::scripted(scenes::SLOW_END, &mut dice),
            dice,
            commands: Vec::new(),
            messages: 0,
            keys: 0,
        };
        storm.begin();
        for round in 0..SESSION.min(count - session * SESSION) {
            let when = format!("{of}, round {round}");
            storm.round(&when, &mut figures);
        }
        figures.session(&storm.stage.case());
    }
    figures.tell();
}

impl Storm {
    fn begin(&mut self) {
        self.commands = self.stage.messages(1, &mut self.dice);
        self.messages = 1;
        let mut host = self.stage.host(&self.orders(&self.commands, Leave::AtRest));
        host.until_at_rest_within(REST);
        self.stage.note(&host);
    }

    fn orders(&self, commands: &[Ordered], leave: Leave) -> Orders {
        Orders {
            leave,
            graces_ms: GRACES,
            ..self.stage.orders(commands)
        }
    }

    fn round(&mut self, when: &str, figures: &mut Figures) {
        let mut story = Vec::new();
        let mut is_hit = false;
        for _ in 0..=self.dice.below(3) {
            is_hit |= self.one_host(&mut story);
        }
        let started = Instant::now();
        let key = self.key("settle");
        let session = self.stage.id();
        let settle = [
            self.stage
                .order(&format!("{key} back"), Command::Restore { session }),
            self.stage.resume(&key, &mut self.dice),
        ];
        self.commands.extend(settle.clone());
        let orders = self.orders(&settle, Leave::AtRest);
        let mut host = self.stage.host(&orders);
        self.one_agent(&mut host, when);
        let report = host.until_at_rest_within(REST);
        self.stage.note(&host);
        figures.recovered(started.elapsed());
        let wrong = self.stage.wrong(&self.commands, &report, Died::Agents);
        assert!(
            wrong.is_empty(),
            "{when}: {story:#?}\n{}\n{}",
            lines(&wrong),
            self.stage.story()
        );
        figures.round(is_hit);
    }

    /// A host that is told some of it, and whoever is killed meanwhile. Whether somebody was.
    fn one_host(&mut self, story: &mut Vec<String>) -> bool {
        let count = 1 + self.dice.below(5);
        let commands: Vec<Ordered> = (0..count).map(|_| self.command()).collect();
        let victim = self.dice.pick(&VICTIMS);
        let moment = self.dice.moment(Duration::from_millis(1_500));
        let pauses: Vec<u64> = commands.iter().map(|_| self.dice.below(200)).collect();
        let told: Vec<&str> = commands.iter().map(|it| it.key.as_str()).collect();
        story.push(format!("{told:?} {pauses:?}, {victim:?} at {moment:?}"));
        let mut orders = self.orders(&commands, Leave::Never);
        orders.pauses = pauses;
        self.commands.extend(commands);
        let mut host = self.stage.host(&orders);
        // Not a wait: the point itself is what is drawn.
        std::thread::sleep(moment);
        let is_hit = self.kill(victim, &mut host);
        // A host that is left sees what it is told of the others' end, or does not.
        std::thread::sleep(self.dice.moment(Duration::from_millis(400)));
        if host.ended().is_none() {
            host.kill();
        }
        host.until_ended();
        self.stage.note(&host);
        is_hit
    }

    fn kill(&self, victim: Victim, host: &mut Hosted) -> bool {
        let named: &[&str] = match victim {
            Victim::Host | Victim::Nobody => &[],
            Victim::Keeper | Victim::KeeperAndHost => &["keeper"],
            Victim::Guard => &["guard"],
            Victim::Both => &["keeper", "guard"],
        };
        let is_host = matches!(victim, Victim::Host | Victim::KeeperAndHost);
        if is_host {
            procs::kill(host.pid());
        }
        // Only who is one of the stage's: the file may name somebody who has long gone.
        let all = self.stage.processes();
        let pids = named.iter().filter_map(|who| self.stage.pid_of(who));
        let pids: Vec<u32> = pids
            .filter(|pid| all.iter().any(|it| it.pid == *pid))
            .collect();
        for pid in &pids {
            procs::kill(*pid);
        }
        is_host || !pids.is_empty()
    }

    fn key(&mut self, what: &str) -> String {
        self.keys += 1;
        format!("{what} {}", self.keys)
    }

    fn command(&mut self) -> Ordered {
        let session = self.stage.id();
        let (what, command) = match self.dice.below(16) {
            0..=3 => ("stop", Command::Stop { session }),
            4..=6 => {
                let key = self.key("resume");
                return self.stage.resume(&key, &mut self.dice);
            }
            7 | 8 => {
                let text = format!("m{}", self.messages);
                self.messages += 1;
                return self.stage.send(&text, &mut self.dice);
            }
            9 | 10 => ("interrupt", Command::Interrupt { session }),
            11 => ("trash", Command::Trash { session }),
            12 => ("restore", Command::Restore { session }),
            13 => {
                let mode = self.dice.pick(&[Mode::Ask, Mode::Edits]);
                ("mode", Command::SetMode { session, mode })
            }
            14 => {
                let model = self.dice.pick(&[None, Some("opus"), Some("sonnet")]);
                let model = model.map(str::to_owned);
                ("model", Command::SetModel { session, model })
            }
            _ => ("force end", Command::ForceEnd { session }),
        };
        let key = self.key(what);
        self.stage.order(&key, command)
    }

    /// Looks on until the host has ended: there is never more than one agent.
    fn one_agent(&self, host: &mut Hosted, when: &str) {
        wait::within(REST, || {
            let agents = self.agents();
            let both = agents.len() > 1 && {
                let again = self.agents();
                agents.iter().filter(|it| again.contains(it)).count() > 1
            };
            assert!(!both, "{when}: two agents: {agents:?}\n{}", host.story());
            std::thread::sleep(Duration::from_millis(20));
            host.ended()
        });
    }

    /// What keepers have started: a witness before its CLI.
    fn agents(&self) -> BTreeSet<(u32, u64)> {
        let all = self.stage.processes().into_iter();
        let witnesses = all.filter(|it| it.command.starts_with("hosted_witn"));
        let witnesses: Vec<Process> = witnesses.collect();
        // One that is about to become its CLI still has its name.
        let is_child = |it: &Process| witnesses.iter().any(|parent| parent.pid == it.parent);
        let agents = witnesses.iter().filter(|it| !is_child(it));
        agents.map(|it| (it.pid, it.started)).collect()
    }
}

mod scripted {
    use super::*;

    // Three at a time, so that a machine with more than one core is done sooner.

    #[test]
    fn commands_race_kills_while_agents_take_their_time_to_end_first_third() {
        storm("whole host, storm 1 of 3, scripted", wait::share(25, 6));
    }

    #[test]
    fn commands_race_kills_while_agents_take_their_time_to_end_second_third() {
        storm("whole host, storm 2 of 3, scripted", wait::share(25, 6));
    }

    #[test]
    fn commands_race_kills_while_agents_take_their_time_to_end_last_third() {
        storm("whole host, storm 3 of 3, scripted", wait::share(25, 6));
    }
}
