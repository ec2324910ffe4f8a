//! The camera's orientation in a file's EXIF data.

/// How stored pixels are turned to be upright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    AsStored,
    /// Left and right exchanged.
    Mirrored,
    HalfTurn,
    /// Top and bottom exchanged.
    UpsideDown,
    /// Rows and columns exchanged.
    Transposed,
    /// Clockwise.
    QuarterTurn,
    /// Mirrored along the other diagonal.
    AntiTransposed,
    /// Anticlockwise.
    QuarterTurnBack,
}

impl Orientation {
    /// In EXIF's order, from 1.
    const ALL: [Self; 8] = [
        Self::AsStored,
        Self::Mirrored,
        Self::HalfTurn,
        Self::UpsideDown,
        Self::Transposed,
        Self::QuarterTurn,
        Self::AntiTransposed,
        Self::QuarterTurnBack,
    ];

    /// Width and height are exchanged.
    pub fn is_sideways(self) -> bool {
        use Orientation::{AntiTransposed, QuarterTurn, QuarterTurnBack, Transposed};
        matches!(self, Transposed | QuarterTurn | AntiTransposed | QuarterTurnBack)
    }

    /// From a TIFF header and its first directory; missing or invalid data means as stored.
    pub fn from_exif(exif: &[u8]) -> Self {
        orientation_tag(exif)
            .and_then(|value| Self::ALL.get(usize::from(value).checked_sub(1)?).copied())
            .unwrap_or(Self::AsStored)
    }
}

fn orientation_tag(exif: &[u8]) -> Option<u16> {
    const ORIENTATION: u16 = 0x112;
    const UNSIGNED_SHORT: u16 = 3;
    let is_little = match exif.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let u16_at = |at: usize| {
        let bytes: [u8; 2] = exif.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let u32_at = |at: usize| {
        let bytes: [u8; 4] = exif.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    let directory = u32_at(4)? as usize;
    for entry_idx in 0..usize::from(u16_at(directory)?) {
        // Tag, type, count and value of an entry.
        let at = directory.checked_add(2 + 12 * entry_idx)?;
        if (u16_at(at)?, u16_at(at + 2)?, u32_at(at + 4)?) == (ORIENTATION, UNSIGNED_SHORT, 1) {
            return u16_at(at + 8);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(exif: &[u8], expected: Orientation) {
        assert_eq!(Orientation::from_exif(exif), expected);
    }

    #[test]
    fn both_byte_orders_are_read() {
        check(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", Orientation::QuarterTurn);
        check(
            b"MM\0*\0\0\0\x08\0\x02\0\x01\0\x03\0\0\0\x01\0\0\0\0\x01\x12\0\x03\0\0\0\x01\0\x03\0\0",
            Orientation::HalfTurn,
        );
        check(b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x09\0\0\0", Orientation::AsStored);
        check(b"II*\0\xff\xff\xff\xff", Orientation::AsStored);
        check(b"", Orientation::AsStored);
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_orientation(tail in prop::collection::vec(any::<u8>(), 0..64)) {
            Orientation::from_exif(&[b"II*\0", &tail[..]].concat());
            Orientation::from_exif(&[b"MM\0*", &tail[..]].concat());
        }
    }
}
