//! A report for people: as a table, as Markdown, as one page.
