//! Any other program: its answer is what it printed, and nothing in it is parsed.

use super::bounded::Tail;
use super::line;
use super::notes::Notes;

/// What a program printed.
#[derive(Debug, Default)]
pub(super) struct Printed {
    tail: Tail,
    news: News,
}

/// Whether something was printed since a person was last told.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum News {
    #[default]
    None,
    Some,
}

impl Printed {
    pub(super) fn feed(&mut self, chunk: &[u8]) {
        self.tail.push(chunk);
        if !chunk.is_empty() {
            self.news = News::Some;
        }
    }

    pub(super) fn activity(&mut self) -> Option<String> {
        match std::mem::take(&mut self.news) {
            News::None => None,
            News::Some => {
                Some(line::short(&self.tail.newest_line())).filter(|line| !line.is_empty())
            }
        }
    }

    /// Makes the whole output the answer.
    pub(super) fn answer(self, notes: &mut Notes) {
        notes.answer = self.tail;
    }
}
