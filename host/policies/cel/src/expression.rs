//! The expression: measured before it is parsed, and split into the operands of its outermost `&&`.

use std::collections::BTreeSet;

use cel::parser::pratt_parser::{Lexer, Token, TokenKind};
use cel::parser::{ParseErrors, PrattParser};
use ralph_gate_policy_evidence::depth::{Depth, Limit, Mark, TooDeep};
use ralph_gate_policy_evidence::{LONGEST_TEXT, shortened};
use thiserror::Error;

/// What the stack of a component can bear: it overflows at about 700.
pub(crate) const LIMIT: Limit = Limit {
    bracket: 5,
    most: 320,
};

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ExpressionError {
    #[error("the expression is too long: it has {0} bytes, and at most {LONGEST_TEXT} are read")]
    TooLong(usize),
    #[error("the expression is refused: {0}")]
    TooDeep(#[from] TooDeep),
    #[error("the expression has a mistake at line {line}, column {column}: {message}")]
    Mistake {
        line: usize,
        column: usize,
        message: String,
    },
}

/// A part of an expression that can be evaluated by itself.
#[derive(Debug)]
pub(crate) struct Operand<'t> {
    pub(crate) text: &'t str,
    pub(crate) tree: cel::parser::Expression,
}

/// An expression that the engine can evaluate.
#[derive(Debug)]
pub(crate) struct Expression<'t> {
    pub(crate) whole: Operand<'t>,
    /// The operands of the outermost `&&`; the whole expression if there is none.
    pub(crate) operands: Vec<Operand<'t>>,
    names: BTreeSet<String>,
}

impl<'t> Expression<'t> {
    /// Parses a text. Never recurses deeper than [`LIMIT`] allows.
    pub(crate) fn parse(text: &'t str) -> Result<Self, ExpressionError> {
        if text.len() > LONGEST_TEXT {
            return Err(ExpressionError::TooLong(text.len()));
        }
        let tokens = tokens(text)?;
        measure(&tokens)?;
        let whole = operand(text)?;
        let references = whole.tree.references();
        let names = references.variables().into_iter();
        let names = names.map(|name| name.trim_start_matches('.').to_owned());
        let names = names.collect();
        let parts = split(text, &tokens).into_iter();
        let operands: Result<Vec<Operand<'t>>, _> = parts.map(operand).collect();
        Ok(Self {
            names,
            operands: operands?,
            whole,
        })
    }

    /// Whether the expression refers to a variable.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

fn operand(text: &str) -> Result<Operand<'_>, ExpressionError> {
    let parser = PrattParser::new().enable_optional_syntax(true);
    match parser.parse(text) {
        Ok(tree) => Ok(Operand {
            text: text.trim(),
            tree,
        }),
        Err(errors) => Err(mistake(&errors)),
    }
}

/// The first mistake that has a place.
fn mistake(errors: &ParseErrors) -> ExpressionError {
    let first = errors
        .errors
        .iter()
        .find(|error| error.pos.0 > 0)
        .or(errors.errors.first());
    let place = |number: isize| usize::try_from(number).unwrap_or_default();
    let (line, column) = first.map_or((0, 0), |error| (place(error.pos.0), place(error.pos.1)));
    let message = first.map_or("", |error| &error.msg);
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    ExpressionError::Mistake {
        line,
        column,
        message: shortened(message),
    }
}

/// The engine's own tokens, so that what is measured is what will be parsed.
fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::new();
    loop {
        let token = lexer.lex();
        match token.kind {
            TokenKind::TokEnd => return Ok(tokens),
            TokenKind::TokWhitespace | TokenKind::TokComment => {}
            TokenKind::TokError => {
                let before = text.get(..token.start).unwrap_or_default();
                let line = before.rsplit('\n').next().unwrap_or_default();
                let error = lexer.get_error();
                return Err(ExpressionError::Mistake {
                    line: 1 + before.matches('\n').count(),
                    column: 1 + line.chars().count(),
                    message: error.map_or_else(String::new, |error| error.message.clone()),
                });
            }
            _ => tokens.push(token),
        }
    }
}

fn measure(tokens: &[Token]) -> Result<u32, TooDeep> {
    let mut depth = Depth::new(LIMIT);
    for mark in tokens.iter().filter_map(|token| mark(token.kind)) {
        depth.see(mark);
    }
    depth.finish()
}

fn mark(kind: TokenKind) -> Option<Mark> {
    match kind {
        TokenKind::TokLeftBracket | TokenKind::TokLeftBrace | TokenKind::TokLeftParen => {
            Some(Mark::Open)
        }
        TokenKind::TokRightBracket | TokenKind::TokRightBrace | TokenKind::TokRightParen => {
            Some(Mark::Close)
        }
        TokenKind::TokComma => Some(Mark::Separator),
        TokenKind::TokIn
        | TokenKind::TokDot
        | TokenKind::TokMinus
        | TokenKind::TokPlus
        | TokenKind::TokAsterisk
        | TokenKind::TokSlash
        | TokenKind::TokPercent
        | TokenKind::TokQuestion
        | TokenKind::TokExclamation
        | TokenKind::TokEqualEqual
        | TokenKind::TokExclamationEqual
        | TokenKind::TokLess
        | TokenKind::TokLessEqual
        | TokenKind::TokGreater
        | TokenKind::TokGreaterEqual
        | TokenKind::TokLogicalAnd
        | TokenKind::TokLogicalOr => Some(Mark::Operator),
        _ => None,
    }
}

/// Splits at every `&&` that is in no bracket. `||` and `?` bind less tightly: then there is one part.
fn split<'t>(text: &'t str, tokens: &[Token]) -> Vec<&'t str> {
    let (mut open, mut start, mut parts) = (0_usize, 0, Vec::new());
    for token in tokens {
        match mark(token.kind) {
            Some(Mark::Open) => open += 1,
            Some(Mark::Close) => open = open.saturating_sub(1),
            _ => {}
        }
        match token.kind {
            TokenKind::TokLogicalOr | TokenKind::TokQuestion if open == 0 => return vec![text],
            TokenKind::TokLogicalAnd if open == 0 => {
                parts.push(text.get(start..token.start).unwrap_or_default());
                start = token.end;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}
