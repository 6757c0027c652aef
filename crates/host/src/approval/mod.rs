//! From a question of an agent and a person's decision to the answer, with everything that must happen beside it.
//!
//! Owns what a question is ([`Asked`]), who asks it ([`Family`]), what may be chosen ([`offers`]), what it would destroy
//! ([`harm()`]), what a decision comes to ([`decide`]) and the life of an approval ([`step`]). Pure but for the harm, which asks the disk: no clock, no wire; ids are
//! derived. Invariants: what
//! does not fit the question is refused before anything is sent; a mode or a folder never rides along with *always*;
//! nothing here ever asks the CLI for a bypass.

mod alike;
mod asked;
mod canon;
mod consequence;
mod decide;
mod dialog;
mod evidence;
mod family;
mod file;
mod forms;
mod harm;
mod life;
mod notebook;
mod offers;

pub use alike::{are_alike, for_the_others, may_be_cut};
pub use asked::{Asked, Marks, asked, digest};
pub use consequence::{
    After, Agent, Answer, Consequence, GiveError, Known, NewRule, message_id, session_id,
};
pub(crate) use decide::deny;
pub use decide::{decide, expired};
pub use dialog::{DIALOG_KINDS, choices};
pub use evidence::{Evidence, evidence};
pub use family::Family;
pub use file::{FileAsAsked, FilePart, FileState, KeptFile, changed_path};
pub use harm::{Facts, harm};
pub use life::{Event, Refusal, Stage, step};
pub use offers::{offers, with_edits};
