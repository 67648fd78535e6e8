"""A public function of three arguments or more says what each of them is."""

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
MANY = 3


def _commands(group: click.Group) -> dict[str, click.Command]:
    """All commands of a group by the names of their functions."""
    context, found = click.Context(group), {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        found |= _commands(command) if hasattr(command, "list_commands") else {command.callback.__name__: command}
    return found


COMMANDS = _commands(get_command(app))


def public_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and methods of its classes, without those whose names begin with an underscore."""
    owners = [("", tree.body)]
    owners += [(f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    for owner, body in owners:
        for node in body:
            if isinstance(node, ast.FunctionDef) and not f".{owner}{node.name}".count("._"):
                yield f"{owner}{node.name}", node


def arguments_of(function: ast.FunctionDef) -> list[str]:
    given = function.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]


def described(docstring: str) -> set[str]:
    """Names before the colons of the section on parameters."""
    _, _, section = docstring.partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w[\w ]*\n---", section)[0]
    names = (line.partition(" :")[0] for line in section.splitlines() if line and not line.startswith(" "))
    return {name.strip() for several in names for name in several.split(",")}


def undescribed(source: str, commands: Collection[str] = ()) -> dict[str, list[str]]:
    """Arguments that nothing is said of, by function.

    Arguments that become options of the command line have a help text instead: ``--help`` prints the docstring of a
    command first, and a section on parameters would say every option twice.
    """
    found = {}
    for name, function in public_functions(ast.parse(source)):
        if name in commands or "typer." in ast.unparse(function.args):
            continue
        arguments = arguments_of(function)
        missing = [one for one in arguments if one not in described(ast.get_docstring(function) or "")]
        if len(arguments) >= MANY and missing:
            found[name] = missing
    return found


def test_every_argument_is_described() -> None:
    missing = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE)
        commands = COMMANDS if "cli" in where.parts else ()
        if found := undescribed(path.read_text(encoding="utf-8"), commands):
            missing[where.as_posix()] = found
    assert not missing


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_every_option_of_a_command_is_described(command: click.Command) -> None:
    assert command.help
    assert not [one.name for one in command.params if not getattr(one, "help", None)]


def test_what_is_missing_is_seen() -> None:
    source = '''
class Measure:
    def of(self, one, two, *, three):
        """Say something.

        Parameters
        ----------
        one, two : int
            Not three : it comes later.

        Returns
        -------
        three : int
        """

    def _own(self, one, two, three): ...

def bare(one, two, three): ...

def few(one, two): ...

def _private(one, two, three): ...
'''
    assert undescribed(source) == {"Measure.of": ["three"], "bare": ["one", "two", "three"]}
