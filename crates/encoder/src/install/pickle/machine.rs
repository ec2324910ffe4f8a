//! The stack machine of pickles, without the power to call anything.

use super::opcode::*;
use super::value::{Pickle, Value, ValueIdx};
use super::{PickleError, PickleProblem, numpy};
use std::collections::BTreeMap;

/// The most operations of a pickle: it bounds stack, memo and values, each of which grows by one at most. Thirteen
/// convolutions take 950.
const MAX_OPERATIONS: usize = 200_000;

impl<'a> Pickle<'a> {
    /// Reads a pickle of dictionaries, lists and numpy arrays.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, PickleError> {
        let mut machine = Machine {
            bytes,
            at: 0,
            values: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: BTreeMap::new(),
        };
        for _ in 0..MAX_OPERATIONS {
            let offset = machine.at;
            let root = machine.step().map_err(|problem| PickleError { offset, problem })?;
            if let Some(root) = root {
                return Ok(Self { values: machine.values, root });
            }
        }
        Err(PickleError { offset: machine.at, problem: PickleProblem::TooLong(MAX_OPERATIONS) })
    }
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    values: Vec<Value<'a>>,
    stack: Vec<ValueIdx>,
    /// How high the stack was at each mark.
    marks: Vec<usize>,
    memo: BTreeMap<u32, ValueIdx>,
}

const TOO_FEW: PickleProblem = PickleProblem::Operands("it takes more from the stack than there is");

