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
        "wilcoxon": [wilcoxon(case["pairs"])],
        "sample_ratio": [sample_ratio(a, b, case["share"])],
    }


def main():
    # Small samples are what this is about.
    warnings.simplefilter("ignore")
    # `multipletests` collects garbage each time, and looks at all modules for it.
    gc.freeze()
    json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)


main()
