//! Finding the CLI, in folders made for the test.

use std::fs;

use tempfile::TempDir;

use super::*;

fn touch(path: &Path, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let _ = mode;
}

fn around(path: &[&Path], home: &Path) -> Surroundings {
    Surroundings {
        env: vec![("PATH".into(), std::env::join_paths(path).unwrap())],
        home: Some(home.to_owned()),
        root: false,
    }
}

#[test]
#[cfg(unix)]
fn path_comes_before_the_usual_places() {
    let dir = TempDir::new().unwrap();
    let (bin, home) = (dir.path().join("bin"), dir.path().join("home"));
    touch(&home.join(".local/bin/claude"), 0o755);
    let around = around(&[&bin], &home);
    let usual = Cli::Search.locate(&around).unwrap();
    assert_eq!(usual.program, home.join(".local/bin/claude"));
    touch(&bin.join("claude"), 0o755);
    let on_path = Cli::Search.locate(&around).unwrap();
    assert_eq!(on_path.program, bin.join("claude"));
}

#[test]
#[cfg(unix)]
fn what_cannot_be_executed_is_passed_over() {
    let dir = TempDir::new().unwrap();
    let (first, second) = (dir.path().join("a"), dir.path().join("b"));
    touch(&first.join("claude"), 0o644);
    touch(&second.join("claude"), 0o755);
    let found = Cli::Search
        .locate(&around(&[&first, &second], dir.path()))
        .unwrap();
    assert_eq!(found.program, second.join("claude"));
}

#[test]
#[cfg(unix)]
fn not_found_lists_every_place_and_ends_with_the_command_that_installs_it() {
    let around = Surroundings {
        env: vec![("PATH".into(), "/none/bin::/none/sbin".into())],
        home: Some("/none/home".into()),
        root: false,
    };
    let looked = match Cli::Search.locate(&around) {
        // A machine that has the CLI in a system-wide place finds it there.
        Ok(found) => {
            assert!(found.program.starts_with("/usr/local") || found.program.starts_with("/opt"));
            return;
        }
        Err(error) => error.to_string(),
    };
    insta::assert_snapshot!(looked, @r"
    the claude CLI was not found. Looked for:
      /none/bin/claude
      /none/sbin/claude
      /none/home/.local/bin/claude
      /none/home/.claude/local/claude
      /usr/local/bin/claude
      /opt/homebrew/bin/claude
      /none/home/.npm-global/bin/claude
      /none/home/node_modules/.bin/claude
      /none/home/.yarn/bin/claude
      /none/home/.bun/bin/claude
    Install it with: npm install -g @anthropic-ai/claude-code
    ");
}

#[test]
fn a_path_that_is_missing_a_folder_or_not_executable_has_its_own_error() {
    let dir = TempDir::new().unwrap();
    let around = around(&[], dir.path());
    let locate = |path: &Path| Cli::from(path).locate(&around);
    let missing = dir.path().join("gone");
    assert_eq!(locate(&missing), Err(LocateError::Missing(missing.clone())));
    assert_eq!(
        locate(dir.path()),
        Err(LocateError::IsFolder(dir.path().into()))
    );
    let plain = dir.path().join("plain");
    touch(&plain, 0o644);
    if cfg!(unix) {
        assert_eq!(
            locate(&plain),
            Err(LocateError::NotExecutable(plain.clone()))
        );
    }
}

#[test]
#[cfg(unix)]
fn a_script_runs_under_node() {
    let dir = TempDir::new().unwrap();
    let bin = dir.path().join("bin");
    for name in ["cli.js", "cli.mjs", "cli.cjs"] {
        let script = dir.path().join(name);
        touch(&script, 0o644);
        let without = Cli::from(&*script).locate(&around(&[&bin], dir.path()));
        assert!(matches!(without, Err(LocateError::NotOnPath { name, .. }) if name == "node"));
        touch(&bin.join("node"), 0o755);
        let found = Cli::from(&*script)
            .locate(&around(&[&bin], dir.path()))
            .unwrap();
        assert_eq!(found.program, bin.join("node"));
        assert_eq!(found.args, [script.into_os_string()]);
        fs::remove_file(bin.join("node")).unwrap();
    }
}

#[test]
#[cfg(unix)]
fn a_command_keeps_its_arguments() {
    let dir = TempDir::new().unwrap();
    touch(&dir.path().join("npx"), 0o755);
    let around = around(&[dir.path()], dir.path());
    let line = Cli::Line("npx -y @anthropic-ai/claude-code@2.0.75".into());
    let words = ["npx", "-y", "@anthropic-ai/claude-code@2.0.75"].map(OsString::from);
    let found = line.locate(&around).unwrap();
    assert_eq!(
        Cli::Command(words.to_vec()).locate(&around),
        Ok(found.clone())
    );
    assert_eq!(found.program, dir.path().join("npx"));
    assert_eq!(found.args, &words[1..]);
}

#[test]
fn a_line_is_split_at_blanks_outside_quotes() {
    let split = |line: &str| -> Vec<String> {
        let words = split(line).unwrap().into_iter();
        words.map(|word| word.into_string().unwrap()).collect()
    };
    assert_eq!(split("a  b\tc "), ["a", "b", "c"]);
    assert_eq!(split(r#"'a b' "c 'd'" e"f g""#), ["a b", "c 'd'", "ef g"]);
    assert_eq!(split(r#"a '' "" b"#), ["a", "", "", "b"]);
    assert_eq!(
        split(r#"C:\bin\claude.exe a\ b "c\"d""#),
        [r"C:\bin\claude.exe", "a b", "c\"d"]
    );
    assert_eq!(split(r"'a\'b"), [r"a\b"]);
    assert!(split("  ").is_empty());
}

#[test]
fn empty_commands_and_open_quotes_are_refused() {
    let nowhere = Surroundings::default();
    for empty in [
        Cli::Line(" ".into()),
        Cli::Command(vec![]),
        Cli::Line("''".into()),
    ] {
        assert_eq!(empty.locate(&nowhere), Err(LocateError::Empty));
    }
    let open = Cli::Line("npx 'a".into()).locate(&nowhere);
    assert_eq!(open, Err(LocateError::UnclosedQuote("npx 'a".into())));
    let absent = Cli::Line("npx".into()).locate(&nowhere);
    assert!(matches!(absent, Err(LocateError::NotOnPath { .. })));
}
