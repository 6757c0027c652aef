//! Command lines as the SDKs write them, and those that are refused as the real CLI refuses them.

use super::*;
use crate::cli::version::Version;

fn parse(line: &str) -> Flags {
    let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
    Flags::parse(&arguments, Version::NEWEST).unwrap()
}

#[test]
fn short_flags_in_one_word_count_too() {
    assert!(parse("-pc").has("--continue"));
    assert_eq!(parse("-r a").resume.as_deref(), Some("a"));
    assert_eq!(
        parse("--permission-mode manual").mode.as_deref(),
        Some("default")
    );
}

#[test]
fn an_older_version_does_not_know_a_newer_flag() {
    let arguments = ["-p", "--name", "x", "hi"].map(str::to_owned);
    for (version, known) in [
        ((2, 0, 75), false),
        ((2, 1, 62), false),
        ((2, 1, 325), true),
    ] {
        let version = Version::new(version.0, version.1, version.2);
        let parsed = Flags::parse(&arguments, version);
        assert_eq!(parsed.is_ok(), known, "{version}");
    }
}

/// What the real CLI was measured to say, in an empty folder.
#[test]
fn what_cannot_be_followed_is_refused_in_the_clis_words() {
    let folder = tempfile::tempdir().unwrap();
    let says = |line: &str, root: bool| {
        let world = World {
            cwd: folder.path(),
            root,
            terminal: false,
            env: &|_| None,
            session_in_use: &|_| false,
        };
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let checked =
            Flags::parse(&arguments, Version::NEWEST).and_then(|flags| flags.checked(&world));
        let checked = checked.and_then(|flags| {
            let prompt = join_prompt(flags.prompt.as_deref(), "");
            match flags.nothing_to_resume() {
                Some(refusal) => Err(refusal),
                None => flags.check_prompt(&prompt, false),
            }
        });
        checked
            .err()
            .map_or(String::new(), |refusal| refusal.stderr)
    };
    for (line, expected) in [
        ("-p hi", ""),
        ("-p hi --allowed-tools Bash Read --model opus", ""),
        ("-p --nonsense", "error: unknown option '--nonsense'"),
        ("-pz", "error: unknown option '-z'"),
        (
            "-p --model",
            "error: option '--model <model>' argument missing",
        ),
        (
            "-p --output-format xml hi",
            "error: option '--output-format <format>' argument 'xml' is invalid. Allowed choices are text, json, stream-json.",
        ),
        (
            "-p --max-turns x hi",
            "error: option '--max-turns <turns>' argument 'x' is invalid. must be a number",
        ),
        (
            "-p --session-id abc hi",
            "Error: Invalid session ID. Must be a valid UUID.",
        ),
        (
            "-p --resume-session-at x hi",
            "Error: --resume-session-at requires --resume",
        ),
        (
            "-p --json-schema 1 hi",
            "Error: --json-schema must be a JSON object",
        ),
        (
            "-p",
            "Error: Input must be provided either through stdin or as a prompt argument when using --print",
        ),
        (
            "-p --output-format stream-json hi",
            "Error: When using --print, --output-format=stream-json requires --verbose",
        ),
        (
            "-p --resume 11111111-1111-4111-8111-111111111111 hi",
            "No conversation found with session ID: 11111111-1111-4111-8111-111111111111",
        ),
    ] {
        assert_eq!(says(line, false).trim_end(), expected, "{line}");
    }
    let bypass = "-p --permission-mode bypassPermissions hi";
    assert!(says(bypass, true).contains("root/sudo") && says(bypass, false).is_empty());
    assert!(says("-p --settings none.json hi", false).contains("Settings file not found"));
}

#[test]
fn whatever_stands_on_the_line_nothing_panics() {
    let words = "-p -- - --= --x= -é --é=é --model --tools -d -pp = -pé --resume --max-turns= --mcp-config hi --json-schema { -vx \
                 --effort \u{0} -c";
    let words: Vec<&str> = words.split(' ').collect();
    for (a, b) in words.iter().flat_map(|a| words.iter().map(move |b| (a, b))) {
        let line = [*a, *b, "hi"].map(str::to_owned);
        let _ = Flags::parse(&line, Version::NEWEST);
    }
}
