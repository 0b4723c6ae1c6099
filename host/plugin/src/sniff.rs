//! What a file is, by its first bytes and the lengths of its sections, before anything is compiled.
//!
//! Decision: a few lines that walk over the sections, so that the usual mistakes (an empty or cut download, a core module, native
//! code) get an answer of their own instead of a validator's.

/// What a file looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A component, whole.
    Component,
    /// A core module, whole; with the types of a component beside it or without.
    CoreModule {
        /// Whether a tool left the component's types in it.
        component_type: bool,
    },
    /// WebAssembly that ends within a section.
    Truncated,
    /// WebAssembly of a version that this host does not know.
    OtherVersion([u8; 4]),
    /// Native code, such as wasmtime's own compiled form.
    Native,
    /// Nothing.
    Empty,
    /// Something else.
    Other,
}

/// Says what the bytes are.
pub(crate) fn kind(bytes: &[u8]) -> Kind {
    match bytes {
        [] => return Kind::Empty,
        [0x7f, b'E', b'L', b'F', ..] | [b'M', b'Z', ..] | [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] => return Kind::Native,
        _ if !bytes.starts_with(b"\0asm") => return Kind::Other,
        _ => {}
    }
    let Some((version, sections)) = bytes[4..].split_first_chunk::<4>() else {
        return Kind::Truncated;
    };
    let Some(names) = custom_sections(sections) else {
        return Kind::Truncated;
    };
    match version {
        [0x0d, 0, 1, 0] => Kind::Component,
        [1, 0, 0, 0] => Kind::CoreModule { component_type: names.iter().any(|name| name.starts_with(b"component-type")) },
        other => Kind::OtherVersion(*other),
    }
}

/// The names of the custom sections; none if a section is longer than what is there.
fn custom_sections(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut names = Vec::new();
    while let Some((&id, rest)) = bytes.split_first() {
        let (size, rest) = number(rest)?;
        let (section, rest) = rest.split_at_checked(size)?;
        if id == 0
            && let Some((length, name)) = number(section)
        {
            names.extend(name.get(..length));
        }
        bytes = rest;
    }
    Some(names)
}

/// An unsigned LEB128 number of at most 32 bits.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_u64;
    for (place, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, &bytes[place + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_bytes() {
        let wat = |text: &str| wat::parse_str(text).expect("well-formed");
        let component = wat("(component (core module (memory 1)))");
        assert_eq!(kind(&component), Kind::Component);
        for cut in [5, 9, component.len() - 1] {
            assert_eq!(kind(&component[..cut]), Kind::Truncated, "{cut}");
        }
        assert_eq!(kind(&wat("(module (memory 1))")), Kind::CoreModule { component_type: false });
        let typed = wat("(module (@custom \"component-type:x\" \"\") (memory 1))");
        assert_eq!(kind(&typed), Kind::CoreModule { component_type: true });
        assert_eq!(kind(b"\0asm\x0c\0\x01\0"), Kind::OtherVersion([0x0c, 0, 1, 0]));
        assert_eq!(kind(b""), Kind::Empty);
        assert_eq!(kind(b"\x7fELF\x02"), Kind::Native);
        assert_eq!(kind(b"console.log(1)"), Kind::Other);
    }
}
