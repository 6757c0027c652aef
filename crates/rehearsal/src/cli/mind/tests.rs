//! Prompts and the steps they come to.

use std::fmt::Write as _;

use serde_json::json;

use super::*;

const CWD: &str = "/project";

fn offered() -> Vec<String> {
    let names = "Task AskUserQuestion Bash Edit EnterPlanMode ExitPlanMode Read WebFetch Write mcp__calc__add";
    names.split(' ').map(str::to_owned).collect()
}

fn request<'a>(prompt: &'a str, tools: &'a [String], agents: &'a [String]) -> Request<'a> {
    Request {
        prompt,
        first_prompt: prompt,
        mode: "default",
        model: "claude-opus-5-5",
        cwd: CWD,
        plan_file: None,
        schema: None,
        tools,
        inputs: &[],
        agents,
    }
}

fn steps(prompt: &str) -> String {
    let (tools, agents) = (offered(), vec!["Explore".to_owned()]);
    shown(&follow(&request(prompt, &tools, &agents)))
}

/// Steps on one line, as one would write them.
fn shown(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        if !out.is_empty() {
            out.push_str("; ");
        }
        let _ = match step {
            Step::Say(text, _) => write!(out, "say {text:?}"),
            Step::Think(text, _) => write!(out, "think {text:?}"),
            Step::Tool(calling) => write!(out, "{} {}", calling.name, calling.input),
            Step::Pace(pace) => write!(out, "pace {}ms", pace.as_millis()),
            Step::Pause(pause) => write!(out, "wait {}ms", pause.as_millis()),
            Step::Fail { status, text } => write!(out, "fail {status} {text:?}"),
            Step::Agent(agent) => {
                assert!(agent.steps.is_none(), "it follows its prompt");
                let back = if agent.background { " background" } else { "" };
                write!(
                    out,
                    "agent {} {:?} {}{back}",
                    agent.kind, agent.prompt, agent.more
                )
            }
            Step::If {
                condition,
                then,
                otherwise,
            } => {
                assert_eq!(*condition, Condition::Refused);
                match (shown(then).as_str(), shown(otherwise).as_str()) {
                    ("say \"It was refused: ${result}\"", "say \"${result}\"") => {
                        write!(out, "CLOSE")
                    }
                    ("say \"It was refused: ${result}\"", rest) => write!(out, "OR({rest})"),
                    (then, rest) => write!(out, "IF REFUSED({then})({rest})"),
                }
            }
            other => panic!("no request comes to {other:?}"),
        };
    }
    out
}

/// Each prompt with the steps it comes to.
#[test]
fn prompts_come_to_steps() {
    let prompts = include_str!("prompts.txt").lines();
    let prompts = prompts.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let shown = prompts.map(|prompt| {
        let steps = steps(&prompt.replace('⏎', "\n"));
        format!("{prompt}\n    {steps}\n")
    });
    insta::assert_snapshot!(shown.collect::<String>());
}

#[test]
fn a_text_can_be_long_and_a_prompt_empty() {
    assert_eq!(steps("write 1000 lines").matches("\\n").count(), 999);
    assert!(steps("tell me a long story").len() > 8_000);
    assert!(steps("").starts_with("say \"Hello! I follow plain requests"));
}

#[test]
fn a_tool_of_a_server_gets_what_is_said_or_what_fits() {
    let text = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let inputs = [
        ("mcp__multi__echo".to_owned(), text("text")),
        ("mcp__multi__greet".to_owned(), text("name")),
    ];
    let tools = offered();
    let steps = |prompt: &str| {
        shown(&follow(&Request {
            inputs: &inputs,
            ..request(prompt, &tools, &[])
        }))
    };
    let (echo, greet) = (
        r#"mcp__multi__echo {"text":"test"}"#,
        r#"mcp__multi__greet {"name":"Bob"}"#,
    );
    let prompt = "Call mcp__multi__echo with text='test' and mcp__multi__greet with name='Bob'";
    assert_eq!(steps(prompt), format!("{echo}; {greet}; CLOSE"));
    let prompt = "First use the greet tool to greet 'Bob'. After that completes, use the echo tool to echo 'test'. Do these one at a time, not in parallel.";
    assert_eq!(steps(prompt), format!("{greet}; {echo}; CLOSE"));
    let any = steps("Call the mcp__multi__echo tool with any text");
    assert!(any.starts_with(r#"mcp__multi__echo {"text":""#), "{any}");
    assert_eq!(
        steps("Call the mcp__other__x tool"),
        "mcp__other__x {}; CLOSE"
    );
}

#[test]
fn the_word_of_the_first_prompt_is_known() {
    let (tools, agents) = (offered(), Vec::new());
    let later = Request {
        first_prompt: "Please remember the word `PINEAPPLE`.",
        ..request("what did I ask you to remember?", &tools, &agents)
    };
    assert_eq!(shown(&follow(&later)), "say \"PINEAPPLE\"");
}
