//! The daemon: a host, and the server in front of it.
//!
//! Owns the order in which they begin and end, and what is said meanwhile. Invariants: whoever asks while a host recovers is
//! told to wait, not turned away; at the end no byte goes to any agent: they stay with their keepers; one daemon for a data
//! folder, and a second one gives a link of the first.

pub(crate) mod agents;
mod browser;
mod greeting;
mod listening;
mod logging;
mod running;
mod scope;
mod signals;
pub(crate) mod unit;

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use countersign_api::Scope;
use countersign_api::control::Control as _;
use countersign_host::notify::Mask;
use countersign_host::{Folders, Host, Settings};
use countersign_keeper::KeeperCommand;
use countersign_server::auth::{Auth, Hosts};
use countersign_server::{
    App, Doors, OpenerSettings, Openers, PageSettings, Redactor, clock, listen, router,
};
use tokio::sync::watch;

use self::agents::Agents;
use self::greeting::Greeting;
use self::listening::Listening;
pub(crate) use self::listening::Transport;
pub(crate) use self::logging::Log;
use crate::Outcome;

/// How long threads may take to end with the process.
const GOODBYE: Duration = Duration::from_secs(2);

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) listen: SocketAddr,
    pub(crate) data: Option<PathBuf>,
    pub(crate) claude: Option<String>,
    pub(crate) rehearsal: bool,
    pub(crate) allow_hosts: Vec<String>,
    pub(crate) transport: Transport,
    pub(crate) opens_browser: bool,
    pub(crate) qr: bool,
    pub(crate) max_agents: Option<u32>,
    pub(crate) openers: OpenerSettings,
    pub(crate) log: Log,
    pub(crate) json: bool,
}

/// Runs until it is told to end.
pub(crate) fn run(wanted: Wanted) -> anyhow::Result<Outcome> {
    // Before there are threads: a daemon of many small tasks needs no heap for each of them.
    countersign_host::few_heaps();
    logging::start(wanted.log);
    if let Err(error) = countersign_host::raise_descriptor_limit() {
        tracing::warn!(%error, "the limit on open files stays as it is");
    }
    let data = match &wanted.data {
        Some(data) => std::path::absolute(data)?,
        None => Folders::of_user(|name| std::env::var_os(name))
            .context("there is no home folder for the data: name one with --data")?,
    };
    let runtime = tokio::runtime::Runtime::new().context("no threads can be started")?;
    let outcome = runtime.block_on(serve(&wanted, &data));
    // A thread that waits for a disk does not keep the process.
    runtime.shutdown_timeout(GOODBYE);
    outcome
}

async fn serve(wanted: &Wanted, data: &Path) -> anyhow::Result<Outcome> {
    let folders = Folders::open(data).with_context(|| {
        format!(
            "the data folder {} cannot be used: name one that this user may write to with --data",
            data.display()
        )
    })?;
    let socket = running::socket(&folders);
    let listening = match Listening::begin(wanted, &folders, &socket).await? {
        Some(listening) => listening,
        None => return running::tell(&folders, wanted).await,
    };
    let mut signals = signals::Signals::listen()?;
    let doors = Doors::default();
    let (stop, stopped) = watch::channel(false);
    let url = listening.url.clone();
    let notes = listening.notes.clone();
    let serving = tokio::spawn(listen::serve_on(
        listening.listeners,
        doors.router(),
        async move {
            let mut stopped = stopped;
            // The sender goes only when everything does.
            let _ = stopped.wait_for(|is_so| *is_so).await;
        },
    ));
    let began = tokio::select! {
        began = begin(wanted, &folders, &doors, &url) => began,
        // A host that is told to end while it recovers has let nobody in yet, and agents know nothing of it.
        () = signals.next() => return Ok(Outcome::Fine),
    };
    let (host, app, agents) = began?;
    greet(wanted, &folders, &app, &agents, &url, notes).await?;
    signals.next().await;
    signals.hurry();
    // From here on nobody is let in; requests end, streams are told, and then the host lets go.
    app.streams.close();
    let _ = stop.send(true);
    let _ = serving.await;
    #[cfg(feature = "otel")]
    if let Some(traces) = &app.traces {
        traces.flush().await;
    }
    let left = host.vitals().await.map_or(0, |vitals| vitals.agents);
    host.close().await;
    running::forget(&folders);
    goodbye(wanted, left)?;
    Ok(Outcome::Fine)
}

