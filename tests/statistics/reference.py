"""What SciPy and statsmodels say about the tables on standard input: one JSON list in, one out, in the same order."""

import gc
import json
import math
import sys
import warnings

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

# As the Rust side has it: the exact test of a division up to so many runs, chi-square for more.
EXACT_DIVISION = 10_000


def wilson(successes, of):
    low, high = proportion_confint(successes, of, alpha=0.05, method="wilson")
    return [float(low), float(high)]


def newcombe(after, before):
    low, high = confint_proportions_2indep(
        after[0], after[1], before[0], before[1], compare="diff", method="newcomb", alpha=0.05
    )
    return [float(low), float(high)]


def newcombe_paired(both, only_after, only_before, neither):
    """Newcombe 1998, "Improved confidence intervals for the difference between binomial proportions based on paired
    data", method 10: a square-and-add interval, in matrix form."""
    table = np.array([[both, only_after], [only_before, neither]], dtype=float)
    n = table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    margins = np.prod(rows) * np.prod(columns)
    determinant = np.linalg.det(table)
    if margins == 0:
        phi = 0.0
    elif determinant > 0:
        phi = max(determinant - n / 2, 0.0) / math.sqrt(margins)
    else:
        phi = determinant / math.sqrt(margins)
    # The first row: after; the first column: before.
    p_after, p_before = rows[0] / n, columns[0] / n
    low_after, high_after = wilson(rows[0], n)
    low_before, high_before = wilson(columns[0], n)
    form = np.array([[1.0, -phi], [-phi, 1.0]])
    down = np.array([p_after - low_after, high_before - p_before])
    up = np.array([high_after - p_after, p_before - low_before])
    difference = p_after - p_before
    return [
        float(difference - math.sqrt(down @ form @ down)),
        float(difference + math.sqrt(up @ form @ up)),
    ]


def mcnemar_exact(b, c):
    if b + c == 0:
        return 1.0
    return float(mcnemar([[0, b], [c, 0]], exact=True).pvalue)


def mcnemar_mid_p(b, c):
    """Fagerland, Lydersen and Laake 2013."""
    if b + c == 0:
        return 1.0
    at = stats.binom.pmf(b, b + c, 0.5)
    if b == c:
        return float(1 - at / 2)
    return float(2 * stats.binom.cdf(min(b, c), b + c, 0.5) - at)


def mann_whitney(after, before):
    if len(set(after + before)) == 1:
        return 1.0
    found = stats.mannwhitneyu(
        after, before, use_continuity=True, alternative="two-sided", method="asymptotic"
    )
    return float(found.pvalue)


def wilcoxon(pairs):
    differences = [after - before for before, after in pairs if after != before]
    if not differences:
        return 1.0
    options = {"zero_method": "wilcox", "correction": False}
    try:
        return float(stats.wilcoxon(differences, method="asymptotic", **options).pvalue)
    except ValueError:
        # Its name before SciPy 1.15.
        return float(stats.wilcoxon(differences, method="approx", **options).pvalue)


# Up to so many pairs that differ, and runs of both groups, the Rust side calculates exact distributions.
EXACT_PAIRS = 100
EXACT_RUNS = 60
# SciPy goes through all outcomes where there are not more than these.
OUTCOMES = 5_000


def exact(distances, weights, observed):
    """The exact and the mid-p value: how much weight is as far as observed, and with half of what is equally far."""
    weights = np.asarray(weights, dtype=float) / math.fsum(weights)
    equal = np.isclose(distances, observed, rtol=0, atol=1e-6)
    further = math.fsum(weights[~equal & (np.asarray(distances) > observed)])
    equal = math.fsum(weights[equal])
    return [min(further + equal, 1.0), min(further + equal / 2, 1.0)]


def permuted(samples, statistic, kind):
    """Exact and mid-p value by SciPy, which goes through all outcomes. Far is large."""
    found = stats.permutation_test(
        samples,
        statistic,
        permutation_type=kind,
        alternative="greater",
        vectorized=True,
        n_resamples=np.inf,
    )
    null = found.null_distribution
    both = exact(null, np.ones(len(null)), found.statistic)
    assert math.isclose(both[0], found.pvalue, rel_tol=1e-9), (both, found.pvalue)
    return both


