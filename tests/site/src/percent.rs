//! Percent encoding, as paths and forms have it.

/// The text behind an encoded one; `None` where a `%` has no two digits, and where the bytes are no UTF-8.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let [high, low, tail @ ..] = rest else { return None };
        bytes.push((digit(*high)? * 16 + digit(*low)?) as u8);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::percent_decode;

    #[test]
    fn percent_signs_are_decoded_once() {
        assert_eq!(percent_decode("a%20b%C3%A9%2520").as_deref(), Some("a bé%20"));
        assert!(["%", "%4", "%zz", "%ff"].iter().all(|text| percent_decode(text).is_none()));
    }
}