/// The host, and the doors opened on it.
async fn begin(
    wanted: &Wanted,
    folders: &Folders,
    doors: &Doors,
    url: &str,
) -> anyhow::Result<(Host, Arc<App>, Agents)> {
    let data = folders.root();
    let agents = Agents::find(wanted.claude.clone(), wanted.rehearsal, data).await?;
    let keeper =
        KeeperCommand::this_program().context("the system does not say where this program is")?;
    let keeper = match scope::is_unit() {
        true => scope::of_its_own(keeper).await,
        false => keeper,
    };
    let mut settings = Settings::new(data, keeper);
    settings.agents.claude.clone_from(&agents.command);
    settings.agents.env.clone_from(&agents.env);
    settings.link_base = Some(url.to_owned());
    if let Some(most) = wanted.max_agents {
        settings.most_agents = most as usize;
        settings.most_agents_given = true;
    }
    let redactor = Redactor::new(patterns(data)?.iter().map(String::as_str))?;
    redactor.learn(own_secrets());
    let redactor = Arc::new(redactor);
    let (mask, learns) = (Arc::clone(&redactor), Arc::clone(&redactor));
    settings.mask = Mask::new(move |text| mask.line(text).into_owned());
    settings.mask = settings.mask.learning(move |setups, patterns| {
        learns.learn_setups(setups);
        learns.prefer(patterns);
    });
    let host = Host::open(settings).await?;
    let auth = Arc::new(Auth::open(&data.join("auth"), clock::now())?);
    let hosts = Hosts::new(&wanted.allow_hosts);
    let mut app = App::new(Arc::new(host.clone()), auth, hosts);
    app.redactor = redactor;
    app.page = page(&agents);
    app.openers = Openers::find(wanted.openers.clone(), |name| std::env::var_os(name));
    #[cfg(feature = "otel")]
    {
        let variable = |name: &str| std::env::var(name).ok();
        app.traces = countersign_server::otel::Traces::of_environment(variable)?;
    }
    let app = Arc::new(app);
    running::remember(folders, url)?;
    doors.open(Arc::clone(&app), router(Arc::clone(&app)));
    Ok((host, app, agents))
}

/// What the plain page offers.
fn page(agents: &Agents) -> PageSettings {
    let here = std::env::current_dir().ok();
    let rehearsal = agents.rehearsal.as_ref();
    PageSettings {
        note: rehearsal.map(|_| format!("Agents: {}.", agents.said())),
        folder: rehearsal.map(|it| it.folder.clone()).or(here),
        prompt: rehearsal.map(|_| "Show me around.".to_owned()),
        has_ui: countersign_server::has_ui(),
    }
}

/// A person's own patterns: `redact.txt` in the data folder, one a line.
fn patterns(data: &Path) -> anyhow::Result<Vec<String>> {
    let file = data.join("redact.txt");
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        // A pattern that is not read is a secret that is shown.
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", file.display()));
        }
    };
    let lines = text.lines().map(str::trim);
    let wanted = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(wanted.map(str::to_owned).collect())
}

/// What this process and its agents were given under the name of a secret.
fn own_secrets() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?.to_ascii_uppercase();
        countersign_client::names_a_secret(&name).then(|| value.into_string().ok())?
    })
}

async fn greet(
    wanted: &Wanted,
    folders: &Folders,
    app: &App,
    agents: &Agents,
    url: &str,
    mut notes: Vec<String>,
) -> anyhow::Result<()> {
    let code = app.auth.link(Scope::Full, clock::now())?;
    let link = format!("{url}/login?code={}", code.reveal());
    if scope::is_unit() {
        notes.extend(scope::about_linger());
    }
    let is_far = !wanted.listen.ip().is_loopback();
    let socket = running::socket(folders);
    let greeting = Greeting {
        url,
        link: &link,
        data: folders.root(),
        socket: socket.exists().then_some(socket.as_path()),
        agents,
        taken_up: app.control.vitals().await?.agents,
        notes: &notes,
        qr: (wanted.qr || is_far).then(|| greeting::qr(&link)).flatten(),
    };
    print(&match wanted.json {
        true => format!("{}\n", greeting.json()),
        false => greeting.text(),
    })?;
    if wanted.opens_browser && browser::is_near() {
        browser::open(&link, &folders.run());
    }
    Ok(())
}

fn goodbye(wanted: &Wanted, left: u64) -> io::Result<()> {
    let said = match left {
        0 => "Ended. No agent runs.",
        1 => "Ended. 1 agent goes on under its keeper; the next start takes it up again.",
        left => &format!(
            "Ended. {left} agents go on under their keepers; the next start takes them up again."
        ),
    };
    match wanted.json {
        true => print(&format!(
            "{}\n",
            serde_json::json!({"ended": true, "agents": left})
        )),
        false => print(&format!("\n{said}\n")),
    }
}

/// Prints for whoever started it. A daemon whose terminal has gone goes on.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