def wilcoxon_exact(pairs):
    differences = np.array([after - before for before, after in pairs if after != before])
    n = len(differences)
    if n == 0:
        return [1.0, 1.0]
    if n > EXACT_PAIRS:
        return []
    ranks = stats.rankdata(np.abs(differences))
    signed = ranks * np.sign(differences)
    if n > 1 and 2**n <= OUTCOMES:
        return permuted((signed,), lambda sample, axis: np.abs(sample.sum(axis=axis)), "samples")
    doubled = np.rint(2 * ranks).astype(int)
    weights = np.zeros(doubled.sum() + 1)
    weights[0] = 1.0
    for rank in doubled:
        shifted = np.zeros_like(weights)
        shifted[rank:] = weights[:-rank]
        weights = (weights + shifted) / 2
    distances = np.abs(2 * np.arange(len(weights)) - doubled.sum())
    both = exact(distances, weights, abs(2 * doubled[signed > 0].sum() - doubled.sum()))
    if len(set(ranks)) == n <= 50:
        pvalue = stats.wilcoxon(differences, method="exact").pvalue
        assert math.isclose(both[0], pvalue, rel_tol=1e-9), (both, pvalue)
    return both


def mann_whitney_exact(after, before):
    m, n = len(after), len(before)
    if m + n > EXACT_RUNS:
        return []
    if len(set(after + before)) == 1:
        return [1.0, 1.0]
    ranks = stats.rankdata(after + before)
    one, other = ranks[:m], ranks[m:]
    mean = m * (m + n + 1) / 2
    if min(m, n) > 1 and math.comb(m + n, m) <= OUTCOMES:
        far = lambda x, y, axis: np.abs(x.sum(axis=axis) - mean)
        return permuted((one, other), far, "independent")
    doubled = np.rint(2 * ranks).astype(int)
    ways = np.zeros((m + 1, doubled.sum() + 1))
    ways[0, 0] = 1.0
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    distances = np.abs(np.arange(ways.shape[1]) - 2 * mean)
    both = exact(distances, ways[m], abs(2 * one.sum() - 2 * mean))
    if len(set(ranks)) == m + n:
        pvalue = stats.mannwhitneyu(after, before, method="exact").pvalue
        assert math.isclose(both[0], pvalue, rel_tol=1e-9), (both, pvalue)
    return both


def sample_ratio(a, b, share):
    if a + b <= EXACT_DIVISION:
        return float(stats.binomtest(a, a + b, share).pvalue)
    return float(stats.chisquare([a, b], [(a + b) * share, (a + b) * (1 - share)]).pvalue)


def answer(case):
    a, b, c, d = case["table"]
    return {
        "wilson": wilson(a, a + b),
        "newcombe": newcombe([a, a + b], [c, c + d]),
        "newcombe_paired": newcombe_paired(a, b, c, d),
        "fisher_exact": [float(stats.fisher_exact([[a, b], [c, d]])[1])],
        "mcnemar": [mcnemar_exact(b, c), mcnemar_mid_p(b, c)],
        "quantile": [
            float(np.quantile(case["after"], p, method="linear")) for p in case["quantiles"]
        ],
        "mean": [math.fsum(case["after"]) / len(case["after"])],
        "holm": [float(p) for p in multipletests(case["p"], method="holm")[1]],
        "mann_whitney": [mann_whitney(case["after"], case["before"])],
        "mann_whitney_exact": mann_whitney_exact(case["after"], case["before"]),
        "wilcoxon": [wilcoxon(case["pairs"])],
        "wilcoxon_exact": wilcoxon_exact(case["pairs"]),
        "sample_ratio": [sample_ratio(a, b, case["share"])],
    }


def main():
    # Small samples are what this is about.
    warnings.simplefilter("ignore")
    # `multipletests` collects garbage each time, and looks at all modules for it.
    gc.freeze()
    json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)


main()
