"""The commands by name, each with its line in `nobounds --help`; a module is imported when its command is used."""

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
        return command if isinstance(made, typer.Typer) else keep_texts(command, made)


def _listed(module: str, **commands: str) -> dict[str, Listed]:
    return {name.replace("_", "-"): Listed(short, module, name) for name, short in commands.items()}


CLIPPED = "of a column, within bounds that it finds itself."
COMMANDS: dict[str, dict[str, Listed]] = {
    "Private answers": {
        **_listed("describe", describe="A summary of every numeric column, for one epsilon."),
        **_listed(
            "columns",
            quantile="One or several quantiles of a column.",
            median="The median of a column.",
            maximum="The maximum of a column.",
            minimum="The minimum of a column.",
            bounds="The minimum and the maximum of a column together.",
            sum=f"The sum {CLIPPED}",
            mean=f"The mean {CLIPPED}",
            std=f"The standard deviation {CLIPPED}",
            variance=f"The variance {CLIPPED}",
            iqr="The interquartile range of a column.",
            ratio="The ratio of the sums of two columns.",
            weighted_mean="The mean of a column, weighted by another.",
            covariance="The covariance of two columns.",
            correlation="The correlation of two columns.",
            proportion="The share of rows for which a condition is true.",
            count="The number of rows, or of the numbers in a column.",
        ),
        **_listed("agg", agg="Several statistics of several columns, for one epsilon."),
        **_listed("sql.statement", sql="Private statistics by one SQL statement, for one epsilon."),
        **_listed(
            "counts",
            histogram="The number of records in each bin.",
            cdf="The share of records up to each point.",
            value_counts="How many rows have each value of a column.",
            top_k="The most frequent values of a column.",
            count_distinct="The number of distinct units, or of distinct values in a column.",
        ),
    },
    "Before and after": {
        **_listed("info", info="The columns of a file and their types; a schema to edit."),
        **_listed(
            "units",
            rows_per_unit="How many rows most units have: a number for --rows-per-unit.",
            suggest="The rows and groups per unit with the smallest error to expect.",
            left_out="The share of rows that --rows-per-unit leaves out.",
        ),
        **_listed("plan", plan="The error to expect, before anything is spent."),
        **_listed("budget", budget="Budget files: make one, show or export what was spent."),
        **_listed("explain", explain="A release in plain words, for the person who signs off."),
        **_listed("studio", studio="A local web page from a file to private answers."),
    },
    "Trust and research": {
        **_listed("audit", audit="What every mechanism claims, beside its worst exact loss."),
        **_listed("paper", paper="The figures and tables of the paper again."),
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
    """Differentially private answers about a table, with no bounds given.

    Example: nobounds describe people.csv --header yes --epsilon 1
    """
    if show_version:
        from importlib.metadata import version

        typer.echo(f"nobounds {version('nobounds')}")
        raise typer.Exit
