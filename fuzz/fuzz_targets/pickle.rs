//! Pickles of arrays: any bytes give values or a reason, and every array as many numbers as its shape says, or none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_encoder::install::pickle::{Item, Pickle};

fuzz_target!(|bytes: &[u8]| {
    let Ok(pickle) = Pickle::parse(bytes) else { return };
    check(pickle.root());
    let inner = |key: &str| pickle.root().get(key);
    for key in pickle.root().keys().into_iter().take(20) {
        if let Some(item) = inner(key) {
            check(item);
            item.keys().into_iter().take(20).filter_map(|key| item.get(key)).for_each(check);
        }
    }
});

fn check(item: Item<'_, '_>) {
    let Some(array) = item.array() else { return };
    if let Some(numbers) = array.to_f32() {
        assert_eq!(numbers.len(), array.shape.iter().product::<usize>());
    }
}
