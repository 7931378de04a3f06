//! Seeded randomness: xoshiro256++ by Blackman and Vigna, written out, because the digits of a report must not depend on
//! the version of anything.

/// A seeded stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        // SplitMix64 spreads the seed, as the generator's authors advise.
        let mut mixed = seed;
        Self {
            state: [(); 4].map(|()| {
                mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                z ^ (z >> 31)
            }),
        }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let next = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        next
    }

    /// A number between 0 and 1, and neither.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A count below this one, each as likely as the others. Of nothing: zero.
    pub fn below(&mut self, count: u64) -> u64 {
        // Lemire's: the high half of a product, and again where that would favour some.
        loop {
            let product = u128::from(self.bits()) * u128::from(count);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the low and the high half are meant"
            )]
            let (low, high) = (product as u64, (product >> 64) as u64);
            if low >= count || low >= count.wrapping_neg() % count.max(1) {
                return high;
            }
        }
    }

    /// A place in a list of this length.
    pub(super) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// A normal number (Marsaglia's polar method).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                return x * (-2.0 * libm::log(square) / square).sqrt();
            }
        }
    }

    /// A number of the gamma distribution with this shape, which is at least 1 (Marsaglia's and Tsang's method).
    pub(super) fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            if libm::log(self.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::number::real;

    fn moments(draw: impl FnMut() -> f64) -> (f64, f64) {
        let values: Vec<f64> = core::iter::repeat_with(draw).take(200_000).collect();
        (
            super::super::mean::mean(&values).unwrap(),
            super::super::mean::variance(&values).unwrap(),
        )
    }

    #[test]
    fn the_generator_is_the_published_one() {
        // From the state 1, 2, 3, 4, by the authors' C program.
        let mut random = Random {
            state: [1, 2, 3, 4],
        };
        assert_eq!(
            [(); 3].map(|()| random.bits()),
            [41_943_041, 58_720_359, 3_588_806_011_781_223]
        );
    }

    #[test]
    fn a_seed_is_a_stream() {
        let draw = |seed| Random::new(seed).bits();
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn numbers_have_the_moments_of_their_distribution() {
        let mut random = Random::new(5);
        let near = |found: (f64, f64), mean: f64, variance: f64| {
            let sigma = (variance / 200_000.0).sqrt();
            assert!((found.0 - mean).abs() < 5.0 * sigma, "{found:?}");
            assert!((found.1 / variance - 1.0).abs() < 0.05, "{found:?}");
        };
        near(moments(|| random.unit()), 0.5, 1.0 / 12.0);
        near(moments(|| random.normal()), 0.0, 1.0);
        near(moments(|| random.gamma(1.0)), 1.0, 1.0);
        near(moments(|| random.gamma(30.5)), 30.5, 30.5);
        near(moments(|| real(random.below(10))), 4.5, 8.25);
        assert_eq!(random.below(1), 0);
        assert_eq!(random.below(0), 0);
    }
}
