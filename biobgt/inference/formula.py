"""A formula such as ``~ group * age + motion`` to the columns of a linear model; nothing in it is ever run.

A formula is typed by users, also on a server. Its words are read here one by one: names of variables, the signs
``+ * : -``, brackets, and a fixed list of transforms. Everything else is refused. Then each variable is given a number,
and ``formulaic`` is asked only which terms ``v0 * v1 + v2`` has: it sees no word of the user, and evaluates nothing.

Numbers are centred, and the columns of a variable of words add up to zero over its values (sum coding). Beside an
interaction ``group * age``, the term ``group`` is therefore the difference at the mean age, not at the age of 0.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.wording import counted, listed
from biobgt.inference.covariates import coded, covariates_of

INTERCEPT = "1"
MOTION = "motion"  # in formulas log_mean_fd may be named so
_RECORDED = frozenset({"data", "regions", "simulated", "subject"})  # columns about the recording
_CONTROLS = "NC"  # comes first of all groups

_LONGEST = 500
_MOST_VARIABLES, _MOST_PRODUCTS, _MOST_IN_A_TERM = 30, 5, 3
_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|(?P<sign>[-+*:~(),]))")


def _powers(values: FloatArray, degree: int) -> FloatArray:
    """The powers of a number from the first to a degree, each without what the ones before it say."""
    centred = (values - values.mean()) / (values.std() or 1)
    q, r = np.linalg.qr(np.vander(centred, degree + 1, increasing=True))
    return np.asarray((q * np.diag(r))[:, 1:])


# What may stand before a bracket, of one variable; "c" takes a number as a word.
TRANSFORMS: Mapping[str, Callable[..., FloatArray]] = {
    "log": np.log,
    "sqrt": np.sqrt,
    "poly": _powers,
    "c": np.asarray,
}
_TRANSFORM_WORDS = "log(x), sqrt(x), poly(x, 2) and C(x)"


@dataclass(frozen=True)
class Factor:
    """A variable in a formula, as it is or transformed.

    Attributes
    ----------
    variable : str
        Column of the table, in lower case.
    transform : str
        Of :data:`TRANSFORMS`; empty for none.
    degree : int
        Of ``poly``.
    """

    variable: str
    transform: str = ""
    degree: int = 0

    def __str__(self) -> str:
        if not self.transform:
            return self.variable
        name = "C" if self.transform == "c" else self.transform
        return f"{name}({self.variable}{f', {self.degree}' if self.degree else ''})"


Term = tuple[Factor, ...]  # one factor, or those of an interaction; none is the intercept


def term_name(term: Term) -> str:
    """A term as it is written: ``group``, ``group:age``; ``1`` is the intercept."""
    return ":".join(map(str, term)) or INTERCEPT


def parse_formula(text: str) -> tuple[Term, ...]:
    """Read which terms a formula has; nothing of it is evaluated.

    Parameters
    ----------
    text : str
        ``~ group + age``; what stands before ``~`` must be empty. ``a * b`` is ``a + b + a:b``.

    Returns
    -------
    tuple of tuple of Factor
        The terms, the intercept (an empty tuple) first.

    Examples
    --------
    >>> [term_name(term) for term in parse_formula("~ group * log(Age) - group:log(age) + C(site)")]
    ['1', 'group', 'log(age)', 'C(site)']
    """
    if len(text) > _LONGEST:
        raise InputError(f"The formula has {len(text):,} characters, and {_LONGEST} are allowed. Write a shorter one.")
    written, factors = _numbered(_tokens(text), text)
    from formulaic.errors import FormulaSyntaxError  # three quarters of a second of import, for those who need it
    from formulaic.parser import DefaultFormulaParser

    try:
        found: Any = DefaultFormulaParser().get_terms(written)
    except FormulaSyntaxError as error:
        raise InputError(f"The formula '{text}' cannot be read: a sign or a bracket is missing or too many.") from error
    terms = [tuple(factors[int(str(one)[1:])] for one in term.factors if str(one) != "1") for term in found]
    terms = sorted({frozenset(term): term for term in terms}.values(), key=len)
    if () not in terms:
        raise InputError(f"The formula '{text}' takes the intercept away. Every design here has one: leave '- 1' out.")
    largest = max(terms, key=len)
    if len(largest) > _MOST_IN_A_TERM:
        raise InputError(f"The interaction {term_name(largest)} has more than {_MOST_IN_A_TERM} variables.")
    known = {frozenset(term) for term in terms}
    for term in terms:
        for one in term:
            if frozenset(term) - {one} not in known:
                lacking = term_name(tuple(other for other in term if other is not one))
                raise InputError(
                    f"The formula has the interaction {term_name(term)} without {lacking}, and the test of it would "
                    f"be one of both. Write {' * '.join(map(str, term))}, or add {lacking}."
                )
    return tuple(terms)


def _tokens(text: str) -> list[str]:
    """The words, numbers and signs of a formula without its first ``~``; anything else is refused."""
    tokens, at, text = [], 0, text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise InputError(
                f"'{text[at:].strip()[:10]}' cannot stand in a formula. It may hold names of columns, + * : - and "
                f"brackets, and {_TRANSFORM_WORDS}. In names of columns, write _ for blanks and signs."
            )
        tokens.append(found[0].strip().lower())
        at = found.end()
    if tokens[:1] == ["~"]:
        tokens = tokens[1:]
    if "~" in tokens:
        raise InputError("What is measured is not part of the formula: begin it with ~, as in '~ group + age'.")
    if not tokens:
        raise InputError("The formula is empty. Write, for example, '~ group + age'.")
    return tokens


def _numbered(tokens: Sequence[str], text: str) -> tuple[str, list[Factor]]:
    """The formula with a number for each factor, and the factors."""
    factors: list[Factor] = []
    written, at = [], 0
    while at < len(tokens):
        token = tokens[at]
        if not (token[0].isalpha() or token[0] == "_"):
            if token.isdigit() and token != "1":
                raise InputError(f"The number {token} cannot stand in the formula '{text}', only within poly(x, 2).")
            if token == "," or tokens[at : at + 2] == ["*", "*"]:
                raise InputError(f"'{'**' if token == '*' else token}' cannot stand there in the formula '{text}'.")
            written.append(token)
            at += 1
            continue
        if tokens[at + 1 : at + 2] == ["("]:
            factor, at = _transformed(tokens, at, text)
        else:
            factor, at = Factor(token), at + 1
        if factor not in factors:
            factors.append(factor)
        written.append(f"v{factors.index(factor)}")
    if len(factors) > _MOST_VARIABLES or sum(written.count(sign) for sign in "*:") > _MOST_PRODUCTS:
        raise InputError(
            f"A formula may have {_MOST_VARIABLES} variables and {_MOST_PRODUCTS} signs * or :. This one has "
            f"{len(factors)} and {sum(written.count(sign) for sign in '*:')}."
        )
    return " ".join(written), factors


def _transformed(tokens: Sequence[str], at: int, text: str) -> tuple[Factor, int]:
    """The transformed variable whose name stands at a place, and where the formula goes on."""
    name = tokens[at]
    if name not in TRANSFORMS:
        raise InputError(f"There is no transform '{name}'. A formula may hold {_TRANSFORM_WORDS}.")
    inside = list(tokens[at + 2 : tokens.index(")", at)]) if ")" in tokens[at:] else []
    degree = 0
    if name == "poly" and len(inside) == 3 and inside[1] == "," and inside[2] in {"2", "3", "4"}:
        degree, inside = int(inside[2]), inside[:1]
    if len(inside) != 1 or not (inside[0][0].isalpha() or inside[0][0] == "_") or (name == "poly") != bool(degree):
        raise InputError(
            f"In the formula '{text}', {name}() does not hold one variable"
            f"{' and a degree of 2 to 4' if name == 'poly' else ''}. It may hold {_TRANSFORM_WORDS}."
        )
    return Factor(inside[0], name, degree), tokens.index(")", at) + 1


# The variables of a table, and the columns that terms have.


def variables_of(cohort_table: pd.DataFrame) -> pd.DataFrame:
    """What a formula may name: motion, age, sex, site by their usual names, the group, and all other columns.

    Parameters
    ----------
    cohort_table : DataFrame
        As :meth:`biobgt.data.cohort.Cohort.table` makes it, or a phenotype table.

    Returns
    -------
    DataFrame
        The same rows. Names are in lower case with ``_`` for anything but letters and digits. ``motion`` is the
        logarithm of mean FD, unless the table has a column of that name. Unknown values are missing; sex and site are
        words even where they are coded as numbers.
    """
    table = {str(name): values.to_numpy() for name, values in covariates_of(cohort_table).table.items()}
    for column in cohort_table.columns:
        name = re.sub(r"\W+", "_", str(column).strip().lower()).strip("_")
        if name in table or name in _RECORDED or not name:
            continue
        table[name] = coded(cohort_table[[column]].rename(columns={column: name}))[name].to_numpy()
    if "group" in table:
        table["group"] = pd.Series(table["group"], dtype=object).map(_as_word, na_action="ignore").to_numpy()
    if MOTION not in table and "log_mean_fd" in table:
        table[MOTION] = table["log_mean_fd"]
    return pd.DataFrame(table)


def check_variables(terms: Sequence[Term], variables: pd.DataFrame) -> None:
    """Refuse a formula that names what the table does not have."""
    for factor in (factor for term in terms for factor in term):
        if factor.variable not in variables.columns:
            known = ", ".join(map(str, variables.columns)) or "none"
            raise InputError(f"There is no variable '{factor.variable}'. The table has: {known}.")
        if factor.transform not in ("", "c") and not pd.api.types.is_numeric_dtype(variables[factor.variable]):
            raise InputError(f"{factor} needs numbers, and '{factor.variable}' has words.")


def is_missing(factor: Factor, variables: pd.DataFrame) -> "pd.Series[bool]":
    """Where a factor is not known: a missing value, or one that the transform does not take."""
    values = variables[factor.variable]
    if factor.transform == "log":
        return values.isna() | (values <= 0)
    return values.isna() | (values < 0) if factor.transform == "sqrt" else values.isna()


def levels_of(factor: Factor, variables: pd.DataFrame) -> tuple[str, ...]:
    """The values of a variable of words, controls first and then by name; none for numbers."""
    values = variables[factor.variable]
    if factor.transform != "c" and pd.api.types.is_numeric_dtype(values):
        return ()
    words = sorted({_as_word(value) for value in values.dropna()}, key=_as_listed)
    return tuple(sorted(words, key=lambda word: word != _CONTROLS))


def words_of(factor: Factor, variables: pd.DataFrame) -> NDArray[np.object_]:
    """The value of each row as a word, of :func:`levels_of`; nothing is missing."""
    return np.array([_as_word(value) for value in variables[factor.variable]], dtype=object)


def _as_word(value: object) -> str:
    """A value as a word: 1.0 is ``1``."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _as_listed(word: str) -> tuple[float, str]:
    """Numbers by size, then words by letter."""
    try:
        return float(word), word
    except ValueError:
        return float("inf"), word


