//! The end of an agent, gently first: close its stdin, SIGTERM, SIGKILL, then what it left running.
//!
//! Owns the graces and the order; what comes before the closing of stdin (interrupt, the turn's result) is the
//! session's, which knows of turns. Invariant: it comes to an end, whatever the agent does.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use countersign_process::Swept;
use tokio::time::{Instant, timeout};

use super::{AgentProcess, Exit};

/// How long an agent may take on each rung of its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Graces {
    /// For the reply to an interrupt.
    pub interrupt: Duration,
    /// For the result of the interrupted turn.
    pub result: Duration,
    /// To end by itself after its stdin was closed.
    pub close: Duration,
    /// The same while background work runs, which the agent waits for.
    pub background: Duration,
    /// To end after SIGTERM.
    pub term: Duration,
    /// To be gone after SIGKILL. Only a process that the kernel holds takes longer.
    pub kill: Duration,
}

impl Graces {
    /// No grace at all: SIGKILL at once.
    pub fn at_once() -> Self {
        Graces {
            interrupt: Duration::ZERO,
            result: Duration::ZERO,
            close: Duration::ZERO,
            background: Duration::ZERO,
            term: Duration::ZERO,
            ..Graces::default()
        }
    }
}

impl Default for Graces {
    fn default() -> Self {
        Graces {
            interrupt: Duration::from_secs(2),
            result: Duration::from_secs(5),
            close: Duration::from_secs(5),
            background: Duration::from_secs(60),
            term: Duration::from_secs(3),
            kill: Duration::from_secs(2),
        }
    }
}

/// How far down an ending had to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub(crate) enum Rung {
    /// It had ended before it was asked to.
    Itself,
    /// It ended when its stdin was closed.
    StdinClosed,
    /// It took SIGTERM.
    Terminated,
    /// It took SIGKILL.
    Killed,
    /// The kernel holds it. It goes as soon as it is let go.
    Stuck,
}

/// How an agent was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Ended {
    /// The last rung that was needed.
    pub rung: Rung,
    /// Its exit; none if it is [`Rung::Stuck`].
    pub exit: Option<Exit>,
    /// From the closing of its stdin to its end.
    pub took: Duration,
    /// What it left running, and is gone now.
    pub swept: Swept,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let took = Took(self.took);
        match self.rung {
            Rung::Itself => f.write_str("had ended by itself")?,
            Rung::StdinClosed => write!(f, "ended by itself {took} after stdin was closed")?,
            Rung::Terminated => write!(f, "ended by SIGTERM {took} after stdin was closed")?,
            Rung::Killed => write!(f, "ended by SIGKILL {took} after stdin was closed")?,
            Rung::Stuck => write!(f, "not gone {took} after stdin was closed, despite SIGKILL")?,
        }
        if let Some(exit) = self.exit {
            write!(f, ": {exit}")?;
        }
        if !self.swept.ended.is_empty() {
            let names: Vec<_> = self.swept.ended.iter().map(ToString::to_string).collect();
            write!(f, "; it had left running, now ended: {}", names.join(", "))?;
        }
        Ok(())
    }
}

struct Took(Duration);

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            millis @ ..1000 => write!(f, "{millis} ms"),
            _ => write!(f, "{:.1} s", self.0.as_secs_f64()),
        }
    }
}

/// What can be ended.
pub(crate) trait Endable {
    /// Closes its stdin.
    fn close_stdin(&mut self);
    /// Whether background work runs that it will wait for.
    fn has_background_work(&self) -> bool;
    /// Whether its process has ended, even if some of its output is still to come.
    fn has_ended(&mut self) -> bool;
    /// Its end, once its output was given a moment. May be dropped and called again.
    fn exited(&mut self) -> impl Future<Output = Exit> + Send;
    /// Asks it to end.
    fn terminate(&mut self);
    /// Ends it.
    fn kill(&mut self);
    /// Ends what it left running.
    fn sweep(&mut self) -> impl Future<Output = Swept> + Send;
}

/// Ends it, from the closing of stdin on. Dropped half-way, it has gone as far as it has.
pub(crate) async fn end<E: Endable + Send>(agent: &mut E, graces: &Graces) -> Ended {
    let start = Instant::now();
    let (rung, exit) = descend(agent, graces).await;
    let took = start.elapsed();
    Ended {
        rung,
        exit,
        took,
        swept: agent.sweep().await,
    }
}

async fn descend<E: Endable + Send>(agent: &mut E, graces: &Graces) -> (Rung, Option<Exit>) {
    if agent.has_ended() {
        agent.close_stdin();
        return (Rung::Itself, Some(agent.exited().await));
    }
    let close = match agent.has_background_work() {
        true => graces.close.max(graces.background),
        false => graces.close,
    };
    agent.close_stdin();
    if let Some(exit) = exit_within(agent, close).await {
        return (Rung::StdinClosed, Some(exit));
    }
    agent.terminate();
    if let Some(exit) = exit_within(agent, graces.term).await {
        return (Rung::Terminated, Some(exit));
    }
    agent.kill();
    match exit_within(agent, graces.kill).await {
        Some(exit) => (Rung::Killed, Some(exit)),
        None => (Rung::Stuck, None),
    }
}

async fn exit_within<E: Endable + Send>(agent: &mut E, grace: Duration) -> Option<Exit> {
    match timeout(grace, agent.exited()).await {
        Ok(exit) => Some(exit),
        // It ended in time and only its output is late: the next rung is not for it.
        Err(_) if agent.has_ended() => Some(agent.exited().await),
        Err(_) => None,
    }
}

