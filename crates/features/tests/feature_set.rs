//! Feature sets: correct values, reproducible bits, and recovery from damage.
#![allow(clippy::unwrap_used)]

mod pixel_encoder;

use half::f16;
use pixel_encoder::{MOVING, N_MOVING, PixelEncoder, bind, bits, open};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstream_encoder::{Encoder, Features};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::Split;
use touchstream_env::task::find_task;
use touchstream_env::trial::BoundTask;
use touchstream_features::inventory::{Deleted, delete_store, examine, store_folders};
use touchstream_features::segment::HEAD_BYTES;
use touchstream_features::{
    CalibrationSettings, EncodeContext, FeatureSet, FeatureSettings, Wanted, calibrate_tasks, encode_tasks,
};
use touchstream_files::NoProgress;

fn only_segment(cache_dir: &Path) -> PathBuf {
    let store = store_folders(cache_dir).unwrap().pop().unwrap();
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "feat");
    let segments: Vec<PathBuf> =
        fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path()).filter(is_segment).collect();
    assert_eq!(segments.len(), 1, "{segments:?}");
    segments[0].clone()
}

fn flip_byte(path: &Path, at: u64) {
    let mut file = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[byte[0] ^ 0x10]).unwrap();
}

#[test]
fn vectors_are_the_encoders_centred_and_scaled() {
    let (encoder, train) = (PixelEncoder::new(), bind(MOVING, Split::Train));
    let set = open(&encoder, None, &[&train], Wanted::SceneAndMap);
    assert_eq!(set.screens(), train.screens().unwrap());
    let mut raw: Vec<Features> = Vec::new();
    for recipe in set.screens() {
        let mut screen = Screen::grey();
        recipe.draw(train.stimuli().as_ref(), &mut screen).unwrap();
        let mut features = [Features::zeros(encoder.shape())];
        encoder.encode(&[screen], &mut features).unwrap();
        raw.extend(features);
    }
    let mean = |at: usize| raw.iter().map(|f| f64::from(f.scene[at])).sum::<f64>() / raw.len() as f64;
    for (at, found) in set.calibration().mean().iter().enumerate() {
        assert!((f64::from(*found) - mean(at)).abs() < 1e-6, "mean {at}");
    }
    for (index, raw) in raw.iter().enumerate() {
        let scene = set.scene(index as u32);
        let centred: Vec<f32> = raw.scene.iter().zip(set.calibration().mean()).map(|(x, m)| x - m).collect();
        let norm = centred.iter().map(|x| x * x).sum::<f32>().sqrt();
        let is_near = |(out, centred): (&f32, &f32)| (out - centred * 2.0 / norm).abs() < 1e-4;
        assert!(scene.iter().zip(&centred).all(is_near), "screen {index}");
        let map: Vec<f16> = raw.map.iter().map(|&x| f16::from_f32(x)).collect();
        assert_eq!(set.map(index as u32).unwrap(), map);
        assert_eq!(set.index_of(&set.screens()[index]), Some(index as u32));
    }
    assert_eq!(set.index_of(&bind(MOVING, Split::Validation).screens().unwrap()[0]), None);
}

#[test]
fn a_screen_is_encoded_once() {
    let cache = tempfile::tempdir().unwrap();
    let (encoder, train) = (PixelEncoder::new(), bind(MOVING, Split::Train));
    let first = open(&encoder, Some(cache.path()), &[&train], Wanted::Scene);
    assert_eq!((encoder.n_encoded(), first.encoded().n_new), (N_MOVING, N_MOVING));
    let second = open(&encoder, Some(cache.path()), &[&train], Wanted::Scene);
    assert_eq!((encoder.n_encoded(), second.encoded().n_new, second.encoded().n_new_bytes), (N_MOVING, 0, 0));
    assert_eq!(bits(&first), bits(&second));
    // Another task with the same match screens has only those of its own encoded.
    let flipped = bind("mts-2way-horiz-flip", Split::Train);
    let both = open(&encoder, Some(cache.path()), &[&flipped, &train], Wanted::Scene);
    assert_eq!((both.encoded().n_new, both.n_screens()), (2, N_MOVING + 2));
}

