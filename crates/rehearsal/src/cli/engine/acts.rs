//! What an allowed call does: inside the engine where only the conversation is concerned, else by the shell.

use serde_json::{Value, json};

use super::ask::Kind;
use super::call::Stage;
use super::deed::{Deed, Done, Kind as DeedKind, Outcome};
use super::report::{Ending, Report, display_name};
use super::talk::MAIN;
use super::{Engine, Output};
use crate::cli::act::Ran;
use crate::cli::scenario::{Asking, Gives};

/// Attempts at a structured answer before the turn fails.
const ATTEMPTS: u32 = 5;

impl Engine {
    /// The input as the model's line shows it: a plan is read from its file, whatever the model passed.
    pub(super) fn shown_input(&self, name: &str, input: Value) -> Value {
        if name == "Edit" {
            let mut shown = input;
            if let Some(fields) = shown.as_object_mut() {
                fields.entry("replace_all").or_insert(false.into());
            }
            return shown;
        }
        if name != "ExitPlanMode" {
            return input;
        }
        let mut shown = match input {
            Value::Object(fields) => Value::Object(fields),
            _ => json!({}),
        };
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("plan");
        }
        if let (Some(path), Some(plan)) = (&self.plan_file, &self.plan) {
            shown["plan"] = plan.clone().into();
            shown["planFilePath"] = path.clone().into();
        }
        shown
    }

    /// Why a tool cannot be called at all.
    pub(super) fn unavailable(&self, talk: u64, name: &str) -> Option<Report> {
        if name == "ExitPlanMode" && self.permissions.mode() != "plan" {
            let text =
                "You are not in plan mode. To enter plan mode, call the EnterPlanMode tool first.";
            return Some(Report::error(text));
        }
        let definition = self
            .agent(talk)
            .and_then(|agent| self.agents.as_ref()?.lookup(&agent.kind));
        let only = definition.and_then(|definition| definition.tools.as_ref());
        let is_offered = self.tool_names().iter().any(|known| known == name)
            && only.is_none_or(|only| only.iter().any(|tool| tool == name || tool == "*"));
        // The engine's own tools are called by other names in old versions.
        let is_known = is_offered || matches!(name, "Agent" | "KillShell");
        let is_mcp = name.starts_with("mcp__");
        let missing = self.permissions.is_removed(name) || !is_known;
        missing.then(|| {
            if !is_mcp && self.permissions.is_removed(name) {
                let text = format!(
                    "Error: No such tool available: {name}. {name} is not available in this session."
                );
                return Report::error(format!("<tool_use_error>{text}</tool_use_error>"));
            }
            Report::of(&Ran::no_such_tool(name))
        })
    }

    /// How a tool of the host's servers is shown beside its call.
    pub(super) fn tool_use_meta(&self, block: &Value) -> Option<Value> {
        let name = block["name"].as_str()?;
        let Some((server, tool)) = self.servers.of_tool(name) else {
            let tool = name.strip_prefix("mcp__")?.rsplit("__").next()?;
            let shown = display_name(&json!({"name": tool}));
            return Some(json!({"id": block["id"], "display_name": shown}));
        };
        Some(json!({
            "id": block["id"],
            "display_name": display_name(tool),
            "server_display_name": server.name,
            "tool_name": tool["name"],
        }))
    }

    /// Does what the call is about.
    pub(super) fn act(&mut self, index: usize) {
        let call = &self.calls[index];
        let input = call.input.clone();
        if let Some(gives) = call.gives.clone() {
            return self.make_up(index, gives);
        }
        match call.name.clone().as_str() {
            "AskUserQuestion" => self.acted(index, answers_report(&input)),
            "ExitPlanMode" => self.leave_plan(index, &input),
            "EnterPlanMode" => self.enter_plan(index),
            "Task" | "Agent" => self.delegate(index),
            "TaskStop" | "KillShell" => self.stop_by_call(index, &input),
            "StructuredOutput" => self.take_structured(index, input),
            "Bash" if input["run_in_background"] == true => self.run_in_background(index),
            name if name.starts_with("mcp__") => self.call_server(index, &input),
            _ => self.hand_over(index),
        }
    }

    fn make_up(&mut self, index: usize, gives: Gives) {
        let input = self.calls[index].input.to_string();
        let report = match gives {
            Gives::Text(text) => {
                let text = text.replace("${input}", &input);
                Report {
                    structured: json!({
                        "stdout": text, "stderr": "", "interrupted": false, "isImage": false,
                    }),
                    is_error: Some(false),
                    ..Report::text(text)
                }
            }
            Gives::Error(text) => Report::error(text),
        };
        if self.calls[index].outright {
            self.report(index, report);
        } else {
            self.acted(index, report);
        }
    }

    /// The shell does it, and says when it is done.
    fn hand_over(&mut self, index: usize) {
        let mut call = self.calls.remove(index);
        call.stage = Stage::Acting;
        let deed = Deed(DeedKind::Tool {
            name: call.name.clone(),
            input: call.input.clone(),
            task: None,
        });
        let serial = call.serial;
        self.calls.insert(index, call);
        self.out.push(Output::Do { serial, deed });
    }

    /// The shell has done it.
    pub(super) fn done(&mut self, serial: u64, outcome: &Outcome) {
        if let Some(plan) = &outcome.plan {
            self.plan = Some(plan.clone());
        }
        let index = self.calls.iter().position(|call| call.serial == serial);
        match &outcome.done {
            Done::Looked(reply) => self.looked(serial, reply),
            Done::Served(answer) => self.served(serial, answer),
            Done::Hooked(printed) => self.hook_ended(serial, printed),
            Done::Checked(problem) => {
                if let Some(index) = index {
                    self.checked(index, problem.as_ref());
                }
            }
            Done::Ran(ran) => {
                if self.finish_background(serial, ran) {
                    return;
                }
                let Some(index) = index else { return };
                if matches!(self.calls[index].stage, Stage::Acting) {
                    self.acted(index, Report::of(ran));
                }
            }
        }
    }

    fn call_server(&mut self, index: usize, input: &Value) {
        let call = &self.calls[index];
        let id = call.tool_use_id.clone();
        let found = self.servers.of_tool(&call.name);
        let Some((server, tool)) = found.map(|(server, tool)| (server.name.clone(), tool.clone()))
        else {
            return;
        };
        let message = json!({"method": "tools/call", "params": {
            "name": tool["name"],
            "arguments": input,
            "_meta": {"claudecode/toolUseId": id, "progressToken": 0},
        }});
        let question = self.put_mcp(&server, message, &Asking::default(), Kind::Mcp);
        self.calls[index].stage = Stage::Remote(question);
    }

    fn enter_plan(&mut self, index: usize) {
        self.permissions.enter_plan();
        self.choose_plan_file();
        self.say_status();
        let mut report = Report::text(
            "Entered plan mode. Explore first, then write the plan and leave plan mode.",
        );
        report.structured = json!({"message": "Entered plan mode."});
        self.acted(index, report);
    }

    fn leave_plan(&mut self, index: usize, input: &Value) {
        let edited = input["plan"].as_str().map(str::to_owned);
        if let (Some(edited), Some(path)) = (&edited, self.plan_file.clone())
            && self.plan.as_ref() != Some(edited)
        {
            let text = edited.clone();
            self.order(Deed(DeedKind::Write { path, text }));
        }
        if self.permissions.mode() == "plan" {
            self.permissions.leave_plan();
            self.say_status();
        }
        let was_edited = self.plan.is_some() && edited.is_some() && edited != self.plan;
        let report = match edited.or(self.plan.clone()) {
            Some(plan) => {
                let mut structured = json!({
                    "plan": plan, "isAgent": false, "filePath": self.plan_file,
                });
                if was_edited {
                    structured["planWasEdited"] = true.into();
                }
                Report {
                    structured,
                    ..Report::text(format!(
                        "User has approved your plan. You can now start coding. The plan:\n{plan}"
                    ))
                }
            }
            None => Report {
                structured: json!({"plan": null, "isAgent": false}),
                ..Report::text("User has approved exiting plan mode. You can now proceed.")
            },
        };
        self.acted(index, report);
    }

    fn take_structured(&mut self, index: usize, input: Value) {
        let Some(schema) = self.flags.schema.clone() else {
            let text =
                "<tool_use_error>Error: No such tool available: StructuredOutput</tool_use_error>";
            return self.report(index, Report::error(text));
        };
        match crate::cli::schema::violation(&schema, &input) {
            None => {
                let text = "Structured output provided successfully";
                let mut report = Report::text(text);
                report.structured = text.into();
                report.ending = Some(Ending::Structured);
                self.structured = Some(input);
                self.acted(index, report);
            }
            Some(problem) => {
                self.structured_attempts += 1;
                let text = format!("Output does not match required schema: {problem}");
                self.report(index, Report::error(text));
                if self.structured_attempts >= ATTEMPTS {
                    self.end_limited(
                        "error_max_structured_output_retries",
                        format!(
                            "Failed to provide valid structured output after {ATTEMPTS} attempts"
                        ),
                    );
                }
            }
        }
    }

    /// The turn ends with the answer in the form that was asked for.
    pub(super) fn end_structured(&mut self) {
        let Some(value) = self.structured.take() else {
            return;
        };
        let text = value.to_string();
        self.talk(MAIN).said = text;
        let with = json!({"structured_output": value});
        self.end_with(None, with);
    }
}

fn answers_report(input: &Value) -> Report {
    let answers = input["answers"].as_object();
    let said = |(question, answer): (&String, &Value)| {
        let answer = match answer {
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                let items = items.iter().filter_map(Value::as_str);
                items.collect::<Vec<_>>().join(",")
            }
            other => other.to_string(),
        };
        format!("\"{question}\"=\"{answer}\"")
    };
    let text = match answers {
        Some(answers) if !answers.is_empty() => {
            let all: Vec<String> = answers.iter().map(said).collect();
            format!(
                "Your questions have been answered: {}. You can now continue with these answers in mind.",
                all.join(", ")
            )
        }
        _ => "The user did not answer the questions.".to_owned(),
    };
    let mut structured = json!({"questions": input["questions"], "answers": {}});
    if let Some(answers) = answers {
        structured["answers"] = Value::Object(answers.clone());
    }
    Report {
        structured,
        ..Report::text(text)
    }
}
