//! A host of one build is replaced by a host of another while twenty agents are in the middle of a turn, each with five
//! open questions: all go on.

use crate::checks::Extent;
use crate::figures::Figures;
use crate::host::Host;
use crate::orders::{Decide, Leave, Orders};
use crate::procs;
use crate::scenes;
use crate::stage::{Stage, lines};
use crate::wait::Dice;

const AGENTS: usize = 20;
const OPEN: usize = 5;

#[test]
fn twenty_agents_go_on_under_the_next_build() {
    let name = "upgrade of the host, 20 agents";
    let mut dice = Dice::of(name);
    let mut figures = Figures::of(name);
    let stages: Vec<Stage> = (0..AGENTS)
        .map(|_| Stage::scripted(scenes::TALKING, &mut dice))
        .collect();
    let sessions = stages.iter().map(|stage| {
        let messages = stage.messages(2, &mut dice);
        stage.task(&messages)
    });
    let first = &stages[0];
    let mut orders = Orders {
        sessions: sessions.collect(),
        decide: Decide::Hold,
        leave: Leave::Never,
        ..first.orders(&[])
    };
    let mut build_a = Host::start("test_host", first.root(), &orders);
    build_a.until_so_many("question", AGENTS * OPEN);
    let busy = stages.iter().filter(|stage| is_mid_turn(stage));
    assert_eq!(busy.count(), AGENTS, "all are in the middle of a turn");
    procs::signal(build_a.pid(), rustix::process::Signal::TERM);
    build_a.until_left();

    orders.decide = Decide::Allow;
    orders.leave = Leave::EndWhenDone;
    let mut build_b = Host::start("test_host_next", first.root(), &orders);
    let attached = build_b.until_so_many("attached", AGENTS);
    for event in &attached {
        let open = event["open"].as_array().map(Vec::len);
        assert_eq!((open, &event["generation"]), (Some(OPEN), &1.into()));
    }
    build_b.until_left();
    let told = build_b.events("started");
    assert_eq!(told[0]["build"], "test-host B");
    for stage in &stages {
        let wrong = stage.violations(Extent::Whole);
        assert!(wrong.is_empty(), "{}\n{}", lines(&wrong), stage.story());
        assert_eq!(stage.ran().len(), 2 * OPEN);
        assert_eq!(
            stage.journal().generations(),
            [1],
            "nobody was started again"
        );
        figures.session(&stage.case());
        figures.round(true);
    }
    figures.tell();
}

/// It was asked something and has not said the result.
fn is_mid_turn(stage: &Stage) -> bool {
    let journal = stage.journal();
    let results = journal.said().filter(|(_, line)| line["type"] == "result");
    results.count() == 0
}
