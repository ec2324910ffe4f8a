//! A task bound to an image source and a split: everything that is the same in all its trials.

use crate::mask::Mask;
use crate::nearest::{did_you_mean, nearest};
use crate::screen::Template;
use crate::stimuli::{ClassIdx, Split, Stimuli, StimulusError};
use crate::task::{ClassChoice, MatchScreen, Paradigm, Region, Task, TemplateLayout};
use crate::trial::match_pool::{MatchPool, MatchScreens};
use crate::trial::placement_choice::PlacementChoice;
use std::sync::Arc;

/// A task that can be played, because it is bound to the images of a split.
pub struct BoundTask {
    pub(crate) task: Task,
    pub(crate) stimuli: Arc<dyn Stimuli>,
    pub(crate) split: Split,
    /// The task's classes, as indices of the source.
    pub(crate) classes: Vec<ClassIdx>,
    pub(crate) placements: PlacementChoice,
    pub(crate) rule: Rule,
}

/// What determines trials and rewards.
pub(crate) enum Rule {
    /// One reward map per class, transformations included.
    Regions { class_maps: Vec<Box<[f32]>> },
    /// `templates` by class of the source; `button` is the rewarded part of a template at the top left corner of the
    /// screen; `pool` holds the match screens, unless templates are placed freely.
    Templates {
        layout: TemplateLayout,
        templates: Vec<Option<Arc<Template>>>,
        button: Mask,
        pool: Option<MatchPool>,
    },
    /// For each class of the task, the scenes that contain it.
    Scenes { scenes_of_class: Vec<Vec<u32>> },
    /// The localization screens whose object belongs to a class of the task.
    Boxes { objects: Vec<u32> },
}

/// Why a task cannot be played on a source.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("task `{task}` needs {needed} classes, `{stimuli}` has {available}")]
    TooFewClasses {
        task: String,
        stimuli: String,
        /// Number of classes used, and skipped before them.
        needed: usize,
        available: usize,
    },
    #[error("task `{task}` names class `{class}`, which `{stimuli}` does not have{}", did_you_mean(.nearest.as_deref()))]
    UnknownClass { task: String, stimuli: String, class: String, nearest: Option<String> },
    #[error("task `{task}` needs {what}, and the {split} split of `{stimuli}` has none")]
    NoImages {
        task: String,
        stimuli: String,
        split: Split,
        /// The kind of images, for instance ``portraits of class `crow` ``.
        what: String,
    },
    #[error("a template of task `{task}` could not be loaded: {source}")]
    Template { task: String, source: StimulusError },
}

impl BoundTask {
    /// Binds a task to a split of a source; templates are placed freely.
    pub fn new(task: Task, stimuli: Arc<dyn Stimuli>, split: Split) -> Result<Self, BindError> {
        Self::with_placements(task, stimuli, split, PlacementChoice::Free)
    }

    /// Binds a task to a split of a source, with a choice of match screens.
    pub fn with_placements(
        task: Task,
        stimuli: Arc<dyn Stimuli>,
        split: Split,
        placements: PlacementChoice,
    ) -> Result<Self, BindError> {
        let classes = choose_classes(&task, stimuli.as_ref())?;
        let binding =
            Binding { task: &task, stimuli: stimuli.as_ref(), split, classes: &classes, placements };
        let rule = match task.paradigm() {
            Paradigm::StimulusResponse { regions } => binding.regions(regions)?,
            Paradigm::MatchToSample(MatchScreen::Templates(layout)) => binding.templates(layout)?,
            Paradigm::MatchToSample(MatchScreen::Scene) => binding.scenes()?,
            Paradigm::Localization => binding.boxes()?,
        };
        Ok(Self { task, stimuli, split, classes, placements, rule })
    }

    /// Binds the same task to a split of the same source.
    pub fn on_split(&self, split: Split) -> Result<Self, BindError> {
        Self::with_placements(self.task.clone(), Arc::clone(&self.stimuli), split, self.placements)
    }

    pub fn task(&self) -> &Task {
        &self.task
    }

    pub fn stimuli(&self) -> &Arc<dyn Stimuli> {
        &self.stimuli
    }

    /// The split whose images are shown.
    pub fn split(&self) -> Split {
        self.split
    }

    /// How match screens are chosen.
    pub fn placements(&self) -> PlacementChoice {
        self.placements
    }

    /// The task's classes, as indices of the source.
    pub fn classes(&self) -> &[ClassIdx] {
        &self.classes
    }

    /// The name of a class of the task, given by its position in the task.
    pub fn class_name(&self, position: usize) -> &str {
        &self.stimuli.classes()[self.classes[position].get()]
    }
}

