"""Transcripts of every statistic in lockstep, and the worst ratio of each measure.

cd tests && python -m support.lockstep
python -m support.lockstep --slow    # more pairs of data sets, and two seeds
"""

import sys
import time

from nobounds.auditing.lockstep import explore
from support.lockstep_cases import CASES

MEASURES = ("epsilon", "rho", "eta")


def main(slow, names=()):
    """Print what is seen of every statistic; how many transcripts are wrong."""
    rows, start = [], time.process_time()
    for statistic, cases in CASES.items():
        if names and statistic not in names:
            continue
        rows.append(findings := explore(cases, slow))
        ratios = "".join(f"{findings.ratios[m]:>9.4f}" if m in findings.ratios else " " * 9 for m in MEASURES)
        print(f"{statistic:<38}{findings.transcripts:>6}{ratios}", *findings.wrong[:3], sep="\n  !! ", flush=True)
    total, wrong = sum(row.transcripts for row in rows), sum(len(row.wrong) for row in rows)
    print(f"{total} transcripts, {wrong} wrong, {time.process_time() - start:.0f} s")
    return wrong


if __name__ == "__main__":
    print(f"{'statistic':<38}{'runs':>6}{''.join(f'{measure:>9}' for measure in MEASURES)}")
    sys.exit(bool(main("--slow" in sys.argv[1:], [word for word in sys.argv[1:] if not word.startswith("--")])))
