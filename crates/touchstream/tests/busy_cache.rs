//! `touchstream cache info` while others work in the cache. By itself, since it starts many processes: a file that a
//! test has locked stays so for as long as a process that another test starts is not itself yet.

#![allow(clippy::unwrap_used)]

mod desk;
#[path = "../../features/tests/pixel_encoder/mod.rs"]
mod pixel_encoder;

use desk::Desk;
use pixel_encoder::{PixelEncoder, bind, open};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use touchstream_env::stimuli::Split;
use touchstream_features::Wanted;

/// Another process fills and empties the cache all the while.
#[test]
fn files_that_vanish_meanwhile_are_no_error() {
    let desk = Desk::new();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let names: Vec<String> =
                    (0..40).map(|n| format!("gallery/v1-s0/scene-{}/{n:05}.bin", round % 7)).collect();
                for name in names {
                    let path = desk.cache().join(name);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, "picture").unwrap();
                }
                let task = bind("sr-2way", Split::Train);
                drop(open(&PixelEncoder::new(), Some(&desk.cache()), &[&task], Wanted::Scene));
                fs::remove_dir_all(desk.cache().join("features")).unwrap();
                fs::remove_dir_all(desk.cache().join("gallery")).unwrap();
            }
        });
        for _ in 0..60 {
            let output = desk.run(&["cache", "info"]);
            is_over.store(!output.status.success(), Ordering::Relaxed);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
