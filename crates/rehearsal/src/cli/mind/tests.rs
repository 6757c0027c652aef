//! Prompts and the steps they come to.

use std::fmt::Write as _;

use serde_json::{Value, json};

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

fn check(prompt: &str, expected: &str) {
    assert_eq!(steps(prompt), expected, "{prompt}");
}

fn bash(command: &str) -> String {
    let title = short(command, 8, 60);
    format!(
        "Bash {}",
        json!({"command": command, "description": format!("Run {title}")})
    )
}

fn write(file: &str, content: &str) -> String {
    format!("Write {}", json!({"file_path": file, "content": content}))
}

#[test]
fn a_command_is_run() {
    let forms = [
        ("run `echo hi`", "echo hi"),
        ("Run `echo hi`.", "echo hi"),
        ("Please run `echo hi` please.", "echo hi"),
        ("run this command: echo hi", "echo hi"),
        ("Run the command: `echo hi`", "echo hi"),
        ("run \"touch a b\"", "touch a b"),
        ("run echo 'a b' && touch c", "echo 'a b' && touch c"),
        ("Could you run ls -la .", "ls -la ."),
        ("execute ./build.sh --all.", "./build.sh --all"),
        ("run \"my program\" --flag", "\"my program\" --flag"),
        ("run ```sh\necho one\necho two\n```", "echo one\necho two"),
        ("run `cat <<E\nx\nE`", "cat <<E\nx\nE"),
        ("- run `a`", "a"),
        ("1. run `a`", "a"),
    ];
    for (prompt, command) in forms {
        check(prompt, &format!("{}; CLOSE", bash(command)));
    }
}

#[test]
fn a_command_can_run_in_the_background() {
    let input = json!({"command":"sleep 1","description":"Run sleep 1","run_in_background":true});
    let expected = format!("Bash {input}; CLOSE");
    check("run `sleep 1` in the background", &expected);
    check("Run this command: sleep 1 in the background.", &expected);
}

#[test]
fn variables_of_the_shell_are_not_those_of_a_scenario() {
    check(
        "run `echo ${HOME} $X`",
        &format!("{}; CLOSE", bash("echo $${HOME} $X")),
    );
    check("say ${cwd}", "say \"$${cwd}\"");
    check(
        "use the tool mcp__calc__add with {\"a\":[\"${n}\"]}",
        "mcp__calc__add {\"a\":[\"$${n}\"]}; CLOSE",
    );
}

#[test]
fn a_file_is_written() {
    let forms = [
        (
            "write hello.txt: Hello, world",
            "/project/hello.txt",
            "Hello, world",
        ),
        (
            "Write the file hello.txt: Hello.",
            "/project/hello.txt",
            "Hello.",
        ),
        ("write `a b.txt`: x", "/project/a b.txt", "x"),
        ("write `Hello` to hello.txt", "/project/hello.txt", "Hello"),
        (
            "write \"a\\nb\\n\" to sub/a.txt.",
            "/project/sub/a.txt",
            "a\nb\n",
        ),
        (
            "write hello there to the file a.txt",
            "/project/a.txt",
            "hello there",
        ),
        ("write /tmp/out.txt: x", "/tmp/out.txt", "x"),
        (
            "write notes.md:\n- one\n- two",
            "/project/notes.md",
            "- one\n- two",
        ),
        (
            "write a.py: ```python\nprint(1)\n```",
            "/project/a.py",
            "print(1)\n",
        ),
        ("create a.txt with Hello", "/project/a.txt", "Hello"),
        (
            "Create a file called hello.txt with the content 'Hello!'",
            "/project/hello.txt",
            "Hello!",
        ),
        ("create hello with world", "/project/hello", "world"),
        ("create a new file empty.txt", "/project/empty.txt", ""),
        ("create README: # Title", "/project/README", "# Title"),
        ("put `x` into a.txt", "/project/a.txt", "x"),
    ];
    for (prompt, file, content) in forms {
        check(prompt, &format!("{}; CLOSE", write(file, content)));
    }
}

