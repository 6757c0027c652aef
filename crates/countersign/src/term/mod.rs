//! The terminal: keys in, lines out.
//!
//! Owns everything that knows of cursors, escape sequences and raw mode. What is shown and asked is decided elsewhere.
//! [`screen`] and [`keys`] are the two shells; the rest takes keys and gives lines, and needs no terminal.

mod buffer;
mod decode;
pub(crate) mod editor;
pub(crate) mod external;
mod field;
pub(crate) mod form;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod menu;
mod panel;
pub(crate) mod screen;
mod signals;
pub(crate) mod spinner;
pub(crate) mod style;
mod tty;
