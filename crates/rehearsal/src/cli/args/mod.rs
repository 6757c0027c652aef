//! The command line of the CLI: what it asks for, what of it is refused and how, what is printed in the end.
//!
//! `table` holds every flag, `scan` cuts an argument list up by it, [`Options`] is what it means, `check` refuses what does
//! not go together, `files` reads what flags name, `print` and `input` are the formats of either side. Texts and exit
//! codes are those of 2.1.325, kept in `measured.json`. Invariant: only files that a flag names are opened here.

mod agents;
mod broken_json;
mod check;
mod combine;
mod files;
mod help;
mod input;
mod metaschema;
mod model;
mod number;
mod options;
mod piped;
mod print;
mod refusal;
mod scan;
mod similar;
mod table;
#[cfg(test)]
mod tests;
mod value;

pub(in crate::cli) use check::{World, is_uuid};
pub(in crate::cli) use input::{Prompt, join as join_prompt, user_line};
pub(in crate::cli) use model::resolve as resolve_model;
pub(in crate::cli) use number::show as show_number;
pub(in crate::cli) use options::{InputFormat, Options, OutputFormat, Resume};
pub(in crate::cli) use piped::{NO_DATA, read_piped};
pub(in crate::cli) use print::{Printer, Printing};
pub(in crate::cli) use refusal::Refusal;