fn choose_classes(task: &Task, stimuli: &dyn Stimuli) -> Result<Vec<ClassIdx>, BindError> {
    let available = stimuli.classes();
    let n_skipped = task.n_classes_skipped();
    let positions: Vec<usize> = match &task.spec().classes {
        ClassChoice::All => (0..available.len()).collect(),
        ClassChoice::First(n) => (n_skipped..n_skipped + n).collect(),
        ClassChoice::Named(names) => names
            .iter()
            .map(|name| {
                available.iter().position(|known| known == name).ok_or_else(|| BindError::UnknownClass {
                    task: task.id().into(),
                    stimuli: stimuli.name().into(),
                    class: name.clone(),
                    nearest: nearest(name, available.iter().map(String::as_str)).map(Into::into),
                })
            })
            .collect::<Result<_, _>>()?,
    };
    let n_needed = positions.iter().map(|&position| position + 1).max().unwrap_or(1);
    let n_slots = match task.paradigm() {
        Paradigm::MatchToSample(MatchScreen::Templates(layout)) => layout.slots.len(),
        _ => 1,
    };
    if n_needed > available.len() || positions.len() < n_slots {
        return Err(BindError::TooFewClasses {
            task: task.id().into(),
            stimuli: stimuli.name().into(),
            needed: n_needed.max(n_slots),
            available: available.len(),
        });
    }
    Ok(positions.into_iter().map(|position| ClassIdx(position as u16)).collect())
}

/// Shared arguments of the functions that make a [`Rule`].
struct Binding<'a> {
    task: &'a Task,
    stimuli: &'a dyn Stimuli,
    split: Split,
    classes: &'a [ClassIdx],
    placements: PlacementChoice,
}

impl Binding<'_> {
    fn no_images(&self, what: impl Into<String>) -> BindError {
        BindError::NoImages {
            task: self.task.id().into(),
            stimuli: self.stimuli.name().into(),
            split: self.split,
            what: what.into(),
        }
    }

    fn check_portraits(&self) -> Result<(), BindError> {
        match self.classes.iter().find(|&&class| self.stimuli.n_portraits(self.split, class) == 0) {
            Some(class) => {
                Err(self.no_images(format!("portraits of class `{}`", self.stimuli.classes()[class.get()])))
            }
            None => Ok(()),
        }
    }

    fn regions(&self, regions: &[Region]) -> Result<Rule, BindError> {
        self.check_portraits()?;
        Ok(Rule::Regions { class_maps: self.task.class_maps(regions) })
    }

    fn templates(&self, layout: &TemplateLayout) -> Result<Rule, BindError> {
        self.check_portraits()?;
        let mut templates = vec![None; self.stimuli.classes().len()];
        for &class in self.classes {
            let template = self.stimuli.template(self.split, class, layout.side_px);
            let template =
                template.map_err(|source| BindError::Template { task: self.task.id().into(), source })?;
            templates[class.get()] = Some(template);
        }
        let pool = match self.placements {
            PlacementChoice::Free => None,
            PlacementChoice::Pool(pool) => {
                let screens = MatchScreens { task: self.task, layout, classes: self.classes };
                Some(MatchPool::new(screens, pool, self.split))
            }
        };
        Ok(Rule::Templates { layout: layout.clone(), templates, button: layout.button_mask(), pool })
    }

    fn scenes(&self) -> Result<Rule, BindError> {
        self.check_portraits()?;
        let mut scenes_of_class = vec![Vec::new(); self.classes.len()];
        for scene in 0..self.stimuli.n_scenes(self.split) as u32 {
            let instances = self.stimuli.instances(self.split, scene);
            for (class, scenes) in self.classes.iter().zip(&mut scenes_of_class) {
                if instances.iter().any(|instance| instance.class == *class) {
                    scenes.push(scene);
                }
            }
        }
        match scenes_of_class.iter().position(Vec::is_empty) {
            Some(position) => {
                let name = &self.stimuli.classes()[self.classes[position].get()];
                Err(self.no_images(format!("scenes with class `{name}`")))
            }
            None => Ok(Rule::Scenes { scenes_of_class }),
        }
    }

    fn boxes(&self) -> Result<Rule, BindError> {
        let of_task = |&index: &u32| self.classes.contains(&self.stimuli.object(self.split, index).class);
        let objects: Vec<u32> = (0..self.stimuli.n_objects(self.split) as u32).filter(of_task).collect();
        if objects.is_empty() {
            return Err(self.no_images("screens with one object and its box"));
        }
        Ok(Rule::Boxes { objects })
    }
}