#[test]
fn maps_are_encoded_when_required() {
    let cache = tempfile::tempdir().unwrap();
    let (encoder, train) = (PixelEncoder::new(), bind("sr-2way", Split::Train));
    let scenes = open(&encoder, Some(cache.path()), &[&train], Wanted::Scene);
    assert!(scenes.map(0).is_none());
    let maps = open(&encoder, Some(cache.path()), &[&train], Wanted::SceneAndMap);
    assert_eq!((maps.encoded().n_new, scenes.scenes()), (64, maps.scenes()));
    let again = open(&encoder, Some(cache.path()), &[&train], Wanted::SceneAndMap);
    assert_eq!((again.encoded().n_new, bits(&again)), (0, bits(&maps)));
    let facts = examine(&store_folders(cache.path()).unwrap()[0]).unwrap();
    assert_eq!((facts.n_scenes, facts.n_maps, facts.n_damaged), (64, 64, 0));
}

#[test]
fn bits_depend_on_nothing_but_screen_and_encoder() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind(MOVING, Split::Train));
    let reference = bits(&open(&PixelEncoder::new(), None, &[&train], Wanted::SceneAndMap));
    for (n_threads, batch_size) in [(1, 1), (2, 7), (4, 64)] {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let encoder = PixelEncoder { batch_size, ..PixelEncoder::new() };
        let cache = cache.path().join(n_threads.to_string());
        let set = threads.install(|| open(&encoder, Some(&cache), &[&train], Wanted::SceneAndMap));
        assert!(bits(&set) == reference, "{n_threads} threads");
    }
}

#[test]
fn both_splits_are_centred_by_the_training_split() {
    let cache = tempfile::tempdir().unwrap();
    let [train, validation] = Split::ALL.map(|split| bind("sr-2way", split));
    let encoder = PixelEncoder::new();
    let of_validation = open(&encoder, Some(cache.path()), &[&validation], Wanted::Scene);
    assert_eq!((of_validation.n_screens(), of_validation.encoded().n_new), (64, 128));
    let of_train = open(&encoder, Some(cache.path()), &[&train], Wanted::Scene);
    assert_eq!((of_train.encoded().n_new, of_train.calibration()), (0, of_validation.calibration()));
}

#[test]
fn a_damaged_calibration_is_recomputed() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let encoder = PixelEncoder::new();
    let eyes = EncodeContext { encoder: &encoder, cache_dir: Some(cache.path()), progress: &NoProgress };
    let calibration = |calibration| {
        let settings = FeatureSettings { calibration, ..FeatureSettings::default() };
        FeatureSet::of_tasks(eyes, &[&train], settings).unwrap().calibration().clone()
    };
    let [usual, paper] = [CalibrationSettings::DEFAULT, CalibrationSettings::PAPER].map(calibration);
    let few = calibration(CalibrationSettings { max_screens: NonZeroUsize::new(5), ..Default::default() });
    assert_eq!((usual.n_screens(), paper.n_screens(), few.n_screens()), (64, 64, 5));
    assert!(usual.mean() == paper.mean() && usual.mean() != few.mean() && paper.norm() == 8.0);
    let hashes = [&usual, &paper, &few].map(|calibration| calibration.content_hash());
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);

    let store = store_folders(cache.path()).unwrap().pop().unwrap();
    let file = store.join(format!("calibration-{:.16}.mean", hashes[0].to_string()));
    flip_byte(&file, 100);
    assert_eq!(calibration(CalibrationSettings::DEFAULT), usual);
    fs::write(&file, b"short").unwrap();
    assert_eq!(calibration(CalibrationSettings::DEFAULT), usual);

    let zero = CalibrationSettings { norm: 0.0, ..Default::default() };
    let settings = FeatureSettings { calibration: zero, ..FeatureSettings::default() };
    let error = FeatureSet::of_tasks(eyes, &[&train], settings).err().unwrap();
    assert_eq!(error.to_string(), "features cannot be scaled to norm 0: it must be above 0");
}

