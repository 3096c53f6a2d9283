"""The paper again: its figures and tables on the real data, previous methods, and nobounds' defaults beside them.

One file an experiment: `densities` (Figure 1), `histograms` (Figure 2), `quantile_errors` (Figure 3), `sums` (Table 1),
`claims` (its remarks on parameters), and beyond the paper `scales`, `sizes`, `many` and `runaways`. `work` runs and
keeps them, `report` writes them down.
"""
