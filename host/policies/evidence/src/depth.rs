//! How deep the tree of a text can become, from its brackets and operators alone.
//!
//! Engines parse and evaluate by recursion, and the stack of a component is small: where it ends, the
//! component traps. So a text is measured, without recursion, before an engine gets it.

use thiserror::Error;

/// What matters of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// Ends an element or statement: what follows is beside it in the tree, not above or below it.
    Separator,
    /// Anything that makes a tree out of what is beside it: an operator, a selection by a dot.
    Operator,
}

/// What a text may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// How many operators a pair of brackets counts as.
    pub bracket: u32,
    /// The most operators that may stand above one another.
    pub most: u32,
}

/// A text is too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "it is nested too deeply: {depth} operators and brackets (which count as {bracket} each) are inside one another, and at most {most} may be"
)]
pub struct TooDeep {
    /// How deep it is.
    pub depth: u32,
    /// How many operators a pair of brackets counts as.
    pub bracket: u32,
    /// How deep it may be.
    pub most: u32,
}

/// What is known of the inside of one pair of brackets.
#[derive(Debug, Default, Clone, Copy)]
struct Level {
    /// Operators of the element so far: each may stand above all the others.
    operators: u32,
    /// The deepest bracket of the element so far.
    inner: u32,
    /// The deepest element before this one.
    deepest: u32,
}

impl Level {
    fn depth(self) -> u32 {
        self.deepest.max(self.operators.saturating_add(self.inner))
    }
}

/// Measures one text.
#[derive(Debug)]
pub struct Depth {
    limit: Limit,
    current: Level,
    outer: Vec<Level>,
}

impl Depth {
    /// Nothing seen yet.
    pub fn new(limit: Limit) -> Self {
        Self {
            limit,
            current: Level::default(),
            outer: Vec::new(),
        }
    }

    /// Takes the next mark into account.
    pub fn see(&mut self, mark: Mark) {
        match mark {
            Mark::Open => {
                // What follows the bracket, such as another one, may stand above it.
                self.current.operators = self.current.operators.saturating_add(1);
                self.outer.push(std::mem::take(&mut self.current));
            }
            Mark::Close => self.close(),
            Mark::Separator => {
                self.current = Level {
                    deepest: self.current.depth(),
                    ..Level::default()
                };
            }
            Mark::Operator => self.current.operators = self.current.operators.saturating_add(1),
        }
    }

    /// A closing bracket without an opening one changes nothing: the engine will refuse the text.
    fn close(&mut self) {
        if let Some(mut outer) = self.outer.pop() {
            let depth = self.current.depth().saturating_add(self.limit.bracket);
            outer.inner = outer.inner.max(depth);
            self.current = outer;
        }
    }

    /// How many brackets are open.
    pub fn open(&self) -> usize {
        self.outer.len()
    }

    /// The depth of the whole text.
    pub fn finish(mut self) -> Result<u32, TooDeep> {
        while !self.outer.is_empty() {
            self.close();
        }
        let (depth, Limit { bracket, most }) = (self.current.depth(), self.limit);
        if depth > most {
            return Err(TooDeep {
                depth,
                bracket,
                most,
            });
        }
        Ok(depth)
    }
}
