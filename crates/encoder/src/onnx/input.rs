//! Determines how a model takes a screen: the order of its input's axes and its size.

use touchstream_env::touch::SCREEN_SIDE_PX;

use super::error::OnnxProblem;
use super::file::ValueInfo;
use super::settings::Layout;

/// Allowed sides of an input; larger ones are probably mistakes and need gigabytes of memory.
const SIDES_PX: std::ops::RangeInclusive<usize> = 8..=2048;

/// The model's input.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageInput {
    pub name: String,
    pub layout: Layout,
    /// Number of rows, and of columns.
    pub side_px: usize,
}

impl ImageInput {
    /// The input as declared; `[1, 3, 224, 224]` where nothing is declared.
    pub fn from_declared(
        input: &ValueInfo<'_>,
        requested_layout: Option<Layout>,
    ) -> Result<Self, OnnxProblem> {
        let wrong = |reason: String| OnnxProblem::Input { name: input.name.to_owned(), reason };
        if let Some(element) = input.element.filter(|&element| element != 1) {
            return Err(wrong(format!(
                "takes {}, but screens are float32; export the model with a float32 input",
                element_name(element)
            )));
        }
        let declared = match input.shape.as_deref() {
            None => [None; 4],
            Some(&[n, a, b, c]) => [n, a, b, c],
            Some(shape) => return Err(wrong(format!("has {} axes, but an image has 4", shape.len()))),
        };
        let shape = format_shape(&declared);
        if declared[0].is_some_and(|n| n != 1) {
            return Err(wrong(format!(
                "has shape {shape} and takes no single screen; export the model with a first axis of 1 or of any length"
            )));
        }
        let takes_3 = |axis: usize| declared[axis].is_none_or(|channels| channels == 3);
        let layout = match requested_layout {
            Some(layout) => layout,
            None if declared[1] == Some(3) => Layout::Nchw,
            None if declared[3] == Some(3) => Layout::Nhwc,
            None if takes_3(1) => Layout::Nchw,
            None => Layout::Nhwc,
        };
        let (channels, rows, columns) = match layout {
            Layout::Nchw => (1, 2, 3),
            Layout::Nhwc => (3, 1, 2),
        };
        if !takes_3(channels) {
            return Err(wrong(format!(
                "has shape {shape}: axis {channels} should be the 3 colours of a screen"
            )));
        }
        let side_px = declared[rows].or(declared[columns]).unwrap_or(SCREEN_SIDE_PX);
        if declared[columns].is_some_and(|n_columns| n_columns != side_px) {
            return Err(wrong(format!("has shape {shape}, which is not square as screens are")));
        }
        if !SIDES_PX.contains(&side_px) {
            return Err(wrong(format!(
                "has shape {shape}: a side of {side_px} pixels is outside {} to {}",
                SIDES_PX.start(),
                SIDES_PX.end()
            )));
        }
        Ok(Self { name: input.name.to_owned(), layout, side_px })
    }

    /// The shape of the input for one screen.
    pub fn shape(&self) -> [usize; 4] {
        match self.layout {
            Layout::Nchw => [1, 3, self.side_px, self.side_px],
            Layout::Nhwc => [1, self.side_px, self.side_px, 3],
        }
    }
}

/// Such as `[?, 3, 224, 224]`, with a question mark for an axis without a fixed length.
pub fn format_shape(shape: &[Option<usize>]) -> String {
    let axes: Vec<String> =
        shape.iter().map(|len| len.map_or_else(|| "?".to_owned(), |len| len.to_string())).collect();
    format!("[{}]", axes.join(", "))
}

/// The name of an element type of `TensorProto.DataType`.
pub fn element_name(element: u64) -> String {
    const NAMES: [&str; 17] = [
        "nothing",
        "float32",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "text",
        "bool",
        "float16",
        "float64",
        "uint32",
        "uint64",
        "complex64",
        "complex128",
        "bfloat16",
    ];
    let name = usize::try_from(element).ok().and_then(|element| NAMES.get(element));
    name.map_or_else(|| format!("element type {element}"), |&name| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shape: Option<&[i64]>, asked: Option<Layout>) -> Result<(Layout, usize), String> {
        let shape = shape
            .map(|axes| axes.iter().map(|&len| usize::try_from(len).ok().filter(|&len| len > 0)).collect());
        let input = ValueInfo { name: "x", element: Some(1), shape };
        let found = ImageInput::from_declared(&input, asked).map_err(|problem| problem.to_string())?;
        Ok((found.layout, found.side_px))
    }

    #[test]
    fn layout_and_side_follow_from_the_declared_shape() {
        use Layout::{Nchw, Nhwc};
        assert_eq!(check(Some(&[1, 3, 224, 224]), None), Ok((Nchw, 224)));
        assert_eq!(check(Some(&[-1, 3, 192, 192]), None), Ok((Nchw, 192)));
        assert_eq!(check(Some(&[0, 256, 256, 3]), None), Ok((Nhwc, 256)));
        assert_eq!(check(Some(&[-1, 224, 224, -1]), None), Ok((Nhwc, 224)));
        assert_eq!(check(Some(&[-1, -1, -1, -1]), None), Ok((Nchw, 224)));
        assert_eq!(check(Some(&[-1, -1, -1, -1]), Some(Nhwc)), Ok((Nhwc, 224)));
        assert_eq!(check(Some(&[1, 3, -1, 64]), None), Ok((Nchw, 64)));
        assert_eq!(check(None, None), Ok((Nchw, 224)));
    }

    #[test]
    fn unsuitable_inputs_are_explained() {
        #[track_caller]
        fn refused(shape: &[i64], asked: Option<Layout>, reason: &str) {
            let said = check(Some(shape), asked).unwrap_err();
            assert!(said.contains(reason), "{said}");
        }
        refused(&[8, 3, 224, 224], None, "has shape [8, 3, 224, 224] and takes no single screen");
        refused(&[1, 1, 28, 28], None, "axis 3 should be the 3 colours");
        refused(&[1, 3, 224, 224], Some(Layout::Nhwc), "axis 3 should be the 3 colours");
        refused(&[1, 3, 224, 320], None, "not square");
        refused(&[1, 3, 4000, 4000], None, "outside 8 to 2048");
        refused(&[1, 3], None, "has 2 axes");
        let bytes = ValueInfo { name: "x", element: Some(2), shape: None };
        let said = ImageInput::from_declared(&bytes, None).unwrap_err().to_string();
        assert!(said.contains("its input `x` takes uint8"), "{said}");
    }
}
