"""The design of a study: how it is asked for, what is usual where nothing is asked, and whom it tests.

Every study has two designs, one with overall connectivity as a covariate and one without, so that both results can
stand beside each other. All that is to be known of them is known before anything is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import USUAL_COVARIATES, covariate_words, listed, not_ruled_out, percent
from biobgt.data.atlas import LABELLINGS
from biobgt.inference.design import AVERAGED, Recordings, StudyDesign, study_design
from biobgt.inference.edges import EdgeOptions
from biobgt.inference.formula import INTERCEPT, MOTION, parse_formula, term_name, variables_of

Harmonisation = Literal["none", "combat", "robust"]
OVERALL = "overall_connectivity"  # in formulas: mean |FC|, or the mean weight
NONE, COMBAT, ROBUST = get_args(Harmonisation)
Consensus = Literal["none", "share", "distance"]
_, SHARE, DISTANCE = get_args(Consensus)
Gaps = Literal["regions", "people"]
REGIONS, PEOPLE = get_args(Gaps)
_KNOWN_OF_MOST = 0.9  # of the recordings; a covariate known of fewer would cost too many people unasked
_GROUP = "group"


@dataclass(frozen=True)
class DesignOptions(EdgeOptions):
    """What a study tests, in whom, adjusted for what; edges, permutations and seed as for a single test of edges."""

    design: str = option(
        "",
        title="Design",
        help="Formula over the phenotypes, such as '~ group + age + sex'. Default: what is tested, and of motion, age, "
        "sex and site those that are known.",
    )
    test: str = option(
        "",
        title="Test",
        help="The term of the formula that is tested: a variable, an interaction such as group:age, or 1 for the mean. "
        "Default: group, or the formula's only term.",
    )
    repeated: Recordings = option(
        AVERAGED,
        title="Several recordings of a person",
        help="Averaged, or compared within each person, such as eyes open and closed.",
        shown=str.capitalize,
    )
    within: str = option(
        "", title="Permute within", help="A variable within whose values people are permuted, such as site."
    )
    unequal_variances: bool = option(
        True,
        title="Variances may differ",
        help="Each tested group, and for numbers each person, has its own variance, and signs of residuals are turned. "
        "Otherwise all have one variance, and residuals are permuted.",
        flag="--unequal-variances/--equal-variances",
    )
    overall: bool = option(
        False,
        title="Adjust for overall connectivity",
        help="Make overall connectivity a covariate of the main result. Results with and without it are always both "
        "given.",
        flag="--adjust-overall/--no-adjust-overall",
    )
    harmonise: Harmonisation = option(
        NONE,
        title="Harmonise sites",
        help="ComBat takes away what sites add to each measure, its mean and its variance, and preserves what is "
        "tested and adjusted for. Robust: single people who are far off do not decide.",
        shown={NONE: "No", COMBAT: "ComBat", ROBUST: "ComBat, robust"},
    )
    harmonise_by: str = option(
        "site", title="Harmonise by", help="The variable whose values are harmonised: sites or scanners."
    )
    harmonise_on: str = option(
        "",
        title="Fit harmonisation on",
        help="A group, such as NC: what sites add is estimated on it alone, and taken away from everybody of these "
        "sites. Default: everybody.",
    )
    gaps: Gaps = option(
        REGIONS,
        title="Without signal",
        help="What is left out where a region has no signal in somebody: the region, or the person.",
        shown={REGIONS: "Leave the region out", PEOPLE: "Leave the person out"},
    )
    edge_consensus: Consensus = option(
        NONE,
        title="Consensus of edges",
        help="Of structural connectomes, test the edges that a share of people have, or of every length as many as a "
        "person has on average, the most common first; lengths are those of tracts where given, else distances.",
        shown={NONE: "All edges", SHARE: "Share of people", DISTANCE: "By length"},
    )
    consensus_share: float = option(
        0.5, title="Share of people", help="Who must have an edge, for --edge-consensus share.", above=0, high=1
    )
    labelling: str = option(
        "",
        title="Functional networks",
        help="Networks whose blocks of edges are tested. Default: the first labels of the atlas.",
        shown=LABELLINGS,
    )
    own_map: str = option(
        "",
        title="Own map",
        help="Text table with a column 'region', of names or numbers, and one of values: a map with which those of the "
        "study are compared.",
    )
    own_map_column: str = option("", title="Column of the map", help="Of values, where the table has several.")


@dataclass(frozen=True, eq=False)
class PlannedStudy:
    """What is known of a study's test before anything is computed.

    Attributes
    ----------
    designs : dict of bool to StudyDesign
        By whether overall connectivity is adjusted for; the one that was asked for first. One that cannot be tested is
        not there, unless it is the one that was asked for, which is refused.
    variables : DataFrame, n_recordings rows
        What the formula may name.
    notes : tuple of str
        What was chosen where nothing was named, and what cannot be tested.
    """

    designs: dict[bool, StudyDesign]
    variables: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def main(self) -> StudyDesign:
        """The design that was asked for."""
        return next(iter(self.designs.values()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is to be said before anything is computed."""
        return tuple(dict.fromkeys([*self.notes, *self.main.notes]))


