//! Ready permission handlers for the simple cases.

use super::{BoxFuture, Decision, PermissionHandler, PermissionRequest};

/// Allows every call that is asked about. For throw-away folders.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl PermissionHandler for AllowAll {
    fn decide(&self, _: PermissionRequest) -> BoxFuture<'_, Decision> {
        Box::pin(std::future::ready(Decision::allow()))
    }
}

/// Denies every call that is asked about, with one text for the model.
#[derive(Debug, Clone)]
pub struct DenyAll(pub String);

impl Default for DenyAll {
    fn default() -> Self {
        Self("Calls that need permission are denied in this session.".to_owned())
    }
}

impl PermissionHandler for DenyAll {
    fn decide(&self, _: PermissionRequest) -> BoxFuture<'_, Decision> {
        Box::pin(std::future::ready(Decision::deny(self.0.clone())))
    }
}

/// Allows the tools of a list, by their exact names, and denies the rest. What needs a person (a plan, a question) is
/// denied even if listed.
#[derive(Debug, Clone)]
pub struct AllowTools(Vec<String>);

impl AllowTools {
    /// The tools that may run.
    pub fn new<I, S>(tools: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Self(tools.into_iter().map(Into::into).collect())
    }
}

impl PermissionHandler for AllowTools {
    fn decide(&self, request: PermissionRequest) -> BoxFuture<'_, Decision> {
        let needs_person = request.requires_user_interaction == Some(true);
        let is_listed = self.0.contains(&request.tool_name);
        let decision = if is_listed && !needs_person {
            Decision::allow()
        } else {
            Decision::deny(format!("{} is not allowed here.", request.tool_name))
        };
        Box::pin(std::future::ready(decision))
    }
}
