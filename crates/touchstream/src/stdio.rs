//! Lines for standard output and standard error. Unlike `println!` they do not panic if the pipe is closed.

/// Writes a line to standard output; an error is returned with `?`.
macro_rules! print_line {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($text)*)?
    }};
}

/// Writes a line to standard error, ignoring errors.
macro_rules! warn_user {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

pub(crate) use {print_line, warn_user};

use touchstream_experiment::{Error, text_of};

pub fn print_json(value: &(impl serde::Serialize + ?Sized)) -> anyhow::Result<()> {
    print_line!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Whether the error is a closed pipe.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(is_pipe)
            || cause.downcast_ref::<Error>().is_some_and(Error::is_broken_pipe)
    })
}

/// Prints an error and counts it; a closed pipe is returned.
pub fn report_and_count(result: anyhow::Result<()>, n_failed: &mut usize) -> anyhow::Result<()> {
    match result {
        Err(error) if is_broken_pipe(&error) => Err(error),
        Err(error) => {
            warn_user!("error: {}", text_of(error.as_ref()));
            *n_failed += 1;
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
