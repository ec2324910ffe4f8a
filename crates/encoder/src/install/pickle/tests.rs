//! Pickles as Python writes them, and as nobody should.

use super::{Pickle, PickleError};

macro_rules! seed {
    ($name:literal) => {
        include_bytes!(concat!("../../../../../fuzz/seeds/pickle/", $name))
    };
}

#[test]
fn arrays_of_every_protocol_are_the_same() {
    for bytes in [&seed!("arrays-protocol-3")[..], seed!("arrays-protocol-4"), seed!("arrays-protocol-5")] {
        let pickle = Pickle::parse(bytes).unwrap();
        let layer = pickle.root().get("VGG16_0").unwrap().get("Conv_0").unwrap();
        assert_eq!(layer.keys(), ["kernel", "bias"]);
        let kernel = layer.get("kernel").unwrap().array().unwrap();
        assert_eq!((kernel.shape.as_slice(), kernel.kind.as_str()), (&[2, 3, 2][..], "<f4"));
        let quarters: Vec<f32> = (0..12).map(|n| n as f32 / 4.0).collect();
        assert_eq!(kernel.to_f32().unwrap(), quarters);
        assert_eq!(layer.get("bias").unwrap().array().unwrap().to_f32().unwrap(), [1.5, -2.0]);
        assert!(layer.get("none").is_none() && layer.array().is_none());
    }
}

#[test]
fn arrays_of_other_kinds_are_read_but_are_not_taken_for_plain_numbers() {
    let pickle = Pickle::parse(seed!("other-kinds")).unwrap();
    for (key, kind, is_fortran) in [("f8", "<f8", false), ("big", ">f4", false), ("fortran", "<f4", true)] {
        let array = pickle.root().get(key).unwrap().array().unwrap();
        assert_eq!((array.kind.as_str(), array.is_fortran), (kind, is_fortran));
        assert_eq!(array.to_f32(), None, "{key}");
    }
}

#[test]
fn a_dictionary_within_itself_does_no_harm() {
    let pickle = Pickle::parse(seed!("within-itself")).unwrap();
    let inner = pickle.root().get("self").unwrap().get("self").unwrap();
    assert_eq!(inner.keys(), ["self"]);
}

/// Cut anywhere, a pickle is an error; so is one with bytes behind its end.
#[test]
fn half_a_pickle_is_an_error() {
    for bytes in [&seed!("arrays-protocol-3")[..], seed!("arrays-protocol-5")] {
        for n in 0..bytes.len() {
            assert!(Pickle::parse(&bytes[..n]).is_err(), "cut at {n}");
        }
        assert!(Pickle::parse(&[bytes, b"."].concat()).is_err());
    }
}

#[track_caller]
fn check_error(bytes: &[u8], message: &str) {
    let error: PickleError = Pickle::parse(bytes).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn whatever_could_run_code_is_refused_by_name_and_place() {
    check_error(seed!("runs-a-command"), "byte 28: `posix.system` is not what an array is made of");
    check_error(b"\x80\x03cnumpy\nload\n.", "byte 2: `numpy.load` is not what an array is made of");
    check_error(b"(S'ls'\nios\nsystem\n.", "byte 1: operation STRING (0x53) has no place among arrays");
    check_error(b"\x80\x03})\x81.", "byte 4: operation NEWOBJ (0x81) has no place among arrays");
    check_error(b"\x80\x05\x97.", "byte 2: operation NEXT_BUFFER (0x97) has no place among arrays");
    check_error(b"\x80\x03cnumpy\ndtype\n)R.", "byte 16: a call is none of those that make an array");
    check_error(b"\x80\x03}}b.", "byte 4: a call needs a tuple of arguments");
    check_error(b"\x80\x03})b.", "byte 4: a state is none that an array has");
}

#[test]
fn operands_that_are_not_there_are_missed() {
    check_error(b"", "byte 0: the pickle is cut short");
    check_error(b"\x80\x02.", "byte 0: protocol 2 is not read, only 3 to 5");
    check_error(b".", "byte 0: exactly one value must be left at the end");
    check_error(b"N(.", "byte 2: exactly one value must be left at the end");
    check_error(b"a", "byte 0: it takes more from the stack than there is");
    check_error(b"N(a", "byte 2: it takes more from the stack than there is");
    check_error(b"u", "byte 0: there is no mark on the stack");
    check_error(b"h\x07", "byte 0: it recalls what was not stored");
    check_error(b"}(Nu.", "byte 3: only a dictionary takes keys with values");
    check_error(b"NNa", "byte 2: only a list takes items");
    check_error(b"X\xff\xff\xff\xff", "byte 0: the pickle is cut short");
    check_error(b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff", "byte 0: the pickle is cut short");
    check_error(b"\x8c\x01\xff.", "byte 0: a text is not UTF-8");
    check_error(b"\x8a\x09123456789.", "byte 0: a number has more than 64 bits");
    check_error(&[b'('; 300_000], "byte 200000: more than 200000 operations");
}
