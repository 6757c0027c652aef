//! What people keep beside sessions: what makes it sound, and what it comes to.
//!
//! Owns the way from a client's words to rows and back. The host stores and applies it. Invariants: what is not sound is
//! refused before it is stored; what was stored by an earlier build and is no longer sound keeps no host from beginning.

mod around;
mod browse;
mod explain;
mod files;
mod preferences;
mod rules;
mod tasks;
mod webhooks;

pub(crate) use around::{MOST_TEMPLATES, check_comments, check_template, recent};
pub(crate) use browse::browse;
pub(crate) use explain::explain;
pub(crate) use files::files;
pub(crate) use preferences::{
    LONGEST, PREFERENCES, check as check_preferences, start as start_preferences,
};
pub(crate) use rules::{changed, kept_rules, sound, view as rule_view};
pub(crate) use tasks::tasks;
pub(crate) use webhooks::{WEBHOOKS, all as all_targets, not_fixed, put, view as webhook_view};
