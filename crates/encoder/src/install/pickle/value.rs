//! What a pickle holds, and how it is looked at.

/// A value's position among all values of a pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueIdx(pub(super) usize);

/// One value. Texts and bytes stay where they are in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float,
    Text(&'a str),
    Bytes(&'a [u8]),
    Tuple(Vec<ValueIdx>),
    List(Vec<ValueIdx>),
    /// Keys and values as they were stored; a later one of the same key wins.
    Dict(Vec<(ValueIdx, ValueIdx)>),
    /// The name of something of numpy's.
    Name(NumpyName),
    /// What elements are: for instance `f4`, and `<` once it is known.
    Kind {
        code: &'a str,
        byte_order: &'a str,
    },
    /// An array that has no contents yet.
    EmptyArray,
    Array(Array<'a>),
}

/// The names of numpy's that its pickles hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumpyName {
    /// Makes an empty array, to be built.
    Reconstruct,
    /// Makes an array of bytes in one step (protocol 5).
    FromBuffer,
    /// The class of arrays.
    Ndarray,
    /// The class of kinds of elements.
    Dtype,
}

/// An array of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array<'a> {
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// What the elements are in numpy's words, for instance `<f4`.
    pub kind: String,
    /// Whether the first axis varies fastest, not the last.
    pub is_fortran: bool,
    pub(super) bytes: &'a [u8],
}

impl Array<'_> {
    /// The numbers of an array of little-endian `f4`, last axis fastest; nothing for other arrays, and where there
    /// are more or fewer bytes than the shape says.
    pub fn to_f32(&self) -> Option<Vec<f32>> {
        let n = self.shape.iter().try_fold(1_usize, |n, &extent| n.checked_mul(extent))?;
        let is_plain = self.kind == "<f4" && (!self.is_fortran || self.shape.len() < 2);
        let (numbers, rest) = self.bytes.as_chunks();
        let is_whole = numbers.len() == n && rest.is_empty();
        (is_plain && is_whole).then(|| numbers.iter().map(|&four| f32::from_le_bytes(four)).collect())
    }
}

/// A pickle that was read: values, one of which is the whole.
#[derive(Clone, Debug)]
pub struct Pickle<'a> {
    pub(super) values: Vec<Value<'a>>,
    pub(super) root: ValueIdx,
}

impl<'a> Pickle<'a> {
    /// The whole.
    pub fn root(&self) -> Item<'_, 'a> {
        Item { pickle: self, idx: self.root }
    }
}

/// One value within its pickle.
#[derive(Clone, Copy, Debug)]
pub struct Item<'p, 'a> {
    pickle: &'p Pickle<'a>,
    idx: ValueIdx,
}

impl<'p, 'a> Item<'p, 'a> {
    /// The value of a key, if this is a dictionary that has it.
    pub fn get(self, key: &str) -> Option<Self> {
        let values = &self.pickle.values;
        let Value::Dict(entries) = &values[self.idx.0] else { return None };
        let found = entries.iter().rev().find(|(name, _)| values[name.0] == Value::Text(key))?;
        Some(Self { pickle: self.pickle, idx: found.1 })
    }

    /// The texts among the keys, if this is a dictionary.
    pub fn keys(self) -> Vec<&'a str> {
        let values = &self.pickle.values;
        let Value::Dict(entries) = &values[self.idx.0] else { return Vec::new() };
        let text = |&(key, _): &(ValueIdx, ValueIdx)| match values[key.0] {
            Value::Text(text) => Some(text),
            _ => None,
        };
        entries.iter().filter_map(text).collect()
    }

    /// The array that this is.
    pub fn array(self) -> Option<&'p Array<'a>> {
        match &self.pickle.values[self.idx.0] {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }
}
