//! Bytes of children as text that is safe to show.

/// Text of a whole output; bytes that are not a UTF-8 become `U+FFFD`.
#[must_use]
pub fn lossy(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// Where the first whole character begins in bytes that were cut off in front.
pub(crate) fn first_boundary(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|&&byte| byte & 0b1100_0000 == 0b1000_0000).count()
}

/// One line of text without any control characters, for names and commands.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

/// A word as a shell would want it, for people to read and copy.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~^#".contains(c);
    if !word.is_empty() && !word.starts_with('#') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Decodes UTF-8 that arrives in chunks cut anywhere.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of a character whose end has not arrived: at most 3 bytes.
    held: Vec<u8>,
}

impl Decoder {
    /// Appends the text of a chunk, as far as it is certain.
    pub fn push(&mut self, chunk: &[u8], into: &mut String) {
        if self.held.is_empty() {
            self.decode(chunk, into);
        } else {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(chunk);
            self.decode(&joined, into);
        }
    }

    /// Whether no character is half here.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Appends what is left at the end of the stream.
    pub fn finish(&mut self, into: &mut String) {
        if !std::mem::take(&mut self.held).is_empty() {
            into.push('\u{fffd}');
        }
    }

    fn decode(&mut self, mut bytes: &[u8], into: &mut String) {
        loop {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => return into.push_str(text),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            into.push_str(&String::from_utf8_lossy(valid));
            let Some(invalid) = error.error_len() else {
                self.held = rest.to_vec();
                return;
            };
            into.push('\u{fffd}');
            bytes = &rest[invalid..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cut_anywhere_give_the_same_text() {
        let bytes = b"gr\xc3\xbc\xc3\x9fe \xe2\x82\xac \xf0\x9f\x8e\x89 \xff\xc3( \xe2\x82";
        let whole = String::from_utf8_lossy(bytes);
        for size in 1..=bytes.len() {
            let mut decoder = Decoder::default();
            let mut text = String::new();
            for chunk in bytes.chunks(size) {
                decoder.push(chunk, &mut text);
            }
            decoder.finish(&mut text);
            assert_eq!(text, whole, "chunks of {size}");
        }
    }

    #[test]
    fn a_tail_is_cut_between_characters() {
        assert_eq!(first_boundary("ü".as_bytes()), 0);
        assert_eq!(first_boundary(&"🎉x".as_bytes()[1..]), 3);
        assert_eq!(first_boundary(b""), 0);
    }
}
