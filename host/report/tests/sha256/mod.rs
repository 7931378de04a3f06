//! SHA-256, which content security policies name styles by. Only tests need it.

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The same of the cube roots of the first 64 primes, found by bisection: no table to mistype.
fn rounds() -> Vec<u32> {
    let primes = (2u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    primes
        .take(64)
        .map(|prime| {
            // The greatest x with (x / 2^32)^3 <= prime.
            let (mut low, mut high) = (0u128, 1u128 << 36);
            while high - low > 1 {
                let middle = u128::midpoint(low, high);
                if middle * middle * middle <= prime << 96 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            u32::try_from(low & 0xffff_ffff).unwrap()
        })
        .collect()
}

/// The digest of some bytes.
#[allow(clippy::many_single_char_names, reason = "the standard calls them so")]
pub(crate) fn digest(bytes: &[u8]) -> [u8; 32] {
    let rounds = rounds();
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let mut state = START;
    for block in padded.chunks(64) {
        let mut words: Vec<u32> = block
            .chunks(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
            .collect();
        for i in 16..64 {
            let (x, y) = (words[i - 15], words[i - 2]);
            let one = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
            let two = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
            words.push(
                words[i - 16]
                    .wrapping_add(one)
                    .wrapping_add(words[i - 7])
                    .wrapping_add(two),
            );
        }
        let mut now = state;
        for (word, round) in words.iter().zip(&rounds) {
            let [a, b, c, _, e, f, g, h] = now;
            let one = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let first = h
                .wrapping_add(one)
                .wrapping_add((e & f) ^ (!e & g))
                .wrapping_add(*round)
                .wrapping_add(*word);
            let two = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = two.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            now.rotate_right(1);
            now[4] = now[4].wrapping_add(first);
            now[0] = first.wrapping_add(second);
        }
        for (sum, word) in state.iter_mut().zip(now) {
            *sum = sum.wrapping_add(word);
        }
    }
    let mut digest = [0; 32];
    for (place, word) in digest.chunks_mut(4).zip(state) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// Bytes in base64, with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            if digit <= group.len() {
                text.push(char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[test]
fn the_digest_of_a_known_text_is_known() {
    let abc = digest(b"abc");
    assert_eq!(base64(&abc), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    assert_eq!(
        base64(&digest(&[])),
        "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    );
}
