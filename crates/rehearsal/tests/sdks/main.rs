//! The official SDKs, unchanged, on the scripted CLI: one test a case.
//!
//! The cases themselves are written in the SDKs' own languages, in `python/` and `typescript/`; here they are named, given
//! a sandbox each, and run. A case passes when its effect was seen: a file, the order of calls, the messages' fields.
//!
//! # Adding a case
//!
//! 1. Write it in the file of its area. It talks to the CLI by plain requests and knows nothing of what answers it.
//! 2. Name it in `cases.rs`; a test says which names are missing.
//! 3. `cargo nextest run -p countersign-rehearsal --test sdks my_case` runs it. An SDK that is not in the cache skips its
//!    tests, unless `COUNTERSIGN_REQUIRE` lists it (`sdk-python`, `sdk-typescript`).
//! 4. With `SDKS_ON=real` before it the case runs on the real CLI, whose model follows the same requests
//!    (`python/plain_model.py`). It must pass there first: a suite that only our own CLI passes shows nothing.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod stage;