#[test]
fn calibrating_tasks_equals_the_sets_calibration() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let encoder = PixelEncoder::new();
    let eyes = EncodeContext { encoder: &encoder, cache_dir: Some(cache.path()), progress: &NoProgress };
    let calibrate = |task: &BoundTask| calibrate_tasks(eyes, &[task], CalibrationSettings::DEFAULT).unwrap();
    let first = calibrate(&train);
    assert_eq!((encoder.n_encoded(), first.notes.len()), (64, 0));
    let set = open(&encoder, Some(cache.path()), &[&train], Wanted::Scene);
    assert_eq!(set.calibration(), &first.calibration);
    assert_eq!(calibrate(&bind("sr-2way", Split::Validation)), first);
    assert_eq!(encoder.n_encoded(), 64);

    // A folder in the file's place: the mean cannot be stored, and is right all the same.
    let store = store_folders(cache.path()).unwrap().pop().unwrap();
    let hash = first.calibration.content_hash().to_string();
    let file = store.join(format!("calibration-{hash:.16}.mean"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let again = calibrate(&train);
    assert_eq!((&again.calibration, again.notes.len()), (&first.calibration, 1));
    assert!(again.notes[0].starts_with("the mean of ") && again.notes[0].contains("was not stored: "));
    // Only the stored calibration is read: there is nothing else here.
    fs::remove_dir(&file).unwrap();
    calibrate(&train);
    fs::remove_file(only_segment(cache.path())).unwrap();
    assert_eq!((calibrate(&train), encoder.n_encoded()), (first, 64));
}

/// One damaged record in the middle is one screen to encode again, whichever byte it is.
#[test]
fn only_a_damaged_record_is_encoded_again() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let reference = bits(&open(&PixelEncoder::new(), Some(cache.path()), &[&train], Wanted::Scene));
    let record_bytes = 64 + 8 * 8 * 3 * 4;
    for (round, within) in [0, 20, 50, 60, 64, 300].into_iter().enumerate() {
        let segment = only_segment(cache.path());
        flip_byte(&segment, HEAD_BYTES as u64 + (20 + 2 * round as u64) * record_bytes + within);
        let damage = || examine(&store_folders(cache.path()).unwrap()[0]).unwrap().n_damaged;
        assert_eq!(damage(), 1, "byte {within}");
        let encoder = PixelEncoder::new();
        let mended = open(&encoder, Some(cache.path()), &[&train], Wanted::Scene);
        assert_eq!((encoder.n_encoded(), damage()), (1, 0), "byte {within}");
        assert!(bits(&mended) == reference, "byte {within}");
    }
    let facts = examine(&store_folders(cache.path()).unwrap()[0]).unwrap();
    assert_eq!((facts.n_scenes, facts.n_damaged), (64, 0));
}

#[test]
fn a_truncated_record_is_encoded_again() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let reference = bits(&open(&PixelEncoder::new(), Some(cache.path()), &[&train], Wanted::Scene));
    for n_cut in [1, 63, 64, 500, 767, 768, 769, 800, 832, 833] {
        let segment = only_segment(cache.path());
        let file = File::options().write(true).open(&segment).unwrap();
        file.set_len(file.metadata().unwrap().len() - n_cut).unwrap();
        let encoder = PixelEncoder::new();
        let mended = open(&encoder, Some(cache.path()), &[&train], Wanted::Scene);
        assert!((1..=2).contains(&encoder.n_encoded()), "{n_cut} bytes cut: {}", encoder.n_encoded());
        assert!(bits(&mended) == reference, "{n_cut} bytes cut");
        let encoder = PixelEncoder::new();
        open(&encoder, Some(cache.path()), &[&train], Wanted::Scene);
        assert_eq!(encoder.n_encoded(), 0, "{n_cut} bytes cut, again");
    }
}

