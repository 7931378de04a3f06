//! Tests whose report is read.

/// Adds.
///
/// ```
/// assert_eq!(readers::add(1, 2), 3);
/// ```
pub fn add(a: u32, b: u32) -> u32 {
    a + b
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(super::add(1, 2), 3);
    }

    #[test]
    fn stays() {}

    #[test]
    #[ignore = "later"]
    fn divides() {}

    #[test]
    #[should_panic(expected = "overflow")]
    fn overflows() {
        super::add(u32::MAX, 1);
    }

    #[test]
    fn holds_what_the_work_says() {
        assert!(!std::path::Path::new("broken").exists());
    }
}
