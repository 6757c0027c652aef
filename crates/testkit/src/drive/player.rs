//! Takes one step of a scenario after the other. Thin: it writes lines, waits for lines, and serves the
//! in-process MCP servers meanwhile; what a line looks like is said elsewhere.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::log::Log;
use super::vars::Vars;
use super::{DriveError, Props, Stage, Why, answers, mcp};
use crate::json::Json;
use crate::recording::{Dir, Entry};
use crate::sandbox::{Cli, CliStream, Launch, Patience, Sandbox};
use crate::scenario::{Answer, Control, Scenario, Step, StepKind};

pub(super) struct Player<'a> {
    scenario: &'a Scenario,
    stage: &'a Stage<'a>,
    sandbox: &'a Sandbox,
    props: Props,
    cli: Option<Cli>,
    log: Log,
    vars: Vars,
    /// Lines before this one have been expected, or passed over by an expectation.
    expected: usize,
    /// Lines before this one have been offered to the in-process servers.
    served: usize,
    /// Number of the last control request.
    requests: u32,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        stage: &'a Stage<'a>,
        sandbox: &'a Sandbox,
        props: Props,
    ) -> Self {
        let mut vars = Vars::default();
        vars.set("cwd", Json::from(&*sandbox.project().to_string_lossy()));
        vars.set("home", Json::from(&*sandbox.home().to_string_lossy()));
        let (log, cli) = (Log::start(), None);
        Player {
            scenario,
            stage,
            sandbox,
            props,
            cli,
            log,
            vars,
            expected: 0,
            served: 0,
            requests: 0,
        }
    }

    /// All steps; then the CLI's stdin is closed, if it still runs, and its end awaited.
    pub(super) async fn play(&mut self) -> Result<(), DriveError> {
        let scenario = self.scenario;
        let failed = |player: &Self, step: &Step, why| {
            DriveError::at(scenario, step, why, &player.log.entries_so_far())
        };
        let starts_itself = matches!(
            scenario.steps.first(),
            Some(Step {
                kind: StepKind::Start(_),
                ..
            })
        );
        if !starts_itself {
            self.start(&[])
                .map_err(|why| DriveError::before(scenario, why))?;
        }
        for step in &scenario.steps {
            self.step(&step.kind)
                .await
                .map_err(|why| failed(self, step, why))?;
        }
        if self.cli.is_some() {
            let closing = self.close_and_wait().await;
            closing.map_err(|why| DriveError::after(scenario, why, &self.log.entries_so_far()))?;
        }
        Ok(())
    }

    /// Ends what still runs, and hands out the log.
    pub(super) async fn finish(mut self) -> Vec<Entry> {
        if let Some(mut cli) = self.cli.take() {
            // The play has failed already, with a better reason than this could give.
            let _ = cli.end(Patience::default()).await;
        }
        self.log.entries_so_far()
    }

    async fn step(&mut self, step: &StepKind) -> Result<(), Why> {
        match step {
            StepKind::Start(flags) => self.start(flags),
            StepKind::Say(text) => {
                let text = self.vars.fill(text).map_err(Why::Unknown)?;
                self.write(&answers::user(&text)).await
            }
            StepKind::Raw(line) => {
                let line = self.vars.fill_json(line.clone()).map_err(Why::Unknown)?;
                self.write(&line).await
            }
            StepKind::Expect {
                matcher,
                name,
                within,
            } => {
                let matcher = matcher
                    .filled(|text| self.vars.fill(text))
                    .map_err(Why::Unknown)?;
                let from = self.expected;
                let (index, line) = self
                    .line(from, within.unwrap_or(self.stage.patience), |line| {
                        matcher.matches(line)
                    })
                    .await?;
                self.expected = index + 1;
                if let Some(name) = name {
                    self.vars.set(name, (*line).clone());
                }
                Ok(())
            }
            StepKind::Answer { to, answer } => self.answer(to, answer.clone()).await,
            StepKind::Control(control) => self.control(control).await,
            StepKind::Close => {
                self.cli()?.close_stdin();
                Ok(())
            }
            StepKind::WaitExit(code) => self.wait_exit(*code).await,
            StepKind::WaitFor(time) => self.pass(*time).await,
        }
    }

    fn start(&mut self, flags: &[String]) -> Result<(), Why> {
        if self.cli.is_some() {
            return Err(Why::NotRunning(
                "a CLI is still running: `close` and `wait exit` come first",
            ));
        }
        let flags = self.scenario.header.flags.iter().chain(flags);
        let flags: Vec<String> = flags
            .map(|flag| self.vars.fill(flag))
            .collect::<Result<_, _>>()
            .map_err(Why::Unknown)?;
        let env = self.scenario.header.env.iter().chain(&self.props.env);
        let launch = Launch {
            base_url: self.props.base_url.clone(),
            flags,
            env: env.cloned().collect(),
        };
        self.log.push(Dir::Run, launch.flags.join(" ").into_bytes());
        let log = self.log.clone();
        let sink = move |stream, line| match stream {
            CliStream::Stdout => log.push(Dir::Out, line),
            CliStream::Stderr => log.push(Dir::Err, line),
        };
        self.cli = Some(self.sandbox.start(self.stage.program, &launch, sink)?);
        Ok(())
    }

    async fn answer(&mut self, to: &str, answer: Answer) -> Result<(), Why> {
        let request = self.vars.get(to).map_err(Why::Unknown)?.clone();
        let line = answers::control_response(&request, answer).ok_or_else(|| {
            Why::Unknown(format!("{to} is not a request that can be answered so"))
        })?;
        let line = self.vars.fill_json(line).map_err(Why::Unknown)?;
        self.write(&line).await
    }

    async fn control(&mut self, control: &Control) -> Result<(), Why> {
        self.requests += 1;
        let id = format!("host-{}", self.requests);
        let fields = self
            .vars
            .fill_json(control.fields.clone())
            .map_err(Why::Unknown)?;
        let from = self.log.len();
        self.write(&answers::control_request(&id, &control.subtype, fields))
            .await?;
        if !control.awaited {
            return Ok(());
        }
        let is_answer = |line: &Json| {
            line.str_at("type") == Some("control_response")
                && line.str_at("response.request_id") == Some(&id)
        };
        let (_, line) = self.line(from, self.stage.patience, is_answer).await?;
        if let Some(name) = &control.name {
            self.vars.set(name, (*line).clone());
        }
        Ok(())
    }

    async fn close_and_wait(&mut self) -> Result<(), Why> {
        self.cli()?.close_stdin();
        self.wait_exit(None).await
    }

    async fn wait_exit(&mut self, wanted: Option<i32>) -> Result<(), Why> {
        let patience = self.stage.patience;
        let found = timeout(patience, self.exit())
            .await
            .map_err(|_| Why::NoEnd(patience))??;
        match wanted {
            Some(wanted) if found != Some(wanted) => Err(Why::ExitCode { wanted, found }),
            _ => Ok(()),
        }
    }

    /// Waits for the end, serving meanwhile; the CLI is gone after it.
    async fn exit(&mut self) -> Result<Option<i32>, Why> {
        let ended = loop {
            let length = self.log.len();
            self.serve().await?;
            let cli = self.cli.as_mut().ok_or(NO_CLI)?;
            tokio::select! {
                ended = cli.exited() => break ended?,
                () = self.log.longer_than(length) => {}
            }
        };
        self.cli = None;
        let code = ended.status.code();
        let text = code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
        self.log.push(Dir::End, text.into_bytes());
        Ok(code)
    }

    /// Lets time pass, serving meanwhile.
    async fn pass(&mut self, time: Duration) -> Result<(), Why> {
        match timeout(time, self.search(usize::MAX, |_| false)).await {
            Ok(found) => found.map(|_| ()),
            Err(_) => Ok(()),
        }
    }

    /// The first such line at or after `from`, within the time.
    async fn line(
        &mut self,
        from: usize,
        within: Duration,
        wanted: impl Fn(&Json) -> bool,
    ) -> Result<(usize, Arc<Json>), Why> {
        timeout(within, self.search(from, wanted))
            .await
            .map_err(|_| Why::NoLine(within))?
    }

    async fn search(
        &mut self,
        from: usize,
        wanted: impl Fn(&Json) -> bool,
    ) -> Result<(usize, Arc<Json>), Why> {
        let mut next = from;
        loop {
            self.serve().await?;
            let length = self.log.len();
            while next < length {
                if let Some(line) = self.log.message(next).filter(|line| wanted(line)) {
                    return Ok((next, line));
                }
                next += 1;
            }
            let Some(cli) = &mut self.cli else {
                return Err(Why::EndedEarly(None));
            };
            tokio::select! {
                // Lines first: those that came before the end are looked at before it counts.
                biased;
                () = self.log.longer_than(length) => {}
                ended = cli.exited() => {
                    let ended = ended?;
                    if self.log.len() == length {
                        return Err(Why::EndedEarly(ended.status.code()));
                    }
                }
            }
        }
    }

    /// Answers what the in-process servers were asked since the last time.
    async fn serve(&mut self) -> Result<(), Why> {
        while self.served < self.log.len() {
            let line = self.log.message(self.served);
            self.served += 1;
            if let Some((request, server)) = line.as_deref().and_then(|line| self.for_server(line))
            {
                let message = request.at("request.message").unwrap_or(&Json::Null);
                let reply = Json::object([("mcp_response", mcp::reply(&server, message))]);
                if let Some(line) = answers::control_response(request, Answer::Json(reply)) {
                    self.write(&line).await?;
                }
            }
        }
        Ok(())
    }

    fn for_server<'l>(&self, line: &'l Json) -> Option<(&'l Json, String)> {
        let server = line.str_at("request.server_name")?;
        let ours = line.str_at("request.subtype") == Some("mcp_message")
            && self.scenario.header.mcp.iter().any(|name| name == server);
        ours.then(|| (line, server.to_owned()))
    }

    async fn write(&mut self, line: &Json) -> Result<(), Why> {
        let text = line.to_ascii();
        // Logged first: the answer to a line must not stand before it.
        self.log.push(Dir::In, text.clone().into_bytes());
        if self.cli()?.write_line(&text).await {
            Ok(())
        } else {
            Err(Why::Deaf)
        }
    }

    fn cli(&mut self) -> Result<&mut Cli, Why> {
        self.cli.as_mut().ok_or(NO_CLI)
    }
}

const NO_CLI: Why = Why::NotRunning("no CLI is running: `start` comes first");
