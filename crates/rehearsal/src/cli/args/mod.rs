//! The command line of the CLI: what it asks for, what of it is refused and how, what is printed in the end.
//!
//! `scan` cuts an argument list up by the list of flags, [`Flags`] is what it means, `check` refuses what does not go
//! together and reads what flags name, `print` and `piped` are the formats of either side. Invariant: only files that a flag
//! names are opened here.

mod check;
mod model;
mod options;
mod piped;
mod print;
mod scan;
#[cfg(test)]
mod tests;

pub(in crate::cli) use check::World;
pub(in crate::cli) use model::resolve as resolve_model;
pub(in crate::cli) use options::{Flags, InputFormat, OutputFormat};
pub(in crate::cli) use piped::{NO_DATA, Prompt, join as join_prompt, read_piped, user_line};
pub(in crate::cli) use print::{Printer, Printing};
pub(in crate::cli) use scan::Refusal;
