//! One line of the live view: pieces of text, each in one style, cut before they are coloured.

use super::super::terminal::Painter;

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
    Caution,
}

/// A line. Invariant: no piece holds a control character.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line(Vec<(Style, String)>);

impl Line {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a piece. Whoever took it from elsewhere has cleaned it.
    pub(super) fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    pub(super) fn plain(self, text: impl Into<String>) -> Self {
        self.with(Style::Plain, text)
    }

    /// All of it.
    pub(super) fn whole(&self, painter: Painter) -> String {
        let pieces = self.0.iter();
        pieces
            .map(|(style, text)| paint(painter, *style, text))
            .collect()
    }

    /// As much of it as fits into so many columns. A character counts as one: the writer sees to it that a wider one
    /// can't move what follows.
    pub(super) fn cut(&self, painter: Painter, width: usize) -> String {
        let total: usize = self.0.iter().map(|(_, text)| text.chars().count()).sum();
        if total <= width {
            return self.whole(painter);
        }
        let mut room = width.saturating_sub(1);
        let mut cut = String::new();
        for (style, text) in &self.0 {
            let part: String = text.chars().take(room).collect();
            room -= part.chars().count();
            if !part.is_empty() {
                cut.push_str(&paint(painter, *style, &part));
            }
        }
        cut.push('…');
        cut
    }
}

fn paint(painter: Painter, style: Style, text: &str) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Bold => painter.bold(text),
        Style::Dim => painter.dim(text),
        Style::Good => painter.good(text),
        Style::Bad => painter.bad(text),
        Style::Caution => painter.caution(text),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::args::Color;
    use super::super::super::terminal::Terminal;
    use super::*;

    #[test]
    fn a_line_is_cut_at_the_width_and_colours_take_no_room() {
        let line = Line::new().with(Style::Bold, "grün").plain(" und rot");
        let plain = Terminal::new(false, Color::Never).painter;
        let coloured = Terminal::new(false, Color::Always).painter;
        assert_eq!(line.cut(plain, 12), "grün und rot");
        assert_eq!(line.cut(plain, 6), "grün …");
        assert_eq!(line.cut(plain, 3), "gr…");
        assert_eq!(line.cut(coloured, 6), "\u{1b}[1mgrün\u{1b}[0m …");
    }
}
