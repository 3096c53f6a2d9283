"""Compiled inner loops of passes, for processes that read many records: they take a third of the time of numpy.

`kernels.ll` has the loops, and llvmlite, if it is installed, compiles them in 0.1 s of a process: that is what numpy
takes for some 10^7 records, and a fifth of what numba takes to load compiled code. So a process compiles them when it
has read that many records, and never before. Results are the same either way.
"""

import ctypes
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from nobounds.arrays import Floats

WORTH = 1 << 24  # records that numpy counts in about the time of loading and compiling
LEAST = 1 << 13  # records of a chunk, for which a call costs little

_LONG, _REAL, _POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
_ARGUMENTS = {
    "count_floats": (_LONG, _POINTER),
    "count_points": (_LONG, _POINTER, _REAL),
    "count_deviations": (_LONG, _POINTER, _REAL, _REAL, _REAL, _REAL),
    "between": (_REAL, _REAL, _POINTER, _POINTER),
    "touched": (_LONG, _POINTER, _POINTER, _POINTER),
    "lattice": (_REAL, _REAL, _REAL, _POINTER),
    "squares": (_REAL, _REAL, _REAL, _REAL, _REAL, _POINTER),
}

_read = 0  # records that this process has read without compiled loops


class Kernels(NamedTuple):
    """The loops of `kernels.ll`: each is called with an array, and then with its other arguments."""

    count_floats: Callable[..., None]
    count_points: Callable[..., None]
    count_deviations: Callable[..., None]
    between: Callable[..., None]
    touched: Callable[..., None]
    lattice: Callable[..., None]
    squares: Callable[..., None]


def kernels_for(values: Floats) -> Kernels | None:
    """The compiled loops, if they are to be used for these records: a contiguous array of many float64."""
    global _read
    if len(values) < LEAST or not is_plain(values):
        return None
    if _read < WORTH:
        _read += len(values)
        return None
    return compiled()


def is_plain(values: Floats) -> bool:
    """Whether an array is one that loops can read."""
    return values.dtype == np.float64 and values.flags.c_contiguous and values.flags.aligned


def address(array: Any) -> int:
    """Where an array begins."""
    place: int = array.__array_interface__["data"][0]
    return place


@lru_cache(maxsize=1)
def compiled() -> Kernels | None:
    """The loops, compiled now for this processor; None where llvmlite is not installed or is of another age."""
    try:
        addresses = _compiled((files("nobounds.counting") / "kernels.ll").read_text())
    except Exception:  # no release depends on it, and numpy does the same
        return None
    return Kernels(*(_loop(name, addresses[name]) for name in Kernels._fields))


def _compiled(text: str) -> dict[str, int]:
    """The address of each function of a text, which stays in memory."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3
    )
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _engines.append(engine)
    return {name: engine.get_function_address(name) for name in _ARGUMENTS}


_engines: list[Any] = []  # what they compiled ends with them


def _loop(name: str, place: int) -> Callable[..., None]:
    """A function of an array and of more arguments; it lets other threads run."""
    call = ctypes.CFUNCTYPE(None, _POINTER, _LONG, *_ARGUMENTS[name])(place)
    return lambda values, *arguments: call(address(values), len(values), *arguments)
