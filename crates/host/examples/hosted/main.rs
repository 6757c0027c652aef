//! A whole host as a process, for the fault suite: `hosted ORDERS.json`.
//!
//! Owns nothing of its own but the order of what it is told: the commands go one after the other, a person decides beside
//! them, and when all has come to rest it tells how everything stands and goes. One JSON object a line on stdout. It may
//! be told to end by force at a point it passes. `hosted agent …` becomes an agent behind a witness.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod agent;
#[cfg(target_os = "linux")]
mod orders;
#[cfg(target_os = "linux")]
mod person;
#[cfg(target_os = "linux")]
mod points;
#[cfg(target_os = "linux")]
mod rest;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::io::Write as _;
    use std::process::ExitCode;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use countersign_host::control::{Cmd, Command, Control as _, MessageId};
    use countersign_host::{Host, Settings};
    use countersign_keeper::{Graces, KeeperCommand};
    use serde_json::{Value, json};

    use crate::orders::{Fault, Leave, Orders, Person};
    use crate::{agent, person, points, rest};

    /// The folder is another host's, or cannot be opened.
    const REFUSED: u8 = 75;

    pub(super) fn main() -> ExitCode {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        match arguments.as_slice() {
            [word, rest @ ..] if word == "agent" => return agent::become_agent(rest),
            [_] => {}
            _ => return ExitCode::from(2),
        }
        let orders = std::fs::read(&arguments[0]).expect("the file of the orders");
        let orders: Orders = serde_json::from_slice(&orders).expect("orders");
        points::Listener::listen(orders.die.clone());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(serve(Arc::new(orders)))
    }

    /// One event a line.
    pub(crate) fn tell(event: &str, mut more: Value) {
        more["event"] = json!(event);
        // The suite may have stopped reading; that is no reason to stop.
        let _ = writeln!(std::io::stdout(), "{more}");
    }

    fn settings(orders: &Orders) -> Settings {
        let pairs = |env: &[(String, String)]| {
            let pairs = env.iter();
            pairs
                .map(|(name, value)| (name.into(), value.into()))
                .collect()
        };
        let keeper = KeeperCommand {
            program: orders.keeper.clone(),
            args: Vec::new(),
            env: pairs(&orders.keeper_env),
        };
        let mut settings = Settings::new(&orders.data, keeper);
        settings.agents.inherits = false;
        settings.agents.env = pairs(&orders.env);
        settings.agents.claude.clone_from(&orders.claude);
        settings.resumes_cut_off = orders.resumes_cut_off;
        let [interrupt_ms, stdin_ms, terminate_ms] = orders.graces_ms;
        settings.graces = Graces {
            interrupt_ms,
            stdin_ms,
            terminate_ms,
        };
        settings
    }

    async fn serve(orders: Arc<Orders>) -> ExitCode {
        let host = match Host::open(settings(&orders)).await {
            Ok(host) => host,
            Err(error) => {
                tell("refused", json!({"error": error.to_string()}));
                return ExitCode::from(REFUSED);
            }
        };
        tell("open", json!({"epoch": host.epoch()}));
        let is_said = Arc::new(AtomicBool::new(false));
        let saying = tokio::spawn(say(host.clone(), Arc::clone(&orders), Arc::clone(&is_said)));
        let decides = orders.person == Person::Decides;
        let deciding = tokio::spawn(person::look_on(host.clone(), orders.session, decides));
        match orders.leave {
            Leave::Never => std::future::pending::<()>().await,
            Leave::Off => rest::until_off(&host, orders.session, &is_said).await,
            Leave::OutOfReach => rest::until_out_of_reach(&host, orders.session).await,
            Leave::AtRest => rest::until_at_rest(&host, &orders, &is_said).await,
        }
        saying.abort();
        deciding.abort();
        let report = rest::report(&host, orders.session).await;
        tell("rest", report);
        // Not closed: a host that just ends is the rule, here.
        ExitCode::SUCCESS
    }

    /// Has everything done that was ordered, one after the other.
    async fn say(host: Host, orders: Arc<Orders>, is_said: Arc<AtomicBool>) {
        for (index, ordered) in orders.commands.iter().enumerate() {
            let pause = orders.pauses.get(index).copied().unwrap_or_default();
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let mut cmd = Cmd::of("the suite", "hosted").key(&ordered.key);
            let mut command = ordered.command.clone();
            if orders.fault == Some(Fault::OtherNames) {
                cmd = Cmd::of("the suite", "hosted");
                rename(&mut command);
            }
            if orders.fault == Some(Fault::EarlyReceipts) {
                tell("receipt", json!({"key": ordered.key, "receipt": null}));
                points::passed("receipt told early");
            }
            let told = match host.execute(cmd, command).await {
                Ok(receipt) => json!({"key": ordered.key, "receipt": receipt}),
                Err(error) => json!({"key": ordered.key, "error": error.to_string()}),
            };
            tell("receipt", told);
            points::passed("receipt told");
        }
        is_said.store(true, Ordering::SeqCst);
    }

    fn rename(command: &mut Command) {
        if let Command::Send { message, .. } = command {
            message.id = MessageId::fresh();
        }
    }
}
