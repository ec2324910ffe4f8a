//! VGG-16 against PyTorch running the same weights (`scripts/make_vgg16_golden.py`).
//!
//! Needs the installed convolutions in `$TOUCHSTREAM_TEST_CACHE` (else `target/test-cache`). `./check` installs them and
//! runs these tests; otherwise they are reported as ignored:
//!
//!     touchstream encoder install vgg16 --cache target/test-cache
//!     cargo test --workspace --test vgg16_golden -- --ignored
#![allow(clippy::unwrap_used)]

mod golden;

use golden::{Golden, golden_screens};
use std::path::{Path, PathBuf};
use touchstream_encoder::vgg16::Vgg16;
use touchstream_encoder::vgg16::weights::{Fc6Weights, POOL5_LEN, Vgg16Weights};
use touchstream_encoder::{Encoder, Features};

/// Norm of the difference over the norm of PyTorch's result. Measured: 2e-6.
const TOLERANCE: f64 = 1e-4;

fn installed_weights() -> Vgg16Weights {
    let cache = std::env::var_os("TOUCHSTREAM_TEST_CACHE")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-cache"), PathBuf::from);
    let path = cache.join("weights/vgg16/convolutions.safetensors");
    Vgg16Weights::read(&path).unwrap()
}

#[test]
#[ignore = "needs VGG-16's weights, which ./check installs"]
fn features_equal_pytorch_for_any_batch_and_any_number_of_threads() {
    let weights = installed_weights();
    let vgg16 = Vgg16::new(weights);
    let screens = golden_screens();
    let golden = Golden::read("vgg16.safetensors");
    let mut batch = vec![Features::zeros(vgg16.shape()); screens.len()];
    let pool = |n_threads| rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
    pool(2).install(|| vgg16.encode(&screens, &mut batch)).unwrap();
    let pool5 = vgg16.pool5(&screens);
    for (idx, features) in batch.iter().enumerate() {
        golden.check(&format!("conv5_3.{idx}"), &features.map, TOLERANCE);
        golden.check(&format!("pool5.{idx}"), &pool5[idx * POOL5_LEN..][..POOL5_LEN], TOLERANCE);
        golden.check(&format!("fc6.{idx}"), &features.scene, TOLERANCE);

        let mut alone = [Features::zeros(vgg16.shape())];
        pool(1).install(|| vgg16.encode(&screens[idx..idx + 1], &mut alone)).unwrap();
        assert!(alone[0] == *features, "screen {idx} has other bits alone and on one thread");
    }

    // A full batch, as in `touchstream encode`.
    let repeated: Vec<_> = screens.iter().cycle().take(8).cloned().collect();
    let mut whole = vec![Features::zeros(vgg16.shape()); repeated.len()];
    vgg16.encode(&repeated, &mut whole).unwrap();
    for (idx, (features, same)) in whole.iter().zip(batch.iter().cycle()).enumerate() {
        assert!(features == same, "screen {idx} of 8 has other bits than in a batch of {}", batch.len());
    }
}

/// A made-up FC6 that picks single numbers of pool5: their order is channels, rows, columns, as in torchvision.
#[test]
#[ignore = "needs VGG-16's weights, which ./check installs"]
fn a_trained_fc6_reads_pool5_in_torchvisions_order() {
    let weights = installed_weights();
    let random_hash = Vgg16::hash_of(&weights);
    let picked = |output: usize| output * 7919 % POOL5_LEN;
    let mut matrix = vec![0.0; 4096 * POOL5_LEN];
    (0..4096).for_each(|output| matrix[output * POOL5_LEN + picked(output)] = 2.0);
    let bias: Vec<f32> = (0..4096).map(|output| (output % 5) as f32 - 2.0).collect();
    let fc6 = Some(Fc6Weights { matrix, bias: bias.clone() });
    let vgg16 = Vgg16::new(Vgg16Weights::new(weights.convolutions, fc6));
    assert_ne!(vgg16.content_hash(), random_hash);

    let screens = &golden_screens()[..1];
    let mut features = [Features::zeros(vgg16.shape())];
    vgg16.encode(screens, &mut features).unwrap();
    let pool5 = vgg16.pool5(screens);
    for (output, scene) in features[0].scene.iter().enumerate() {
        assert_eq!(*scene, (2.0 * pool5[picked(output)] + bias[output]).max(0.0), "output {output}");
    }
}
