//! Shows what a plan changes, as a unified diff.

use std::ops::Range;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// The most lines that are told apart. Beyond that, all from the first change to the last is shown as one.
const MOST: usize = 160;

/// A run of old lines, and the new ones in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// A unified diff of two texts under a file's name. None of a text means that there is no file.
pub(super) fn unified(name: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let text =
        |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let (old_text, new_text) = (text(before), text(after));
    let old: Vec<&str> = old_text.split_inclusive('\n').collect();
    let new: Vec<&str> = new_text.split_inclusive('\n').collect();
    let label = |there: bool| if there { name } else { "/dev/null" };
    let mut diff = format!(
        "--- {}\n+++ {}\n",
        label(before.is_some()),
        label(after.is_some())
    );
    for hunk in hunks(changes(&old, &new)) {
        write_hunk(&mut diff, &old, &new, &hunk);
    }
    diff
}

/// The changes in groups, of which each is shown as one.
fn hunks(changes: Vec<Change>) -> Vec<Vec<Change>> {
    let mut hunks: Vec<Vec<Change>> = Vec::new();
    for change in changes {
        let near = hunks.last_mut().filter(|hunk| {
            let end = hunk.last().map_or(0, |last| last.old.end);
            change.old.start <= end + 2 * CONTEXT
        });
        match near {
            Some(hunk) => hunk.push(change),
            None => hunks.push(vec![change]),
        }
    }
    hunks
}

fn write_hunk(diff: &mut String, old: &[&str], new: &[&str], hunk: &[Change]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return;
    };
    let before = first.old.start.min(CONTEXT);
    let behind = (old.len() - last.old.end).min(CONTEXT);
    let shown_old = first.old.start - before..last.old.end + behind;
    let shown_new = first.new.start - before..last.new.end + behind;
    diff.push_str(&format!(
        "@@ -{} +{} @@\n",
        span(&shown_old),
        span(&shown_new)
    ));
    let mut at = shown_old.start;
    for change in hunk {
        write_lines(diff, ' ', old.get(at..change.old.start));
        write_lines(diff, '-', old.get(change.old.clone()));
        write_lines(diff, '+', new.get(change.new.clone()));
        at = change.old.end;
    }
    write_lines(diff, ' ', old.get(at..shown_old.end));
}

/// Lines in the way of a hunk's head: they count from one, and none come after the line before them.
fn span(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        length => format!("{},{length}", lines.start + 1),
    }
}

