//! The chainable setters of [`Options`](super::Options), for every type that holds some.
//!
//! `option_setters!(Type)` gives `Type` one method an option; `Type` needs `fn options_mut(&mut self) -> &mut Options`.
//! They are named after the CLI's flags. Invariant: a setter only stores; what does not fit together is said at launch.

mod report;
mod setup;
mod task;

pub(crate) use report::{session_setters, stream_setters};
pub(crate) use setup::{extension_setters, process_setters};
pub(crate) use task::{model_setters, permission_setters, prompt_setters};

/// Gives a type the setters of all options.
macro_rules! option_setters {
    ($type:ty) => {
        $crate::options::setters::model_setters!($type);
        $crate::options::setters::prompt_setters!($type);
        $crate::options::setters::permission_setters!($type);
        $crate::options::setters::session_setters!($type);
        $crate::options::setters::stream_setters!($type);
        $crate::options::setters::extension_setters!($type);
        $crate::options::setters::process_setters!($type);
    };
}
pub(crate) use option_setters;
