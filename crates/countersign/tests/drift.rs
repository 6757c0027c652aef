//! `countersign drift` as people meet it: on a program made for the test here, on the real CLIs in a module for each version.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use countersign_testkit::demand;
use countersign_testkit::fetch::{self, Installed};
use serde_json::Value;
use tempfile::TempDir;

const COUNTERSIGN: &str = env!("CARGO_BIN_EXE_countersign");

/// `countersign drift`, in a folder and with a home of its own.
fn drift(stage: &TempDir, arguments: &[&str]) -> Output {
    Command::new(COUNTERSIGN)
        .arg("drift")
        .args(arguments)
        .current_dir(stage.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", stage.path())
        .output()
        .unwrap()
}

fn stage() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

#[test]
fn two_programs_are_compared_and_the_exit_code_tells_whether_they_differ() {
    let stage = stage();
    let old = r#"VERSION:"1.0.0" c({type:T("system"),subtype:T("status"),a:r(),session_id:r()}) .option("--old","x")"#;
    let new = r#"VERSION:"1.1.0" c({type:T("system"),subtype:T("status"),b:r(),session_id:r()}) .option("--new","x")"#;
    for (name, program) in [("old.js", old), ("new.js", new)] {
        std::fs::write(stage.path().join(name), program).unwrap();
    }
    let arguments = ["--no-probe", "--claude", "new.js", "--against", "old.js"];
    let output = drift(&stage, &arguments);
    let expected = "1.0.0 → 1.1.0: 1 new, 1 gone, 1 changed\n\nMessages\n  ~ system/status: new b; gone a  @18\n\nFlags\n  + --new  @79\n  - --old\n";
    assert_eq!(text(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(1));
    let same = ["--no-probe", "--claude", "new.js", "--against", "new.js"];
    let output = drift(&stage, &same);
    assert_eq!(
        text(&output.stdout),
        "1.1.0 → 1.1.0: 0 new, 0 gone, 0 changed\n"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_program_that_is_not_there_or_says_nothing_is_told_with_what_to_do() {
    let stage = stage();
    let output = drift(&stage, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("was not found"),
        "{}",
        text(&output.stderr)
    );

    std::fs::write(stage.path().join("empty.js"), "").unwrap();
    let output = drift(&stage, &["--claude", "empty.js", "--show", "can_use_tool"]);
    assert_eq!(text(&output.stdout), "can_use_tool: 0 places\n");
    assert_eq!(output.status.code(), Some(1));
}

/// The words that start that version of the real CLI, as one line; `None` where it is not there.
fn real(version: &str) -> Option<String> {
    Some(line_of(&demand::cli(version)?))
}

fn line_of(installed: &Installed) -> String {
    let words = installed.command.iter().map(PathBuf::from);
    let words: Vec<_> = words
        .map(|word| format!("\"{}\"", word.display()))
        .collect();
    words.join(" ")
}

/// Compares the version with the one before it, if that is here too, and holds its page of docs/drift against the result. What
/// the running CLI answers depends on the machine's load, so it is left to whoever writes the page.
fn the_page_is_what_is_printed(version: &str) {
    let Some(now) = demand::cli(version) else {
        return;
    };
    let version = now.pinned.version;
    let mut older = fetch::pinned().iter();
    let before = older.find(|older| older.numbers() < now.pinned.numbers());
    let cache = fetch::cache_dir().unwrap();
    let Some(before) = before.and_then(|before| fetch::installed(&cache, before)) else {
        eprintln!("skipped: the version before {version} is not in the cache");
        return;
    };
    let (now, before) = (line_of(&now), line_of(&before));
    let arguments = [
        "--no-probe",
        "--markdown",
        "--claude",
        &now,
        "--against",
        &before,
    ];
    let printed = text(&drift(&stage(), &arguments).stdout);
    assert!(printed.starts_with("## "), "{printed}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = root.join(format!("../../docs/drift/{version}.md"));
    let page = std::fs::read_to_string(page).unwrap();
    let (_, page) = page.split_once("\n## ").unwrap();
    let declared = page.split("\n### Seen in the running CLI").next().unwrap();
    assert!(
        printed
            .trim_start_matches("## ")
            .starts_with(declared.trim_end()),
        "run `cargo xtask cli drift {version}` and read the difference:\n{printed}"
    );
}

/// Reads and asks that version: what holds for all of them.
fn the_program_is_read_and_the_cli_answers(version: &str) {
    let Some(line) = real(version) else {
        return;
    };
    let report = json(&drift(&stage(), &["--json", "--claude", &line]));
    let version = fetch::Pinned::find(version).unwrap().version;
    assert_eq!(report["to"], version);
    let findings = report["findings"].as_array().unwrap();
    let of = |what: &str| -> Vec<&str> {
        let found = findings.iter().filter(|finding| finding["what"] == what);
        found
            .map(|finding| finding["detail"].as_str().unwrap())
            .collect()
    };
    assert_eq!(of("malformed line"), [""; 0], "{report:#}");
    assert_eq!(of("unknown message"), [""; 0], "{report:#}");
    assert!(
        of("permission mode").contains(&"plan: accepted"),
        "{report:#}"
    );
    assert!(
        of("control request").contains(&"initialize: accepted"),
        "{report:#}"
    );
    assert!(
        report["skipped"].as_array().is_none_or(|skipped| {
            skipped
                .iter()
                .all(|reason| !reason.as_str().unwrap().contains("running CLI"))
        }),
        "{report:#}"
    );
}

mod newest {
    #[test]
    fn the_program_is_read_and_the_cli_answers() {
        super::the_program_is_read_and_the_cli_answers("newest");
    }

    #[test]
    fn the_page_is_what_is_printed() {
        super::the_page_is_what_is_printed("newest");
    }
}

mod v2_1_200 {
    #[test]
    fn the_program_is_read_and_the_cli_answers() {
        super::the_program_is_read_and_the_cli_answers("2.1.200");
    }

    #[test]
    fn the_page_is_what_is_printed() {
        super::the_page_is_what_is_printed("2.1.200");
    }
}

mod v2_1_62 {
    use super::*;

    #[test]
    fn the_program_is_read_and_the_cli_answers() {
        super::the_program_is_read_and_the_cli_answers("2.1.62");
    }

    #[test]
    fn the_page_is_what_is_printed() {
        super::the_page_is_what_is_printed("2.1.62");
    }

    /// The search terms of seed 000, section 1. `$rH` is the name that the minifier gave, in the seed's build of that version,
    /// to the schema of an answer; in the package that npm has it is found by what it declares.
    #[test]
    fn every_search_term_of_the_seed_is_found() {
        let Some(line) = real("2.1.62") else {
            return;
        };
        let terms = [
            "control_request",
            "control_response",
            "can_use_tool",
            "set_permission_mode",
            "permissionPromptTool",
            "onAllow",
            "onReject",
            "ExitPlanMode",
            "EnterPlanMode",
            "clearContext",
            "th$",
            r#"B.object({behavior:B.literal("deny"),message:B.string(),interrupt:"#,
            "tengu_plan_exit",
        ];
        let mut arguments = vec!["--json", "--claude", &line];
        arguments.extend(terms.iter().flat_map(|term| ["--show", term]));
        let output = drift(&stage(), &arguments);
        let shown = json(&output);
        for (term, one) in terms.iter().zip(shown.as_array().unwrap()) {
            assert_eq!(one["name"], *term);
            let hit = &one["hits"][0];
            assert!(hit["context"].as_str().unwrap().contains(term), "{one:#}");
            assert!(hit["offset"].as_u64().is_some(), "{one:#}");
        }
        assert_eq!(output.status.code(), Some(0));
    }
}

mod v2_0_75 {
    #[test]
    fn the_program_is_read_and_the_cli_answers() {
        super::the_program_is_read_and_the_cli_answers("2.0.75");
    }
}
