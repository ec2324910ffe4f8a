//! Words to standard output and standard error. Unlike `println!` they do not panic when nobody reads on.

/// Writes a line to standard output and hands an error to the caller with `?`.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($words)*)?
    }};
}

/// Writes a line to standard error, if anybody listens.
macro_rules! warn_user {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

pub(crate) use {say, warn_user};

use touchstream_experiment::Error;

/// Whether an error only means that the reader of our output went away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(is_pipe)
            || cause.downcast_ref::<Error>().is_some_and(Error::is_broken_pipe)
    })
}

/// Reports an error and counts it, unless the reader went away: then nothing more can be said.
pub fn report_and_count(outcome: anyhow::Result<()>, n_failed: &mut usize) -> anyhow::Result<()> {
    match outcome {
        Err(error) if is_broken_pipe(&error) => Err(error),
        Err(error) => {
            warn_user!("error: {error:#}");
            *n_failed += 1;
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
