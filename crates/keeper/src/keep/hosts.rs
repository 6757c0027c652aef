//! The hosts' side: who connects, who owns the agent, who only looks on.
//!
//! Owns admission and the epoch. Invariants: there is one owner, that of the highest epoch; nobody who was not admitted
//! learns or does anything; the number of connections is bounded, and one more is cut at once.

use std::io;
use std::time::Duration;

use countersign_journal::{KeeperEvent, ProcessName};
use countersign_process::{descendants_of, descends_from, is_from_agent};

use super::client::{Client, Incoming, Rank};
use super::peer::{admit, is_same_secret, peer};
use super::{Keeper, clock};
use crate::protocol::{FromKeeper, PROTO, Refusal, Role, Standing, ToKeeper};
use crate::socket::Listening;

/// How many may be connected.
const MOST_CLIENTS: usize = 64;

/// How long a host may take to say who it is.
const HELLO_WITHIN: Duration = Duration::from_secs(5);

/// How long one that is cut may take to read what it was told.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// How many messages of one host are taken in a round, so that the agent and other hosts get their turn.
const MOST_MESSAGES: usize = 64;

/// How many descendants of the agent are named, so that a host can always be told in one message.
const MOST_CHILDREN: usize = 4_096;

/// How long nobody is let in when the system has no room for another connection. It stays readable until then.
const DEAF: Duration = Duration::from_millis(500);

/// Somebody turned away is recorded once in this time: a loop of tries must not fill the disk.
const RECORD_REFUSED_EVERY: Duration = Duration::from_secs(1);

