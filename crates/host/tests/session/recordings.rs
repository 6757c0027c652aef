//! The recordings of three versions of the real CLI, played to a core.
//!
//! Owns what must hold for all of them: a turn for each result, nothing left open, nothing stalled, and a session that can
//! go on afterwards.

use std::path::{Path, PathBuf};

use countersign_host::session::{Effect, Input};
use countersign_journal::Kind;
use countersign_wire::recording::{self, Direction};

use crate::stage::{Stage, exited, opened};

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire");
    let mut all = Vec::new();
    for version in std::fs::read_dir(folder).unwrap() {
        let version = version.unwrap().path();
        for file in std::fs::read_dir(version).into_iter().flatten() {
            all.push(file.unwrap().path());
        }
    }
    assert!(all.len() > 70, "only {} recordings", all.len());
    all.sort();
    all
}

/// What came of a recording.
#[derive(Default)]
struct Played {
    results: usize,
    ended: usize,
    questions: usize,
    /// The states right before each run ended.
    last: Vec<&'static str>,
    /// Every state there was, each run of the same one once.
    states: Vec<&'static str>,
}

fn play(file: &Path) -> Played {
    let text = std::fs::read(file).unwrap();
    let mut stage = Stage::new();
    let mut played = Played::default();
    let begin = stage.now;
    let mut generation = 0;
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    for line in lines.filter(|line| !line.is_empty()) {
        let entry = recording::entry(line).unwrap();
        stage.now = stage.now.max(begin + entry.at * 1000);
        let effects = match entry.direction {
            Direction::Run => {
                stage.give(Input::Resume);
                stage.give(Input::Admitted);
                generation += 1;
                assert_eq!(stage.core.generation(), generation);
                stage.keeper(&opened(generation));
                stage.give(Input::Attached {
                    generation,
                    paused: None,
                })
            }
            Direction::Out => {
                let line = String::from_utf8_lossy(&entry.line);
                played.results += usize::from(line.contains(r#""type":"result""#));
                stage.raw(Kind::Agent, &entry.line)
            }
            Direction::In => stage.raw(Kind::Host, &entry.line),
            Direction::Err => stage.raw(Kind::Stderr, &entry.line),
            Direction::End => {
                stage.wait(6);
                played.last.push(stage.state());
                let code = String::from_utf8(entry.line).unwrap();
                stage.keeper(&exited(code.trim().parse().unwrap_or(1)))
            }
            other => panic!("{other:?}"),
        };
        let ended = effects
            .iter()
            .filter(|effect| matches!(effect, Effect::TurnEnded { .. }));
        played.ended += ended.count();
        let state = stage.state();
        played.questions += usize::from(state == "needs_you");
        if played.states.last() != Some(&state) {
            played.states.push(state);
        }
    }
    assert_eq!(stage.core.open_questions(), 0, "{}", file.display());
    played
}

#[test]
fn every_recording_leaves_a_session_at_rest_with_a_turn_for_each_result() {
    for file in recordings() {
        let played = play(&file);
        let name = file.display();
        assert_eq!(played.ended, played.results, "{name}");
        for last in &played.last {
            assert!(
                ["idle", "failed"].contains(last),
                "{name}: {:?}",
                played.states
            );
        }
        assert!(
            !played.states.contains(&"stalled"),
            "{name}: {:?}",
            played.states
        );
    }
}

/// Recordings, and the states of their sessions one after the other.
const WAYS: [(&str, &[&str]); 6] = [
    (
        "newest/plain-turn",
        &["idle", "running", "idle", "running", "idle"],
    ),
    (
        "newest/interrupt-approval",
        &[
            "idle",
            "running",
            "needs_you",
            "running",
            "idle",
            "running",
            "idle",
        ],
    ),
    (
        "2.0.75/interrupt-approval",
        &[
            "idle",
            "running",
            "needs_you",
            "running",
            "idle",
            "running",
            "idle",
        ],
    ),
    (
        "newest/background-agent",
        &[
            "idle",
            "running",
            "idle",
            "needs_you",
            "idle",
            "running",
            "idle",
        ],
    ),
    (
        "2.1.62/background-bash",
        &[
            "idle",
            "running",
            "needs_you",
            "running",
            "idle",
            "running",
            "idle",
        ],
    ),
    (
        "newest/lifecycle",
        &[
            "idle",
            "running",
            "idle",
            "running",
            "needs_you",
            "running",
            "idle",
            "running",
            "idle",
        ],
    ),
];

#[test]
fn the_way_of_a_session_through_its_states_is_what_a_person_would_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire");
    for (name, way) in WAYS {
        let played = play(&folder.join(format!("{name}.ndjson")));
        assert_eq!(played.states, way, "{name}");
    }
}
