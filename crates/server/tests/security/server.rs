//! A server over a real host, in a folder of its own.
//!
//! Owns [`Server`]. No agent is started by it. Invariant: it listens on loopback and on its own socket only, and everything
//! of it is gone when it is dropped.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_api::Scope;
use countersign_host::{Host, Settings};
use countersign_keeper::KeeperCommand;
use countersign_server::auth::{Auth, Hosts};
use countersign_server::listen::{self, Limits, Listener};
use countersign_server::{App, clock, router};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::talk::{Answer, Request, talk, talk_socket};

pub(crate) struct Server {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) auth: Arc<Auth>,
    serving: JoinHandle<()>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    host: Host,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(Limits::default(), &[]).await
    }

    pub(crate) async fn with(limits: Limits, names: &[&str]) -> Self {
        let tcp = listen::tcp(([127, 0, 0, 1], 0).into(), false).await;
        Self::over(tcp.unwrap(), limits, names).await
    }

    /// On this listener, and on a socket of its own.
    pub(crate) async fn over(tcp: Listener, limits: Limits, names: &[&str]) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("countersign-server-")
            .tempdir()
            .unwrap();
        // Nothing here starts an agent.
        let keeper = KeeperCommand {
            program: "/bin/false".into(),
            args: Vec::new(),
            env: Vec::new(),
        };
        let mut settings = Settings::new(folder.path().join("data"), keeper);
        settings.agents.inherits = false;
        let host = Host::open(settings).await.unwrap();
        let auth = Auth::open(&folder.path().join("auth"), clock::now()).unwrap();
        let auth = Arc::new(auth);
        let app = App::new(Arc::new(host.clone()), Arc::clone(&auth), Hosts::new(names));
        let unix = listen::unix(&folder.path().join("run").join("server.s")).unwrap();
        let address = tcp.address().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let serving = tokio::spawn(listen::run(
            vec![tcp, unix],
            router(Arc::new(app)),
            limits,
            async {
                let _ = stopped.await;
            },
        ));
        Self {
            folder,
            address,
            auth,
            serving,
            stop: Some(stop),
            host,
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("run").join("server.s")
    }

    /// The owner's token, as its file has it.
    pub(crate) fn owner(&self) -> String {
        let text = std::fs::read_to_string(self.auth.token_file()).unwrap();
        text.trim().to_owned()
    }

    /// A token of this scope.
    pub(crate) fn token(&self, name: &str, scope: Scope) -> String {
        let made = self.auth.create(name, scope, None, clock::now()).unwrap();
        made.secret.reveal().to_owned()
    }

    /// The code of a link.
    pub(crate) fn code(&self, scope: Scope) -> String {
        let code = self.auth.link(scope, clock::now()).unwrap();
        code.reveal().to_owned()
    }

    /// What a browser would send as `Host`.
    pub(crate) fn name(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Asks over TCP, as this server's own name.
    pub(crate) async fn ask(&self, request: Request) -> Answer {
        let request = request.host_if_none(&self.name());
        talk(self.address, &request.bytes()).await
    }

    /// Asks over the socket.
    pub(crate) async fn ask_socket(&self, request: Request) -> Answer {
        let request = request.host_if_none("localhost");
        talk_socket(&self.socket(), &request.bytes()).await
    }

    /// A page that is signed in: its cookie.
    pub(crate) async fn cookie(&self, scope: Scope) -> String {
        let form = format!("code={}", self.code(scope));
        let answer = self.ask(Request::post("/login").form(&form)).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        answer.cookie()
    }

    /// Ends it, and waits until it has.
    pub(crate) async fn end(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        (&mut self.serving).await.unwrap();
        self.host.clone().close().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