/// An agent's process with its stdin, wherever the session keeps that: `close` drops it.
#[derive(Debug)]
pub(crate) struct Running<'a, C> {
    /// The process.
    pub process: &'a mut AgentProcess,
    /// Closes stdin; called once or more.
    pub close: C,
    /// Whether background work runs.
    pub background: bool,
}

impl<C: FnMut() + Send> Endable for Running<'_, C> {
    fn close_stdin(&mut self) {
        (self.close)();
    }

    fn has_background_work(&self) -> bool {
        self.background
    }

    fn has_ended(&mut self) -> bool {
        self.process.has_ended()
    }

    fn exited(&mut self) -> impl Future<Output = Exit> + Send {
        self.process.wait()
    }

    fn terminate(&mut self) {
        self.process.terminate();
    }

    fn kill(&mut self) {
        self.process.kill();
    }

    fn sweep(&mut self) -> impl Future<Output = Swept> + Send {
        self.process.sweep()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An agent that ends so long after each rung; None: not by that.
    struct Scripted {
        after_close: Option<Duration>,
        after_term: Option<Duration>,
        after_kill: Option<Duration>,
        background: bool,
        ends_at: Option<Instant>,
        /// How long its output stays open after its end.
        output: Duration,
        told: Vec<&'static str>,
    }

    impl Scripted {
        fn new(seconds: [Option<u64>; 3]) -> Self {
            let [after_close, after_term, after_kill] =
                seconds.map(|seconds| seconds.map(Duration::from_secs));
            Scripted {
                after_close,
                after_term,
                after_kill,
                background: false,
                ends_at: None,
                output: Duration::ZERO,
                told: Vec::new(),
            }
        }

        fn tell(&mut self, what: &'static str, ends_after: Option<Duration>) {
            self.told.push(what);
            let at = ends_after.map(|after| Instant::now() + after);
            self.ends_at = self.ends_at.or(at);
        }
    }

    impl Endable for Scripted {
        fn close_stdin(&mut self) {
            self.tell("close", self.after_close);
        }
        fn has_background_work(&self) -> bool {
            self.background
        }
        fn has_ended(&mut self) -> bool {
            self.ends_at.is_some_and(|at| at <= Instant::now())
        }
        async fn exited(&mut self) -> Exit {
            match self.ends_at {
                Some(at) => tokio::time::sleep_until(at + self.output).await,
                None => std::future::pending().await,
            }
            Exit {
                code: Some(0),
                signal: None,
            }
        }
        fn terminate(&mut self) {
            self.tell("term", self.after_term);
        }
        fn kill(&mut self) {
            self.tell("kill", self.after_kill);
        }
        async fn sweep(&mut self) -> Swept {
            self.told.push("sweep");
            Swept::default()
        }
    }

    async fn ended(agent: &mut Scripted) -> (Rung, u64, String) {
        let ended = end(agent, &Graces::default()).await;
        (ended.rung, ended.took.as_secs(), ended.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn closing_stdin_is_enough_for_one_that_ends_in_time() {
        let mut agent = Scripted::new([Some(4), None, None]);
        let (rung, took, words) = ended(&mut agent).await;
        assert_eq!((rung, took), (Rung::StdinClosed, 4));
        assert_eq!(
            words,
            "ended by itself 4.0 s after stdin was closed: exit code 0"
        );
        assert_eq!(agent.told, ["close", "sweep"]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_does_not_end_gets_sigterm_after_the_grace() {
        let mut agent = Scripted::new([None, Some(1), None]);
        let (rung, took, words) = ended(&mut agent).await;
        assert_eq!((rung, took), (Rung::Terminated, 6));
        assert_eq!(
            words,
            "ended by SIGTERM 6.0 s after stdin was closed: exit code 0"
        );
        assert_eq!(agent.told, ["close", "term", "sweep"]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_ignores_sigterm_is_killed() {
        let mut agent = Scripted::new([None, None, Some(0)]);
        let (rung, took, _) = ended(&mut agent).await;
        assert_eq!((rung, took), (Rung::Killed, 8));
        assert_eq!(agent.told, ["close", "term", "kill", "sweep"]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_nothing_ends_does_not_hold_the_ending() {
        let mut agent = Scripted::new([None, None, None]);
        let (rung, took, words) = ended(&mut agent).await;
        assert_eq!((rung, took), (Rung::Stuck, 10));
        assert_eq!(
            words,
            "not gone 10.0 s after stdin was closed, despite SIGKILL"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn background_work_gets_the_longer_grace() {
        let mut agent = Scripted::new([Some(50), None, None]);
        agent.background = true;
        assert_eq!(ended(&mut agent).await.0, Rung::StdinClosed);
        let mut agent = Scripted::new([None, Some(0), None]);
        agent.background = true;
        let (rung, took, _) = ended(&mut agent).await;
        assert_eq!((rung, took), (Rung::Terminated, 60));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_had_ended_is_not_asked() {
        let mut agent = Scripted::new([None, None, None]);
        agent.ends_at = Some(Instant::now());
        let (rung, took, words) = ended(&mut agent).await;
        assert_eq!((rung, took), (Rung::Itself, 0));
        assert_eq!(words, "had ended by itself: exit code 0");
        assert_eq!(agent.told, ["close", "sweep"]);
    }

    #[tokio::test(start_paused = true)]
    async fn late_output_of_one_that_ended_in_time_moves_no_rung() {
        let mut agent = Scripted::new([Some(4), None, None]);
        agent.output = Duration::from_secs(2);
        assert_eq!(ended(&mut agent).await.0, Rung::StdinClosed);
        assert_eq!(agent.told, ["close", "sweep"]);
    }
}
