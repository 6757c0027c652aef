//! One agent in a terminal: every call seen, decided by a rule or by the person at the keyboard.
//!
//! Owns `countersign run` from the command line to the exit code. `setup` reads the surroundings, `agent` starts the CLI,
//! `desk` settles questions by rule, `core` joins them, `live` and `batch` are the two ways to sit at it: with a person
//! and without.
//!
//! ```text
//! question ─▶ core ─▶ desk ─▶ policy ─┬─ allow, deny ─▶ answer ─▶ ledger
//!                                     └─ ask ─▶ dialog ─▶ person ─▶ answer ─▶ ledger
//! ```

mod agent;
mod asking;
mod batch;
mod core;
mod desk;
mod dialog;
mod ending;
mod held;
mod ledger;
mod live;
mod mode;
mod presses;
mod setup;
mod signals;

use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use countersign_client::{Recorder, Session};

pub(crate) use agent::Limits;
pub(crate) use ending::Ending;
pub(crate) use mode::Mode;

use self::agent::{Launch, Started};
use self::core::Core;
use self::desk::{Answers, Desk};
use self::dialog::{Choice, Dialog as _, Step, TrustFolder};
use self::live::{Live, Parts};
use self::setup::{Flags, Setup};
use self::signals::Signals;
use crate::commands::run::Arguments;
use crate::show::{Feed, View};
use crate::term::external::editor_command;
use crate::term::history::History;
use crate::term::keys::Keyboard;
use crate::term::screen::{Screen, Size};
use crate::term::style::{Line, Tone, colour_wanted};
use crate::term::{self};

/// How long an agent that was let go may take to end.
const ENDING: Duration = Duration::from_secs(5);

/// Rows of a result that are shown.
const FOLD: usize = 6;

/// Runs one agent.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Ending> {
    start_debugging(arguments.debug.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let ending = runtime.block_on(play(arguments));
    // What is left to do is to end the agent and what it started; that must not keep us for ever.
    runtime.shutdown_timeout(ENDING);
    ending
}

async fn play(arguments: Arguments) -> anyhow::Result<Ending> {
    let is_live = io::stdin().is_terminal() && io::stdout().is_terminal() && !arguments.json;
    let cwd = folder(arguments.dir.as_deref())?;
    let settings = arguments
        .settings
        .as_ref()
        .map(std::path::absolute)
        .transpose()?;
    let flags = Flags {
        allow: arguments.allow.clone(),
        ask: arguments.ask.clone(),
        deny: arguments.deny.clone(),
        add_dirs: arguments.add_dir.clone(),
        settings: settings.clone(),
    };
    let setup = Setup::read(&cwd, &flags, arguments.mode, |name| std::env::var_os(name))?;
    let launch = Launch {
        claude: arguments.claude.clone(),
        cwd: cwd.clone(),
        add_dirs: setup.grounds.add_dirs.clone(),
        model: arguments.model.clone(),
        limits: arguments.limits.clone(),
        mode: arguments.mode.of_cli(),
        resume: arguments.resume.clone(),
        watch: setup.watch(settings.as_deref())?,
        is_wary: setup.is_wary(),
        streams: is_live,
        recorder: None,
    };
    match is_live {
        true => at_terminal(arguments, setup, launch).await,
        false => unattended(arguments, setup, launch).await,
    }
}

async fn at_terminal(
    arguments: Arguments,
    mut setup: Setup,
    mut launch: Launch,
) -> anyhow::Result<Ending> {
    let with_colour = colour_wanted(
        true,
        variable("NO_COLOR").as_deref(),
        variable("TERM").as_deref(),
    );
    let mut keyboard = Keyboard::open().context("cannot read keys from this terminal")?;
    let mut screen = Screen::of_terminal(with_colour);
    greet(&mut screen, &setup, arguments.mode)?;
    if setup.has_something_to_trust() {
        ask_trust(&mut screen, &mut keyboard, &mut setup).await?;
        launch.is_wary = setup.is_wary();
        launch.add_dirs.clone_from(&setup.grounds.add_dirs);
        launch.watch = setup.watch(arguments.settings.as_deref())?;
    }
    launch.recorder = recorder(arguments.record.as_deref())?;
    screen.live(&[Line::of("Starting claude …", Tone::Dim)], None)?;
    let started = tokio::select! {
        biased;
        () = wants_to_end(&mut keyboard) => None,
        started = launch.start() => Some(started?),
    };
    let Some(Started { session, watching }) = started else {
        screen.clear_live()?;
        return Ok(Ending::Interrupted);
    };
    let Session {
        handle,
        events,
        questions,
        ..
    } = session;
    screen.clear_live()?;
    let answers = match arguments.mode {
        Mode::RulesOnly => Answers::Nobody,
        _ => Answers::Person,
    };
    let history = History::load(
        setup
            .sources
            .own
            .as_ref()
            .map(|folder| folder.join("history")),
    );
    let view = view(
        &setup.grounds.cwd,
        usize::from(screen.size().columns),
        arguments.verbose,
    );
    let desk = Desk::new(setup.policy, setup.grounds, answers, arguments.yes);
    let core = Core::new(
        handle,
        watching,
        desk,
        answers,
        setup.sources.rules_file(),
        arguments.mode,
    );
    let parts = Parts {
        core,
        launch,
        screen,
        keyboard,
        feed: Feed::new(view),
        history,
        editor_command: editor_command(variable),
    };
    let recorder = parts.launch.recorder.clone();
    let ending = Live::new(parts, events, questions)
        .run(arguments.prompt)
        .await;
    check(recorder.as_ref())?;
    ending
}

