//! One decision on several questions of the same kind.
//!
//! Owns which open questions go with the one that was decided. Invariant: nothing is allowed whose end nobody has seen.

use super::Actor;
use super::decide::Case;
use crate::approval;
use crate::control::{Cmd, ControlError, Decide, Digest, Result};
use crate::store::approvals;

impl Actor {
    /// Adds those that are alike to the one that was decided. `seen` and `whole` are what the person saw of them.
    pub(super) async fn add_alike(
        &mut self,
        cases: &mut Vec<Case>,
        seen: &[Digest],
        whole: &[Digest],
        decide: &Decide,
        cmd: &Cmd,
    ) -> Result<()> {
        let others = approval::for_the_others(decide)?;
        let id = cases[0].row.id;
        let found = self
            .inner
            .store
            .read(move |it| approvals::alike(it, id))
            .await?;
        let Some(first) = approval::asked(&self.question_line(&cases[0].row)?) else {
            return Ok(());
        };
        let is_allowed = matches!(decide, Decide::Allow { .. });
        let is_unseen = |digest: &Digest, asked: &approval::Asked| {
            is_allowed && !whole.contains(digest) && approval::may_be_cut(asked)
        };
        let mut unseen = usize::from(is_unseen(&cases[0].saw, &first));
        for row in found.into_iter().filter(|row| row.id != id) {
            let line = self.question_line(&row)?;
            let was_seen = row.digest == cases[0].saw || seen.contains(&row.digest);
            let Some(asked) = approval::asked(&line) else {
                continue;
            };
            if approval::are_alike(&first, &asked, was_seen, decide) {
                unseen += usize::from(is_unseen(&row.digest, &asked));
                let saw = row.digest.clone();
                cases.push(self.case(row.id, saw, &others, cmd).await?);
            }
        }
        match (unseen, cases.len()) {
            (0, _) | (_, 1) => Ok(()),
            (unseen, all) => Err(ControlError::invalid(format!(
                "{unseen} of these {all} calls may be longer than what was shown of them, so nothing was allowed: show each \
                 from beginning to end and name its digest in `whole`, or decide it alone"
            ))),
        }
    }
}
