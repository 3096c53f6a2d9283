"""Every public statistic in several settings, and the neighbouring data sets that they are run on in lockstep."""

from support.lockstep_cases import groups, moments, ranks, rows, streams, tables

NOT_RUN = {  # public names that read no data, or not by themselves
    *(
        "Answers",
        "Budget",
        "BudgetExceeded",
        "Csv",
        "Description",
        "Forecast",
        "GroupedRelease",
        "Histogram",
        "Ladder",
        "Law",
    ),
    *("DescribeForecast", "PrivacyLoss", "Release", "Schema", "Table", "explain", "plan"),
    *("plan_describe", "rows_needed"),
}

CASES = {name: cases for kind in (ranks, moments, rows, streams, tables, groups) for name, cases in kind.CASES.items()}
