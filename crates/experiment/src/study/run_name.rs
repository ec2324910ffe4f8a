//! What runs of a study are called: a name says what a run is, and is that of its folder.

/// Bytes of a name at most: file systems take 255, what is set aside is called by it and more, and packed studies take 155
/// with its seed.
const MAX_LEN: usize = 130;
/// Letters of a name that are kept where not all can be.
const KEPT_LEN: usize = 100;
/// Letters of the hash that then tells it from others.
const HASH_LEN: usize = 12;

/// A name that any file system takes. Most are as they are; where letters had to be replaced or left out, a hash of the
/// whole tells it from others of which the same is left.
pub fn folder_name(name: &str) -> String {
    if name.chars().all(is_plain) && name.len() <= MAX_LEN {
        return name.to_owned();
    }
    let kept: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(KEPT_LEN).collect();
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{kept}--{}", &hash[..HASH_LEN])
}

/// Whether a letter is one that names of runs have.
pub fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.+=,".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_and_others_are_told_apart() {
        assert_eq!(
            folder_name("sr-2way--ems--units=16,batch=4--seed-3"),
            "sr-2way--ems--units=16,batch=4--seed-3"
        );
        let [one, other] = ["data=folder:/a/b c", "data=folder:/a/b_c"].map(folder_name);
        assert!(
            one.starts_with("data=folder__a_b_c--") && other.starts_with("data=folder__a_b_c--"),
            "{one}"
        );
        assert_ne!(one, other);
        let [one, other] = ["x", "y"].map(|end| folder_name(&format!("{}{end}", "ä".repeat(400))));
        assert!(one != other && one.len() <= MAX_LEN && one.is_ascii());
    }
}
