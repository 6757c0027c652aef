//! The hazards every client of the CLI has to stand, as far as no measured case or complaint shows them already.

pub(crate) mod asking;
pub(crate) mod ending;
pub(crate) mod reading;
