//! The patterns in which numpy pickles its arrays, recognised and answered; every other call is refused.

use super::PickleProblem;
use super::value::{Array, NumpyName, Value, ValueIdx};

/// The most axes of an array, as numpy has it.
const MAX_AXES: usize = 32;

/// The meaning of a name, if an array is made with it.
pub(super) fn name_of(module: &str, name: &str) -> Result<NumpyName, PickleProblem> {
    match (module, name) {
        ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Ok(NumpyName::Reconstruct),
        ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Ok(NumpyName::FromBuffer),
        ("numpy", "ndarray") => Ok(NumpyName::Ndarray),
        ("numpy", "dtype") => Ok(NumpyName::Dtype),
        _ => {
            let shown: String = format!("{module}.{name}").chars().take(80).collect();
            Err(PickleProblem::Name(shown))
        }
    }
}

/// What a call would give.
pub(super) fn reduce<'a>(
    values: &[Value<'a>],
    function: ValueIdx,
    arguments: ValueIdx,
) -> Result<Value<'a>, PickleProblem> {
    let arguments = parts(values, arguments)?;
    match (&values[function.0], &arguments[..]) {
        (
            Value::Name(NumpyName::Reconstruct),
            [Value::Name(NumpyName::Ndarray), Value::Tuple(_), Value::Bytes(_)],
        ) => Ok(Value::EmptyArray),
        (Value::Name(NumpyName::Dtype), [Value::Text(code), Value::Bool(_), Value::Bool(_)]) => {
            Ok(Value::Kind { code, byte_order: "" })
        }
        (
            Value::Name(NumpyName::FromBuffer),
            [Value::Bytes(bytes), Value::Kind { code, byte_order }, shape, Value::Text(order)],
        ) => Ok(Value::Array(Array {
            shape: shape_of(values, shape)?,
            kind: format!("{byte_order}{code}"),
            is_fortran: *order == "F",
            bytes,
        })),
        _ => Err(PickleProblem::Operands("a call is none of those that make an array")),
    }
}

/// What an object becomes by its state.
pub(super) fn build<'a>(
    values: &[Value<'a>],
    object: ValueIdx,
    state: ValueIdx,
) -> Result<Value<'a>, PickleProblem> {
    let state = parts(values, state)?;
    match (&values[object.0], &state[..]) {
        (
            Value::EmptyArray,
            [
                Value::Int(1),
                shape,
                Value::Kind { code, byte_order },
                Value::Bool(is_fortran),
                Value::Bytes(bytes),
            ],
        ) => Ok(Value::Array(Array {
            shape: shape_of(values, shape)?,
            kind: format!("{byte_order}{code}"),
            is_fortran: *is_fortran,
            bytes,
        })),
        // Neither an inner array, nor fields, nor an alignment.
        (
            Value::Kind { code, byte_order: "" },
            [
                Value::Int(3),
                Value::Text(byte_order @ ("<" | ">" | "|")),
                Value::None,
                Value::None,
                Value::None,
                ..,
            ],
        ) => Ok(Value::Kind { code, byte_order }),
        _ => Err(PickleProblem::Operands("a state is none that an array has")),
    }
}

fn parts<'v, 'a>(values: &'v [Value<'a>], tuple: ValueIdx) -> Result<Vec<&'v Value<'a>>, PickleProblem> {
    match &values[tuple.0] {
        Value::Tuple(parts) if parts.len() <= MAX_AXES => {
            Ok(parts.iter().map(|part| &values[part.0]).collect())
        }
        _ => Err(PickleProblem::Operands("a call needs a tuple of arguments")),
    }
}

fn shape_of(values: &[Value<'_>], shape: &Value<'_>) -> Result<Vec<usize>, PickleProblem> {
    let wrong = PickleProblem::Operands("a shape must be a tuple of whole numbers");
    match shape {
        Value::Tuple(axes) if axes.len() <= MAX_AXES => {
            let extent = |axis: &ValueIdx| match values[axis.0] {
                Value::Int(extent) => usize::try_from(extent).ok(),
                _ => None,
            };
            axes.iter().map(extent).collect::<Option<_>>().ok_or(wrong)
        }
        _ => Err(wrong),
    }
}
