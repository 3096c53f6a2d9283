"""The commands by name, each with its line in `nobounds --help`; a module is imported when its command is used."""

import gc
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer

from nobounds.cli.help import Command, Group, write_status
from nobounds.cli.texts import keep_texts


class Listed(NamedTuple):
    """A command as the main help lists it: its short help, and the module and the name that it has there."""

    short: str
    module: str
    name: str

    def load(self, shell: str, panel: str) -> Any:
        """The command itself, or a group of commands."""
        made = getattr(import_module(f"nobounds.cli.commands.{self.module}"), self.name)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        how: dict[str, Any] = {"short_help": self.short, "rich_help_panel": panel}
        if isinstance(made, typer.Typer):
            alone.add_typer(made, name=shell, **how)
        else:
            alone.command(shell, cls=Command, **how)(made)
        command = typer.main.get_group(alone).commands[shell]
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return command if isinstance(made, typer.Typer) else keep_texts(command, made)


def _listed(module: str, **commands: str) -> dict[str, Listed]:
    return {name.replace("_", "-"): Listed(short, module, name) for name, short in commands.items()}


COMMANDS: dict[str, dict[str, Listed]] = {
    "Start here": {
        **_listed("studio", studio="Open a local web page that leads from a file to answers."),
        **_listed("info", info="List the columns of a file and their types. Reads no records."),
        **_listed("describe", describe="Summarize every numeric column: count, mean and quantiles."),
    },
    "Statistics of a column": _listed(
        "columns",
        count="The number of rows, or of numbers in a column.",
        mean="The mean.",
        sum="The sum.",
        median="The median.",
        quantile="One or several quantiles (percentiles).",
        minimum="The minimum.",
        maximum="The maximum.",
        bounds="The minimum and the maximum together.",
        std="The standard deviation.",
        variance="The variance.",
        iqr="The interquartile range.",
    ),
    "Shares, values and histograms": {
        **_listed("columns", proportion="The share of rows for which a condition is true."),
        **_listed(
            "counts",
            histogram="The number of records in each bin.",
            cdf="The share of records up to each point.",
            value_counts="The number of rows for each value of a column.",
            top_k="The most frequent values of a column.",
            count_distinct="The number of distinct people, or of distinct values.",
        ),
    },
    "Two columns": _listed(
        "columns",
        ratio="The ratio of the sums of two columns.",
        weighted_mean="The mean of a column, weighted by another.",
        covariance="The covariance of two columns.",
        correlation="The correlation of two columns.",
    ),
    "Several answers for one epsilon": {
        **_listed("agg", agg="Several statistics of several columns."),
        **_listed("sql.statement", sql="The statistics of one SQL statement."),
    },
    "Plan and keep a budget": {
        **_listed("plan", plan="The error to expect, or the rows you need. Spends nothing."),
        **_listed("budget", budget="Create a budget; show or export what was spent."),
        **_listed(
            "units",
            rows_per_unit="How many rows most people have, for --rows-per-unit.",
            suggest="The --rows-per-unit that gives the smallest error.",
            left_out="The share of rows that --rows-per-unit leaves out.",
        ),
    },
    "Explain and check": {
        **_listed("explain", explain="Explain a release to the person who approves it."),
        **_listed("audit", audit="Compare the claim of each mechanism with its worst exact loss."),
        **_listed("research.paper", paper="Reproduce the figures and tables of the paper."),
        **_listed("research.bench", bench="Compare a method of yours with nobounds and others."),
    },
}


class Loaded(Mapping[str, Any]):
    """The commands by name; one is loaded when it is looked up."""

    def __init__(self) -> None:
        self._panels = {name: panel for panel, listed in COMMANDS.items() for name in listed}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            panel = self._panels[name]
            self._loaded[name] = COMMANDS[panel][name].load(name, panel)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._panels)

    def __len__(self) -> int:
        return len(self._panels)


class Main(Group):
    """The main command: its help lists the commands, loads none of them, and ends with the exit statuses."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Loaded()  # type: ignore[assignment]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The command, or the help."""
        keep_texts(self)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands."""
        return list(self.commands)

    def lines(self) -> dict[str, list[tuple[str, str]]]:
        """The commands and their short help, by heading."""
        return {panel: [(name, each.short) for name, each in listed.items()] for panel, listed in COMMANDS.items()}

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The exit status."""
        write_status(formatter)


# Plain Python tracebacks only: the decorated ones can show local variables, and those hold sensitive data.
app = typer.Typer(cls=Main, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def nobounds(show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Differentially private statistics of a table. You do not need to know how large its values are.

    Example: nobounds describe people.csv --header yes --epsilon 1
    """
    if show_version:
        from importlib.metadata import version

        typer.echo(f"nobounds {version('nobounds')}")
        raise typer.Exit
