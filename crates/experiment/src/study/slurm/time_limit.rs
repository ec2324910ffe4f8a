//! Parses time limits as sbatch does.

use crate::error::{Result, bail};

/// Seconds of a time limit; `None` for no limit. Forms are `minutes`, `minutes:seconds`, `hours:minutes:seconds`,
/// `days-hours`, `days-hours:minutes` and `days-hours:minutes:seconds`.
pub fn secs_of(word: &str) -> Result<Option<u64>> {
    if ["infinite", "unlimited"].contains(&word.to_lowercase().as_str()) {
        return Ok(None);
    }
    let Some(secs) = secs_of_numbers(word) else {
        bail!(
            Slurm,
            "--time {word}: sbatch takes MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS, DAYS-HOURS:MINUTES and \
             DAYS-HOURS:MINUTES:SECONDS"
        );
    };
    // For sbatch, 0 means unlimited.
    Ok((secs > 0).then_some(secs))
}

fn secs_of_numbers(word: &str) -> Option<u64> {
    let (days, rest) = match word.split_once('-') {
        Some((days, rest)) => (Some(days), rest),
        None => (None, word),
    };
    // `parse` would accept a sign.
    let number =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse::<u64>().ok())?;
    let numbers: Vec<u64> = rest.split(':').map(number).collect::<Option<_>>()?;
    let (hours, minutes, secs) = match (days, &numbers[..]) {
        (None, &[minutes]) => (0, minutes, 0),
        (None, &[minutes, secs]) => (0, minutes, secs),
        (Some(_), &[hours]) => (hours, 0, 0),
        (Some(_), &[hours, minutes]) => (hours, minutes, 0),
        (_, &[hours, minutes, secs]) => (hours, minutes, secs),
        _ => return None,
    };
    let days = days.map_or(Some(0), number)?;
    let hours = days.checked_mul(24)?.checked_add(hours)?;
    hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?.checked_add(secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_sbatch_is_read() {
        #[track_caller]
        fn check(word: &str, secs: Option<u64>) {
            assert_eq!(secs_of(word).unwrap(), secs, "{word}");
        }
        check("10", Some(600));
        check("10:30", Some(630));
        check("0:02:00", Some(120));
        check("4:00:00", Some(4 * 3600));
        check("1-2", Some(26 * 3600));
        check("1-0:30", Some(24 * 3600 + 1800));
        check("2-01:02:03", Some(49 * 3600 + 123));
        check("0", None);
        check("UNLIMITED", None);
    }

    proptest::proptest! {
        #[test]
        fn whatever_else_is_refused(word in "[0-9:+. -]{0,12}") {
            let _ = secs_of(&word);
        }
    }

    #[test]
    fn what_is_no_time_is_answered() {
        for word in
            ["", "x", "1:", ":1", "1:2:3:4", "-5", "1-", "+5", "1.5", "1-2-3", "4h", "99999999999999999999"]
        {
            assert!(secs_of(word).unwrap_err().to_string().contains("DAYS-HOURS"), "{word}");
        }
    }
}
