//! Statistics for small, large and paired samples. Every function is exact or seeded: the same data, the same digits.
