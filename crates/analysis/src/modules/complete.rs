//! The largest part of a study in which every module has every task.

use std::collections::BTreeSet;

/// What is compared, and what had to go, each with how much of it was missing.
#[derive(Debug, PartialEq)]
pub(crate) struct Complete<'a> {
    pub modules: BTreeSet<&'a str>,
    pub tasks: BTreeSet<&'a str>,
    /// Name, and of how many of the other side nothing is there.
    pub modules_gone: Vec<(&'a str, usize)>,
    pub tasks_gone: Vec<(&'a str, usize)>,
}

/// As long as a module lacks a task, the module or the task with the largest missing share goes; of equal shares the task,
/// and of equal ones the last by name. So a module that was run on one task does not take the others with it.
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
        // A module with one task, and a task that one module lacks.
        check(&[("a", all), ("b", all), ("conv", &["w"])], &["a", "b"], all);
        check(&[("a", all), ("b", all), ("c", &["t", "u", "v"])], &["a", "b", "c"], &["t", "u", "v"]);
        // Nothing in common: something is left all the same.
        check(&[("a", &["t"]), ("b", &["u"])], &["a"], &["t"]);
    }
}
