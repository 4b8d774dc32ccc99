//! The newest bytes of a stream within an exact budget.

/// Keeps the last `limit` bytes pushed and counts the rest.
#[derive(Debug)]
pub(crate) struct Ring {
    limit: usize,
    bytes: Vec<u8>,
    /// Where the oldest byte is, once the buffer is full.
    start: usize,
    total: u64,
}

impl Ring {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, bytes: Vec::new(), start: 0, total: 0 }
    }

    /// A ring that has already seen `total` bytes of which `tail` are the newest.
    pub(crate) fn resume(limit: usize, tail: &[u8], total: u64) -> Self {
        let mut ring = Self::new(limit);
        ring.push(tail);
        ring.total = total;
        ring
    }

    pub(crate) fn push(&mut self, data: &[u8]) {
        self.total += data.len() as u64;
        let mut data = &data[data.len().saturating_sub(self.limit)..];
        let room = self.limit - self.bytes.len();
        if room > 0 {
            let (fill, rest) = data.split_at(room.min(data.len()));
            self.bytes.extend_from_slice(fill);
            data = rest;
        }
        while !data.is_empty() {
            let piece = data.len().min(self.limit - self.start);
            let (now, rest) = data.split_at(piece);
            self.bytes[self.start..self.start + piece].copy_from_slice(now);
            self.start = (self.start + piece) % self.limit;
            data = rest;
        }
    }

    /// All bytes ever pushed.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The kept bytes, oldest first.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.rotate_left(self.start);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The oracle keeps everything and cuts at the end.
    #[test]
    fn exactly_the_newest_bytes_are_kept_whatever_the_chunks() {
        for limit in [0, 1, 2, 7, 100] {
            for chunk in [1, 2, 3, 7, 8, 99, 100, 101, 250] {
                let all: Vec<u8> =
                    (0..1000_u32).map(|n| u8::try_from(n % 251).expect("small")).collect();
                let mut ring = Ring::new(limit);
                for piece in all.chunks(chunk) {
                    ring.push(piece);
                    assert!(ring.bytes.len() <= limit);
                }
                assert_eq!(ring.total(), 1000);
                assert_eq!(ring.into_bytes(), all[1000 - limit..], "limit {limit}, chunk {chunk}");
            }
        }
    }
}