/// Waits until the person gives up before there is anything to interrupt.
async fn wants_to_end(keyboard: &mut Keyboard) {
    use term::keys::{Input, Key};
    while !matches!(
        keyboard.next().await,
        Input::Closed | Input::Key(Key::Ctrl('c'))
    ) {}
}

async fn unattended(
    arguments: Arguments,
    setup: Setup,
    mut launch: Launch,
) -> anyhow::Result<Ending> {
    let prompt = match arguments.prompt {
        Some(prompt) if prompt.trim().is_empty() => {
            bail!("the prompt is empty: say what the agent is to do")
        }
        Some(prompt) => prompt,
        None if io::stdin().is_terminal() => {
            bail!("say what the agent is to do: countersign run --json \"…\"")
        }
        None => piped_prompt()?,
    };
    for finding in setup.findings() {
        tell(&finding);
    }
    if setup.has_something_to_trust() {
        tell_withheld(&setup);
    }
    let mut signals = Signals::listen()?;
    launch.recorder = recorder(arguments.record.as_deref())?;
    let Started { session, watching } = tokio::select! {
        biased;
        told = signals.next() => return Ok(told.ending()),
        started = launch.start() => started?,
    };
    let width = match io::stdout().is_terminal() {
        true => usize::from(Size::of_terminal().columns),
        false => 100,
    };
    let with_colour = colour_wanted(
        io::stdout().is_terminal(),
        variable("NO_COLOR").as_deref(),
        variable("TERM").as_deref(),
    );
    let form = match arguments.json {
        true => batch::Form::Json,
        false => batch::Form::Text { with_colour, width },
    };
    let view = view(&setup.grounds.cwd, width, arguments.verbose);
    let desk = Desk::new(setup.policy, setup.grounds, Answers::Nobody, arguments.yes);
    let core = Core::new(
        session.handle.clone(),
        watching,
        desk,
        Answers::Nobody,
        setup.sources.rules_file(),
        arguments.mode,
    );
    let ending = batch::run(core, session, prompt, form, view, &mut signals).await;
    check(launch.recorder.as_ref())?;
    ending
}

/// A recording that ends early is told.
fn check(recorder: Option<&Recorder>) -> anyhow::Result<()> {
    Ok(recorder.map(Recorder::check).transpose().map(drop)?)
}

fn recorder(file: Option<&Path>) -> anyhow::Result<Option<Recorder>> {
    let what = "countersign run";
    Ok(file
        .map(|file| Recorder::create(file, "unknown", what))
        .transpose()?)
}

