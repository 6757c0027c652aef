//! The web page that is part of this program, where it was built with it.
//!
//! Owns the files and the reason why there are none; how they are served is the server's. They come from `build.rs`, which has
//! npm build `ui/` while cargo compiles the rest. Invariant: a path names a file of the list or nothing.

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The file of this path, like `assets/index-1a2b3c4d.js`.
pub fn file(path: &str) -> Option<&'static [u8]> {
    let found = FILES.binary_search_by(|(name, _)| (*name).cmp(path));
    found.ok().map(|at| FILES[at].1)
}

/// Why the page is not part of this program; nothing where it is.
pub fn why_not() -> Option<&'static str> {
    WHY_NOT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_there_or_the_reason_why_it_is_not() {
        assert_eq!(file("index.html").is_some(), why_not().is_none());
    }

    /// A script that is not in the copy fails the build of the page, and that is but a warning.
    #[test]
    fn every_script_that_builds_the_page_is_copied_for_it() {
        let package = include_str!("../../../ui/package.json");
        let lines = package.lines().map(str::trim);
        let build = lines.filter(|line| line.starts_with("\"build\""));
        let words = build.flat_map(|line| line.split([' ', '"', ',']));
        let scripts: Vec<&str> = words.filter(|word| word.ends_with(".mjs")).collect();
        assert!(!scripts.is_empty());
        for script in scripts {
            let named = format!("{script:?}");
            assert!(include_str!("../build.rs").contains(&named), "{script}");
        }
    }

    #[test]
    fn every_file_is_found_under_its_own_path_and_nothing_else_is() {
        assert!(FILES.is_sorted_by_key(|(name, _)| *name));
        for (name, bytes) in FILES {
            assert_eq!(file(name), Some(*bytes), "{name}");
        }
        for path in ["", "..", "../Cargo.toml", "/index.html", "assets"] {
            assert!(file(path).is_none(), "{path}");
        }
    }
}
