//! Features of screens, computed once: the walk's station between encoder and module.
