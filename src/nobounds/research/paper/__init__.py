"""Reproduction of the paper: its figures and tables on the real data, previous methods, and the defaults of nobounds.

One file per experiment: `densities` (Figure 1), `quantile_errors` (Figure 3), `sums` (Table 1), `claims` (the paper's
remarks on parameters), and beyond the paper `scales`, `sizes`, `many` and `runaways`. `work` runs the experiments and
stores their results, `report` writes the report.
"""
