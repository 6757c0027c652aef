//! An agent that takes its time to end, and hosts that are killed meanwhile.
//!
//! Owns the single cases; `storm` draws them at random. Shown: what a person wanted while the agent ended comes about, once,
//! and whatever a session was at, it can be stopped.

use countersign_host::control::Command;

use crate::accounts::Died;
use crate::hosted::Hosted;
use crate::orders::{Leave, Ordered, Orders};
use crate::scenes;
use crate::stage::Stage;
use crate::wait::{self, Dice};

/// The end of such an agent, by all steps: a second and a half.
pub(crate) const GRACES: [u64; 3] = [200, 400, 5_000];

/// Orders that are never done with.
fn for_ever(stage: &Stage, commands: &[Ordered]) -> Orders {
    Orders {
        leave: Leave::Never,
        graces_ms: GRACES,
        ..stage.orders(commands)
    }
}

fn until_done(host: &Hosted, count: usize) {
    let done = || (host.events("receipt").len() >= count).then_some(());
    wait::found("all is acknowledged", || host.story(), done);
}

fn stop(stage: &Stage) -> Ordered {
    let session = stage.id();
    stage.order("stop", Command::Stop { session })
}

/// A host that is killed right behind the receipts of a stop and of a resume, while the agent ends.
fn killed_while_it_ends(stage: &Stage, commands: &mut Vec<Ordered>, dice: &mut Dice) {
    commands.extend(stage.messages(1, dice));
    let mut orders = for_ever(stage, commands);
    orders.leave = Leave::AtRest;
    stage.host(&orders).until_at_rest();
    let more = [stop(stage), stage.resume("resume", dice)];
    let mut host = stage.host(&for_ever(stage, &more));
    until_done(&host, more.len());
    wait::until("the keeper was told", || {
        !stage.journal().events("ending").is_empty()
    });
    host.kill();
    stage.note(&host);
    commands.extend(more);
}

/// The next host finds that the agent has ended, and from that follows the next start: it is not taken for one that an
/// earlier host had stored and that never came about.
#[test]
fn a_resume_while_the_agent_ends_outlives_the_host_and_starts_one_agent() {
    let mut dice = Dice::of("ends without a host");
    let stage = Stage::scripted(scenes::SLOW_END, &mut dice);
    let mut commands = Vec::new();
    killed_while_it_ends(&stage, &mut commands, &mut dice);
    wait::until("the agent has ended", || {
        !stage.journal().events("exit").is_empty()
    });
    let mut orders = for_ever(&stage, &commands);
    orders.leave = Leave::AtRest;
    let mut next = stage.host(&orders);
    let report = next.until_at_rest();
    stage.note(&next);
    assert_eq!(report["session"]["generation"], 2, "{report:#}");
    stage.assert_kept(&commands, &report, Died::Agents, "ends without a host");
}

/// The same with hosts that go while the agent still ends, one after the other.
#[test]
fn hosts_that_go_while_an_agent_ends_leave_no_session_that_starts_for_ever() {
    let mut dice = Dice::of("ends under many hosts");
    let stage = Stage::scripted(scenes::SLOW_END, &mut dice);
    let mut commands = Vec::new();
    killed_while_it_ends(&stage, &mut commands, &mut dice);
    for _ in 0..3 {
        let mut host = stage.host(&for_ever(&stage, &[]));
        host.until("open");
        // Not a wait: where in the recovery it goes is what is drawn.
        std::thread::sleep(dice.moment(std::time::Duration::from_millis(600)));
        host.kill();
    }
    let mut orders = for_ever(&stage, &commands);
    orders.leave = Leave::AtRest;
    let mut next = stage.host(&orders);
    let report = next.until_at_rest();
    stage.note(&next);
    stage.assert_kept(&commands, &report, Died::Agents, "ends under many hosts");
}

/// A keeper that stands still is no reason to leave a session as it is.
#[test]
fn a_stop_settles_a_session_whose_keeper_stands_still() {
    let mut dice = Dice::of("stands still");
    let stage = Stage::scripted(scenes::SLOW_END, &mut dice);
    let commands = stage.messages(1, &mut dice);
    stage.host(&stage.orders(&commands)).until_at_rest();
    let keeper = stage.pid_of("keeper").expect("a keeper");
    crate::procs::signal(keeper, rustix::process::Signal::STOP);
    let mut orders = for_ever(&stage, &[]);
    orders.leave = Leave::OutOfReach;
    stage.host(&orders).until_at_rest();
    let mut orders = for_ever(&stage, &[stop(&stage)]);
    orders.leave = Leave::Off;
    let limit = std::time::Duration::from_secs(240);
    let report = stage.host(&orders).until_at_rest_within(limit);
    assert_eq!(report["session"]["state"], "stopped", "{report:#}");
    wait::until("nothing is left running", || stage.processes().is_empty());
    let resumed = [stage.resume("resume", &mut dice)];
    let report = stage.host(&stage.orders(&resumed)).until_at_rest();
    assert_eq!(report["session"]["generation"], 2, "{report:#}");
}
