//! The core of a session, by tables and at random.
//!
//! Every row of ground truth that says when a turn begins, ends or asks is a table here: lines as the CLI writes them go
//! in, states and effects come out. The recordings of three versions and a model of the states hold the rest. Each step of
//! each test is also made by a core that was stored and restored.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agents;
mod background;
mod chosen;
mod crashes;
mod interrupts;
mod lines;
mod model;
mod pauses;
mod queue;
mod reading;
mod recordings;
mod restarts;
mod results;
mod stage;
mod starts;
