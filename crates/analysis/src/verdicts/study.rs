//! The findings of one preset that claims are tested on.

use crate::localization::LocalizationFindings;
use crate::modules::{Compared, ModuleFindings, ModuleOnTask};
use crate::scenes::SceneFindings;
use crate::switching::SwitchFindings;

pub(crate) struct Study<'a> {
    pub modules: &'a ModuleFindings,
    pub main: &'a Compared,
    pub switches: &'a [SwitchFindings],
    pub localization: &'a LocalizationFindings,
    pub scenes: &'a [SceneFindings],
}

impl Study<'_> {
    pub fn on_task(&self, module: &str, task: &str) -> Option<&ModuleOnTask> {
        let found = self.modules.tasks.iter().find(|found| found.task == task)?;
        found.modules.iter().find(|found| found.module == module)
    }

    pub fn n_seeds(&self, module: &str, task: &str) -> usize {
        self.on_task(module, task).map_or(0, |found| found.seeds.len())
    }
}
