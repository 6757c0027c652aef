//! What is printed for people where no terminal is: plain text, prompts, folders, exit codes.

use std::path::Path;

use crate::stage::{Stage, Which};

#[test]
fn plain_text_has_no_escape_sequences_whatever_the_agent_writes() {
    const MODEL: &str = r##"
reply
  say "# Head\n\n**bold** and `code` and \u001b[31mred\u001b[0m\u0007 \u009b1m\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
  tool Bash {"command":"printf '\\033[1mloud\\033[0m\\r\\n'","description":"Be loud"}
reply
  say "That is it."
"##;
    let env = [
        ("TERM", "xterm-256color"),
        ("CLICOLOR_FORCE", "1"),
        ("COLORTERM", "truecolor"),
    ];
    let stage = Stage::with(Which::Scripted, MODEL, &env).unwrap();
    let ran = stage.run(&["--yes", "Be loud"]).is(0);
    let is_harmless = |c: char| c == '\n' || !c.is_control();
    assert!(ran.out.chars().all(is_harmless), "{:?}", ran.out);
    for text in [
        "Head",
        "bold and code",
        "fn main() {}",
        "loud",
        "That is it.",
    ] {
        assert!(ran.out.contains(text), "no {text:?} in:\n{}", ran.out);
    }
    assert_eq!(ran.err, "");
    assert!(
        ran.out.lines().all(|line| line.trim_end() == line),
        "{:?}",
        ran.out
    );
}

#[test]
fn a_line_says_who_decided_and_another_what_came_of_it() {
    let stage = Stage::new(Which::Plain, "").unwrap().file("a.txt", "one\n");
    let words = "read a.txt, then run `echo yes`, then run `echo no`";
    let ran = stage.run(&["--allow", "Bash(echo yes)", words]);
    ran.is(3)
        .says("✓ The profile `careful` allows this.")
        .says("✓ The rule `allow Bash(echo yes)` (the command line) allows this.")
        .says("✗ Refused: nobody is here to ask.")
        .says("denied: This was not allowed: nobody is here to ask. No rule allows this command.");
}

#[test]
fn the_prompt_is_an_argument() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    stage.run(&["say good morning"]).is(0).says("good morning");
}

#[test]
fn the_prompt_is_what_stands_on_stdin() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let ran = stage.piped(
        &["--allow", "Bash(echo:*)"],
        "\nrun `echo one`\nrun `echo two`\n\n",
    );
    ran.is(0).says("Bash  echo one").says("Bash  echo two");
}

#[test]
fn an_argument_goes_before_stdin() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let ran = stage.piped(&["say from the argument"], "say from the pipe");
    let ran = ran.is(0).says("from the argument");
    assert!(!ran.out.contains("from the pipe"), "{}", ran.out);
}

#[test]
fn without_a_prompt_nothing_is_started() {
    let note = "COUNTERSIGN_SCENARIO_ARGV";
    let stage = Stage::with(Which::Plain, "", &[(note, "started")]).unwrap();
    for stdin in ["", " \n\t\n"] {
        let ran = stage.piped(&[], stdin).is(1);
        assert_eq!(ran.out, "");
        ran.warns("say what the agent is to do");
    }
    stage.run(&[" "]).is(1).warns("the prompt is empty");
    assert_eq!(stage.read("started"), None);
    stage.run(&["say hello"]).is(0);
    assert!(stage.read("started").is_some());
}

#[test]
fn a_prompt_that_is_no_text_is_refused() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let script = stage.aside("no-text");
    std::fs::write(&script, b"say \xff\xfe").unwrap();
    let ran = stage.run_from(&[], Path::new(&script));
    ran.is(1).warns("what stdin holds is no text");
}

#[test]
fn the_agent_works_in_the_folder_that_is_named() {
    let stage = Stage::new(Which::Plain, "")
        .unwrap()
        .file("inner/a.txt", "inside\n");
    let inner = stage.project().join("inner");
    let ran = stage.run(&[
        "-C",
        "inner",
        "--allow",
        "Bash(pwd)",
        "run `pwd`, then read a.txt",
    ]);
    ran.is(0).says(&inner.to_string_lossy()).says("inside");
    let ran = stage.run(&["-C", "nowhere", "run `pwd`"]).is(1);
    ran.warns("nowhere: is it a folder?");
}

#[test]
fn a_turn_that_fails_is_exit_code_1() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    stage.run(&["fail with 529"]).is(1).says("529");
}

#[test]
fn a_refusal_by_rule_is_no_failure() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    let ran = stage.run(&["--deny", "Bash(ls)", "run `ls`"]);
    ran.is(0)
        .says("✗ Refused by `deny Bash(ls)` (the command line).");
}

#[test]
fn a_command_line_that_is_not_understood_is_exit_code_2() {
    let stage = Stage::new(Which::Plain, "").unwrap();
    for args in [
        &["--nonsense"][..],
        &["one", "two"],
        &["--mode"],
        &["--mode", "free"],
    ] {
        let ran = stage.run(args).is(2);
        assert_eq!(ran.out, "");
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
    }
}

#[test]
fn whoever_closes_the_pipe_ends_the_agent() {
    let scenario = "turn\n  spawn detached \"sleep 300\"\n  flood 1000000\n  wait forever\n";
    let stage = Stage::new(Which::Scenario, scenario).unwrap();
    let going = stage.start_and_look_once(&["--json", "Go"]);
    let ran = going.ended().is(0);
    assert_eq!(ran.err, "");
    stage.until_nothing_runs();
}
