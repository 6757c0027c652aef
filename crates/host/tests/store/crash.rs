//! A process that is killed in the middle of writing: what it was told is stored, is there.
//!
//! Owns the process (this test binary again) and the comparison of what it said with what the file holds.

use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use countersign_host::store::{Durability, Store, settings};

use crate::stage::{Stage, read};

/// Set in the process that is to be killed: its database.
const INSIDE: &str = "STORE_WRITES_TO";

/// How many write at once.
const WRITERS: u64 = 8;

/// How many it has been told of when it is killed, in each round.
const ROUNDS: [usize; 4] = [3, 40, 150, 400];

/// Writes until it is killed. Each job stores two values; a line is said for each that is acknowledged.
fn write_for_ever(file: &Path) -> ! {
    let store = Store::open(file).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let store = &store;
            scope.spawn(move || {
                for number in 0_u64.. {
                    let key = format!("{}.{writer}.{number}", std::process::id());
                    let stored = key.clone();
                    let done = store.write_blocking(Durability::Full, move |connection| {
                        settings::set(connection, &stored, &1)?;
                        settings::set(connection, &format!("{stored} too"), &2)
                    });
                    done.unwrap();
                    // One write, so that the line is whole or not there.
                    let line = format!("stored {key}\n");
                    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
    unreachable!("it is killed before");
}

fn start(file: &Path) -> Child {
    let name = "crash::what_was_acknowledged_is_there_after_kill_9";
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn what_was_acknowledged_is_there_after_kill_9() {
    if let Some(file) = std::env::var_os(INSIDE) {
        write_for_ever(file.as_ref());
    }
    let stage = Stage::new();
    let mut told: Vec<String> = Vec::new();
    for round in ROUNDS {
        let mut child = start(&stage.file());
        let output = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut heard = 0;
        for line in output.lines() {
            let line = line.unwrap();
            // The name of the test stands in front of the first.
            let Some((_, key)) = line.split_once("stored ") else {
                continue;
            };
            told.push(key.to_owned());
            heard += 1;
            if heard == round {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(heard >= round, "{heard}");

        let store = stage.store();
        for key in &told {
            let pair = read(&store, |connection| {
                let one: Option<u32> = settings::get(connection, key)?;
                Ok((
                    one,
                    settings::get::<u32>(connection, &format!("{key} too"))?,
                ))
            });
            assert_eq!(pair, (Some(1), Some(2)), "{key} was acknowledged");
        }
        // Nobody's half is there either.
        let halves = read(&store, |connection| {
            let sql = "SELECT count(*) FROM settings WHERE key NOT LIKE '% too'
                       AND key || ' too' NOT IN (SELECT key FROM settings)";
            let whole: String =
                connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
            assert_eq!(whole, "ok");
            Ok(connection.query_row(sql, [], |row| row.get::<_, u32>(0))?)
        });
        assert_eq!(halves, 0);
    }
}
