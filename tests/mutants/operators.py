"""Small changes of a function's syntax tree: the n-th node of a kind becomes another expression, or is left out.

An operator says which node it means by its kind and what is in it (an addition, a call of `max`, the test of an `if`),
never by the names of variables around it, so renaming or formatting breaks no mutant. The new expression is a text in
which `_` stands for the old one, and `_1`, `_2`, ... for its parts: the operands, the arguments, the elements. `_0` is
what a method or an attribute belongs to.
"""

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass

BINARY = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "**": ast.Pow,
    "<<": ast.LShift,
    ">>": ast.RShift,
    "&": ast.BitAnd,
}
COMPARED = {
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
    "is not": ast.IsNot,
}
LOGIC = {"and": ast.And, "or": ast.Or}


@dataclass(frozen=True, slots=True)
class Operator:
    """The n-th node of a kind, with this in it, becomes the new expression; -1 is the last."""

    kind: str
    what: object
    new: str
    nth: int = 1


def binary(operator: str, new: str, nth: int = 1) -> Operator:
    """An arithmetic operation; `_1` and `_2` are its operands."""
    return Operator("binary", operator, new, nth)


def compare(operator: str, new: str, nth: int = 1) -> Operator:
    """A comparison; `_1` and `_2` are its sides."""
    return Operator("compare", operator, new, nth)


def logic(operator: str, new: str, nth: int = 1) -> Operator:
    """A chain of `and` or of `or`; `_1`, `_2`, ... are its operands."""
    return Operator("logic", operator, new, nth)


def condition(new: str, nth: int = 1) -> Operator:
    """The test of an `if` statement."""
    return Operator("condition", "if", new, nth)


def choice(new: str, nth: int = 1) -> Operator:
    """A conditional expression, `_1 if _3 else _2`."""
    return Operator("choice", "if else", new, nth)


def call(name: str, new: str, nth: int = 1) -> Operator:
    """A call of a function or method; `_1`, `_2`, ... are its arguments, keywords among them."""
    return Operator("call", name, new, nth)


def constant(value: object, new: str, nth: int = 1) -> Operator:
    """A number, a string or a truth value."""
    return Operator("constant", value, new, nth)


def text(old: str, new: str, nth: int = 1) -> Operator:
    """A string with this in it, for which another stands afterwards; f-strings too."""
    return Operator("text", old, new, nth)


def name(of: str, new: str, nth: int = 1) -> Operator:
    """A variable or argument that is read, for those that are part of the interface."""
    return Operator("name", of, new, nth)


def attribute(of: str, new: str, nth: int = 1) -> Operator:
    """An attribute that is read; `_0` is what it belongs to."""
    return Operator("attribute", of, new, nth)


def subscript(new: str, nth: int = 1) -> Operator:
    """An element or a slice, `_1[_2]`."""
    return Operator("subscript", "[]", new, nth)


def sequence(new: str, nth: int = 1) -> Operator:
    """A tuple; `_1`, `_2`, ... are its elements."""
    return Operator("sequence", "()", new, nth)


def negation(new: str, nth: int = 1) -> Operator:
    """A minus sign; `_1` is what stands behind it."""
    return Operator("negation", "-", new, nth)


def drop(what: str, nth: int = 1) -> Operator:
    """A statement that is left out: `-=` and the like, `[] =`, or the name of a function that is called."""
    return Operator("drop", what, "pass", nth)


def mutated(source: str, function: str, operator: Operator) -> tuple[str, str, str]:
    """The changed source, and the statement that was changed, before and after."""
    tree = ast.parse(source)
    place = named(tree, function)
    matching = [node for node in _within(place) if _fits(node, operator)]
    if len(matching) < abs(operator.nth) or not operator.nth:
        raise ValueError(
            f"{function} has {len(matching)} of {operator.kind} {operator.what!r}, so none is number {operator.nth}:\n"
            f"{ast.unparse(place)}"
        )
    old = matching[operator.nth - 1 if operator.nth > 0 else operator.nth]
    known = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)
    }
    statement = next(node for node in reversed(list(_statements(place))) if old is node or old in _within(node))
    before = _shown(statement)
    change = _Change(old, _new(old, operator, known))
    changed = ast.fix_missing_locations(change.visit(tree))
    after = "" if operator.kind == "drop" else _shown(statement)
    return ast.unparse(changed) + "\n", before, after


def named(tree: ast.Module, function: str) -> ast.AST:
    """The function, method or constant of that qualified name."""
    place: ast.AST = tree
    for part in function.split("."):
        inside = [node for node in _defined(place) if _name_of(node) == part]
        if not inside:
            raise ValueError(f"there is no {function}")
        place = inside[0]
    return place


