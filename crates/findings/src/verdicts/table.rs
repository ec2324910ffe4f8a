//! The claims as rows.

use super::efficiency::{ems_above, ems_is_highest, order_of_seven};
use super::final_reward::ems_ends_highest;
use super::judgement::{Judgement, Verdict};
use super::localization::{conv_above_ems, ems_above_level, ems_above_svr};
use super::no_switch::{back_at_once, new_module_loses_weight};
use super::order::{buttons_first, outlines_first};
use super::study::Study;
use super::switches::Learner;
use super::voting::{
    ems_faster, gains_everywhere, shuffled_gains_less, transformations_help, unit_above_layer,
    voting_does_most,
};
use crate::paper::{EMS, NONE_LARGE};

/// Something that the paper says and that runs can show.
pub struct Claim {
    /// Stable.
    pub id: &'static str,
    /// The paper's words, in short.
    pub claim: &'static str,
    /// The paper's figure.
    pub paper: &'static str,
    judge: fn(&Study) -> Judgement,
}

/// All that is judged, in the order of the paper.
#[rustfmt::skip]
pub const CLAIMS: &[Claim] = &[
    Claim { id: "efficiency-highest", claim: "EMS has the highest TA-N-AUC of the seven main modules", paper: "0.997", judge: ems_is_highest },
    Claim { id: "efficiency-above-no-symm", claim: "EMS learns more efficiently than No symm (TA-N-AUC)", paper: "0.997 and 0.944, +0.053", judge: |study| ems_above(study, "no-symm") },
    Claim { id: "efficiency-above-no-mult", claim: "EMS learns more efficiently than No mult (TA-N-AUC)", paper: "0.997 and 0.818, +0.179", judge: |study| ems_above(study, "no-mult-symm-crelu") },
    Claim { id: "efficiency-above-none-large", claim: "EMS learns more efficiently than None-large (TA-N-AUC)", paper: "0.997 and 0.717, +0.280", judge: |study| ems_above(study, "none-relu-large") },
    Claim { id: "efficiency-above-no-mult-symm", claim: "EMS learns more efficiently than No mult/symm (TA-N-AUC)", paper: "0.997 and 0.566, +0.431", judge: |study| ems_above(study, "no-mult-symm-relu") },
    Claim { id: "efficiency-above-none-medium", claim: "EMS learns more efficiently than None-medium (TA-N-AUC)", paper: "0.997 and 0.522, +0.475", judge: |study| ems_above(study, "none-relu-medium") },
    Claim { id: "efficiency-above-none-small", claim: "EMS learns more efficiently than None-small (TA-N-AUC)", paper: "0.997 and 0.403, +0.594", judge: |study| ems_above(study, "none-relu-small") },
    Claim { id: "efficiency-order", claim: "The order of the seven by TA-N-AUC: EMS, No symm, No mult, None-large, No mult/symm, None-medium, None-small", paper: "0.997, 0.944, 0.818, 0.717, 0.566, 0.522, 0.403", judge: order_of_seven },
    Claim { id: "final-reward-highest", claim: "EMS reaches the highest final reward on every task", paper: "yes, on all", judge: ems_ends_highest },
    Claim { id: "localization-above-0.4", claim: "EMS localizes with an IoU above 0.4", paper: "above 0.4", judge: ems_above_level },
    Claim { id: "localization-above-svr", claim: "EMS localizes better than a supervised SVR on the same features", paper: "above 0.4 and 0.369", judge: ems_above_svr },
    Claim { id: "localization-conv-above-ems", claim: "EMS with convolutional features localizes better than EMS", paper: "best with convolutional features (no figure)", judge: conv_above_ems },
    Claim { id: "voting-ems-layer", claim: "Layer voting has a positive RGain at all 15 switches, with EMS", paper: "positive at 15 of 15", judge: |study| gains_everywhere(study, Learner { module: EMS, way: "layer" }) },
    Claim { id: "voting-ems-unit", claim: "Unit voting has a positive RGain at all 15 switches, with EMS", paper: "positive at 15 of 15", judge: |study| gains_everywhere(study, Learner { module: EMS, way: "unit" }) },
    Claim { id: "voting-none-large-layer", claim: "Layer voting has a positive RGain at all 15 switches, with None-large", paper: "positive at 15 of 15", judge: |study| gains_everywhere(study, Learner { module: NONE_LARGE, way: "layer" }) },
    Claim { id: "voting-none-large-unit", claim: "Unit voting has a positive RGain at all 15 switches, with None-large", paper: "positive at 15 of 15", judge: |study| gains_everywhere(study, Learner { module: NONE_LARGE, way: "unit" }) },
    Claim { id: "voting-unit-above-layer", claim: "Unit voting gains somewhat more than layer voting (RGain, EMS)", paper: "somewhat better (no figure)", judge: unit_above_layer },
    Claim { id: "voting-ems-faster-layer", claim: "EMS gains faster than None-large under layer voting (TGain, a thousand steps)", paper: "significantly higher (no figure)", judge: |study| ems_faster(study, "layer") },
    Claim { id: "voting-ems-faster-unit", claim: "EMS gains faster than None-large under unit voting (TGain, a thousand steps)", paper: "significantly higher (no figure)", judge: |study| ems_faster(study, "unit") },
    Claim { id: "no-switch-level-layer", claim: "After a cue without a switch, reward is back at the old level almost at once, under layer voting", paper: "almost instantly (no figure)", judge: |study| back_at_once(study, "layer") },
    Claim { id: "no-switch-level-unit", claim: "After a cue without a switch, reward is back at the old level almost at once, under unit voting", paper: "almost instantly (no figure)", judge: |study| back_at_once(study, "unit") },
    Claim { id: "no-switch-weight-layer", claim: "After a cue without a switch, the new module gets little weight, under layer voting", paper: "low (no figure)", judge: |study| new_module_loses_weight(study, "layer") },
    Claim { id: "no-switch-weight-unit", claim: "After a cue without a switch, the new module gets little weight, under unit voting", paper: "low (no figure)", judge: |study| new_module_loses_weight(study, "unit") },
    Claim { id: "transformations-help", claim: "Transformations help a little (RGain, layer voting, EMS)", paper: "they supplement it (no figure)", judge: transformations_help },
    Claim { id: "transformations-voting-most", claim: "Voting, not the transformations, does most of it (RGain, layer voting, EMS)", paper: "the primary contribution (no figure)", judge: voting_does_most },
    Claim { id: "control-shuffled", claim: "Transfer is transfer: a shuffled old module gains far less (RGain, layer voting, EMS; a control of ours)", paper: "not in the paper", judge: shuffled_gains_less },
    Claim { id: "order-buttons", claim: "Buttons are learned first, then what they mean (match-to-sample, EMS)", paper: "buttons before their meaning (no figure)", judge: buttons_first },
    Claim { id: "order-outlines", claim: "Object outlines are learned first, then the class (coco-mts, EMS)", paper: "boundaries before categories (no figure)", judge: outlines_first },
];

/// One a claim, in the order of the table.
pub(crate) fn verdicts(preset: &str, study: &Study) -> Vec<Verdict> {
    let verdict = |claim: &Claim| {
        let Judgement { found, n, outcome, why } = (claim.judge)(study);
        Verdict {
            claim_id: claim.id.to_owned(),
            claim: claim.claim.to_owned(),
            preset: preset.to_owned(),
            paper: claim.paper.to_owned(),
            found,
            n,
            outcome,
            why,
        }
    };
    CLAIMS.iter().map(verdict).collect()
}
