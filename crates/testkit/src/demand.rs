//! What a test needs and may not find: the pinned CLIs, the SDKs, another user, the examples beside it.
//!
//! Owns the one rule for it: what is not there is skipped with a word on stderr, and fails the test where
//! `COUNTERSIGN_REQUIRE` lists it, as the suites of `cargo xtask test` do.

use std::path::{Path, PathBuf};

use crate::fetch::{self, Installed, InstalledSdk, Pinned, Sdk};

/// Returns the pinned CLI of that version (`newest` is one), or `None` with a word on stderr.
///
/// # Panics
/// When it is required and not there, or no version of that name is pinned: either is a failed test.
pub fn cli(version: &str) -> Option<Installed> {
    let pinned = Pinned::find(version).unwrap_or_else(|| panic!("claude {version} is not pinned"));
    let cache = fetch::cache_dir().ok();
    let found = cache.and_then(|cache| fetch::installed(&cache, pinned));
    if found.is_none() {
        assert!(
            !is_required(&format!("claude-{version}")),
            "claude {version} is required and not in the cache: run `cargo xtask fetch`"
        );
        eprintln!("skipped: claude {version} is not in the cache (`cargo xtask fetch` gets it)");
    }
    found
}

/// The SDK, or `None` with a word on stderr.
///
/// # Panics
/// When it is required and not there: a failed test.
pub fn sdk(sdk: &Sdk) -> Option<InstalledSdk> {
    let cache = fetch::cache_dir().ok();
    let found = cache.and_then(|cache| sdk.installed(&cache));
    if found.is_none() {
        assert!(
            !is_required(sdk.name),
            "{} is required and not in the cache: run `cargo xtask fetch`",
            sdk.spec()
        );
        eprintln!(
            "skipped: {} is not in the cache (`cargo xtask fetch` gets it)",
            sdk.spec()
        );
    }
    found
}

/// The example of that name that cargo builds beside the tests.
///
/// # Panics
/// When it was not built: a failed test.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    let profile = test.parent().and_then(Path::parent);
    let program = profile.map_or_else(PathBuf::new, |profile| profile.join("examples").join(name));
    assert!(
        program.exists(),
        "{} is missing; `cargo build --workspace --examples` builds it",
        program.display()
    );
    program
}

/// Whether `COUNTERSIGN_REQUIRE` lists it: `claude-2.1.62`, `claude-newest`, `sdk-python`, `other-user`.
pub fn is_required(what: &str) -> bool {
    let list = std::env::var("COUNTERSIGN_REQUIRE").unwrap_or_default();
    list.split([',', ' ']).any(|required| required == what)
}
