//! Names of a study's runs, which are also folder names.

/// Maximum length in bytes. File systems allow 255, but damaged runs are moved to longer names, and packed studies
/// allow 155 including the seed.
const MAX_LEN: usize = 130;
/// Number of characters of a longer name that are kept.
const KEPT_LEN: usize = 100;
/// Characters of the hash that is appended.
const HASH_LEN: usize = 12;

/// A name that is valid on all file systems. If characters must be replaced or removed, a hash of the whole name is
/// appended.
pub fn folder_name(name: &str) -> String {
    if name.chars().all(is_plain) && name.len() <= MAX_LEN {
        return name.to_owned();
    }
    let kept: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(KEPT_LEN).collect();
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{kept}--{}", &hash[..HASH_LEN])
}

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
