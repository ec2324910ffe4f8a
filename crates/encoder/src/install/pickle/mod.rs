//! Reads numpy arrays out of Python's pickles and executes nothing: names of functions are compared, never called.
//!
//! Protocols 3 to 5, with the few operations that dictionaries of arrays need. Values live in one list and name each
//! other by position, so that nothing recurses, and a value within itself does no harm.

mod machine;
mod numpy;
mod opcode;
#[cfg(test)]
mod tests;
mod value;

pub use value::{Array, Item, Pickle};

/// Why a pickle was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {problem}")]
pub struct PickleError {
    /// Where the operation begins that could not be done.
    pub offset: usize,
    /// What is wrong with it.
    pub problem: PickleProblem,
}

/// What is wrong with an operation of a pickle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PickleProblem {
    /// Arrays do not need it; it may construct anything.
    #[error("operation {name} ({byte:#04x}) has no place among arrays")]
    Operation {
        /// As Python's documentation names it.
        name: &'static str,
        /// As it stands in the file.
        byte: u8,
    },
    /// A protocol that is not known.
    #[error("protocol {0} is not read, only 3 to 5")]
    Protocol(u8),
    /// The bytes end too early.
    #[error("the pickle is cut short")]
    CutShort,
    /// Something other than what numpy writes is named.
    #[error("`{0}` is not what an array is made of")]
    Name(String),
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    Text,
    /// An operation takes more than there is, or something else than there is.
    #[error("{0}")]
    Operands(&'static str),
    /// More than any file of arrays has.
    #[error("more than {0} operations")]
    TooLong(usize),
    /// Bytes follow the end.
    #[error("the pickle goes on after its end")]
    AfterEnd,
}
