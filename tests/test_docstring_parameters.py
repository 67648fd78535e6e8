"""A public function of three arguments or more says what each of them is, and of every array its shape."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import click
import pytest
from typer.main import get_command

import biobgt
from biobgt.cli.main import app

PACKAGE = Path(biobgt.__file__).parent
APP = PACKAGE.parent / "app"
MANY = 3
_ARRAY = re.compile(r"\b(NDArray|ndarray|ArrayLike|Tensor|Matrix|AnyMatrix|Array|Values|Indices|Ends)\b")


def _commands(group: click.Group) -> dict[str, click.Command]:
    """All commands of a group by the names of their functions."""
    context, found = click.Context(group), {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        found |= _commands(command) if hasattr(command, "list_commands") else {command.callback.__name__: command}
    return found


COMMANDS = _commands(get_command(app))


def public_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, str]]:
    """Functions of a module and methods of its classes, with what documents their arguments.

    Without those whose names begin with an underscore. Of a constructor's arguments the docstring of its class tells.
    """
    owners = [("", "", tree.body)]
    owners += [
        (f"{node.name}.", ast.get_docstring(node) or "", node.body)
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    ]
    for owner, of_class, body in owners:
        for node in body:
            if isinstance(node, ast.FunctionDef) and not f".{owner}{node.name}".replace("__init__", "").count("._"):
                own = ast.get_docstring(node) or ""
                yield f"{owner}{node.name}", node, f"{of_class}\n" * (node.name == "__init__") + own


def arguments_of(function: ast.FunctionDef) -> dict[str, str]:
    """The annotations of a function's arguments, by name."""
    given = function.args
    arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    annotations = {one.arg: "" if one.annotation is None else ast.unparse(one.annotation) for one in arguments}
    return {name: annotation for name, annotation in annotations.items() if name not in ("self", "cls")}


def entries(docstring: str) -> dict[str, str]:
    """What the section on parameters says, by the names before its colons."""
    _, _, section = docstring.partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w[\w ]*\n---", section)[0]
    found = {}
    for entry in re.split(r"\n(?=\S)", section):
        names = entry.splitlines()[0].partition(" :")[0] if entry else ""
        found |= {name.strip(): entry for name in names.split(",")}
    return found


def is_array(annotation: str) -> bool:
    return bool(_ARRAY.search(annotation)) and "Callable" not in annotation


def undescribed(source: str, commands: Collection[str] = ()) -> dict[str, list[str]]:
    """Arguments that nothing is said of, and arrays without their shape, by function.

    Arguments that become options of the command line have a help text instead: ``--help`` prints the docstring of a
    command first, and a section on parameters would say every option twice. A function of few arguments may tell of
    them in its sentence; where it has the section, the section tells the shapes.
    """
    found = {}
    for name, function, docstring in public_functions(ast.parse(source)):
        if name in commands or "typer." in ast.unparse(function.args):
            continue
        arguments, said = arguments_of(function), entries(docstring)
        many = len(arguments) >= MANY
        missing = [one for one in arguments if one not in said and many]
        shapeless = [
            f"shape of {one}"
            for one, annotation in arguments.items()
            if one in said and is_array(annotation) and "shape" not in said[one]
        ]
        if missing or shapeless:
            found[name] = [*missing, *shapeless]
    return found


def test_every_argument_is_described() -> None:
    missing = {}
    for path in sorted([*PACKAGE.rglob("*.py"), *APP.rglob("*.py")]):
        where = path.relative_to(PACKAGE.parent)
        commands = COMMANDS if "cli" in where.parts else ()
        if found := undescribed(path.read_text(encoding="utf-8"), commands):
            missing[where.as_posix()] = found
    assert missing == {}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_every_option_of_a_command_is_described(command: click.Command) -> None:
    assert command.help
    assert not [one.name for one in command.params if not getattr(one, "help", None)]


def test_what_is_missing_is_seen() -> None:
    source = '''
class Layer:
    """A layer.

    Parameters
    ----------
    width, heads : int
        Not dropout : it comes later.

    Returns
    -------
    dropout : int
    """
    def __init__(self, width, heads, dropout): ...
    def __call__(self, one, two, three): ...
    def of(self, one, two, *, three): ...
class _Own:
    def __init__(self, one, two, three): ...
def few(one, two): ...
def _private(one, two, three): ...
def shaped(one: NDArray[np.float64], two: Tensor | None, three: Callable[[Tensor], Tensor]):
    """Do something.

    Parameters
    ----------
    one : ndarray
        The weights, shape (n_regions, n_regions).
    two : Tensor, optional
    three : callable
    """
'''
    missing = {"Layer.__init__": ["dropout"], "Layer.of": ["one", "two", "three"], "shaped": ["shape of two"]}
    assert undescribed(source) == missing
