//! JSON whose last field is the hash of all bytes before it, so that a change of any byte is noticed.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is before and after the hash: on one line, and indented.
const LINE: (&str, &str) = (",\"blake3\":\"", "\"}");
const INDENTED: (&str, &str) = (",\n  \"blake3\": \"", "\"\n}");
const HEX_LEN: usize = 64;

/// Sealed JSON that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsealed<T> {
    Intact(T),
    /// It never had a hash: an older program wrote it.
    WithoutSeal(T),
    Damaged,
}

impl<T> Unsealed<T> {
    /// The value, unless it is damaged.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Intact(value) | Self::WithoutSeal(value) => Some(value),
            Self::Damaged => None,
        }
    }
}

/// A value with at least one field on one line, which ends with a newline.
pub fn sealed_line(value: &impl Serialize) -> Vec<u8> {
    with_seal(serde_json::to_string(value).expect("plain data").strip_suffix("}"), LINE)
}

/// The same, indented.
pub fn sealed_text(value: &impl Serialize) -> Vec<u8> {
    with_seal(serde_json::to_string_pretty(value).expect("plain data").strip_suffix("\n}"), INDENTED)
}

fn with_seal(fields: Option<&str>, (before, after): (&str, &str)) -> Vec<u8> {
    let fields = fields.expect("a value with fields ends with a brace");
    format!("{fields}{before}{}{after}\n", blake3::hash(fields.as_bytes()).to_hex()).into_bytes()
}

/// Reads what [`sealed_line`] or [`sealed_text`] wrote. Newlines may follow.
pub fn unsealed<T: DeserializeOwned>(bytes: &[u8]) -> Unsealed<T> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Unsealed::Damaged };
    let text = text.trim_end_matches('\n');
    let parsed = || serde_json::from_str(text).ok();
    if [LINE, INDENTED].into_iter().any(|form| is_intact(text, form)) {
        return parsed().map_or(Unsealed::Damaged, Unsealed::Intact);
    }
    match looks_sealed(text) {
        true => Unsealed::Damaged,
        false => parsed().map_or(Unsealed::Damaged, Unsealed::WithoutSeal),
    }
}

fn is_intact(text: &str, (before, after): (&str, &str)) -> bool {
    let fields = || {
        let (fields, hash) =
            text.strip_suffix(after)?.split_at_checked(text.len() - after.len() - HEX_LEN)?;
        Some((fields.strip_suffix(before)?, hash))
    };
    text.len() >= after.len() + HEX_LEN
        && fields().is_some_and(|(fields, hash)| *blake3::hash(fields.as_bytes()).to_hex() == *hash)
}

/// Whether there is a hash or its name, which may be damaged themselves.
fn looks_sealed(text: &str) -> bool {
    let last = text.trim_end_matches(['}', '\n', '"']).rsplit('"').next().unwrap_or_default();
    text.contains("\"blake3\"") || last.len() == HEX_LEN
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Record {
        word: String,
        number: f64,
    }

    #[test]
    fn every_bit_counts_and_older_records_are_read() {
        let record = Record { word: "a \"b\" blake ✓".into(), number: 0.1 };
        for bytes in [sealed_line(&record), sealed_text(&record)] {
            assert_eq!(unsealed(&bytes), Unsealed::Intact(record.clone()));
            assert_eq!(unsealed(&[&bytes[..], b"\n\n"].concat()), Unsealed::Intact(record.clone()));
            for bit in 0..bytes.len() * 8 {
                let mut bytes = bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(
                    unsealed::<Record>(&bytes),
                    Unsealed::Damaged,
                    "{:?}",
                    String::from_utf8_lossy(&bytes)
                );
            }
            for len in 0..bytes.len() - 1 {
                assert_eq!(unsealed::<Record>(&bytes[..len]), Unsealed::Damaged, "cut to {len} bytes");
            }
        }
        let older = serde_json::to_vec(&record).unwrap();
        assert_eq!(unsealed(&older), Unsealed::WithoutSeal(record));
    }
}
