//! A server on this machine, for tests: a real host with scripted agents behind the real listener and sign-in.
//!
//! Owns [`Served`]: a [`Stage`] and a server before it. Shared by `#[path = "../common/mod.rs"] mod common;`. Invariant: when
//! one is dropped, its server has stopped listening and none of its processes runs.
#![allow(
    dead_code,
    reason = "shared by several suites, of which none uses everything"
)]

pub(crate) mod http;
pub(crate) mod sse;
pub(crate) mod stage;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use countersign_api::Scope;
use countersign_server::auth::{Auth, Hosts};
use countersign_server::{App, listen};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) use http::Client;
pub(crate) use stage::{DEADLINE, Stage};

/// Now, in microseconds of Unix time.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap().as_micros() as u64
}

/// A server that runs, and the host behind it.
pub(crate) struct Served {
    pub(crate) stage: Stage,
    pub(crate) app: Arc<App>,
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<()>>,
}

impl Served {
    /// A server whose agents play this scenario.
    pub(crate) async fn new(scenario: &str) -> Self {
        Self::with(scenario, |_| {}).await
    }

    /// The same, with an app that is changed before it is served.
    pub(crate) async fn with(scenario: &str, change: impl FnOnce(&mut App)) -> Self {
        Self::over(Stage::new(scenario).await, change).await
    }

    /// A server before this host.
    pub(crate) async fn over(stage: Stage, change: impl FnOnce(&mut App)) -> Self {
        let auth = Auth::open(&stage.root().join("auth"), now()).unwrap();
        let control = Arc::new(stage.host().clone());
        let mut app = App::new(control, Arc::new(auth), Hosts::default());
        change(&mut app);
        let app = Arc::new(app);
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = listen::tcp(any, false).await.unwrap();
        let address = listener.address().unwrap();
        let router = countersign_server::router(Arc::clone(&app));
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            listen::serve_on(vec![listener], router, stopped).await;
        });
        Self {
            stage,
            app,
            address,
            stop: Some(stop),
            server: Some(server),
        }
    }

    /// A token with this name and scope.
    pub(crate) fn token(&self, name: &str, scope: Scope) -> String {
        let made = self.app.auth.create(name, scope, None, now()).unwrap();
        made.secret.reveal().to_owned()
    }

    /// A client with a token of its own that may do everything.
    pub(crate) fn client(&self) -> Client {
        self.client_as("tester", Scope::Full)
    }

    /// A client with a token of its own.
    pub(crate) fn client_as(&self, name: &str, scope: Scope) -> Client {
        Client::new(self.address, Some(self.token(name, scope)))
    }

    /// A client without a token.
    pub(crate) fn stranger(&self) -> Client {
        Client::new(self.address, None)
    }

    /// The server ends as it does when it is told to; the host stays.
    pub(crate) async fn stop(&mut self) {
        self.tell_to_stop();
        if let Some(server) = self.server.take() {
            tokio::time::timeout(DEADLINE, server)
                .await
                .expect("the server ends")
                .unwrap();
        }
    }

    /// Tells the server to end, and does not wait.
    pub(crate) fn tell_to_stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
        }
    }
}
