//! What the real bash runs is what was read.
//!
//! Texts are made from a grammar of shell constructs and from loose fragments. Each that reads as clear is run by bash in
//! an empty folder where every command is a stub that writes down its name and arguments. Whatever ran must be among the
//! commands that were read, and whatever file was made among the redirections. Texts that are unclear, or in which something may hide, are not run: they are never allowed,
//! and say so. `BASH_DIFFERENTIAL_SECONDS` makes it look longer.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stage;
mod texts;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use countersign_policy::shell::{Reading, Word, read};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use crate::stage::Stage;
use crate::texts::{damaged, fragments, texts};

/// Whether a call is what these words become: words that are not known are any number of words.
fn becomes(words: &[Word], call: &[String]) -> bool {
    match words.split_first() {
        None => call.is_empty(),
        Some((Word::Literal(text), rest)) => {
            let text = text.strip_prefix("~").map_or(text.as_str(), |_| "~");
            call.split_first()
                .is_some_and(|(first, call)| (first == text || text == "~") && becomes(rest, call))
        }
        Some((_, rest)) => (0..=call.len()).any(|skip| becomes(rest, &call[skip..])),
    }
}

/// Whether a reading says that not all of it is known.
fn says_so(reading: &Reading) -> bool {
    !reading.unclear.is_empty()
        || reading
            .commands
            .iter()
            .any(|command| command.hides.is_some())
}

/// What was done but not read, if there is something.
fn missed(stage: &Stage, text: &str, reading: &Reading) -> Option<String> {
    let ran = stage.run(text);
    let is_read = |call: &Vec<String>| {
        reading.commands.iter().any(|command| {
            becomes(&command.words, call) || command.through.iter().any(|label| *label == call[0])
        })
    };
    let is_redirected = |file: &String| {
        reading
            .redirects
            .iter()
            .any(|redirect| match &redirect.target {
                Word::Literal(path) => redirect.writes && path.rsplit('/').next() == Some(file),
                _ => redirect.writes,
            })
    };
    let call = ran
        .calls
        .iter()
        .find(|call| !is_read(call))
        .map(|call| format!("ran {call:?}"));
    call.or_else(|| {
        ran.files
            .iter()
            .find(|file| !is_redirected(file))
            .map(|file| format!("wrote {file:?}"))
    })
}

/// Looks for a text whose reading misses something, for a while. One in so many must be clear, or nothing is shown by it.
fn look(texts: impl Strategy<Value = String>, seconds: u64, one_in: usize) {
    let Some(stage) = Stage::new().map(RefCell::new) else {
        return;
    };
    let longer = std::env::var("BASH_DIFFERENTIAL_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(longer.unwrap_or(seconds));
    let (clear, all, has_failed) = (Cell::new(0), Cell::new(0), Cell::new(false));
    let mut runner = TestRunner::new(Config {
        cases: u32::MAX,
        max_global_rejects: 1,
        max_shrink_time: 30_000,
        failure_persistence: None,
        ..Config::default()
    });
    let found = runner.run(&texts, |text| {
        if Instant::now() > end && !has_failed.get() {
            return Err(TestCaseError::reject("time is up"));
        }
        all.set(all.get() + 1);
        let reading = read(&text);
        if says_so(&reading) {
            return Ok(());
        }
        clear.set(clear.get() + 1);
        let missed = missed(&stage.borrow(), &text, &reading);
        let is_spoiled = stage.borrow().is_spoiled.get();
        if let (true, Some(fresh)) = (is_spoiled, Stage::new()) {
            stage.replace(fresh);
        }
        match missed {
            None => Ok(()),
            Some(done) => {
                has_failed.set(true);
                Err(TestCaseError::fail(format!(
                    "bash {done}, which was not read"
                )))
            }
        }
    });
    match found {
        Err(TestError::Fail(why, text)) => {
            panic!("{why}\n--- text\n{text}\n--- read as\n{:#?}", read(&text))
        }
        Ok(()) | Err(TestError::Abort(_)) => {
            let (clear, all) = (clear.get(), all.get());
            eprintln!("{clear} of {all} texts were clear, and bash ran nothing else");
            assert!(
                all < 200 || clear * one_in > all,
                "only {clear} of {all} texts were clear"
            );
        }
    }
}

#[test]
fn what_bash_runs_was_read() {
    look(texts(), 8, 10);
}

#[test]
fn what_bash_runs_of_loose_fragments_was_read() {
    look(fragments(), 4, 500);
}

#[test]
fn what_bash_runs_of_damaged_texts_was_read() {
    look(damaged(), 6, 20);
}
