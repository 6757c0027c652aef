//! The shape of source files: each opens by saying what it owns, none grows past navigation.
//! Exceptions are listed here with their reason, and a listed one that no longer needs it is found.

use std::path::Path;

use super::{Finding, TextFile};

const LONGEST: usize = 600;

/// A file that a rule does not hold for, and why.
type Exception = (&'static str, &'static str);

/// Files longer than the limit.
const LONG_FILES: &[Exception] = &[];

/// Files without a module head.
const WITHOUT_HEAD: &[Exception] = &[];

pub(super) fn module_heads(files: &[TextFile]) -> Vec<Finding> {
    let broken = |file: &TextFile| match file.text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) if line.starts_with("//!") => None,
        _ => Some("opens without a `//!` that says what it owns".to_owned()),
    };
    with_exceptions(files, WITHOUT_HEAD, broken)
}

pub(super) fn long_files(files: &[TextFile]) -> Vec<Finding> {
    let broken = |file: &TextFile| {
        let lines = file.text.lines().count();
        (lines > LONGEST).then(|| {
            format!("{lines} lines, the limit is {LONGEST}: split it by concept, or give a reason in xtask/src/tidy/source.rs")
        })
    };
    with_exceptions(files, LONG_FILES, broken)
}

fn with_exceptions(
    files: &[TextFile],
    exceptions: &[Exception],
    broken: impl Fn(&TextFile) -> Option<String>,
) -> Vec<Finding> {
    let excepted = |path: &Path| {
        exceptions
            .iter()
            .any(|(listed, _)| Path::new(listed) == path)
    };
    let (mut findings, mut needed) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| file.is_rust()) {
        match broken(file) {
            Some(_) if excepted(&file.path) => needed.push(file.path.as_path()),
            Some(message) => findings.push(Finding::in_file(&file.path, message)),
            None => {}
        }
    }
    for (listed, _) in exceptions {
        let path = Path::new(listed);
        if !needed.contains(&path) {
            let message = "is listed as an exception in xtask/src/tidy/source.rs but needs none";
            findings.push(Finding::in_file(path, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_opens_with_its_head_before_anything_else() {
        for (text, fine) in [
            ("//! Owns a thing.\nuse x;\n", true),
            ("\n//! After a blank line.\n", true),
            ("use x;\n//! too late\n", false),
            ("// a comment\n", false),
            ("", false),
        ] {
            let files = [
                TextFile::new("a.rs", text),
                TextFile::new("a.md", "no Rust"),
            ];
            assert_eq!(module_heads(&files).is_empty(), fine, "{text:?}");
        }
    }

    #[test]
    fn a_file_past_the_limit_is_found_and_one_at_it_is_not() {
        let at = TextFile::new("at.rs", &"x\n".repeat(LONGEST));
        let past = TextFile::new("past.rs", &"x\n".repeat(LONGEST + 1));
        let findings = long_files(&[at, past]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].to_string().starts_with("past.rs: 601 lines"));
    }

    #[test]
    fn an_exception_holds_as_long_as_it_is_needed() {
        let files = [
            TextFile::new("a.rs", "broken"),
            TextFile::new("b.rs", "fine"),
        ];
        let broken = |file: &TextFile| (file.text == "broken").then(|| "why".to_owned());
        assert_eq!(with_exceptions(&files, &[("a.rs", "reason")], broken), []);
        let stale = with_exceptions(&files, &[("a.rs", "reason"), ("b.rs", "reason")], broken);
        assert_eq!(stale.len(), 1);
        assert!(stale[0].to_string().starts_with("b.rs: is listed"));
    }
}
