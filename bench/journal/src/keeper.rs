//! `countersign-bench-keeper`: the least program that is a keeper.
//!
//! Owns nothing but its two arguments. What it takes in memory is what keeper and guard take by themselves, whatever else the
//! product's binary holds.

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let [_, dir_flag, dir, generation_flag, generation] = &args[..] else {
        return std::process::ExitCode::FAILURE;
    };
    let generation = generation.to_str().and_then(|text| text.parse().ok());
    match (dir_flag.to_str(), generation_flag.to_str(), generation) {
        (Some("--dir"), Some("--generation"), Some(generation)) => countersign_keeper::main(
            dir.as_ref(),
            generation,
            countersign_keeper::Habits::default(),
        ),
        _ => std::process::ExitCode::FAILURE,
    }
}

#[cfg(not(unix))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
