"""Noise is drawn by decisions alone: no other code of the library calls a sampler."""

import ast

import pytest
from promises.test_layers import MODULES

SAMPLERS = {
    "discrete_laplace",
    "discrete_gaussian",
    "geometric",
    "truncated_geometric",
    "threshold_noise",
    "uniform_below",
    "Exponential",
    "Uniform",
    "halt_position",
    "flip_rung",
    "weighted_rung",
    "drawn_places",
    "random_source",
}
# The samplers themselves, the decisions that draw from them, and what compares other methods with nobounds.
ALLOWED = ("noise", "groups", "research")
DECISIONS = {
    "nobounds.programs.program",  # the driver that draws
    "nobounds.mechanisms.decisions",
    "nobounds.mechanisms.choice",
    "nobounds.mechanisms.clock",
    "nobounds.mechanisms.cut",
    "nobounds.mechanisms.hits",
    "nobounds.mechanisms.skip_ahead",
    "nobounds.mechanisms.flip",
    "nobounds.mechanisms.exponential_mechanism",
    "nobounds.mechanisms.joint.decision",
    "nobounds.mechanisms.joint.draw",
    "nobounds.mechanisms.joint.pair",
    "nobounds.mechanisms.halting",  # Law.sample
    "nobounds.mechanisms.runs",  # a type
    "nobounds.auditing.claims.streams",  # the sampler as it runs
}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_samplers_are_called_by_decisions_alone(module):
    """A program that imports a sampler could draw noise that no driver sees."""
    if module.split(".")[1:2] in [[room] for room in ALLOWED] or module in DECISIONS:
        return
    tree = ast.parse(MODULES[module].read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert not imported & SAMPLERS


@pytest.mark.parametrize("module", sorted(DECISIONS))
def test_the_list_is_of_modules_that_use_a_sampler(module):
    """What does not need one is not on it."""
    tree = ast.parse(MODULES[module].read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert (names | defined) & SAMPLERS
