//! Dynamic Neural Voting: a skill composed of frozen modules and one that learns.
//!
//! At every stage each module computes its activations on the composite of the stage before; a controller votes on them, and
//! the new composite is their sum, weighted by the votes (eq. 6 to 9). Copies of old modules with transformed touches or
//! reward maps are voters, too.

mod activation_list;
mod controller;
mod cres_votes;
mod head;
mod layer_composite;
mod layer_votes;
mod layout;
mod learner;
mod map_tiles;
mod map_transformation;
mod packed_rows;
mod settings;
mod stage_rows;
mod tally;
mod tile;
mod touch_stage;
mod touch_votes;
mod unit_votes;
mod visual;
mod votes;

pub use controller::{Controller, ControllerParameters, ControllerTensor, ParameterGroup};
pub use head::CompositeHead;
pub use layout::{StageVotes, Voter};
pub use learner::{CompositeAdam, CompositeBatch, CompositeLearner};
pub use settings::{Voting, VotingSettings};
pub use tally::{ShareTally, voter_shares};
pub use visual::FrozenVisual;
