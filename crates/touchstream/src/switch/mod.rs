//! What a switching experiment came to: gains and a page.

pub mod report;