impl Keeper {
    pub(super) fn on_connection(&mut self) {
        for _ in 0..MOST_CLIENTS {
            let stream = match self.listening.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) => return self.on_no_connection(&error),
            };
            if !self.has_room_for_one() || stream.set_nonblocking(true).is_err() {
                continue;
            }
            let own = std::process::id();
            let kin = [own, self.facts.guard.unwrap_or(own)];
            let uid = rustix::process::getuid().as_raw();
            let peer = peer(&stream).ok();
            // Another agent's shell is no host either: it can read the secret, and one would answer for the other.
            let is_agents = |pid| match descends_from(pid, &kin) {
                Some(false) => is_from_agent(pid),
                found => found,
            };
            let admitted = peer
                .ok_or(Refusal::Peer)
                .and_then(|peer| admit(peer, uid, is_agents));
            let until = clock::boot() + HELLO_WITHIN;
            let pid = peer.and_then(|peer| peer.pid);
            let mut client = Client::new(self.next_client, stream, pid, until);
            client.refusal = admitted.err();
            self.next_client += 1;
            self.clients.push(client);
        }
    }

    fn on_no_connection(&mut self, error: &io::Error) {
        use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
        if !matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted) {
            self.deaf_until = Some(clock::boot() + DEAF);
            self.log(&format!("cannot let anybody in for a moment: {error}"));
        }
    }

    /// A stranger makes room for the next, one that was turned away first: nobody keeps a host out by connecting often.
    fn has_room_for_one(&mut self) -> bool {
        if self.clients.len() < MOST_CLIENTS {
            return true;
        }
        let strangers = self
            .clients
            .iter()
            .filter(|client| client.until().is_some());
        let first = strangers.min_by_key(|client| (client.refusal.is_none(), client.id));
        let Some(id) = first.map(|client| client.id) else {
            return false;
        };
        self.cut(id);
        true
    }

    pub(super) fn on_client(&mut self, id: u64) {
        let Some(client) = self.client(id) else {
            return;
        };
        if client.is_leaving() {
            return;
        }
        if !client.has_more() && !client.read() {
            return self.cut(id);
        }
        if let Some(why) = client.refusal {
            return self.turn_away(id, why);
        }
        let mut has_more = true;
        for _ in 0..MOST_MESSAGES {
            has_more = self.take_message(id);
            if !has_more {
                break;
            }
        }
        if let Some(client) = self.client(id) {
            client.more |= has_more;
        }
    }

    /// Takes one message of a host. `false` if no other is to be taken in this round.
    fn take_message(&mut self, id: u64) -> bool {
        let Some(client) = self.client(id) else {
            return false;
        };
        client.more = false;
        if client.is_leaving() {
            return false;
        }
        if client.is_full() {
            self.cut(id);
            return false;
        }
        match client.next() {
            Ok(None) => return false,
            Ok(Some(Incoming::Message(message))) => {
                // A look at all processes takes its time: one in a round.
                let is_long = matches!(message, ToKeeper::Status);
                client.more = is_long;
                self.on_message(id, message);
                return !is_long;
            }
            Ok(Some(Incoming::Put(put))) => self.on_put(put),
            Err(why) => self.turn_away(id, why),
        }
        true
    }

    fn on_message(&mut self, id: u64, message: ToKeeper) {
        let Some(rank) = self.client(id).map(|client| client.rank) else {
            return;
        };
        match (rank, message) {
            (
                Rank::Stranger(_),
                ToKeeper::Hello {
                    proto,
                    epoch,
                    token,
                    role,
                },
            ) => match self.greet(id, proto, epoch, &token, role) {
                Ok(()) => {}
                Err(why) => self.turn_away(id, why),
            },
            (Rank::Owner | Rank::Watcher, ToKeeper::Status) => {
                let standing = self.standing(id);
                self.say(id, &FromKeeper::Status(standing));
            }
            (Rank::Owner, ToKeeper::End { plan, why }) => self.end(plan, &why),
            (Rank::Owner, ToKeeper::Sync) => {
                let told = if self.sync() {
                    FromKeeper::Synced {
                        seq: self.book.synced(),
                    }
                } else {
                    refused(Refusal::Sync)
                };
                self.say(id, &told);
            }
            (Rank::Watcher, ToKeeper::End { .. } | ToKeeper::Sync) => {
                self.say(id, &refused(Refusal::Role));
            }
            _ => self.turn_away(id, Refusal::Protocol),
        }
    }

    fn greet(
        &mut self,
        id: u64,
        proto: u32,
        epoch: u64,
        token: &str,
        role: Role,
    ) -> Result<(), Refusal> {
        if !is_same_secret(token, &self.facts.token) {
            return Err(Refusal::Token);
        }
        if proto == 0 {
            return Err(Refusal::Protocol);
        }
        let rank = match role {
            Role::Watch => Rank::Watcher,
            Role::Own => {
                self.take_over(epoch)?;
                Rank::Owner
            }
        };
        let standing = self.standing(id);
        if let Some(client) = self.client(id) {
            client.rank = rank;
            client.say(&FromKeeper::Welcome(standing));
        }
        Ok(())
    }

    /// Makes room for an owner of that epoch. One of the same epoch is the same host, whose connection broke: it may come
    /// back, but not twice at once.
    fn take_over(&mut self, epoch: u64) -> Result<(), Refusal> {
        let owner = self.owner().map(|owner| owner.id);
        if epoch < self.epoch || (epoch == self.epoch && owner.is_some()) {
            return Err(Refusal::Epoch);
        }
        if let Some(owner) = owner {
            self.say(owner, &FromKeeper::Superseded);
            self.leave(owner);
        }
        self.epoch = epoch;
        self.record(&KeeperEvent::Attached { epoch });
        Ok(())
    }

    fn standing(&self, id: u64) -> Standing {
        let agent = self.agent.is_running().then_some(self.agent.name);
        // Orphans of the agent are this process's children, not below the agent any more.
        let children = descendants_of(std::process::id())
            .into_iter()
            .filter(|one| one.pid != self.agent.name.pid)
            .take(MOST_CHILDREN);
        Standing {
            proto: PROTO,
            build: self.habits.build.clone(),
            session: self.facts.session.clone(),
            generation: self.facts.generation,
            agent,
            tail: self.book.tail(),
            synced: self.book.synced(),
            last_n: self.numbers.last(),
            epoch: self.epoch,
            connection: id + 1,
            open: self.questions.list(),
            unwritten: self.stdin.unwritten(),
            children: children
                .map(|one| ProcessName {
                    pid: one.pid,
                    command: one.command,
                })
                .collect(),
            paused: self.paused.map(|pause| pause.errno),
            ending: self.plan.step().map(|step| step.name().to_owned()),
        }
    }

    fn turn_away(&mut self, id: u64, why: Refusal) {
        let Some(client) = self.client(id) else {
            return;
        };
        let pid = client.pid;
        client.say(&refused(why));
        self.leave(id);
        let why = serde_json::to_value(why).ok();
        let why = why.as_ref().and_then(|why| why.as_str());
        self.record_turned_away(why.unwrap_or_default(), pid);
    }

    /// Somebody, or something that the agent asked, was not let in.
    pub(super) fn record_turned_away(&mut self, why: &str, pid: Option<u32>) {
        let now = clock::boot();
        let recorded = self.refused_at.unwrap_or_default();
        if self.refused_at.is_none() || now >= recorded + RECORD_REFUSED_EVERY {
            self.refused_at = Some(now);
            self.record(&KeeperEvent::Refused {
                why: why.to_owned(),
                pid,
            });
        }
    }

    /// What is said to this client is still written, then it is cut.
    fn leave(&mut self, id: u64) {
        let Some(client) = self.client(id) else {
            return;
        };
        let was_owner = client.rank == Rank::Owner;
        client.rank = Rank::Leaving(clock::boot() + LEAVE_WITHIN);
        if was_owner {
            let epoch = self.epoch;
            self.record(&KeeperEvent::Detached { epoch });
        }
    }

    fn cut(&mut self, id: u64) {
        self.leave(id);
        self.clients.retain(|client| client.id != id);
    }

    /// Those who have not said hello in time, or have not read why they are turned away.
    pub(super) fn cut_late(&mut self, now: Duration) {
        let is_late = |client: &Client| client.until().is_some_and(|until| until <= now);
        self.clients.retain(|client| !is_late(client));
    }

    /// Writes to everybody what they take, and cuts those who do not read.
    pub(super) fn write_to_hosts(&mut self) {
        let lost: Vec<u64> = self
            .clients
            .iter_mut()
            .filter_map(|client| (!client.write()).then_some(client.id))
            .collect();
        for id in lost {
            self.cut(id);
        }
    }

    pub(super) fn tell_tail(&mut self) {
        let tail = self.book.tail();
        for client in &mut self.clients {
            client.tell_tail(tail);
        }
    }

    pub(super) fn say_to_all(&mut self, message: &FromKeeper) {
        for client in &mut self.clients {
            if matches!(client.rank, Rank::Owner | Rank::Watcher) {
                client.say(message);
            }
        }
    }

    pub(super) fn say_to_owner(&mut self, message: &FromKeeper) {
        if let Some(owner) = self.owner() {
            owner.say(message);
        }
    }

    fn say(&mut self, id: u64, message: &FromKeeper) {
        if let Some(client) = self.client(id) {
            client.say(message);
        }
    }

    pub(super) fn owner(&mut self) -> Option<&mut Client> {
        let mut clients = self.clients.iter_mut();
        clients.find(|client| client.rank == Rank::Owner)
    }

    fn client(&mut self, id: u64) -> Option<&mut Client> {
        self.clients.iter_mut().find(|client| client.id == id)
    }

    /// Login managers empty the folders that sockets are in. Whoever is connected stays so.
    pub(super) fn bind_anew_if_gone(&mut self) {
        if self.listening.is_there() {
            return;
        }
        let bound = Listening::bind(&self.facts.run, self.folder.path());
        let told = bound.and_then(|listening| {
            self.listening = listening;
            let json = self.facts.keeper_json(&self.listening, &self.habits);
            self.folder.write_keeper_json(&json)
        });
        if let Err(error) = told {
            self.log(&format!("cannot listen anew: {error}"));
        }
    }
}

fn refused(why: Refusal) -> FromKeeper {
    FromKeeper::Refused {
        reference: None,
        why,
        seq: None,
    }
}
