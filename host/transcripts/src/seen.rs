//! Which identities were seen lately, and how much each of them counted, in bounded memory.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};

/// How many are remembered at least. Parts of one message stand near each other.
const LATELY: usize = 1 << 15;

/// Two generations of identities: when the younger is full, the older is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    younger: BTreeMap<u64, u64>,
    older: BTreeMap<u64, u64>,
}

impl Seen {
    /// Notes that an identity counts `amount` now, and gives by how much that is more than before.
    pub(crate) fn more(&mut self, id: &str, amount: u64) -> u64 {
        let key = key(id);
        let before = self.younger.get(&key).or_else(|| self.older.get(&key));
        let before = before.copied();
        let amount = amount.max(before.unwrap_or(0));
        if self.younger.len() >= LATELY && !self.younger.contains_key(&key) {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(key, amount);
        amount - before.unwrap_or(0)
    }

    /// Whether it is the first time.
    pub(crate) fn is_new(&mut self, id: &str) -> bool {
        self.more(id, 1) > 0
    }
}

/// The same in every process: this hasher has fixed keys.
fn key(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_counts_once_and_with_its_largest_amount() {
        let mut seen = Seen::default();
        let added = [("a", 5), ("b", 1), ("a", 7), ("a", 7), ("a", 2)];
        let added = added.map(|(id, amount)| seen.more(id, amount));
        assert_eq!(added, [5, 1, 2, 0, 0]);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut seen = Seen::default();
        for number in 0..10 * LATELY {
            assert!(seen.is_new(&number.to_string()));
        }
        assert!(seen.younger.len() + seen.older.len() <= 2 * LATELY);
        assert!(!seen.is_new(&(10 * LATELY - LATELY).to_string()));
    }
}
