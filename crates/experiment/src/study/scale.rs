//! The scale of a study: seconds, under an hour, or the paper's size.

use crate::config::Choice;
use serde::{Deserialize, Serialize};
use touchstream_env::task::{MatchScreen, Paradigm, Task};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Seconds: whether everything works
    Smoke,
    /// Under an hour on two cores
    Short,
    /// The paper's size
    Paper,
}

/// Groups of tasks with the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    TwoWayResponse,
    FourWayResponse,
    TwoWayMatch,
    FourWayMatch,
    Fine,
}

fn kind_of(task: &Task) -> Kind {
    let has_two = task.n_classes().is_some_and(|n| n <= 2);
    match task.paradigm() {
        Paradigm::StimulusResponse { .. } if has_two => Kind::TwoWayResponse,
        Paradigm::StimulusResponse { .. } => Kind::FourWayResponse,
        Paradigm::MatchToSample(MatchScreen::Scene) | Paradigm::Localization => Kind::Fine,
        Paradigm::MatchToSample(_) if has_two => Kind::TwoWayMatch,
        Paradigm::MatchToSample(_) => Kind::FourWayMatch,
    }
}

const SMOKE_STEPS: u64 = 400;

impl Choice for Scale {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Smoke, "smoke", "Seconds: whether everything works"),
        (Self::Short, "short", "Under an hour on two cores"),
        (Self::Paper, "paper", "The paper's size"),
    ];
}

impl Scale {
    /// Steps of a task that is learned from scratch.
    pub fn steps(self, task: &Task) -> u64 {
        let (short, paper) = match kind_of(task) {
            Kind::TwoWayResponse => (8_000, 30_000),
            Kind::FourWayResponse => (16_000, 60_000),
            Kind::TwoWayMatch => (24_000, 100_000),
            Kind::FourWayMatch => (32_000, 200_000),
            Kind::Fine => (24_000, 200_000),
        };
        self.choose(SMOKE_STEPS, short, paper)
    }

    /// Steps of a base task, until EMS is near its best.
    pub fn base_steps(self, task: &Task) -> u64 {
        let (short, paper) = match kind_of(task) {
            Kind::TwoWayResponse => (12_000, 30_000),
            Kind::FourWayResponse => (24_000, 60_000),
            Kind::TwoWayMatch | Kind::FourWayMatch | Kind::Fine => (40_000, 100_000),
        };
        self.choose(SMOKE_STEPS, short, paper)
    }

    /// Steps of a second task.
    pub fn second_steps(self, task: &Task) -> u64 {
        let (short, paper) = match kind_of(task) {
            Kind::TwoWayResponse => (6_000, 6_000),
            Kind::FourWayResponse => (12_000, 20_000),
            Kind::TwoWayMatch => (20_000, 40_000),
            Kind::FourWayMatch | Kind::Fine => (30_000, 80_000),
        };
        self.choose(SMOKE_STEPS, short, paper)
    }

    pub fn n_evaluations(self) -> u64 {
        self.choose(4, 30, 60)
    }

    pub fn evaluation_trials(self) -> u64 {
        self.choose(20, 100, 200)
    }

    pub fn choose<T>(self, smoke: T, short: T, paper: T) -> T {
        match self {
            Self::Smoke => smoke,
            Self::Short => short,
            Self::Paper => paper,
        }
    }
}