def factor_columns(factor: Factor, variables: pd.DataFrame) -> FloatArray:
    """The columns of one factor, shape (n_rows, n_columns); nothing is missing."""
    levels = levels_of(factor, variables)
    if levels:
        words = words_of(factor, variables)
        indicators = np.column_stack([words == level for level in levels]).astype(np.float64)
        return indicators @ level_codes(len(levels))
    numbers = variables[factor.variable].to_numpy(dtype=np.float64)
    if factor.transform:
        numbers = TRANSFORMS[factor.transform](*([numbers, factor.degree] if factor.degree else [numbers]))
    columns = numbers if numbers.ndim == 2 else numbers[:, None]
    return np.asarray(columns - columns.mean(axis=0))


def level_codes(n_levels: int) -> FloatArray:
    """What columns hold for each level, shape (n_levels, n_levels - 1); every column adds up to zero.

    >>> level_codes(3).tolist()
    [[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    return np.vstack([-np.ones((1, n_levels - 1)), np.eye(n_levels - 1)])


def term_columns(term: Term, variables: pd.DataFrame) -> FloatArray:
    """The columns of a term, shape (n_rows, n_columns): products of its factors' columns, ones for the intercept."""
    columns = np.ones((len(variables), 1))
    for factor in term:
        own = factor_columns(factor, variables)
        n_columns = columns.shape[1] * own.shape[1]
        if n_columns > len(variables):
            raise InputError(
                f"The term {term_name(term)} would have {counted(n_columns, 'column')} for "
                f"{counted(len(variables), 'row')}. Leave out {listed([str(one) for one in term], 'or')}."
            )
        columns = (columns[:, :, None] * own[:, None, :]).reshape(len(variables), n_columns)
    return columns
