//! Keeps secrets out of everything that is shown or stored.

/// What a secret is replaced by.
const STARS: &[u8] = b"***";

/// Replaces byte strings in a stream, also where a chunk border cuts them.
#[derive(Debug)]
pub(crate) struct Masker {
    /// Longest first, so that the longest match wins.
    secrets: Vec<Vec<u8>>,
    starts: [bool; 256],
    /// The end of the last chunk, as far as a secret may begin there.
    held: Vec<u8>,
}

impl Masker {
    /// `None` if there is nothing to hide.
    pub(crate) fn new(secrets: &[Vec<u8>]) -> Option<Self> {
        let mut secrets: Vec<Vec<u8>> =
            secrets.iter().filter(|one| !one.is_empty()).cloned().collect();
        if secrets.is_empty() {
            return None;
        }
        secrets.sort_by_key(|one| std::cmp::Reverse(one.len()));
        let mut starts = [false; 256];
        for secret in &secrets {
            starts[usize::from(secret[0])] = true;
        }
        Some(Self { secrets, starts, held: Vec::new() })
    }

    /// The part of the stream that is now certain.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(chunk);
        let mut output = Vec::with_capacity(input.len());
        let mut rest = input.as_slice();
        while let Some(&first) = rest.first() {
            if !self.starts[usize::from(first)] {
                let plain = rest
                    .iter()
                    .position(|&byte| self.starts[usize::from(byte)])
                    .unwrap_or(rest.len());
                output.extend_from_slice(&rest[..plain]);
                rest = &rest[plain..];
                continue;
            }
            if self
                .secrets
                .iter()
                .any(|secret| secret.len() > rest.len() && secret.starts_with(rest))
            {
                self.held = rest.to_vec();
                break;
            }
            let found = self.secrets.iter().find(|secret| rest.starts_with(secret)).map(Vec::len);
            match found {
                Some(length) => {
                    output.extend_from_slice(STARS);
                    rest = &rest[length..];
                }
                None => {
                    output.push(first);
                    rest = &rest[1..];
                }
            }
        }
        output
    }

    /// What was held back, at the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut output = Vec::new();
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_slice();
        while let Some(&first) = rest.first() {
            match self.secrets.iter().find(|secret| rest.starts_with(secret)) {
                Some(secret) => {
                    output.extend_from_slice(STARS);
                    rest = &rest[secret.len()..];
                }
                None => {
                    output.push(first);
                    rest = &rest[1..];
                }
            }
        }
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_the_chunks_are_cut() {
        let secrets = [b"hunter2".to_vec(), b"hunter".to_vec(), b"aab".to_vec(), Vec::new()];
        let text = b"my hunter2, hunter hunters aaab aab hunte";
        for size in 1..text.len() {
            let mut masker = Masker::new(&secrets).expect("secrets");
            let mut output = Vec::new();
            for chunk in text.chunks(size) {
                output.extend(masker.push(chunk));
            }
            output.extend(masker.finish());
            assert_eq!(
                String::from_utf8_lossy(&output),
                "my ***, *** ***s a*** *** hunte",
                "chunks of {size}"
            );
        }
    }
}
