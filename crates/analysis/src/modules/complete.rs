//! The largest part of a study in which every module has every task.

use std::collections::BTreeSet;

/// Modules and tasks to compare, and those that are excluded, with the number of runs that each lacks.
#[derive(Debug, PartialEq)]
pub(crate) struct Complete<'a> {
    pub modules: BTreeSet<&'a str>,
    pub tasks: BTreeSet<&'a str>,
    /// Name, and the number of tasks that the module lacks.
    pub modules_gone: Vec<(&'a str, usize)>,
    pub tasks_gone: Vec<(&'a str, usize)>,
}

/// While some module lacks a task, the module or task with the largest missing share is excluded: of equal shares the
/// task, and of several tasks (or modules) the last by name. So a module that was run on one task only does not exclude
/// all other tasks.
pub(crate) fn complete<'a>(cells: &BTreeSet<(&'a str, &'a str)>) -> Complete<'a> {
    let mut found = Complete {
        modules: cells.iter().map(|cell| cell.0).collect(),
        tasks: cells.iter().map(|cell| cell.1).collect(),
        modules_gone: Vec::new(),
        tasks_gone: Vec::new(),
    };
    loop {
        let (modules, tasks) = (&found.modules, &found.tasks);
        let lacks = |module: &str| tasks.iter().filter(|&&task| !cells.contains(&(module, task))).count();
        let lacked_by =
            |task: &str| modules.iter().filter(|&&module| !cells.contains(&(module, task))).count();
        let module = modules.iter().map(|&module| (lacks(module), module)).max();
        let task = tasks.iter().map(|&task| (lacked_by(task), task)).max();
        let (Some((n_tasks, module)), Some((n_modules, task))) = (module, task) else { return found };
        if n_tasks == 0 {
            return found;
        }
        // n_modules / modules.len() >= n_tasks / tasks.len()
        if n_modules * tasks.len() >= n_tasks * modules.len() {
            found.tasks.remove(task);
            found.tasks_gone.push((task, n_modules));
        } else {
            found.modules.remove(module);
            found.modules_gone.push((module, n_tasks));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_most_missing_goes_first() {
        #[track_caller]
        fn check(cells: &[(&'static str, &[&'static str])], modules: &[&str], tasks: &[&str]) {
            let cells = cells.iter().flat_map(|(module, tasks)| tasks.iter().map(|task| (*module, *task)));
            let found = complete(&cells.collect());
            assert_eq!(found.modules.into_iter().collect::<Vec<_>>(), modules);
            assert_eq!(found.tasks.into_iter().collect::<Vec<_>>(), tasks);
        }
        check(&[], &[], &[]);
        let all: &[&str] = &["t", "u", "v", "w"];
        check(&[("a", all), ("b", all)], &["a", "b"], all);
        // One module has only one task, and one task lacks one module.
        check(&[("a", all), ("b", all), ("conv", &["w"])], &["a", "b"], all);
        check(&[("a", all), ("b", all), ("c", &["t", "u", "v"])], &["a", "b", "c"], &["t", "u", "v"]);
        // No module and task in common: one of each is still kept.
        check(&[("a", &["t"]), ("b", &["u"])], &["a"], &["t"]);
    }
}
