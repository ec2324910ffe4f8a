//! Words to standard output. Unlike `println!` they fail instead of panicking when nobody reads on.

/// Writes a line to standard output and hands an error to the caller with `?`.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($words)*)?
    }};
}
pub(crate) use say;