impl<'a> Machine<'a> {
    /// Does one operation; the last one gives the whole.
    fn step(&mut self) -> Result<Option<ValueIdx>, PickleProblem> {
        match self.byte()? {
            PROTO => match self.byte()? {
                3..=5 => {}
                other => return Err(PickleProblem::Protocol(other)),
            },
            // A frame is a hint for buffered reading.
            FRAME => drop(self.take(8)?),
            STOP => return self.end().map(Some),
            MARK => self.marks.push(self.stack.len()),
            NONE => self.push(Value::None),
            NEWTRUE => self.push(Value::Bool(true)),
            NEWFALSE => self.push(Value::Bool(false)),
            BININT => {
                let number = i32::from_le_bytes(self.array()?);
                self.push(Value::Int(number.into()));
            }
            BININT1 => {
                let number = self.byte()?;
                self.push(Value::Int(number.into()));
            }
            BININT2 => {
                let number = u16::from_le_bytes(self.array()?);
                self.push(Value::Int(number.into()));
            }
            LONG1 => {
                let number = self.long()?;
                self.push(Value::Int(number));
            }
            BINFLOAT => {
                self.take(8)?;
                self.push(Value::Float);
            }
            SHORT_BINUNICODE => self.text(1)?,
            BINUNICODE => self.text(4)?,
            BINUNICODE8 => self.text(8)?,
            SHORT_BINBYTES => self.bytes(1)?,
            BINBYTES => self.bytes(4)?,
            BINBYTES8 | BYTEARRAY8 => self.bytes(8)?,
            EMPTY_TUPLE => self.push(Value::Tuple(Vec::new())),
            TUPLE => {
                let parts = self.pop_to_mark()?;
                self.push(Value::Tuple(parts));
            }
            TUPLE1 => self.tuple(1)?,
            TUPLE2 => self.tuple(2)?,
            TUPLE3 => self.tuple(3)?,
            EMPTY_LIST => self.push(Value::List(Vec::new())),
            APPEND => {
                let items = self.pop_n(1)?;
                self.append(items)?;
            }
            APPENDS => {
                let items = self.pop_to_mark()?;
                self.append(items)?;
            }
            EMPTY_DICT => self.push(Value::Dict(Vec::new())),
            SETITEM => {
                let items = self.pop_n(2)?;
                self.set_items(&items)?;
            }
            SETITEMS => {
                let items = self.pop_to_mark()?;
                self.set_items(&items)?;
            }
            BINPUT => {
                let slot = self.byte()?;
                self.remember(slot.into())?;
            }
            LONG_BINPUT => {
                let slot = u32::from_le_bytes(self.array()?);
                self.remember(slot)?;
            }
            // As Python does it: the slot is the number of slots.
            MEMOIZE => self.remember(self.memo.len() as u32)?,
            BINGET => {
                let slot = self.byte()?;
                self.recall(slot.into())?;
            }
            LONG_BINGET => {
                let slot = u32::from_le_bytes(self.array()?);
                self.recall(slot)?;
            }
            GLOBAL => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Value::Name(numpy::name_of(module, name)?));
            }
            STACK_GLOBAL => {
                let name = match self.pop_n(2)?[..] {
                    [module, name] => match (&self.values[module.0], &self.values[name.0]) {
                        (&Value::Text(module), &Value::Text(name)) => numpy::name_of(module, name)?,
                        _ => return Err(PickleProblem::Operands("a name must be two texts")),
                    },
                    _ => return Err(TOO_FEW),
                };
                self.push(Value::Name(name));
            }
            REDUCE => {
                let operands = self.pop_n(2)?;
                let made = numpy::reduce(&self.values, operands[0], operands[1])?;
                self.push(made);
            }
            BUILD => {
                let state = self.pop_n(1)?[0];
                let object = self.top()?;
                self.values[object.0] = numpy::build(&self.values, object, state)?;
            }
            byte => return Err(PickleProblem::Operation { name: refused_name(byte), byte }),
        }
        Ok(None)
    }

    fn end(&mut self) -> Result<ValueIdx, PickleProblem> {
        if self.at != self.bytes.len() {
            return Err(PickleProblem::AfterEnd);
        }
        match (&self.stack[..], &self.marks[..]) {
            (&[root], []) => Ok(root),
            _ => Err(PickleProblem::Operands("exactly one value must be left at the end")),
        }
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], PickleProblem> {
        let taken = self.bytes[self.at..].get(..n).ok_or(PickleProblem::CutShort)?;
        self.at += n;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleProblem> {
        self.take(N)?.try_into().map_err(|_| PickleProblem::CutShort)
    }

    fn byte(&mut self) -> Result<u8, PickleProblem> {
        self.array().map(|[byte]| byte)
    }

    /// Bytes behind their number, which takes `n_length` bytes itself.
    fn counted(&mut self, n_length: usize) -> Result<&'a [u8], PickleProblem> {
        let mut length = [0; 8];
        length[..n_length].copy_from_slice(self.take(n_length)?);
        let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| PickleProblem::CutShort)?;
        self.take(length)
    }

    fn text(&mut self, n_length: usize) -> Result<(), PickleProblem> {
        let text = str::from_utf8(self.counted(n_length)?).map_err(|_| PickleProblem::Text)?;
        self.push(Value::Text(text));
        Ok(())
    }

    fn bytes(&mut self, n_length: usize) -> Result<(), PickleProblem> {
        let bytes = self.counted(n_length)?;
        self.push(Value::Bytes(bytes));
        Ok(())
    }

    /// A whole number of up to eight bytes, the last one's first bit its sign.
    fn long(&mut self) -> Result<i64, PickleProblem> {
        let bytes = self.counted(1)?;
        let is_negative = bytes.last().is_some_and(|&last| last >= 0x80);
        let mut wide = [if is_negative { 0xff } else { 0 }; 8];
        let too_large = PickleProblem::Operands("a number has more than 64 bits");
        wide.get_mut(..bytes.len()).ok_or(too_large)?.copy_from_slice(bytes);
        Ok(i64::from_le_bytes(wide))
    }

    /// Text up to the end of a line.
    fn line(&mut self) -> Result<&'a str, PickleProblem> {
        let n =
            self.bytes[self.at..].iter().position(|&byte| byte == b'\n').ok_or(PickleProblem::CutShort)?;
        let line = self.take(n)?;
        self.at += 1;
        str::from_utf8(line).map_err(|_| PickleProblem::Text)
    }

    fn push(&mut self, value: Value<'a>) {
        self.stack.push(ValueIdx(self.values.len()));
        self.values.push(value);
    }

    /// What may be taken from the stack: nothing below the last mark.
    fn n_above_mark(&self) -> usize {
        self.stack.len() - self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Result<ValueIdx, PickleProblem> {
        match self.n_above_mark() {
            0 => Err(TOO_FEW),
            _ => self.stack.last().copied().ok_or(TOO_FEW),
        }
    }

    /// The uppermost `n`, lowest first; exactly so many.
    fn pop_n(&mut self, n: usize) -> Result<Vec<ValueIdx>, PickleProblem> {
        match self.n_above_mark() < n {
            true => Err(TOO_FEW),
            false => Ok(self.stack.split_off(self.stack.len() - n)),
        }
    }

    fn pop_to_mark(&mut self) -> Result<Vec<ValueIdx>, PickleProblem> {
        let mark = self.marks.pop().ok_or(PickleProblem::Operands("there is no mark on the stack"))?;
        Ok(self.stack.split_off(mark))
    }

    fn tuple(&mut self, n: usize) -> Result<(), PickleProblem> {
        let parts = self.pop_n(n)?;
        self.push(Value::Tuple(parts));
        Ok(())
    }

    fn append(&mut self, items: Vec<ValueIdx>) -> Result<(), PickleProblem> {
        let list = self.top()?;
        match &mut self.values[list.0] {
            Value::List(list) => list.extend(items),
            _ => return Err(PickleProblem::Operands("only a list takes items")),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[ValueIdx]) -> Result<(), PickleProblem> {
        let dict = self.top()?;
        let (pairs, odd) = items.as_chunks();
        match &mut self.values[dict.0] {
            Value::Dict(entries) if odd.is_empty() => {
                entries.extend(pairs.iter().map(|&[key, value]| (key, value)));
            }
            _ => return Err(PickleProblem::Operands("only a dictionary takes keys with values")),
        }
        Ok(())
    }

    fn remember(&mut self, slot: u32) -> Result<(), PickleProblem> {
        let top = self.top()?;
        self.memo.insert(slot, top);
        Ok(())
    }

    fn recall(&mut self, slot: u32) -> Result<(), PickleProblem> {
        let value = self.memo.get(&slot).ok_or(PickleProblem::Operands("it recalls what was not stored"))?;
        self.stack.push(*value);
        Ok(())
    }
}
