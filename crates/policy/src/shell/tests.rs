//! Tables: a text and what it would do; a rule and what it means.