fn view(cwd: &Path, width: usize, verbose: bool) -> View {
    View {
        width,
        fold: FOLD,
        verbose,
        cwd: cwd.to_path_buf(),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let here =
        std::env::current_dir().context("the current folder is gone: change to another one")?;
    let Some(given) = given else {
        return Ok(here);
    };
    let folder = here.join(given);
    std::fs::canonicalize(&folder)
        .with_context(|| format!("cannot work in {}: is it a folder?", folder.display()))
}

/// The most a prompt may hold.
const MOST_PROMPT: u64 = 8 << 20;

fn piped_prompt() -> anyhow::Result<String> {
    let mut text = String::new();
    io::stdin()
        .take(MOST_PROMPT)
        .read_to_string(&mut text)
        .context("what stdin holds is no text")?;
    match text.trim() {
        "" => bail!("say what the agent is to do: countersign run \"…\", or pipe it in"),
        text => Ok(text.to_owned()),
    }
}

fn greet<W: io::Write>(screen: &mut Screen<W>, setup: &Setup, mode: Mode) -> io::Result<()> {
    let count = setup.policy.rules.len();
    let rules = match count {
        0 => "no rules".to_owned(),
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    };
    let line = Line::of("countersign", Tone::Strong)
        .add(format!("  {}  ", setup.grounds.cwd.display()), Tone::Dim)
        .add(format!("mode {} · {rules}", mode.name()), Tone::Dim);
    let findings = setup.findings().into_iter();
    let findings = findings.map(|it| Line::of(it, Tone::Warn).after("  ", Tone::Plain));
    let lines: Vec<Line> = [line].into_iter().chain(findings).collect();
    screen.print(&lines)
}

async fn ask_trust<W: io::Write>(
    screen: &mut Screen<W>,
    keyboard: &mut Keyboard,
    setup: &mut Setup,
) -> anyhow::Result<()> {
    let rules = setup
        .loaded
        .withheld
        .iter()
        .map(|rule| format!("allow {}", rule.matcher.text));
    let programs = setup
        .loaded
        .withheld_programs
        .iter()
        .map(|program| format!("start {program}"));
    let folders = setup
        .loaded
        .withheld_dirs
        .iter()
        .map(|folder| format!("open {}", folder.display()));
    let all = programs.chain(folders).chain(rules).collect();
    let mut dialog = TrustFolder::new(setup.grounds.cwd.display().to_string(), all);
    let intro = dialog.intro(usize::from(screen.size().columns));
    screen.print(&intro)?;
    let since = std::time::Instant::now();
    loop {
        // What is typed before it could be read is meant for something else.
        let rest = live::REST.saturating_sub(since.elapsed());
        let (mut lines, cursor) = dialog.lines(screen.size());
        if !rest.is_zero() {
            dialog::not_yet(&mut lines);
        }
        screen.live(&lines, cursor)?;
        let input = match rest.is_zero() {
            true => keyboard.next().await,
            false => match tokio::time::timeout(rest, keyboard.next()).await {
                Ok(input) => input,
                Err(_) => continue,
            },
        };
        match &input {
            term::keys::Input::Closed => bail!("the terminal is gone"),
            term::keys::Input::Resize(size) => screen.resized(*size)?,
            term::keys::Input::Key(term::keys::Key::Ctrl('c')) => bail!("nothing was started"),
            _ => {}
        }
        if !rest.is_zero() {
            continue;
        }
        if let Step::Done(Choice::Trust(is_trusted)) = dialog.input(&input) {
            screen.clear_live()?;
            if is_trusted {
                setup.trust()?;
            }
            let word = match is_trusted {
                true => "They count here from now on.",
                false => "They do not count here.",
            };
            screen.print(&[Line::of(word, Tone::Dim).after("  ", Tone::Plain)])?;
            return Ok(());
        }
    }
}

fn tell_withheld(setup: &Setup) {
    let rules = setup.loaded.withheld.len();
    if rules > 0 {
        tell(&format!(
            "allow rules of this folder do not count ({rules}): nobody has trusted it"
        ));
    }
    let folders = setup.loaded.withheld_dirs.len();
    if folders > 0 {
        tell(&format!(
            "folders that this one would open are not opened ({folders})"
        ));
    }
    if setup.is_wary() {
        tell(
            "this folder brings programs of its own (hooks, servers, variables) that nobody has trusted: its settings, agents, commands and CLAUDE.md are left out",
        );
    }
    tell("to trust it, run `countersign run` in a terminal there once");
}

fn tell(text: &str) {
    use io::Write as _;
    // Nothing is left to report to if stderr is gone.
    let _ = writeln!(io::stderr(), "countersign: {text}");
}

/// Where `--debug` writes: `-` is stderr.
fn start_debugging(target: Option<&Path>) -> anyhow::Result<()> {
    let Some(target) = target else {
        return Ok(());
    };
    let filter =
        tracing_subscriber::EnvFilter::new("countersign=debug,countersign_client=debug,info");
    let started = match target.as_os_str() == "-" {
        true => tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            .try_init(),
        false => {
            let file = std::fs::File::create(target)
                .with_context(|| format!("cannot write to {}", target.display()))?;
            tracing_subscriber::fmt()
                .with_env_filter(filter)
                .with_ansi(false)
                .with_writer(file)
                .try_init()
        }
    };
    started.map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))
}