#[test]
fn invalid_segments_are_skipped() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let reference = bits(&open(&PixelEncoder::new(), Some(cache.path()), &[&train], Wanted::Scene));
    let store = store_folders(cache.path()).unwrap().pop().unwrap();
    fs::write(store.join("segment-00000.feat"), b"").unwrap();
    fs::write(store.join("segment-00002.feat"), vec![0xa5; 5000]).unwrap();
    fs::create_dir(store.join("segment-00003.feat")).unwrap();
    flip_byte(&store.join("segment-00001.feat"), 3);
    let facts = examine(&store).unwrap();
    // Three heads, what is behind one of them and at its end, and the folder.
    assert_eq!((facts.head, facts.n_scenes, facts.n_damaged), (None, 64, 6));
    let encoder = PixelEncoder::new();
    let set = open(&encoder, Some(cache.path()), &[&train], Wanted::SceneAndMap);
    // The records behind a damaged head carry their own keys.
    assert_eq!((encoder.n_encoded(), set.scenes().len()), (64, reference.len()));
    assert!(set.scenes().iter().map(|x| x.to_bits()).eq(reference));
    // Another segment says whose features these are.
    let facts = examine(&store).unwrap();
    assert_eq!((facts.head.unwrap().encoder_name.as_str(), facts.n_maps, facts.n_damaged), ("pixels", 64, 3));
}

#[test]
fn an_unwritable_cache_gives_a_note() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let file = cache.path().join("file");
    fs::write(&file, b"").unwrap();
    let set = open(&PixelEncoder::new(), Some(&file), &[&train], Wanted::SceneAndMap);
    assert_eq!(set.encoded().notes.len(), 1);
    assert!(set.encoded().notes[0].contains("is not writable"), "{:?}", set.encoded().notes);
    let reference = open(&PixelEncoder::new(), None, &[&train], Wanted::SceneAndMap);
    assert!(reference.encoded().notes.is_empty() && bits(&set) == bits(&reference));
}

/// What a folder holds still serves when it can only be read.
#[cfg(unix)]
#[test]
fn a_read_only_cache_serves_what_it_holds() {
    use std::os::unix::fs::PermissionsExt;
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let validation = bind("sr-2way", Split::Validation);
    open(&PixelEncoder::new(), Some(cache.path()), &[&train], Wanted::Scene);
    let store = store_folders(cache.path()).unwrap().pop().unwrap();
    let mode = |mode| fs::set_permissions(&store, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    // The superuser writes everywhere.
    let is_read_only = fs::write(store.join("segment-x"), b"").is_err();
    let encoder = PixelEncoder::new();
    let set = open(&encoder, Some(cache.path()), &[&train, &validation], Wanted::Scene);
    mode(0o755);
    assert_eq!((encoder.n_encoded(), set.n_screens()), (64, 128));
    assert_eq!(set.encoded().notes.len(), usize::from(is_read_only));
}

#[test]
fn encoding_ahead_requires_a_writable_or_complete_cache() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let encoder = PixelEncoder::new();
    let eyes = EncodeContext { encoder: &encoder, cache_dir: Some(cache.path()), progress: &NoProgress };
    encode_tasks(eyes, &[&train], Wanted::Scene).unwrap();
    let store = store_folders(cache.path()).unwrap().pop().unwrap();
    // Even the superuser cannot write where a file is in the way.
    fs::remove_dir_all(store.join("claims")).unwrap();
    fs::write(store.join("claims"), b"").unwrap();
    let again = encode_tasks(eyes, &[&train], Wanted::Scene).unwrap();
    assert_eq!((again.n_screens, again.n_new, again.notes.len()), (64, 0, 0));
    let error = encode_tasks(eyes, &[&train], Wanted::SceneAndMap).unwrap_err().to_string();
    assert!(error.starts_with(&format!("the cache folder {} is not writable (", store.display())), "{error}");
    assert!(error.ends_with("): nothing was encoded"), "{error}");
    assert_eq!(encoder.n_encoded(), 64);
}

