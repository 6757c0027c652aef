//! A keeper whose habits a test may change: `kept --dir DIR --generation G`, habits as JSON in `COUNTERSIGN_HABITS`.
//!
//! The shipped command is the same with [`Habits::default`].

use std::path::PathBuf;
use std::process::ExitCode;

use countersign_keeper::Habits;

#[cfg(unix)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, dir_flag, dir, generation_flag, generation] = arguments.as_slice() else {
        return ExitCode::from(2);
    };
    let habits = match std::env::var("COUNTERSIGN_HABITS") {
        Ok(text) => serde_json::from_str(&text).ok(),
        Err(_) => Some(Habits::default()),
    };
    let is_understood = dir_flag == "--dir" && generation_flag == "--generation";
    match (is_understood, generation.parse(), habits) {
        (true, Ok(generation), Some(habits)) => {
            countersign_keeper::main(&PathBuf::from(dir), generation, habits)
        }
        _ => ExitCode::from(2),
    }
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::from(2)
}
