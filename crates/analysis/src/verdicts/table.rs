//! The paper's claims as a table.

use super::efficiency::{ems_above, ems_is_highest, order_of_seven};
use super::final_reward::ems_ends_highest;
use super::judgement::{Judgement, Verdict};
use super::localization::{above_svr, conv_above_ems, ems_above_level};
use super::no_switch::{back_at_once, new_module_loses_weight};
use super::order::{buttons_first, outlines_first};
use super::study::Study;
use super::switches::Learner;
use super::voting::{
    ems_faster, gains_everywhere, shuffled_gains_less, transformations_help, unit_above_layer,
    voting_does_most,
};
use crate::paper::{CONV_EMS, EMS, NONE_LARGE};
use crate::switch_method::SwitchMethod;

/// A claim of the paper that can be tested on runs.
pub struct Claim {
    pub id: &'static str,
    /// A short text for tables.
    pub short: &'static str,
    pub claim: &'static str,
    /// The paper's value.
    pub paper: &'static str,
    judge: fn(&Study) -> Judgement,
}

/// All claims, in the order of the paper.
#[rustfmt::skip]
pub const CLAIMS: &[Claim] = &[
    Claim { id: "efficiency-highest", short: "EMS has the highest TA-N-AUC", claim: "EMS has the highest TA-N-AUC of the seven main modules", paper: "0.997", judge: ems_is_highest },
    Claim { id: "efficiency-above-no-symm", short: "EMS above No symm (TA-N-AUC)", claim: "EMS learns more efficiently than No symm (TA-N-AUC)", paper: "0.997 and 0.944, +0.053", judge: |study| ems_above(study, "no-symm") },
    Claim { id: "efficiency-above-no-mult", short: "EMS above No mult (TA-N-AUC)", claim: "EMS learns more efficiently than No mult (TA-N-AUC)", paper: "0.997 and 0.818, +0.179", judge: |study| ems_above(study, "no-mult-symm-crelu") },
    Claim { id: "efficiency-above-none-large", short: "EMS above None-large (TA-N-AUC)", claim: "EMS learns more efficiently than None-large (TA-N-AUC)", paper: "0.997 and 0.717, +0.280", judge: |study| ems_above(study, "none-relu-large") },
    Claim { id: "efficiency-above-no-mult-symm", short: "EMS above No mult/symm (TA-N-AUC)", claim: "EMS learns more efficiently than No mult/symm (TA-N-AUC)", paper: "0.997 and 0.566, +0.431", judge: |study| ems_above(study, "no-mult-symm-relu") },
    Claim { id: "efficiency-above-none-medium", short: "EMS above None-medium (TA-N-AUC)", claim: "EMS learns more efficiently than None-medium (TA-N-AUC)", paper: "0.997 and 0.522, +0.475", judge: |study| ems_above(study, "none-relu-medium") },
    Claim { id: "efficiency-above-none-small", short: "EMS above None-small (TA-N-AUC)", claim: "EMS learns more efficiently than None-small (TA-N-AUC)", paper: "0.997 and 0.403, +0.594", judge: |study| ems_above(study, "none-relu-small") },
    Claim { id: "efficiency-order", short: "order of the seven by TA-N-AUC", claim: "The order of the seven by TA-N-AUC: EMS, No symm, No mult, None-large, No mult/symm, None-medium, None-small", paper: "0.997, 0.944, 0.818, 0.717, 0.566, 0.522, 0.403", judge: order_of_seven },
    Claim { id: "final-reward-highest", short: "EMS has the highest final reward on every task", claim: "EMS reaches the highest final reward on every task", paper: "yes, on all", judge: ems_ends_highest },
    Claim { id: "localization-above-0.4", short: "EMS localizes above 0.4", claim: "EMS localizes with an IoU above 0.4", paper: "above 0.4", judge: ems_above_level },
    Claim { id: "localization-above-svr", short: "EMS localizes better than SVR", claim: "EMS localizes better than a supervised SVR on the same features", paper: "above 0.4 and 0.369", judge: |study| above_svr(study, EMS) },
    Claim { id: "localization-conv-above-svr", short: "conv-EMS localizes better than SVR", claim: "EMS with convolutional features localizes better than a supervised SVR on the same features", paper: "above 0.4 and 0.369", judge: |study| above_svr(study, CONV_EMS) },
    Claim { id: "localization-conv-above-ems", short: "conv-EMS localizes better than EMS", claim: "EMS with convolutional features localizes better than EMS", paper: "best with convolutional features (no value given)", judge: conv_above_ems },
    Claim { id: "voting-ems-layer", short: "layer voting gains at all switches, EMS", claim: "Layer voting has a positive RGain at all 15 switches, with EMS", paper: "positive at 15 of 15", judge: |study| gains_everywhere(study, Learner { module: EMS, way: SwitchMethod::LAYER }) },
    Claim { id: "voting-ems-unit", short: "unit voting gains at all switches, EMS", claim: "Unit voting has a positive RGain at all 15 switches, with EMS", paper: "positive at 15 of 15", judge: |study| gains_everywhere(study, Learner { module: EMS, way: SwitchMethod::UNIT }) },
    Claim { id: "voting-none-large-layer", short: "layer voting gains at all switches, None-large", claim: "Layer voting has a positive RGain at all 15 switches, with None-large", paper: "positive at 15 of 15", judge: |study| gains_everywhere(study, Learner { module: NONE_LARGE, way: SwitchMethod::LAYER }) },
    Claim { id: "voting-none-large-unit", short: "unit voting gains at all switches, None-large", claim: "Unit voting has a positive RGain at all 15 switches, with None-large", paper: "positive at 15 of 15", judge: |study| gains_everywhere(study, Learner { module: NONE_LARGE, way: SwitchMethod::UNIT }) },
    Claim { id: "voting-unit-above-layer", short: "unit voting gains more than layer voting", claim: "Unit voting gains somewhat more than layer voting (RGain, EMS)", paper: "somewhat better (no value given)", judge: unit_above_layer },
    Claim { id: "voting-ems-faster-layer", short: "EMS gains faster than None-large, layer voting", claim: "EMS gains faster than None-large under layer voting (TGain, reward per 1,000 steps)", paper: "significantly higher (no value given)", judge: |study| ems_faster(study, SwitchMethod::LAYER) },
    Claim { id: "voting-ems-faster-unit", short: "EMS gains faster than None-large, unit voting", claim: "EMS gains faster than None-large under unit voting (TGain, reward per 1,000 steps)", paper: "significantly higher (no value given)", judge: |study| ems_faster(study, SwitchMethod::UNIT) },
    Claim { id: "no-switch-level-layer", short: "no switch: back at the old level, layer voting", claim: "After a cue without a switch, reward is back at the old level almost at once, under layer voting", paper: "almost instantly (no value given)", judge: |study| back_at_once(study, SwitchMethod::LAYER) },
    Claim { id: "no-switch-level-unit", short: "no switch: back at the old level, unit voting", claim: "After a cue without a switch, reward is back at the old level almost at once, under unit voting", paper: "almost instantly (no value given)", judge: |study| back_at_once(study, SwitchMethod::UNIT) },
    Claim { id: "no-switch-weight-layer", short: "no switch: little weight for the new module, layer voting", claim: "After a cue without a switch, the new module gets little weight, under layer voting", paper: "low (no value given)", judge: |study| new_module_loses_weight(study, SwitchMethod::LAYER) },
    Claim { id: "no-switch-weight-unit", short: "no switch: little weight for the new module, unit voting", claim: "After a cue without a switch, the new module gets little weight, under unit voting", paper: "low (no value given)", judge: |study| new_module_loses_weight(study, SwitchMethod::UNIT) },
    Claim { id: "transformations-help", short: "transformations help a little", claim: "Transformations help a little (RGain, layer voting, EMS)", paper: "they supplement it (no value given)", judge: transformations_help },
    Claim { id: "transformations-voting-most", short: "voting does most of it", claim: "Voting, not the transformations, does most of it (RGain, layer voting, EMS)", paper: "the primary contribution (no value given)", judge: voting_does_most },
    Claim { id: "control-shuffled", short: "a shuffled old module gains far less (our control)", claim: "Transfer is transfer: a shuffled old module gains far less (RGain, layer voting, EMS; our control)", paper: "not in the paper", judge: shuffled_gains_less },
    Claim { id: "order-buttons", short: "any template first, then the rewarded one", claim: "Touching any template is learned before touching the rewarded one (match-to-sample, EMS)", paper: "buttons before their meaning (no value given)", judge: buttons_first },
    Claim { id: "order-outlines", short: "any object first, then its class", claim: "Touching any object is learned before touching the sample's class (coco-mts, EMS)", paper: "boundaries before categories (no value given)", judge: outlines_first },
];

/// One verdict per claim, in the order of the table.
pub(crate) fn verdicts(preset: &str, study: &Study) -> Vec<Verdict> {
    let verdict = |claim: &Claim| {
        let Judgement { found, n, has_runs, outcome, why } = (claim.judge)(study);
        Verdict {
            claim_id: claim.id.to_owned(),
            claim: claim.claim.to_owned(),
            preset: preset.to_owned(),
            paper: claim.paper.to_owned(),
            found,
            n,
            has_runs,
            outcome,
            why,
        }
    };
    CLAIMS.iter().map(verdict).collect()
}