#[test]
fn a_file_is_read_and_said() {
    let read = |file: &str| format!("Read {}; CLOSE", json!({"file_path": file}));
    check("read a.txt", &read("/project/a.txt"));
    check("Please read the file `a b.txt`.", &read("/project/a b.txt"));
    check("read ../up.txt", &read("/up.txt"));
    check("Show me src/main.rs", &read("/project/src/main.rs"));
    check("what is in a.txt?", &read("/project/a.txt"));
    check("read ~/notes.txt", &read("${home}/notes.txt"));
}

#[test]
fn a_file_is_read_before_it_is_changed() {
    let edit = |old: &str, new: &str| {
        let input = json!({"file_path":"/project/a.txt","old_string":old,"new_string":new});
        format!("Read {{\"file_path\":\"/project/a.txt\"}}; OR(Edit {input}; CLOSE)")
    };
    check("edit a.txt: replace `one` with `two`", &edit("one", "two"));
    check(
        "Edit the file a.txt, replace 'one' by 'two'.",
        &edit("one", "two"),
    );
    check("in a.txt replace one with two", &edit("one", "two"));
    check("replace `one` with `two` in a.txt", &edit("one", "two"));
    check(
        "edit a.txt: replace `a with b` with `c\\nd`",
        &edit("a with b", "c\nd"),
    );
    check("edit a.txt: replace `one` with ``", &edit("one", ""));
    let everywhere =
        json!({"file_path":"/project/a.txt","old_string":"x","new_string":"y","replace_all":true});
    let expected =
        format!("Read {{\"file_path\":\"/project/a.txt\"}}; OR(Edit {everywhere}; CLOSE)");
    check("edit a.txt: replace all `x` with `y`", &expected);
    check("edit a.txt: replace `x` with `y` everywhere", &expected);
}

#[test]
fn a_tool_is_used_by_its_name() {
    check(
        "use the tool mcp__calc__add with {\"a\":1,\"b\":2}",
        "mcp__calc__add {\"a\":1,\"b\":2}; CLOSE",
    );
    check(
        "Use the `mcp__calc__add` tool with `{\"a\":1}`.",
        "mcp__calc__add {\"a\":1}; CLOSE",
    );
    check(
        "call the tool webfetch with {\"url\":\"https://example.com/\"}",
        "WebFetch {\"url\":\"https://example.com/\"}; CLOSE",
    );
    check("use the tool NoSuchTool", "NoSuchTool {}; CLOSE");
    check(
        "use the tool Bash with {\"command\":\"a, then run b\"}",
        "Bash {\"command\":\"a, then run b\"}; CLOSE",
    );
    let broken = steps("use the tool Bash with {\"command\":}");
    assert!(
        broken.starts_with("say \"I cannot read the input of that tool as JSON"),
        "{broken}"
    );
}

#[test]
fn an_agent_is_sent() {
    check(
        "use the agent explore to read a.txt",
        "agent Explore \"read a.txt\" {\"description\":\"read a.txt\"}; CLOSE",
    );
    check(
        "Use the Explore agent to `run ls, then read a.txt`",
        "agent Explore \"run ls, then read a.txt\" {\"description\":\"run ls, then read a.txt\"}; CLOSE",
    );
    let back = "agent scribe \"say hi\" {\"description\":\"say hi\"} background; CLOSE";
    check("use the agent scribe in the background to say hi", back);
    check("use the agent scribe to say hi in the background.", back);
}

