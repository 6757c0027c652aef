//! The inbox: questions of agents, and decisions on them.

use hyper::Method;

use super::Client;
use super::error::ClientError;
use super::query::Target;
use crate::bodies::{DecideAlikeBody, DecideBody};
use crate::control::{
    ApprovalFilter, ApprovalId, ApprovalView, Page, PlanVersion, Receipt, SessionId,
};

impl Client {
    /// A page of approvals, oldest open first, then newest.
    ///
    /// # Errors
    /// When the server is not there, or says no.
    pub async fn approvals(
        &self,
        filter: &ApprovalFilter,
    ) -> Result<Page<ApprovalView>, ClientError> {
        let target = Target::api("/approvals")
            .with("state", filter.life.as_deref())
            .with("session", filter.session)
            .with("most", (filter.most > 0).then_some(filter.most))
            .with("after", filter.after.as_deref());
        self.get(target).await
    }

    /// All approvals that fit, page by page.
    ///
    /// # Errors
    /// When the server is not there, or says no.
    pub async fn all_approvals(
        &self,
        mut filter: ApprovalFilter,
    ) -> Result<Vec<ApprovalView>, ClientError> {
        let mut all = Vec::new();
        loop {
            let page = self.approvals(&filter).await?;
            all.extend(page.items);
            match page.next {
                None => return Ok(all),
                next => filter.after = next,
            }
        }
    }

    /// One approval.
    ///
    /// # Errors
    /// When it is not there, or the server is not.
    pub async fn approval(&self, id: ApprovalId) -> Result<ApprovalView, ClientError> {
        self.get(Target::api("/approvals").part(id)).await
    }

    /// Decides. The first decision holds.
    ///
    /// # Errors
    /// When somebody was first, when what was seen is not what is asked, when the server says no.
    pub async fn decide(&self, id: ApprovalId, body: &DecideBody) -> Result<Receipt, ClientError> {
        let target = Target::api("/approvals").part(id).part("decision");
        self.write(Method::POST, target, Some(body)).await
    }

    /// Decides all open ones of the same kind in the same session.
    ///
    /// # Errors
    /// As [`Self::decide`].
    pub async fn decide_alike(
        &self,
        id: ApprovalId,
        body: &DecideAlikeBody,
    ) -> Result<Receipt, ClientError> {
        let target = Target::api("/approvals")
            .part(id)
            .part("decision")
            .part("alike");
        self.write(Method::POST, target, Some(body)).await
    }

    /// The versions of a session's plan, oldest first.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn plans(&self, id: SessionId) -> Result<Vec<PlanVersion>, ClientError> {
        self.get(Target::api("/sessions").part(id).part("plans"))
            .await
    }
}
