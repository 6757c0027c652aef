//! The versions of the CLI that are known to the tests: `clis.json`, read once.
//!
//! Owns the table and which of its versions the suites run on. Adding a version changes the table and nothing else.
//! Invariant: newest first, and the first version that is tested is the newest one.

use std::sync::LazyLock;

use super::{Pinned, Runtime};

/// Name of the newest tested version, wherever a version is given by name.
pub const NEWEST: &str = "newest";

/// Environment variable that makes another version of the table the newest one.
///
/// So `cargo xtask cli add` runs the suites of the newest version on one that they do not run on by themselves.
pub const NEWEST_VARIABLE: &str = "COUNTERSIGN_NEWEST";

/// Path of the table in its crate.
pub const TABLE: &str = "clis.json";

static CLIS: LazyLock<Vec<Pinned>> = LazyLock::new(|| {
    let rows: serde_json::Value =
        serde_json::from_str(include_str!("../../clis.json")).unwrap_or_default();
    rows.as_array()
        .into_iter()
        .flatten()
        .filter_map(row)
        .collect()
});

/// Every version of the table, newest first.
pub fn pinned() -> &'static [Pinned] {
    &CLIS
}

/// Returns the versions that the suites run on, newest first.
pub fn tested() -> impl Iterator<Item = &'static Pinned> {
    CLIS.iter().filter(|pinned| pinned.is_tested)
}

/// Returns the newest tested version, or the one that [`NEWEST_VARIABLE`] names.
///
/// # Panics
/// When the variable names a version that is not in the table, or the table has no tested version.
pub fn newest() -> &'static Pinned {
    match std::env::var(NEWEST_VARIABLE) {
        Ok(version) => by_version(&version)
            .unwrap_or_else(|| panic!("{NEWEST_VARIABLE} is {version:?}, which is not pinned")),
        Err(_) => tested()
            .next()
            .unwrap_or_else(|| panic!("{TABLE} has no tested version")),
    }
}

impl Pinned {
    /// Returns the version of that name; [`NEWEST`] is one.
    pub fn find(version: &str) -> Option<&'static Pinned> {
        match version {
            NEWEST => Some(newest()),
            version => by_version(version),
        }
    }

    /// Returns the three numbers of the version, by which versions are ordered.
    pub fn numbers(&self) -> [u32; 3] {
        numbers(self.version).unwrap_or_default()
    }

    /// Whether this is the version or a later one.
    ///
    /// # Panics
    /// When `version` is not three numbers: a slip in a test.
    pub fn is_at_least(&self, version: &str) -> bool {
        let Some(least) = numbers(version) else {
            panic!("{version:?} is no version")
        };
        self.numbers() >= least
    }
}

/// Reads a version such as `2.1.62`.
pub fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

fn by_version(version: &str) -> Option<&'static Pinned> {
    CLIS.iter().find(|pinned| pinned.version == version)
}

fn row(row: &serde_json::Value) -> Option<Pinned> {
    // The table is part of the program and lives as long.
    let text = |name: &str| Some(&*row[name].as_str()?.to_owned().leak());
    Some(Pinned {
        version: text("version")?,
        integrity: text("integrity")?,
        declarations: text("declarations"),
        runtime: Runtime::ALL
            .into_iter()
            .find(|runtime| row["runtime"] == runtime.name())?,
        download_bytes: row["download_bytes"].as_u64()?,
        is_tested: row["tested"].as_bool()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read_newest_first_and_found_by_its_name() {
        let rows: Vec<serde_json::Value> =
            serde_json::from_str(include_str!("../../clis.json")).unwrap();
        assert_eq!(pinned().len(), rows.len());
        assert!(
            pinned()
                .windows(2)
                .all(|pair| pair[0].numbers() > pair[1].numbers())
        );
        for one in pinned() {
            assert_eq!(Pinned::find(one.version), Some(one));
            assert!(one.integrity.starts_with("sha512-"));
        }
        assert_eq!(Pinned::find("0.0.0"), None);
    }

    #[test]
    fn the_newest_is_a_tested_version_and_has_a_name_of_its_own() {
        assert_eq!(Pinned::find(NEWEST), tested().next());
        assert!(newest().is_at_least(newest().version) && newest().is_at_least("2.1.62"));
        assert!(!newest().is_at_least("99.0.0"));
    }

    #[test]
    fn a_version_is_three_numbers() {
        assert_eq!(numbers("2.1.62"), Some([2, 1, 62]));
        for no in ["2.1", "2.1.62.1", "2.1.x", ""] {
            assert_eq!(numbers(no), None, "{no}");
        }
    }
}
