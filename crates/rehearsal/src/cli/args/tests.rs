//! The command line against what 2.1.325 was measured to do with it: `measured.json`, an argument list a line, and
//! `printed.json`, a session a line.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::*;
use crate::cli::version::Version;

/// One start of the real CLI, in an empty folder that is no repository and with no session on disk.
#[derive(Debug, Deserialize)]
struct Measured {
    argv: Vec<String>,
    code: u8,
    stderr: String,
    /// The first line, of `--version` and `--help` only.
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default = "root")]
    root: bool,
}

fn root() -> bool {
    true
}

fn measured() -> Vec<Measured> {
    serde_json::from_str(include_str!("measured.json")).unwrap()
}

/// What the scripted CLI says before a session begins: exit code, stdout, stderr.
fn says(row: &Measured, cwd: &Path) -> (u8, String, String) {
    let here = |text: &str| text.replace("${cwd}", &cwd.to_string_lossy());
    let argv: Vec<String> = row.argv.iter().map(|word| here(word)).collect();
    let world = World {
        cwd,
        root: row.root,
        terminal: false,
        env: &|name| row.env.get(name).cloned(),
        agents: &|| agents_in(cwd),
        session_in_use: &|_| false,
    };
    let refused = |refusal: Refusal| (refusal.code, refusal.stdout, refusal.stderr);
    let options = match Options::read(&argv, Version::NEWEST, &world) {
        Ok(options) => options,
        Err(refusal) => return refused(refusal),
    };
    let prompt = join_prompt(options.prompt.as_deref(), &row.stdin);
    let nothing = options.nothing_to_resume();
    let checked = match nothing {
        Some(refusal) => Err(refusal),
        None => options.check_prompt(&prompt, false),
    };
    match checked {
        Err(refusal) => refused(refusal),
        Ok(()) => {
            let warnings = options.warnings.iter().map(|line| format!("{line}\n"));
            (0, String::new(), warnings.collect())
        }
    }
}

/// The agents that lie in the folder; how they are read is not asked here.
fn agents_in(cwd: &Path) -> Vec<String> {
    let Ok(files) = std::fs::read_dir(cwd.join(".claude/agents")) else {
        return Vec::new();
    };
    let name = |path: std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.map(|file| name(file.unwrap().path())).collect()
}

