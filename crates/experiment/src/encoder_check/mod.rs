//! Checks an encoder: speed, statistics of its features, and whether nearest neighbours have the same class.

mod facts;

use crate::error::{Result, bail};
use crate::timed_encoder::TimedEncoder;
use crate::watch::{Watch, WorkProgress};
pub use facts::{CheckFacts, NumberFacts, SceneFacts};
use std::time::Duration;
use touchstream_encoder::Encoder;
use touchstream_encoder::inspect::{
    EncodedScreens, Neighbour, SceneStatistics, encode_screens, nearest_neighbours, same_label_share,
};
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ClassIdx, ImageId, Split, Stimuli};
use touchstream_files::Progress;
use touchstream_report::canvas::Canvas;
use touchstream_report::neighbour_sheet::{FoundImage, NeighbourRow, neighbour_sheet};

const N_SHOWN: usize = 16;
const N_NEAREST: usize = 5;
const SHEET_COLUMNS: usize = 2;

/// Portraits and their nearest neighbours among other portraits.
pub struct Checked {
    pub queries: Vec<Portrait>,
    pub searched: Vec<Portrait>,
    pub encoded_searched: EncodedScreens,
    /// Without the time for drawing.
    pub encode_time: Duration,
    pub scenes: SceneStatistics,
    /// The neighbours of each query, nearest first.
    pub neighbours: Vec<Vec<Neighbour>>,
    /// Share of queries whose nearest neighbour has the same class.
    pub accuracy: f64,
    /// The same by chance.
    pub chance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portrait {
    pub split: Split,
    pub class: ClassIdx,
    pub index: u32,
}

impl Portrait {
    fn draw(self, stimuli: &dyn Stimuli, screen: &mut Screen) -> Result<()> {
        let Self { split, class, index } = self;
        Ok(stimuli.draw(split, ImageId::Portrait { class, index }, screen)?)
    }
}

/// Encodes `n` portraits of the validation split and twice as many of the training split, and finds neighbours.
pub fn check(encoder: &dyn Encoder, stimuli: &dyn Stimuli, n: usize, watch: &dyn Watch) -> Result<Checked> {
    let progress = &WorkProgress(watch);
    let queries = portraits(stimuli, Split::Validation, n)?;
    let searched = portraits(stimuli, Split::Train, 2 * n)?;
    let timed = TimedEncoder::new(encoder);
    progress.start("encoding screens", (queries.len() + searched.len()) as u64);
    let encode = |some: &[Portrait]| {
        encode_screens(&timed, some.len(), |idx, screen| some[idx].draw(stimuli, screen), progress)
    };
    let encoded = encode(&searched).and_then(|searched| Ok((searched, encode(&queries)?)));
    progress.finish();
    let (encoded_searched, encoded_queries) = encoded?;
    let neighbours = nearest_neighbours(&encoded_queries.scenes, &encoded_searched.scenes, N_NEAREST);
    let classes = |some: &[Portrait]| some.iter().map(|portrait| portrait.class).collect::<Vec<_>>();
    let (accuracy, chance) = same_label_share(&classes(&queries), &classes(&searched), &neighbours);
    let scenes = SceneStatistics::of(&encoded_searched.scenes);
    Ok(Checked {
        queries,
        searched,
        encoded_searched,
        encode_time: timed.spent(),
        scenes,
        neighbours,
        accuracy,
        chance,
    })
}

/// The first portrait of each class, then the second ones, and so on, up to `n`.
fn portraits(stimuli: &dyn Stimuli, split: Split, n: usize) -> Result<Vec<Portrait>> {
    let classes = || (0..stimuli.classes().len()).map(|idx| ClassIdx(idx as u16));
    let n_most = classes().map(|class| stimuli.n_portraits(split, class)).max().unwrap_or(0);
    let all = (0..n_most as u32).flat_map(|index| {
        let has_it = move |class: &ClassIdx| (index as usize) < stimuli.n_portraits(split, *class);
        classes().filter(has_it).map(move |class| Portrait { split, class, index })
    });
    let chosen: Vec<Portrait> = all.take(n).collect();
    match chosen.is_empty() {
        true => bail!(Encoder, "the {split} split of {} has no portraits to look at", stimuli.name()),
        false => Ok(chosen),
    }
}

pub fn sheet_of(checked: &Checked, stimuli: &dyn Stimuli, facts: &CheckFacts) -> Result<Canvas> {
    let picture = |portrait: Portrait| -> Result<(Screen, String)> {
        let mut screen = Screen::grey();
        portrait.draw(stimuli, &mut screen)?;
        Ok((screen, stimuli.classes()[portrait.class.get()].clone()))
    };
    let n_shown = N_SHOWN.min(checked.queries.len());
    let mut rows = Vec::with_capacity(n_shown);
    for shown in 0..n_shown {
        // Evenly spaced over all queries, so that many classes are shown.
        let query_idx = shown * checked.queries.len() / n_shown;
        let portrait = checked.queries[query_idx];
        let mut found = Vec::with_capacity(N_NEAREST);
        for neighbour in &checked.neighbours[query_idx] {
            let other = checked.searched[neighbour.idx];
            let (screen, class) = picture(other)?;
            let is_same_class = other.class == portrait.class;
            found.push(FoundImage { screen, class, cosine: neighbour.cosine, is_same_class });
        }
        let (query, class) = picture(portrait)?;
        rows.push(NeighbourRow { query, class, found });
    }
    Ok(neighbour_sheet(&facts.headline(), &facts.sheet_lines(), &rows, SHEET_COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DataFacts;
    use crate::watch::Unwatched;
    use touchstream_encoder::{EncodeError, FeatureShape, Features};
    use touchstream_env::plain_stimuli::PlainStimuli;
    use touchstream_env::stimuli::ContentHash;

    /// The features of a fake encoder, given a screen's first pixel.
    struct Fake(fn([f32; 3]) -> [f32; 3]);

    impl Encoder for Fake {
        fn name(&self) -> &str {
            "fake"
        }

        fn content_hash(&self) -> ContentHash {
            ContentHash([7; 32])
        }

        fn shape(&self) -> FeatureShape {
            FeatureShape { scene_len: 3, map_channels: 1 }
        }

        fn encode(&self, screens: &[Screen], out: &mut [Features]) -> Result<(), EncodeError> {
            for (screen, features) in screens.iter().zip(out) {
                let pixel = [0, 1, 2].map(|channel| f32::from(screen.pixels()[channel]) / 255.0);
                features.scene.copy_from_slice(&self.0(pixel));
                features.map.fill(0.5);
            }
            Ok(())
        }
    }

    fn checked(fake: Fake, n: usize) -> Checked {
        check(&fake, &PlainStimuli::new(6), n, &Unwatched).unwrap()
    }

    #[test]
    fn eyes_for_colour_tell_coloured_squares_apart() {
        // Shades of a colour differ in brightness only, and so do the two splits.
        let checked = checked(Fake(|[red, green, blue]| [red - green, green - blue, blue - red]), 18);
        assert_eq!((checked.queries.len(), checked.searched.len()), (18, 36));
        assert!(checked.queries.iter().all(|portrait| portrait.split == Split::Validation));
        assert!(checked.searched.iter().all(|portrait| portrait.split == Split::Train));
        assert!((checked.chance - 1.0 / 6.0).abs() < 1e-9);
        assert!(checked.accuracy > 0.9, "{}", checked.accuracy);
        assert_eq!(checked.encoded_searched.maps.mean(), 0.5);
    }

    #[test]
    fn blind_eyes_do_no_better_than_chance() {
        let blind = checked(Fake(|_| [1.0; 3]), 18);
        assert!(blind.accuracy < 0.4, "{}", blind.accuracy);
        assert!(blind.scenes.mean_cosine > 0.999);
        assert_eq!(blind.scenes.mean_centred_cosine, 0.0);
    }

    #[test]
    fn broken_eyes_are_noticed() {
        let broken = checked(Fake(|[red, green, _]| [red, green, f32::NAN]), 6);
        assert_eq!(broken.scenes.values.n_not_finite(), 12);
        let facts = CheckFacts::new(&Fake(|pixel| pixel), data(), &broken);
        assert!(
            facts.warnings().iter().any(|warning| warning.contains("12 numbers")),
            "{:?}",
            facts.warnings()
        );
    }

    #[test]
    fn the_sheet_has_a_row_for_each_shown_query() {
        let stimuli = PlainStimuli::new(6);
        let checked = checked(Fake(|pixel| pixel), 4);
        let facts = CheckFacts::new(&Fake(|pixel| pixel), data(), &checked);
        let few = sheet_of(&checked, &stimuli, &facts).unwrap();
        let many = sheet_of(&self::checked(Fake(|pixel| pixel), 30), &stimuli, &facts).unwrap();
        assert!(many.height() > 3 * few.height(), "{} {}", many.height(), few.height());
        assert_eq!(many.width(), few.width());
    }

    fn data() -> DataFacts {
        DataFacts { source: "plain".into(), content_hash: "00".into() }
    }
}
