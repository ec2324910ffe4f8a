//! The wire format of Protocol Buffers, in which ONNX files are encoded: reads fields in place, and writes them.

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("it ends in the middle of a field, so it is truncated or not an ONNX file")]
    Truncated,
    /// Bytes that are not a field.
    #[error("it is not an ONNX file")]
    Malformed,
    #[error("a name in it is not UTF-8, so it is damaged or not an ONNX file")]
    NotText,
}

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    pub number: u64,
    pub value: WireValue<'a>,
    /// The field as encoded, including its key.
    pub raw: &'a [u8],
}

/// The contents of a field. Fixed-width numbers are weights, which are not parsed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WireValue<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    Fixed,
}

impl<'a> Field<'a> {
    /// The contents, if the field is a message, text or bytes.
    pub fn bytes(&self) -> Result<&'a [u8], WireError> {
        match self.value {
            WireValue::Bytes(bytes) => Ok(bytes),
            WireValue::Varint(_) | WireValue::Fixed => Err(WireError::Malformed),
        }
    }

    pub fn text(&self) -> Result<&'a str, WireError> {
        str::from_utf8(self.bytes()?).map_err(|_| WireError::NotText)
    }

    pub fn varint(&self) -> Result<u64, WireError> {
        match self.value {
            WireValue::Varint(number) => Ok(number),
            WireValue::Bytes(_) | WireValue::Fixed => Err(WireError::Malformed),
        }
    }
}

/// The fields of a message, in order; after an error there are no more.
pub struct Fields<'a> {
    rest: &'a [u8],
}

pub fn fields(message: &[u8]) -> Fields<'_> {
    Fields { rest: message }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read_field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn read_field(&mut self) -> Result<Field<'a>, WireError> {
        let start = self.rest;
        let key = self.read_varint()?;
        let value = match key & 7 {
            0 => WireValue::Varint(self.read_varint()?),
            1 => self.take(8).map(|_| WireValue::Fixed)?,
            2 => {
                let len = usize::try_from(self.read_varint()?).map_err(|_| WireError::Truncated)?;
                WireValue::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| WireValue::Fixed)?,
            _ => return Err(WireError::Malformed),
        };
        match key >> 3 {
            0 => Err(WireError::Malformed),
            number => Ok(Field { number, value, raw: &start[..start.len() - self.rest.len()] }),
        }
    }

    fn read_varint(&mut self) -> Result<u64, WireError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(WireError::Malformed)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// Appends an integer field.
pub fn put_varint(message: &mut Vec<u8>, number: u64, value: u64) {
    push_varint(message, number << 3);
    push_varint(message, value);
}

/// Appends a field with a message, text or bytes.
pub fn put_bytes(message: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    push_varint(message, number << 3 | 2);
    push_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

fn push_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(message: &[u8]) -> Result<Vec<Field<'_>>, WireError> {
        fields(message).collect()
    }

    #[test]
    fn the_examples_of_the_format_are_read() {
        // field 1 = 150, field 2 = "testing", field 3 = a float
        let message = b"\x08\x96\x01\x12\x07testing\x1d\0\0\x80?";
        let read = all(message).unwrap();
        assert_eq!(read[0].varint(), Ok(150));
        assert_eq!(read[1].text(), Ok("testing"));
        assert_eq!((read[2].number, read[2].value), (3, WireValue::Fixed));
        assert_eq!(read.iter().flat_map(|field| field.raw).copied().collect::<Vec<_>>(), message);
    }

    #[test]
    fn errors_distinguish_kinds_of_damage() {
        assert_eq!(all(b"\x12\x07test"), Err(WireError::Truncated));
        assert_eq!(all(b"\x08"), Err(WireError::Truncated));
        assert_eq!(all(b"\x0b"), Err(WireError::Malformed), "groups are not used by ONNX");
        assert_eq!(all(b"\x02\x00"), Err(WireError::Malformed), "no field has number 0");
        assert_eq!(all(&[0xff; 11]), Err(WireError::Malformed));
        assert_eq!(all(b"\x12\x01\xff").unwrap()[0].text(), Err(WireError::NotText));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let read: usize = fields(&bytes).map_while(Result::ok).map(|field| field.raw.len()).sum();
            prop_assert!(read <= bytes.len());
        }

        #[test]
        fn what_is_written_is_read(number in 1..(1u64 << 61), value: u64, bytes: Vec<u8>) {
            let mut message = Vec::new();
            put_varint(&mut message, number, value);
            put_bytes(&mut message, number, &bytes);
            let read = all(&message).unwrap();
            prop_assert_eq!((read[0].number, read[0].varint()), (number, Ok(value)));
            prop_assert_eq!((read[1].number, read[1].bytes()), (number, Ok(bytes.as_slice())));
        }
    }
}
