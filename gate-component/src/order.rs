//! Sorting and looking up by index.
//!
//! The standard library's sorts and maps are compiled anew for each type, which made up a fifth of the
//! component. Here one sort of indices serves all types.

use std::cmp::Ordering;

/// The indices of `0..length` in the order that `compare` gives. Stable.
pub(crate) fn order(
    length: usize,
    compare: &mut dyn FnMut(usize, usize) -> Ordering,
) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..length).collect();
    indices.sort_by(|a, b| compare(*a, *b));
    indices
}

/// Sort items. Stable.
pub(crate) fn sort<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let order = order(
        items.len(),
        &mut |a, b| match (items.get(a), items.get(b)) {
            (Some(a), Some(b)) => compare(a, b),
            _ => Ordering::Equal,
        },
    );
    let mut slots: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(
        order
            .into_iter()
            .filter_map(|index| slots.get_mut(index)?.take()),
    );
}

/// Names by which things are found. The first of several equal ones counts.
#[derive(Debug)]
pub(crate) struct Index<'n> {
    names: Vec<&'n str>,
    /// Indices into `names`, sorted by name, equal ones in their own order.
    sorted: Vec<usize>,
}

impl<'n> Index<'n> {
    pub(crate) fn new(names: Vec<&'n str>) -> Self {
        let sorted = order(names.len(), &mut |a, b| names.get(a).cmp(&names.get(b)));
        Self { names, sorted }
    }

    /// Where a name stands.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let at = self
            .sorted
            .partition_point(|index| self.name(*index) < name);
        self.sorted
            .get(at)
            .copied()
            .filter(|index| self.name(*index) == name)
    }

    /// Each name that stands at several places: the first place and a later one, in order of the later.
    pub(crate) fn repeated(&self) -> Vec<(usize, usize)> {
        let mut repeated: Vec<(usize, usize)> = Vec::new();
        let mut first = None;
        for index in self.sorted.iter().copied() {
            match first {
                Some(earlier) if self.name(earlier) == self.name(index) => {
                    repeated.push((earlier, index));
                }
                _ => first = Some(index),
            }
        }
        sort(&mut repeated, |a, b| a.1.cmp(&b.1));
        repeated
    }

    fn name(&self, index: usize) -> &'n str {
        self.names.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_is_stable() {
        let mut items = vec![(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd')];
        sort(&mut items, |a, b| a.0.cmp(&b.0));
        assert_eq!(items, [(1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
    }

    #[test]
    fn the_first_of_equal_names_is_found_and_the_others_are_repeated() {
        let index = Index::new(vec!["b", "a", "b", "c", "a", "b"]);
        assert_eq!(index.find("b"), Some(0));
        assert_eq!(index.find("a"), Some(1));
        assert_eq!(index.find("d"), None);
        assert_eq!(index.repeated(), [(0, 2), (1, 4), (0, 5)]);
    }
}