#[test]
fn every_measured_command_line_ends_as_it_did_with_the_real_cli() {
    let rows = measured();
    assert!(rows.len() > 400, "{} rows", rows.len());
    let mut different = Vec::new();
    for row in &rows {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        for (path, text) in &row.files {
            let path = cwd.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (code, stdout, stderr) = says(row, &cwd);
        let first = stdout.split_inclusive('\n').next().unwrap_or_default();
        let stderr = stderr.replace(&*cwd.to_string_lossy(), "${cwd}");
        if (code, first, &stderr) != (row.code, row.stdout.as_str(), &row.stderr) {
            different.push(format!(
                "{:?}\n  real:     {} {:?}\n  scripted: {code} {stderr:?}",
                row.argv, row.code, row.stderr
            ));
        }
    }
    assert!(
        different.is_empty(),
        "{} of {} differ:\n{}",
        different.len(),
        rows.len(),
        different.join("\n")
    );
}

/// One session of the real CLI, played once for each output format.
#[derive(Debug, Deserialize)]
struct Printed {
    about: Vec<String>,
    /// What `stream-json` had, as far as printing depends on it.
    lines: Vec<Value>,
    /// What `text` printed.
    text: Option<String>,
    /// What `json` printed, as far as it is kept.
    json: Option<Value>,
    /// Type and subtype of what `json --verbose` listed.
    all: Option<Vec<String>>,
}

fn printed(row: &Printed, output_format: OutputFormat, verbose: bool) -> String {
    let mut printer = Printer::new(&Options {
        output_format,
        verbose,
        ..Options::default()
    });
    let mut out = Vec::new();
    for line in &row.lines {
        out.extend_from_slice(&printer.say(format!("{line}\n").as_bytes()));
    }
    out.extend(printer.finish());
    String::from_utf8(out).unwrap()
}

fn kind(message: &Value) -> String {
    let kind = message["type"].as_str().unwrap().to_owned();
    match message["subtype"].as_str() {
        Some(subtype) => format!("{kind}/{subtype}"),
        None => kind,
    }
}

#[test]
fn every_measured_session_is_printed_as_the_real_cli_printed_it() {
    let rows: Vec<Printed> = serde_json::from_str(include_str!("printed.json")).unwrap();
    assert!(rows.len() > 25, "{} rows", rows.len());
    for row in &rows {
        let about = &row.about;
        if let Some(text) = &row.text {
            assert_eq!(&printed(row, OutputFormat::Text, false), text, "{about:?}");
        }
        if let Some(result) = &row.json {
            let json = printed(row, OutputFormat::Json, false);
            let json: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(&json, result, "{about:?}");
        }
        if let Some(all) = &row.all {
            let json = printed(row, OutputFormat::Json, true);
            let json: Vec<Value> = serde_json::from_str(&json).unwrap();
            let kinds: Vec<String> = json.iter().map(kind).collect();
            assert_eq!(&kinds, all, "{about:?}");
        }
    }
}

fn parse(line: &str) -> Options {
    let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
    Options::parse(&arguments, Version::NEWEST).unwrap()
}

#[test]
fn a_line_of_the_python_sdk_is_understood() {
    let options = parse(
        "--output-format stream-json --verbose --system-prompt  --allowedTools Read,Bash(git:*) --max-turns 3 --model haiku \
         --permission-prompt-tool stdio --resume=--odd-- --fork-session --setting-sources=user,project --add-dir /a \
         --add-dir /b --mcp-config {\"mcpServers\":{}} --include-partial-messages --input-format stream-json",
    );
    let flags = &options.flags;
    assert_eq!(options.input_format, InputFormat::StreamJson);
    assert_eq!(options.output_format, OutputFormat::StreamJson);
    assert_eq!(options.value("--system-prompt"), Some(""));
    assert_eq!(flags.allowed, ["Read", "Bash(git:*)"]);
    assert_eq!(flags.max_turns, Some(3.0));
    assert_eq!(flags.model.as_deref(), Some("claude-haiku-5-5"));
    assert_eq!(flags.resume.as_deref(), Some("--odd--"));
    assert_eq!(flags.setting_sources.as_deref(), Some("user,project"));
    assert_eq!(flags.add_dirs, ["/a", "/b"]);
    assert_eq!(flags.mcp_config, ["{\"mcpServers\":{}}"]);
    assert!(flags.partial && flags.fork && flags.asks_host && options.verbose && !options.print);
    assert_eq!(options.prompt, None);
}

#[test]
fn a_line_of_the_typescript_sdk_is_understood() {
    let options = parse(
        "--output-format=stream-json --input-format=stream-json --verbose --thinking=adaptive --effort=xhigh \
         --max-budget-usd=0.5 --tools= --disallowedTools=Bash --permission-mode=bypassPermissions \
         --session-id=11111111-1111-4111-8111-111111111111 --no-session-persistence --workload=batch --await-initialize",
    );
    let flags = &options.flags;
    assert_eq!(options.value("--effort"), Some("xhigh"));
    assert_eq!(flags.max_budget, Some(0.5));
    assert_eq!(flags.tools, Some(Vec::new()));
    assert_eq!(flags.disallowed, ["Bash"]);
    assert_eq!(flags.mode.as_deref(), Some("bypassPermissions"));
    assert!(flags.bypass_allowed && flags.keeps_nothing && flags.awaits_initialize);
    assert_eq!(options.value("--workload"), Some("batch"));
}

#[test]
fn short_flags_in_one_word_count_too() {
    assert!(parse("-pc").flags.resume_latest);
    assert_eq!(parse("-r a").flags.resume.as_deref(), Some("a"));
    assert_eq!(
        parse("--permission-mode manual").flags.mode.as_deref(),
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
        let parsed = Options::parse(&arguments, version);
        assert_eq!(parsed.is_ok(), known, "{version}");
    }
}

#[test]
fn whatever_stands_on_the_line_nothing_panics() {
    let words = "-p -- - --= --x= -é --é=é --model --tools -d -pp = -pé --resume --max-turns= --mcp-config hi --json-schema { -vx \
                 --effort \u{0} -c";
    let words: Vec<&str> = words.split(' ').collect();
    // Every line of three words.
    for (a, b, c) in (0..words.len().pow(3)).map(|n| (n / 529, n / 23 % 23, n % 23)) {
        let line = [words[a], words[b], words[c]].map(str::to_owned);
        let _ = Options::parse(&line, Version::NEWEST);
    }
}