#[test]
fn tools_are_called_in_the_english_of_the_sdks_examples() {
    let write = write("/home/me/a.txt", "hello");
    check(
        "Use the Write tool to create the file /home/me/a.txt containing exactly the text hello. Do not use any other tool.",
        &format!("{write}; CLOSE"),
    );
    check(
        "Run this bash command: echo 'hello'",
        &format!("{}; CLOSE", bash("echo 'hello'")),
    );
    check(
        "Use the Agent tool exactly once with subagent_type 'explore', prompt 'say hi', and run_in_background set to false. Then reply with the single word DONE.",
        r#"agent Explore "say hi" {"description":"say hi"}; say "DONE""#,
    );
    check(
        "Think of three jokes, then tell one",
        "think \"They want me to think about three jokes, then tell one. What speaks for it, what against?\"; say \"I thought about three jokes, then tell one.\"",
    );
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
fn a_question_has_options() {
    let ask = |question: &str, header: &str, labels: &[&str], several: bool| {
        let options: Vec<Value> = labels
            .iter()
            .map(|label| json!({"label": label, "description": format!("Choose {label}")}))
            .collect();
        let question =
            json!({"question":question,"header":header,"options":options,"multiSelect":several});
        format!("AskUserQuestion {}; CLOSE", json!({"questions":[question]}))
    };
    check(
        "ask me which colour: red or blue",
        &ask("Which colour?", "Colour", &["red", "blue"], false),
    );
    check(
        "Ask me which size? S, M, or L",
        &ask("Which size?", "Size", &["S", "M", "L"], false),
    );
    check(
        "ask me what to keep (several): a, b, c, d, e",
        &ask(
            "What to keep (several)?",
            "Several",
            &["a", "b", "c", "d"],
            false,
        ),
    );
    check(
        "ask me what to keep: a, b (several)",
        &ask("What to keep?", "Keep", &["a", "b"], true),
    );
    check(
        "ask me whether to go on",
        &ask("Whether to go on?", "Whether", &["Yes", "No"], false),
    );
    check(
        "ask me whom: \"this, or that\" or nobody.",
        &ask("Whom?", "Whom", &["this, or that", "nobody"], false),
    );
}

#[test]
fn a_plan_waits_for_a_word() {
    let file = "Write {\"content\":\"1. Tidy\\n2. Rest\",\"file_path\":\"${plan_file}\"}";
    let shown_plan = format!("{file}; OR(ExitPlanMode {{}}; CLOSE)");
    check(
        "plan: 1. Tidy\\n2. Rest",
        &format!("EnterPlanMode {{}}; OR({shown_plan})"),
    );
    let (tools, agents) = (offered(), Vec::new());
    let in_plan = Request {
        mode: "plan",
        ..request(
            "plan: 1. Tidy\\n2. Rest, then run `touch done`",
            &tools,
            &agents,
        )
    };
    let expected = format!(
        "{file}; OR(ExitPlanMode {{}}; OR({}; CLOSE))",
        bash("touch done")
    );
    assert_eq!(shown(&follow(&in_plan)), expected);
    let nobody = Request {
        tools: &[],
        inputs: &[],
        ..in_plan
    };
    assert!(shown(&follow(&nobody)).starts_with("say \"I cannot put a plan before you"));
}

#[test]
fn words_alone_are_said() {
    check("say Hello.", "say \"Hello.\"");
    check("Say \"one\\ntwo\"", "say \"one\\ntwo\"");
    check("say: hello, then goodbye", "say \"hello, then goodbye\"");
    check("count to 5", "say \"1 2 3 4 5\"");
    check("count to 3 slowly", "pace 50ms; say \"1 2 3\"; pace 0ms");
    check("fail with 529", "fail 529 \"Overloaded\"");
    check("Fail with status 401: no key.", "fail 401 \"no key.\"");
    check("remember PINEAPPLE.", "say \"I will remember: PINEAPPLE\"");
    check("What did I say first?", "say \"What did I say first?\"");
    check("which model?", "say \"claude-opus-5-5\"");
    check("Which mode?", "say \"${mode}\"");
    check("where are you?", "say \"/project\"");
    check("wait 2 seconds", "wait 2000ms; say \"I waited.\"");
    check("list your agents", "say \"Explore\"");
    assert!(steps("list your tools").contains("Task\\nAskUserQuestion\\nBash"));
    assert!(steps("think about tea.").starts_with("think \"They want me to think about tea. "));
    assert!(steps("think about tea.").ends_with("say \"I thought about tea.\""));
    assert_eq!(steps("write 1000 lines").matches("\\n").count(), 999);
    assert!(steps("tell me a long story").len() > 8_000);
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

#[test]
fn a_search_uses_what_is_there() {
    check(
        "search for needle",
        &format!("{}; CLOSE", bash("grep -rn -- needle .")),
    );
    check(
        "search for `it's` in src",
        &format!("{}; CLOSE", bash("grep -rn -- 'it'\\''s' src")),
    );
    check("list files", &format!("{}; CLOSE", bash("ls")));
    check(
        "List the files in this directory.",
        &format!("{}; CLOSE", bash("ls")),
    );
    let tools = vec!["Grep".to_owned(), "Glob".to_owned()];
    let with = |prompt| shown(&follow(&request(prompt, &tools, &[])));
    assert_eq!(
        with("search for needle in src"),
        "Grep {\"output_mode\":\"content\",\"path\":\"/project/src\",\"pattern\":\"needle\"}; CLOSE"
    );
    assert_eq!(with("list files"), "Glob {\"pattern\":\"**/*\"}; CLOSE");
    assert_eq!(
        with("run `ls`"),
        "say \"I cannot do that: there is no tool Bash here.\""
    );
}

#[test]
fn several_requests_are_followed_in_order() {
    let (write, read) = (
        write("/project/a.txt", "x"),
        "Read {\"file_path\":\"/project/a.txt\"}",
    );
    check(
        "write a.txt: x, then read it back",
        &format!("{write}; {read}; CLOSE"),
    );
    check(
        "write a.txt: x\nread a.txt\n",
        &format!("{write}; {read}; CLOSE"),
    );
    check(
        "Hi!\n\nwrite a.txt: x.\nThen read it.",
        &format!("{}; {read}; CLOSE", self::write("/project/a.txt", "x.")),
    );
    check(
        "run `a`, then say done",
        &format!("{}; say \"done\"", bash("a")),
    );
    check(
        "run `a, then run b`",
        &format!("{}; CLOSE", bash("a, then run b")),
    );
    check("say one\nsay two", "say \"one\"; say \"two\"");
}

#[test]
fn anything_else_gets_a_short_answer() {
    for prompt in [
        "",
        "Hello",
        "What is 2 + 2?",
        "Run the tests",
        "write a letter to mom",
        "make it so",
        "don't worry, then",
    ] {
        let said = steps(prompt);
        assert!(
            said.starts_with("say \"Hello! I follow plain requests"),
            "{prompt}: {said}"
        );
        assert!(
            !said.contains(';') || said.matches("say \"").count() == 1,
            "{said}"
        );
    }
}

#[test]
fn a_schema_gets_its_answer_after_the_requests() {
    let schema = json!({"type":"object","properties":{"colour":{"type":"string"},"count":{"type":"integer"}},"required":["colour","count"]});
    let tools = offered();
    let with = |prompt| {
        shown(&follow(&Request {
            schema: Some(&schema),
            ..request(prompt, &tools, &[])
        }))
    };
    assert_eq!(
        with("colour: red, count: 3"),
        "StructuredOutput {\"colour\":\"red\",\"count\":3}"
    );
    let expected = format!(
        "{}; CLOSE; StructuredOutput {{\"colour\":\"run `ls`\",\"count\":1}}",
        bash("ls")
    );
    assert_eq!(with("run `ls`"), expected);
    let refused = with("Answer with {\"colour\":\"red\"}");
    assert!(
        refused.starts_with(
            "StructuredOutput {\"colour\":\"red\"}; IF REFUSED(StructuredOutput {\"colour\":"
        ),
        "{refused}"
    );
}
