//! Operations of pickles, by the names in Python's `pickletools`.

macro_rules! opcodes {
    ($($byte:literal $name:ident)*) => {
        $(pub const $name: u8 = $byte;)*
    };
}

opcodes! {
    0x80 PROTO  0x95 FRAME  b'.' STOP  b'(' MARK
    b'N' NONE  0x88 NEWTRUE  0x89 NEWFALSE
    b'J' BININT  b'K' BININT1  b'M' BININT2  0x8a LONG1  b'G' BINFLOAT
    0x8c SHORT_BINUNICODE  b'X' BINUNICODE  0x8d BINUNICODE8
    b'C' SHORT_BINBYTES  b'B' BINBYTES  0x8e BINBYTES8  0x96 BYTEARRAY8
    b')' EMPTY_TUPLE  b't' TUPLE  0x85 TUPLE1  0x86 TUPLE2  0x87 TUPLE3
    b']' EMPTY_LIST  b'a' APPEND  b'e' APPENDS
    b'}' EMPTY_DICT  b's' SETITEM  b'u' SETITEMS
    b'q' BINPUT  b'r' LONG_BINPUT  0x94 MEMOIZE  b'h' BINGET  b'j' LONG_BINGET
    b'c' GLOBAL  0x93 STACK_GLOBAL  b'R' REDUCE  b'b' BUILD
}

/// The name of an operation that is not done here.
pub fn refused_name(byte: u8) -> &'static str {
    match byte {
        b'0' => "POP",
        b'1' => "POP_MARK",
        b'2' => "DUP",
        b'F' => "FLOAT",
        b'I' => "INT",
        b'L' => "LONG",
        0x8b => "LONG4",
        b'P' => "PERSID",
        b'Q' => "BINPERSID",
        b'S' => "STRING",
        b'T' => "BINSTRING",
        b'U' => "SHORT_BINSTRING",
        b'V' => "UNICODE",
        b'd' => "DICT",
        b'l' => "LIST",
        b'g' => "GET",
        b'p' => "PUT",
        b'i' => "INST",
        b'o' => "OBJ",
        0x81 => "NEWOBJ",
        0x92 => "NEWOBJ_EX",
        0x82 => "EXT1",
        0x83 => "EXT2",
        0x84 => "EXT4",
        0x8f => "EMPTY_SET",
        0x90 => "ADDITEMS",
        0x91 => "FROZENSET",
        0x97 => "NEXT_BUFFER",
        0x98 => "READONLY_BUFFER",
        _ => "unknown to Python",
    }
}