def plan_study(
    table: pd.DataFrame, persons: Sequence[str], options: DesignOptions, overall: FloatArray | None = None
) -> PlannedStudy:
    """Make the designs of a study, or refuse what cannot be tested.

    Parameters
    ----------
    table : DataFrame, n_recordings rows
        As :meth:`biobgt.data.cohort.Cohort.table` makes it.
    persons : sequence of str, length n_recordings
    options : DesignOptions
    overall : ndarray, shape (n_recordings,), optional
        Overall connectivity; before it is measured there is only the design without it.
    """
    variables = variables_of(table)
    formula, test, notes = _asked(variables, persons, options)
    adjusted = formula
    if overall is not None:
        variables = variables.assign(**{OVERALL: overall})
        adjusted = f"{formula} + {OVERALL}"
    designs: dict[bool, StudyDesign] = {}
    for with_overall in (options.overall, not options.overall) if overall is not None else (False,):
        design = study_design(
            variables,
            adjusted if with_overall else formula,
            test=test,
            persons=persons,
            recordings=options.repeated,
            within=options.within,
            unequal_variances=options.unequal_variances,
        )
        try:
            design.check()
        except InputError as error:
            if not designs:
                raise
            notes.append(f"Tested {'without' if with_overall else 'with'} overall connectivity only. {error}")
            continue
        designs[with_overall] = design
    return PlannedStudy(designs, variables, tuple(notes))


def _asked(variables: pd.DataFrame, persons: Sequence[str], options: DesignOptions) -> tuple[str, str, list[str]]:
    """The formula, the tested term, and what is said of them where they were not named."""
    if options.design:
        return options.design, options.test or _only_term(options.design), []
    test = options.test or _GROUP
    if test == _GROUP and (_GROUP not in variables or variables[_GROUP].nunique() < 2):
        raise InputError(
            "No design was named, and there are no two groups to compare. Name what is tested, for example "
            "--design '~ age + sex' --test age, or bring a table of groups with --phenotypes."
        )
    taken, notes = _usual_covariates(variables, persons, options)
    tested = [] if test in (INTERCEPT, "intercept") else [test.replace(":", "*")]
    formula = "~ " + (" + ".join([*tested, *taken]) or INTERCEPT)
    said = f"No design was named, so {formula} is fitted and {test if tested else 'the mean'} is tested."
    return formula, test, [said, *notes]


def _only_term(formula: str) -> str:
    """What is tested by a formula where nothing is said: the group, or the only term."""
    terms = [term_name(term) for term in parse_formula(formula) if term]
    if _GROUP in terms or not terms:
        return _GROUP if terms else INTERCEPT
    if len(terms) == 1:
        return terms[0]
    raise InputError(f"Which term of '{formula}' is tested? Name it with --test, for example --test {terms[0]}.")


def _usual_covariates(
    variables: pd.DataFrame, persons: Sequence[str], options: DesignOptions
) -> tuple[list[str], list[str]]:
    """Of motion, age, sex and site those that a test is adjusted for unasked, and a sentence on the others."""
    tested = variables_in(options.test or _GROUP)
    taken, absent, scarce = [], [], []
    for name in USUAL_COVARIATES:
        if name in tested or (name == "log_mean_fd" and MOTION in tested):
            continue
        if name not in variables or variables[name].isna().all():
            absent.append(name)
        elif (share := variables[name].notna().mean()) < _KNOWN_OF_MOST:
            scarce.append(f"{covariate_words(name)} (known of {percent(share)})")
        elif options.repeated == AVERAGED or _varies_within(variables[name], persons):
            taken.append(name)
    notes = [f"Not adjusted for {listed(scarce)}."] if scarce else []
    return taken, [*notes, *([not_ruled_out(absent)] if absent else [])]


def variables_in(term: str) -> set[str]:
    """The variables of a term, however they are transformed.

    >>> sorted(variables_in("C(site):age"))
    ['age', 'site']
    """
    return {factor.variable for one in parse_formula(f"~ {term.replace(':', '*')}") for factor in one}


def _varies_within(values: "pd.Series[float]", persons: Sequence[str]) -> bool:
    return bool(values.groupby(np.asarray(persons, object)).nunique().max() > 1)
