"""Does a difference go beyond what is simpler? What is simpler than each measure, and the one word of the answer.

Hubs, modules and attention are made of connectivity, so that a difference in them can be one in a simpler quantity of
the same graph: strength and degree of a region, the size of its module (Power et al., Neuron 2013), connectivity
overall or of the same block. Every such difference is therefore tested again given that quantity, as one more
covariate of each feature. Measures name what is simpler than they are (``simpler``); the tests and the sentences of
all tables, figures and reports read it here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import passes
from biobgt.base.options import Registry
from biobgt.base.wording import listed

STRENGTH, DEGREE, MODULE_SIZE, OVERALL, SAME_BLOCK = "strength", "degree", "module_size", "overall", "block"
BEYOND = "beyond_fc"  # the column with the word
GIVEN_FC = "_given_fc"  # ends the columns of the test given what is simpler
YES, NO, NOT_TESTED, NOTHING_FOUND = "yes", "no", "not tested", "–"
BEYOND_MEANS = (
    "Whether the difference goes beyond what is simpler: yes, it is found without and given that, in the same "
    "direction; no, it is found without it alone; not tested, it is found and could not be tested given it; –, it is "
    "not found, or nothing is simpler."
)


@dataclass(frozen=True)
class Simpler:
    """A quantity that is simpler than a measure made of the same connectivity.

    Attributes
    ----------
    key : str
    title : str
        As it stands within a sentence.
    """

    key: str
    title: str


SIMPLER: Registry[Simpler] = Registry(
    "simpler quantity",
    Simpler(STRENGTH, "the region's strength"),
    Simpler(DEGREE, "its degree"),
    Simpler(MODULE_SIZE, "the size of the region's module"),
    Simpler(OVERALL, "overall connectivity"),
    Simpler(SAME_BLOCK, "FC of the same block"),
)


def simpler_words(keys: Sequence[str]) -> str:
    """Simpler quantities within a sentence.

    >>> simpler_words(["strength", "degree"]), simpler_words(["overall"])
    ("the region's strength and its degree", 'overall connectivity')
    """
    return listed([SIMPLER[key].title for key in keys])


def beyond(q: ArrayLike, q_given: ArrayLike, effect: ArrayLike, effect_given: ArrayLike) -> NDArray[np.object_]:
    """The word of each feature, on whether its difference goes beyond what is simpler.

    Parameters
    ----------
    q, q_given : array-like, shape (n_features,)
        False discovery rates without and given what is simpler, each over the same features; NaN where not tested.
    effect, effect_given : array-like, shape (n_features,)
        A difference that changes its sign is another one: it does not go beyond.

    Returns
    -------
    ndarray of str, shape (n_features,)
        As :data:`BEYOND_MEANS` says.

    Examples
    --------
    >>> q, q_given = [0.01, 0.01, 0.01, 0.01, 0.6], [0.02, 0.3, 0.01, np.nan, 0.01]
    >>> beyond(q, q_given, [1, 1, 1, 1, 1], [1, 1, -1, 1, 1]).tolist()
    ['yes', 'no', 'no', 'not tested', '–']
    """
    found, given = passes(q), np.asarray(q_given, np.float64)
    alike = np.sign(np.asarray(effect, np.float64)) == np.sign(np.asarray(effect_given, np.float64))
    words = np.full(found.shape, NOTHING_FOUND, dtype=object)
    words[found] = NO
    words[found & passes(given) & alike] = YES
    words[found & ~np.isfinite(given)] = NOT_TESTED
    return words


def beyond_title(simpler: Sequence[str]) -> str:
    """What differences go beyond: FC or, of FC strength and degree, which are FC themselves, the size of the module."""
    return "Beyond module size" if tuple(simpler) == (MODULE_SIZE,) else "Beyond FC"


def beyond_words(words: Sequence[str], simpler: Sequence[str]) -> str:
    """How many differences go beyond what is simpler, as a sentence; empty where none is found.

    Parameters
    ----------
    words : sequence of str
        Of :func:`beyond`.
    simpler : sequence of str
        Of :data:`SIMPLER`; empty where nothing is.

    Examples
    --------
    >>> beyond_words(["yes", "no", "no", "–"], ["overall"])
    'Beyond FC: 1 of 3; given overall connectivity, the others are no longer found.'
    """
    n = {word: list(words).count(word) for word in (YES, NO, NOT_TESTED)}
    total = sum(n.values())
    if not total or not simpler:
        return ""
    given = simpler_words(simpler)
    untested = f" {n[NOT_TESTED]:,} could not be tested given it." if n[NOT_TESTED] else ""
    if not n[NO]:
        lost = f"found given {given} as well" if n[YES] else f"given {given}"
    elif n[YES]:
        lost = f"given {given}, {'the other is' if n[NO] == 1 else 'the others are'} no longer found"
    else:
        lost = f"given {given}, {'it is' if n[NO] == 1 else 'they are'} no longer found"
    return f"{beyond_title(simpler)}: {n[YES] or 'none'} of {total:,}; {lost}.{untested}"


def beyond_beside(word: str, simpler: Sequence[str] = ()) -> str:
    """What stands behind a rate in a figure: nothing where nothing is found.

    >>> beyond_beside("yes"), beyond_beside("–")
    (', beyond FC: yes', '')
    """
    title = beyond_title(simpler)
    return "" if word in (NOTHING_FOUND, "") else f", {title[0].lower()}{title[1:]}: {word}"


def beyond_methods(simpler: Sequence[str]) -> str:
    """The sentence of the methods on tests given what is simpler.

    Parameters
    ----------
    simpler : sequence of str
        Of :data:`SIMPLER`.
    """
    title = beyond_title(simpler)
    cite = " [@power2013]" if MODULE_SIZE in simpler else ""
    return (
        f"Each difference was tested again with {simpler_words(simpler)}{cite} as further covariates of the feature, "
        f"corrected alike; it goes {title[0].lower()}{title[1:]} where it is found both without and given these, in "
        "the same direction."
    )
