//! The official SDKs, unchanged, on the scripted CLI: one test a case.
//!
//! The cases themselves are written in the SDKs' own languages, in `python/` and `typescript/`, whose runners list them; here
//! they are given a sandbox each, and run. A case passes when its effect was seen: a file, the order of calls, the messages'
//! fields. This is a harness of its own, so that no case is written and not run: it knows what cargo and nextest ask for.
//!
//! # Adding a case
//!
//! 1. Write it in the file of its area. It talks to the CLI by plain requests and knows nothing of what answers it.
//! 2. `cargo nextest run -p countersign-rehearsal --test sdks my_case` runs it. An SDK that is not in the cache has no tests,
//!    unless `COUNTERSIGN_REQUIRE` lists it (`sdk-python`, `sdk-typescript`).
//! 3. With `SDKS_ON=real` before it the case runs on the real CLI, whose model follows the same requests
//!    (`python/plain_model.py`). It must pass there first: a suite that only our own CLI passes shows nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg_attr(
    target_os = "linux",
    expect(clippy::print_stdout, reason = "cargo and nextest read the list")
)]

#[cfg(target_os = "linux")]
mod stage;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    let suites = [("python", stage::PYTHON), ("typescript", stage::TYPESCRIPT)];
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // No case is ignored.
    if has("--ignored") {
        return;
    }
    let wanted = arguments
        .iter()
        .find(|argument| !argument.starts_with('-') && *argument != "terse");
    if let Some((suite, case)) = wanted
        .filter(|_| has("--exact"))
        .and_then(|name| name.split_once("::"))
    {
        let (_, suite) = suites.iter().find(|(name, _)| *name == suite).unwrap();
        return suite.play(case);
    }
    for (name, suite) in suites {
        for case in suite.list().unwrap_or_default() {
            let test = format!("{name}::{case}");
            if has("--list") {
                println!("{test}: test");
            } else if wanted.is_none_or(|wanted| test.contains(wanted.as_str())) {
                suite.play(&case);
                println!("{test} passed");
            }
        }
    }
}
