//! The command line of the CLI: what it asks for, what of it is refused and how, what is printed in the end.
//!
//! `table` holds every flag, `scan` cuts an argument list up by it, [`Options`] is what it means, `check` refuses what does
//! not go together, `files` reads what flags name, `print` and `input` are the formats of either side. Texts and exit
//! codes are those of 2.1.325, where `measured.json` holds them. Invariant: only files that a flag names are opened here.

mod check;
mod files;
mod help;
mod input;
mod model;
mod options;
mod piped;
mod print;
mod refusal;
mod scan;
mod table;
#[cfg(test)]
mod tests;
mod value;

pub(in crate::cli) use check::{World, is_uuid};
pub(in crate::cli) use input::{Prompt, join as join_prompt, user_line};
pub(in crate::cli) use model::resolve as resolve_model;
pub(in crate::cli) use options::{Flags, InputFormat, Options, OutputFormat, Resume};
pub(in crate::cli) use piped::{NO_DATA, read_piped};
pub(in crate::cli) use print::{Printer, Printing};
pub(in crate::cli) use refusal::Refusal;
