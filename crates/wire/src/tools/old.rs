//! Inputs of tools that only older CLIs have.

use countersign_wire_derive::Wire;

use crate::{Extra, Num};

/// One replacement of a [`MultiEditInput`].
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct EditStep {
    /// Text to replace.
    pub old_string: String,
    /// Text to put there.
    pub new_string: String,
    /// Replace every occurrence.
    pub replace_all: Option<bool>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Several replacements in one file, in order, all or none.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct MultiEditInput {
    /// Path of the file.
    pub file_path: String,
    /// The replacements.
    pub edits: Vec<EditStep>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Lists a folder.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct LsInput {
    /// The folder.
    pub path: String,
    /// Names to leave out.
    pub ignore: Option<Vec<String>>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads a notebook.
#[derive(Debug, Clone, PartialEq, Wire)]
pub struct NotebookReadInput {
    /// Path of the notebook.
    pub notebook_path: String,
    /// Only this cell.
    pub cell_id: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}

/// Reads the output of a background task.
#[derive(Debug, Clone, PartialEq, Default, Wire)]
pub struct TaskOutputInput {
    /// The task.
    pub task_id: Option<String>,
    /// The shell, in still older CLIs.
    pub bash_id: Option<String>,
    /// Wait until it ends.
    pub block: Option<bool>,
    /// How long to wait, in milliseconds.
    pub timeout: Option<Num>,
    /// Only lines that fit.
    pub filter: Option<String>,
    /// Fields this build does not know.
    pub extra: Extra,
}
