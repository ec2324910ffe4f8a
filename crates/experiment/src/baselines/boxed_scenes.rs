//! The inputs and targets of regression: scene vectors and true boxes.

use touchstream_env::pixel_box::PixelBox;

/// Scene vectors of screens and the boxes of the objects on them.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxedScenes {
    scene_len: usize,
    /// `[n, scene_len]`
    scenes: Vec<f32>,
    boxes: Vec<PixelBox>,
}

/// Why scene vectors and boxes cannot be used for regression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoxedScenesError {
    /// There are no training or no validation screens.
    #[error("there are no screens")]
    NoScreens,
    /// The number of scene vectors differs from the number of boxes.
    #[error("{n_numbers} numbers are not {n_boxes} scene vectors of {scene_len}")]
    OtherLength { n_numbers: usize, scene_len: usize, n_boxes: usize },
    #[error("the scene vector of screen {screen} contains a value that is not finite")]
    NotFinite { screen: usize },
}

impl BoxedScenes {
    /// `scenes` is `[n, scene_len]`, `boxes` is `[n]`.
    pub fn new(scene_len: usize, scenes: Vec<f32>, boxes: Vec<PixelBox>) -> Result<Self, BoxedScenesError> {
        let (n_numbers, n_boxes) = (scenes.len(), boxes.len());
        if n_boxes == 0 {
            return Err(BoxedScenesError::NoScreens);
        }
        if scene_len == 0 || n_numbers != n_boxes * scene_len {
            return Err(BoxedScenesError::OtherLength { n_numbers, scene_len, n_boxes });
        }
        match scenes.iter().position(|number| !number.is_finite()) {
            Some(at) => Err(BoxedScenesError::NotFinite { screen: at / scene_len }),
            None => Ok(Self { scene_len, scenes, boxes }),
        }
    }

    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    pub fn scene_len(&self) -> usize {
        self.scene_len
    }

    /// The scene vectors, `[n, scene_len]`.
    pub fn numbers(&self) -> &[f32] {
        &self.scenes
    }

    pub fn boxes(&self) -> &[PixelBox] {
        &self.boxes
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let check = |scene_len, scenes: &[f32], n_boxes, message: &str| {
        let error = BoxedScenes::new(scene_len, scenes.to_vec(), vec![PixelBox::SCREEN; n_boxes]);
        assert_eq!(error.map_err(|error| error.to_string()), Err(message.to_owned()));
    };
    check(2, &[], 0, "there are no screens");
    check(2, &[1.0, 2.0, 3.0], 2, "3 numbers are not 2 scene vectors of 2");
    check(0, &[], 2, "0 numbers are not 2 scene vectors of 0");
    check(
        2,
        &[1.0, 2.0, 3.0, f32::NAN],
        2,
        "the scene vector of screen 1 contains a value that is not finite",
    );
}
