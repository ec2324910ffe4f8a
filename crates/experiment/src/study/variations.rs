//! The variations of a study: each combination of values under `[vary]` is a method.

use crate::config::RawConfig;
use crate::error::{Context, Result};
use crate::study::spec::StudySpec;

impl StudySpec {
    /// Every combination of the values under `[vary]`, with a label.
    pub fn variations(&self) -> Result<Vec<(String, RawConfig)>> {
        let mut all = vec![(String::new(), toml::Table::new())];
        for (key, values) in &self.vary {
            let with = |(label, table): &(String, toml::Table)| {
                let (label, table) = (label.clone(), table.clone());
                values.iter().map(move |value| {
                    let mut table = table.clone();
                    table.insert(key.clone(), value.clone());
                    let gap = if label.is_empty() { "" } else { "," };
                    (format!("{label}{gap}{key}={}", label_of(value)), table)
                })
            };
            all = all.iter().flat_map(with).collect();
        }
        let config = |(label, table): (String, toml::Table)| {
            let config: RawConfig = table.try_into().with_context(|| format!("vary: {label}"))?;
            Ok((label, config))
        };
        all.into_iter().map(config).collect()
    }
}

fn label_of(value: &toml::Value) -> String {
    match value {
        toml::Value::String(word) => word.clone(),
        toml::Value::Float(number) if !(1e-4..1e6).contains(&number.abs()) && *number != 0.0 => {
            format!("{number:e}")
        }
        toml::Value::Array(values) => values.iter().map(label_of).collect::<Vec<_>>().join("+"),
        other => other.to_string(),
    }
}
