//! What a session needs of an in-process server: its name, and a way to make instances of it.
//!
//! Invariant: an instance belongs to one connection of one session and is never shared, so one definition serves any
//! number of sessions.

use std::fmt;
use std::sync::Arc;

use rmcp::service::{DynService, ServiceExt};
use rmcp::{RoleServer, Service};

use super::server::{Server, Serving};

/// One running server, whatever its type.
pub(super) type Instance = Box<dyn DynService<RoleServer>>;

/// A server that can be mounted in any number of sessions.
#[derive(Clone)]
pub struct Mount {
    name: Arc<str>,
    make: Arc<dyn Fn() -> Instance + Send + Sync>,
}

impl Mount {
    /// Any rmcp `ServerHandler`. `make` is called for each connection: once a session, and again when the CLI connects
    /// anew.
    pub fn new<S, F>(name: impl Into<Arc<str>>, make: F) -> Self
    where
        S: Service<RoleServer>,
        F: Fn() -> S + Send + Sync + 'static,
    {
        Self {
            name: name.into(),
            make: Arc::new(move || make().into_dyn()),
        }
    }

    /// Any rmcp `ServerHandler` that can be cloned. The connections share what its clones share.
    pub fn cloned<S>(name: impl Into<Arc<str>>, server: S) -> Self
    where
        S: Service<RoleServer> + Clone,
    {
        Self::new(name, move || server.clone())
    }

    /// The name the CLI knows it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A fresh instance. Runs the caller's code, which may panic.
    pub(super) fn make(&self) -> Instance {
        (self.make)()
    }
}

impl From<Server> for Mount {
    fn from(server: Server) -> Self {
        let name: Arc<str> = server.name().into();
        Self::cloned(name, Serving(Arc::new(server)))
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
