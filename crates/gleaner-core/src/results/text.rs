//! JSON as text: objects cut into members without reading their values, and strings written as Python writes them.
//!
//! A hit's members pass through byte for byte, in their order and number form. So values are kept as the slices they
//! are; only what is asked for is decoded.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object, in order, borrowing from its text.
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(24);
                while let Some(Key(key)) = map.next_key()? {
                    let value: &RawValue = map.next_value()?;
                    members.push((key, value.get()));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }

        deserializer.deserialize_str(Reader)
    }
}

/// The elements of a JSON array, borrowing from its text. Those after `limit` are checked and left out.
pub(super) fn elements(array: &str, limit: usize) -> Option<Vec<&str>> {
    struct Reader(usize);

    impl<'de> Visitor<'de> for Reader {
        type Value = Vec<&'de str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(element) = seq.next_element::<&RawValue>()? {
                if elements.len() < self.0 {
                    elements.push(element.get());
                }
            }
            Ok(elements)
        }
    }

    serde_json::Deserializer::from_str(array).deserialize_seq(Reader(limit)).ok()
}

/// The members of an object; `None` if the text is none.
pub(super) fn members(object: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    serde_json::from_str::<Members<'_>>(object).ok().map(|members| members.0)
}

/// The text of a JSON string; `None` for other values.
pub(super) fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// Whether a value is a finite number.
pub(super) fn is_number(raw: &str) -> bool {
    raw.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && raw.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Mends what Python's encoder writes and JSON does not allow: `NaN` and infinities become `null`, halves of a
/// surrogate pair become U+FFFD. Text that needs no mending is borrowed.
pub(super) fn mend(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let suspicious = ["\\ud", "\\uD", "NaN", "Infinity"];
    if !suspicious.iter().any(|word| memmem::find(bytes, word.as_bytes()).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len());
    let mut copied = 0;
    let mut place = 0;
    let mut in_string = false;
    while place < bytes.len() {
        let rest = &bytes[place..];
        let (found, length, instead) = match bytes[place] {
            b'"' => {
                in_string = !in_string;
                (false, 1, "")
            }
            b'\\' if in_string => match surrogate(rest) {
                Some(Surrogate::Pair) => (false, 12, ""),
                Some(Surrogate::Half) => (true, 6, "\\ufffd"),
                None => (false, 2, ""),
            },
            b'N' if !in_string && rest.starts_with(b"NaN") => (true, 3, "null"),
            b'I' if !in_string && rest.starts_with(b"Infinity") => (true, 8, "null"),
            b'-' if !in_string && rest.starts_with(b"-Infinity") => (true, 9, "null"),
            _ => (false, 1, ""),
        };
        if found {
            mended.push_str(&text[copied..place]);
            mended.push_str(instead);
            copied = place + length;
        }
        place += length;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[copied..]);
    Cow::Owned(mended)
}

enum Surrogate {
    Pair,
    Half,
}

/// What the escape at the start of `escape` is, if it is a surrogate.
fn surrogate(escape: &[u8]) -> Option<Surrogate> {
    let unit = |at: usize| {
        let hex = escape.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
    };
    let low = |at: usize| unit(at).is_some_and(|unit| (0xDC00..0xE000).contains(&unit));
    match unit(0)? {
        0xD800..0xDC00 if low(6) => Some(Surrogate::Pair),
        0xD800..0xE000 => Some(Surrogate::Half),
        _ => None,
    }
}

/// Writes a string as Python's `json.dumps` does: all that is not printable ASCII as `\uXXXX`.
pub(super) fn write_string(out: &mut String, text: &str) {
    use fmt::Write as _;

    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").expect("writing to a string cannot fail");
                }
            }
        }
    }
    out.push('"');
}

/// A string as a JSON value, written as Python writes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    out
}

/// A list of strings as a JSON value.
pub(super) fn quoted_list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::from("[");
    for (place, text) in texts.into_iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        write_string(&mut out, text);
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_does_not_allow_is_mended_outside_and_inside_strings() {
        for (text, mended) in [
            (r#"{"a": NaN, "b": -Infinity, "c": [Infinity]}"#, r#"{"a": null, "b": null, "c": [null]}"#),
            (r#"{"NaN": "Infinity \" NaN"}"#, r#"{"NaN": "Infinity \" NaN"}"#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""x\ud83d""#, r#""x\ufffd""#),
            (r#""\ud83dx\ude00""#, r#""\ufffdx\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\ud8"#, r#""\ud8"#),
        ] {
            assert_eq!(mend(text), mended);
        }
    }

    #[test]
    fn strings_are_written_as_python_writes_them() {
        assert_eq!(quoted("a\"\\\n\t\u{8}\u{7f}é😀"), r#""a\"\\\n\t\b\u007f\u00e9\ud83d\ude00""#);
        assert_eq!(quoted_list(["a", "é"]), r#"["a", "\u00e9"]"#);
    }

    #[test]
    fn values_are_cut_out_as_they_stand() {
        let object = r#"{"a": 1.0, "b":1e-07 , "c": {"x": [1,2]}, "d\n": 123456789012345678901234567890}"#;
        let members = members(object).unwrap();
        let values: Vec<&str> = members.iter().map(|(_, value)| *value).collect();
        assert_eq!(values, ["1.0", "1e-07", r#"{"x": [1,2]}"#, "123456789012345678901234567890"]);
        assert_eq!(members[3].0, "d\n");
        assert_eq!(elements("[1, \"x\", {}]", 2).unwrap(), ["1", "\"x\""]);
        assert!(elements("{}", 9).is_none() && elements("[1", 9).is_none());
    }
}
