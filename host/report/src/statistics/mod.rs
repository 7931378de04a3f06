//! Statistics for small, large and paired samples. Every function is exact or seeded: the same data, the same digits.

mod adjust;
mod bootstrap;
mod intervals;
mod mean;
mod number;
mod pairs;
mod quantile;
mod random;
mod rank;
mod ratio;
mod size;
mod special;
mod tables;
mod walk;

pub use adjust::holm;
pub use bootstrap::{
    bootstrap_mean, bootstrap_mean_difference, bootstrap_mean_ratio, bootstrap_quantile,
    bootstrap_quantile_difference,
};
pub use intervals::{newcombe, newcombe_paired, wilson};
pub use mean::{mean, sum};
pub use pairs::{Statistic, bootstrap_pairs};
pub use quantile::{needed, needed_for_mean, quantile};
pub use random::Random;
pub use rank::{
    Exact, Tested, mann_whitney, mann_whitney_exact, test_groups, test_pairs, wilcoxon,
    wilcoxon_exact,
};
pub use ratio::sample_ratio;
pub use size::needed_per_arm;
pub use tables::{McNemar, fisher_exact, mcnemar};