def _name_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, in the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _within(child)


def _defined(place: ast.AST) -> Iterator[ast.AST]:
    """What is defined in a module, a class or a function, and not within another definition there."""
    for child in ast.iter_child_nodes(place):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _defined(child)


def _statements(place: ast.AST) -> Iterator[ast.stmt]:
    return (node for node in _within(place) if isinstance(node, ast.stmt))


def _fits(node: ast.AST, operator: Operator) -> bool:
    what = operator.what
    match operator.kind, node:
        case "binary", ast.BinOp():
            return isinstance(node.op, BINARY[str(what)])
        case "compare", ast.Compare():
            return len(node.ops) == 1 and isinstance(node.ops[0], COMPARED[str(what)])
        case "logic", ast.BoolOp():
            return isinstance(node.op, LOGIC[str(what)])
        case "condition", _:
            return isinstance(node, ast.If)
        case "choice", ast.IfExp():
            return True
        case "call", ast.Call():
            return _called(node) == what
        case "constant", ast.Constant():
            return type(node.value) is type(what) and node.value == what
        case "text", ast.Constant():
            return isinstance(node.value, str) and str(what) in node.value
        case "name", ast.Name():
            return isinstance(node.ctx, ast.Load) and node.id == what
        case "attribute", ast.Attribute():
            return isinstance(node.ctx, ast.Load) and node.attr == what
        case ("subscript", ast.Subscript()) | ("sequence", ast.Tuple()):
            return isinstance(node.ctx, ast.Load)
        case "negation", ast.UnaryOp():
            return isinstance(node.op, ast.USub)
        case "drop", ast.AugAssign():
            return what == {ast.Add: "+=", ast.Sub: "-="}.get(type(node.op))
        case "drop", ast.Assign():
            return what == "[] =" and isinstance(node.targets[0], ast.Subscript)
        case "drop", ast.Expr(value=ast.Call()):
            return _called(node.value) == what
    return False


def _called(node: ast.Call) -> str | None:
    function = node.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)


def _parts(node: ast.AST) -> dict[str, ast.expr]:
    match node:
        case ast.BinOp():
            parts = [node.left, node.right]
        case ast.Compare():
            parts = [node.left, *node.comparators]
        case ast.BoolOp():
            parts = node.values
        case ast.IfExp():
            parts = [node.body, node.orelse, node.test]
        case ast.Call():
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        case ast.Subscript():
            parts = [node.value, node.slice]
        case ast.Tuple():
            parts = node.elts
        case ast.UnaryOp():
            parts = [node.operand]
        case _:
            parts = []
    named_parts = {f"_{k}": part for k, part in enumerate(parts, 1)} | {"_": node}
    owner = node.func if isinstance(node, ast.Call) else node
    return named_parts | ({"_0": owner.value} if isinstance(owner, ast.Attribute) else {})


def _new(old: ast.AST, operator: Operator, known: set[str]) -> ast.AST:
    """The new node; a name in it that the module does not have would fail for the wrong reason, and is refused."""
    if operator.kind == "drop":
        return ast.Pass()
    if operator.kind == "text":
        assert isinstance(old, ast.Constant)
        return ast.Constant(old.value.replace(operator.what, operator.new))
    whole = old.test if isinstance(old, ast.If) else old
    parts = _parts(whole)
    new = ast.parse(operator.new, mode="eval").body
    for node in ast.walk(new):
        if isinstance(node, ast.Name) and node.id not in known | parts.keys() | {"float", "max", "min", "abs"}:
            raise ValueError(f"{operator.new!r} has the name {node.id}, which is not in the module")
    new = _Filled(parts).visit(new)
    if isinstance(old, ast.If):
        return ast.If(new, old.body, old.orelse)
    return new


class _Filled(ast.NodeTransformer):
    """Puts the parts of the old expression in the places of `_`, `_1`, ...."""

    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if re.fullmatch(r"_\d*", node.id) and node.id not in self.parts:
            raise ValueError(f"the old expression has no part {node.id}")
        return copy.deepcopy(self.parts[node.id]) if node.id in self.parts else node


class _Change(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.old:
            if isinstance(node, ast.If):
                assert isinstance(self.new, ast.If)
                node.test = self.new.test
                return node
            return self.new
        return super().visit(node)


def _shown(statement: ast.stmt) -> str:
    """A statement, or the first line of one that has others in it."""
    return ast.unparse(statement).split("\n")[0]