#[test]
fn encoding_errors_are_explained() {
    let train = bind("sr-2way", Split::Train);
    let refused = |encoder: &PixelEncoder, tasks: &[&BoundTask], wanted| {
        encode_tasks(EncodeContext { encoder, cache_dir: None, progress: &NoProgress }, tasks, wanted)
            .unwrap_err()
            .to_string()
    };
    let encoder = PixelEncoder { offset: f32::NAN, ..PixelEncoder::new() };
    assert!(refused(&encoder, &[&train], Wanted::Scene).contains("`pixels` computed NaN in a scene vector"));
    let encoder = PixelEncoder { offset: 1e6, ..PixelEncoder::new() };
    assert!(refused(&encoder, &[&train], Wanted::SceneAndMap).contains("half precision ends at 65504"));
    let encoder = PixelEncoder::new();
    let free = BoundTask::new(find_task(MOVING).unwrap(), Arc::new(PlainStimuli::new(4)), Split::Train);
    assert!(refused(&encoder, &[&free.unwrap()], Wanted::Scene).contains("bind it with a placement pool"));
    let other = BoundTask::new(find_task("sr-2way").unwrap(), Arc::new(PlainStimuli::new(5)), Split::Train);
    assert!(refused(&encoder, &[&train, &other.unwrap()], Wanted::Scene).contains("different images"));
    assert_eq!(refused(&encoder, &[], Wanted::Scene), "there is no screen to encode");
    assert_eq!(encoder.n_encoded(), 0);
}

#[test]
fn a_store_is_deleted_unless_it_is_used() {
    let (cache, train) = (tempfile::tempdir().unwrap(), bind("sr-2way", Split::Train));
    let set = open(&PixelEncoder::new(), Some(cache.path()), &[&train], Wanted::SceneAndMap);
    let store = store_folders(cache.path()).unwrap().pop().unwrap();
    assert_eq!(delete_store(&store).unwrap(), Deleted::InUse);
    let before = bits(&set);
    drop(set);
    fs::write(store.join("notes.txt"), b"mine").unwrap();
    let Deleted::Gone { n_bytes, foreign } = delete_store(&store).unwrap() else { panic!("in use") };
    assert!(n_bytes > 64 * 832 && foreign == [store.join("notes.txt")], "{n_bytes} {foreign:?}");
    assert_eq!(fs::read_dir(&store).unwrap().count(), 1);
    fs::remove_file(store.join("notes.txt")).unwrap();
    delete_store(&store).unwrap();
    assert!(!store.exists());
    let set = open(&PixelEncoder::new(), Some(cache.path()), &[&train], Wanted::SceneAndMap);
    assert!(bits(&set) == before);
}

/// Over the calibration screens, each channel of a map has mean 0, and the vectors of positions have norm 2 on average.
#[test]
fn maps_are_centred_and_scaled() {
    let train = bind("sr-2way", Split::Train);
    let set = open(&PixelEncoder::new(), None, &[&train], Wanted::SceneAndMap);
    let (shape, n_screens) = (set.shape(), set.n_screens());
    assert!(n_screens <= 256, "all of them are calibration screens");
    let mut sums = vec![0.0_f64; shape.map_channels];
    let mut square = 0.0_f64;
    let mut map = vec![0.0; shape.map_len()];
    for index in 0..n_screens as u32 {
        set.copy_map(index, &mut map);
        for place in map.chunks(shape.map_channels) {
            sums.iter_mut().zip(place).for_each(|(sum, &x)| *sum += f64::from(x));
            square += place.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
        }
    }
    let n_places = (n_screens * shape.map_len() / shape.map_channels) as f64;
    assert!(sums.iter().all(|sum| (sum / n_places).abs() < 1e-4), "{sums:?}");
    assert!(((square / n_places).sqrt() - 2.0).abs() < 1e-3, "{}", (square / n_places).sqrt());
}