fn write_lines(diff: &mut String, sign: char, lines: Option<&[&str]>) {
    for line in lines.unwrap_or_default() {
        diff.push(sign);
        diff.push_str(line);
        if !line.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// What has to be changed, in order.
fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let same = |(old, new): &(&&str, &&str)| old == new;
    let head = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (
        old.get(head..).unwrap_or_default(),
        new.get(head..).unwrap_or_default(),
    );
    let backwards = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = backwards.take_while(same).count();
    let old_middle = old_rest.get(..old_rest.len() - tail).unwrap_or_default();
    let new_middle = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    if old_middle.is_empty() && new_middle.is_empty() {
        return Vec::new();
    }
    let all = Change {
        old: 0..old_middle.len(),
        new: 0..new_middle.len(),
    };
    let inner = shortest(old_middle, new_middle).unwrap_or_else(|| vec![all]);
    let moved = |range: Range<usize>| range.start + head..range.end + head;
    let moved = inner.into_iter().map(|change| Change {
        old: moved(change.old),
        new: moved(change.new),
    });
    moved.collect()
}

/// Myers' shortest edit script; none if it is longer than [`MOST`].
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Change>> {
    let middle = MOST + 1;
    let mut furthest = vec![0_usize; 2 * MOST + 3];
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for distance in 0..=MOST {
        trace.push(furthest.clone());
        for diagonal in (middle - distance..=middle + distance).step_by(2) {
            let mut x = step(&furthest, diagonal, middle, distance);
            // Invariant: `x + middle >= diagonal` on every diagonal that was reached.
            let mut y = (x + middle).saturating_sub(diagonal);
            while x < old.len() && y < new.len() && old.get(x) == new.get(y) {
                x += 1;
                y += 1;
            }
            *furthest.get_mut(diagonal)? = x;
            if x >= old.len() && y >= new.len() {
                return Some(backtrack(&trace, old.len(), new.len(), middle));
            }
        }
    }
    None
}

/// Where a diagonal is entered: from the one above by a new line, or from the one below by leaving an old one out.
fn step(furthest: &[usize], diagonal: usize, middle: usize, distance: usize) -> usize {
    let at = |diagonal: usize| furthest.get(diagonal).copied().unwrap_or(0);
    if distance == 0 {
        return 0;
    }
    if down(furthest, diagonal, middle, distance) {
        at(diagonal + 1)
    } else {
        at(diagonal - 1) + 1
    }
}

fn down(furthest: &[usize], diagonal: usize, middle: usize, distance: usize) -> bool {
    diagonal == middle - distance
        || (diagonal != middle + distance
            && furthest.get(diagonal - 1) < furthest.get(diagonal + 1))
}

fn backtrack(trace: &[Vec<usize>], old: usize, new: usize, middle: usize) -> Vec<Change> {
    let (mut x, mut y) = (old, new);
    let mut changes: Vec<Change> = Vec::new();
    for (distance, furthest) in trace.iter().enumerate().skip(1).rev() {
        let diagonal = x + middle - y;
        let down = down(furthest, diagonal, middle, distance);
        let from = if down { diagonal + 1 } else { diagonal - 1 };
        let from_x = furthest.get(from).copied().unwrap_or(0);
        let from_y = (from_x + middle).saturating_sub(from);
        let (to_x, to_y) = if down {
            (from_x, from_y + 1)
        } else {
            (from_x + 1, from_y)
        };
        join(&mut changes, from_x..to_x, from_y..to_y);
        (x, y) = (from_x, from_y);
    }
    changes.reverse();
    changes
}

/// Adds a change before the others, or to the first of them if they touch.
fn join(changes: &mut Vec<Change>, old: Range<usize>, new: Range<usize>) {
    match changes.last_mut() {
        Some(next) if next.old.start == old.end && next.new.start == new.end => {
            next.old.start = old.start;
            next.new.start = new.start;
        }
        _ => changes.push(Change { old, new }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> String {
        unified("f", Some(before.as_bytes()), Some(after.as_bytes()))
    }

    #[test]
    fn far_changes_are_shown_apart() {
        let lines: Vec<String> = (1..=20).map(|number| format!("{number}\n")).collect();
        let before = lines.concat();
        let after = before.replace("\n3\n", "\n3\nnew\n").replace("19\n", "");
        assert_eq!(
            diff(&before, &after),
            "--- f\n+++ f\n@@ -1,6 +1,7 @@\n 1\n 2\n 3\n+new\n 4\n 5\n 6\n@@ -16,5 +17,4 @@\n 16\n 17\n 18\n-19\n 20\n"
        );
    }

    #[test]
    fn a_file_that_comes_or_goes_has_no_other_side() {
        assert_eq!(
            unified("f", None, Some(b"a\n")),
            "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n"
        );
        assert_eq!(
            unified("f", Some(b"a"), None),
            "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn a_long_change_is_shown_as_one() {
        let before = "a\n".repeat(MOST * 2);
        let after = "b\n".repeat(MOST * 2);
        let diff = diff(&before, &after);
        assert_eq!(diff.matches("@@ -").count(), 1);
        assert_eq!(diff.matches("\n-a").count(), MOST * 2);
        assert_eq!(diff.matches("\n+b").count(), MOST * 2);
    }

    #[test]
    fn the_changes_make_the_new_text_of_the_old_one() {
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let words = ["a", "b", "c", "d"];
        for _ in 0..2000 {
            let mut lines = || -> Vec<&str> {
                let length = next(24);
                (0..length)
                    .map(|_| words[usize::try_from(next(4)).unwrap()])
                    .collect()
            };
            let (old, new) = (lines(), lines());
            let mut made = Vec::new();
            let mut at = 0;
            for change in changes(&old, &new) {
                assert!(
                    change.old != change.new || old[change.old.clone()] != new[change.new.clone()]
                );
                made.extend_from_slice(&old[at..change.old.start]);
                assert_eq!(made.len(), change.new.start);
                made.extend_from_slice(&new[change.new.clone()]);
                at = change.old.end;
            }
            made.extend_from_slice(&old[at..]);
            assert_eq!(made, new, "{old:?}");
        }
    }
}
