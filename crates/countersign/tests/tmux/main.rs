//! What a person sees of `countersign run`, and what their keys do: every kind of question, in a real terminal, on the
//! scripted CLI and on the real one.
//!
//! The same script plays on both, and both must give the same picture.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a stage that cannot be set is a failed test"
)]

mod approvals;
mod controls;
mod plans;
mod questions;
mod stage;

/// The tests of a module on both CLIs and in both sizes.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod scripted {
            $(
                #[test]
                fn $name() {
                    super::$name(crate::stage::Which::Scripted, crate::stage::SMALL);
                }
            )*
        }
        mod newest {
            $(
                #[test]
                fn $name() {
                    super::$name(crate::stage::Which::Real("newest"), crate::stage::SMALL);
                }
            )*
        }
        mod newest_large {
            $(
                #[test]
                fn $name() {
                    super::$name(crate::stage::Which::Real("newest"), crate::stage::LARGE);
                }
            )*
        }
        mod large {
            $(
                #[test]
                fn $name() {
                    super::$name(crate::stage::Which::Scripted, crate::stage::LARGE);
                }
            )*
        }
    };
}
pub(crate) use on_both;

/// The picture is the one on file: one for each size, the same for every CLI.
macro_rules! picture {
    ($stage:expr, $name:expr, $size:expr) => {
        insta::assert_snapshot!(
            format!("{}-{}x{}", $name, $size.0, $size.1),
            $stage.picture()
        )
    };
}
pub(crate) use picture;
