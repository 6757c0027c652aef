//! Who answers what the CLI asks.
//!
//! Owns the callbacks a session was given. Cheap to clone: one set serves many sessions.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use countersign_wire::Json;
use countersign_wire::control::{
    Elicitation, ElicitationReply, HookMatcher, RequestUserDialog, RequestUserDialogReply,
};

use crate::hook::Hook;
use crate::permission::{BoxFuture, PermissionHandler};

/// Answers elicitations. Any async closure over [`Elicitation`] is one.
pub trait ElicitationHandler: Send + Sync + 'static {
    /// Answers one.
    fn answer(&self, request: Elicitation) -> BoxFuture<'_, ElicitationReply>;
}

impl<F, Fut> ElicitationHandler for F
where
    F: Fn(Elicitation) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ElicitationReply> + Send + 'static,
{
    fn answer(&self, request: Elicitation) -> BoxFuture<'_, ElicitationReply> {
        Box::pin(self(request))
    }
}

/// Answers dialogs. Any async closure over [`RequestUserDialog`] is one.
pub trait DialogHandler: Send + Sync + 'static {
    /// Answers one.
    fn answer(&self, request: RequestUserDialog) -> BoxFuture<'_, RequestUserDialogReply>;
}

impl<F, Fut> DialogHandler for F
where
    F: Fn(RequestUserDialog) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = RequestUserDialogReply> + Send + 'static,
{
    fn answer(&self, request: RequestUserDialog) -> BoxFuture<'_, RequestUserDialogReply> {
        Box::pin(self(request))
    }
}

/// A JSON-RPC message in, the answer to it out.
pub(crate) type Answering = dyn Fn(Json) -> Json + Send + Sync;

/// The callbacks of a session.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) permission: Option<Arc<dyn PermissionHandler>>,
    pub(crate) elicitation: Option<Arc<dyn ElicitationHandler>>,
    pub(crate) dialog: Option<Arc<dyn DialogHandler>>,
    pub(crate) hooks: Vec<Hook>,
    /// Servers that are one function, by name.
    pub(crate) answering: Vec<(String, Arc<Answering>)>,
    #[cfg(feature = "mcp")]
    pub(crate) servers: Vec<crate::mcp::Mount>,
    /// What no callback answers comes as a value.
    pub(crate) takes_questions: bool,
}

impl Handlers {
    /// Whether somebody answers `can_use_tool`.
    pub(crate) fn answers_permissions(&self) -> bool {
        self.permission.is_some() || self.takes_questions
    }

    /// The server of that name, if it is one function.
    pub(crate) fn answering(&self, name: &str) -> Option<Arc<Answering>> {
        let found = self.answering.iter().find(|(server, _)| server == name);
        found.map(|(_, answer)| Arc::clone(answer))
    }

    /// The names of the in-process servers.
    pub(crate) fn server_names(&self) -> Vec<String> {
        let names = self.answering.iter().map(|(name, _)| name.clone());
        #[cfg(feature = "mcp")]
        let names = names.chain(self.servers.iter().map(|server| server.name().to_owned()));
        names.collect()
    }

    /// How the hooks are registered in `initialize`.
    pub(crate) fn hook_registrations(&self) -> Option<BTreeMap<String, Vec<HookMatcher>>> {
        if self.hooks.is_empty() {
            return None;
        }
        let mut events: BTreeMap<String, Vec<HookMatcher>> = BTreeMap::new();
        for (index, hook) in self.hooks.iter().enumerate() {
            let matchers = events.entry(hook.event().to_owned()).or_default();
            matchers.push(hook.registration(callback_id(index)));
        }
        Some(events)
    }

    pub(crate) fn hook(&self, id: &str) -> Option<&Hook> {
        let index: usize = id.strip_prefix(CALLBACK)?.parse().ok()?;
        self.hooks.get(index)
    }
}

const CALLBACK: &str = "hook-";

fn callback_id(index: usize) -> String {
    format!("{CALLBACK}{index}")
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handlers")
            .field("permission", &self.permission.is_some())
            .field("elicitation", &self.elicitation.is_some())
            .field("dialog", &self.dialog.is_some())
            .field("hooks", &self.hooks)
            .field("servers", &self.server_names())
            .field("takes_questions", &self.takes_questions)
            .finish()
    }
}
