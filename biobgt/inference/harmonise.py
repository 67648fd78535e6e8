"""ComBat: what scanners and sites add to features, their shifts and scales, is estimated and taken away.

A feature of a person at site i is its mean, plus what is to be preserved (covariates), plus a shift and a scaled error
of the site: y = α + Xβ + γ_i + δ_i ε. Shifts and scales of single features are drawn towards those of all features of
their site, by parametric empirical Bayes (Johnson, Li & Rabinovic, Biostatistics 2007; for connectivity Yu et al.,
Human Brain Mapping 2018). Fitted on some people, such as controls or training subjects, it is applied to others of the
same sites. What differs between sites in more than the mean and variance of single features stays.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.wording import counted, covariate_words, listed, percent
from biobgt.data.cohort import number_of_people
from biobgt.inference.covariates import NOTED_SHARE
from biobgt.inference.linear_model import without_means
from biobgt.inference.sites import FEWEST_OF_SITE, drawn_together, pieces, shares_of_sites, site_statistics

_FEW_OF_SITE = 20  # below it a site's shifts and scales rest much on what all features have in common; noted
_FEWEST_FEATURES = 10  # a prior of all features needs some
_NAMED = 6

Coding = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, eq=False)
class Combat:
    """Shifts and scales of sites, fitted, to be taken away from the people they were fitted on and from others.

    Attributes
    ----------
    sites : tuple of str, length n_sites
    people : ndarray of int, shape (n_sites,)
        Of each site, whom it was fitted on.
    coding : tuple of (str, tuple of str)
        The covariates that are preserved, and the values of those that are words; numbers have none.
    mean : ndarray, shape (n_features,)
        Of all sites, weighted by their people, where all covariates are 0; NaN where a feature is not harmonised.
    slopes : ndarray, shape (n_columns, n_features)
        Of the covariates.
    sd : ndarray, shape (n_features,)
        Residual, of all sites.
    shifts : ndarray, shape (n_sites, n_features)
        In these SD.
    scales : ndarray, shape (n_sites, n_features)
        Residual SD of a site over that of all.
    robust, shrunk : bool
        How it was fitted; see :func:`fit_combat`.
    notes : tuple of str
        Sentences on whom it was fitted on and what is preserved, on small sites, confounding, and features that are
        not harmonised.
    """

    sites: tuple[str, ...]
    people: NDArray[np.int64]
    coding: Coding
    mean: FloatArray
    slopes: FloatArray
    sd: FloatArray
    shifts: FloatArray
    scales: FloatArray
    robust: bool
    shrunk: bool
    notes: tuple[str, ...]

    def harmonised(
        self, values: ArrayLike, sites: Sequence[object], covariates: pd.DataFrame | None = None
    ) -> FloatArray:
        """Values without the shifts and scales of their sites.

        Parameters
        ----------
        values : array-like, shape (n_rows, n_features)
            Of the people it was fitted on, or of others of these sites.
        sites : sequence of str, length n_rows
        covariates : DataFrame, n_rows rows, optional
            With the columns that are preserved.

        Returns
        -------
        ndarray, shape (n_rows, n_features)
            NaN where the value is missing or the feature is not harmonised.
        """
        array = _checked(values, sites)
        if array.shape[1] != len(self.mean):
            raise InputError(f"ComBat was fitted on {len(self.mean):,} features, and these are {array.shape[1]:,}.")
        names = _site_names(sites)
        if strange := sorted(set(names) - set(self.sites)):
            n = sum(name in strange for name in names)
            raise InputError(
                f"{counted(n, 'row')} of sites that ComBat was not fitted on ({_some(strange)}): what they add is not "
                "known. Fit it with people of these sites, or leave them out."
            )
        codes = np.array([self.sites.index(name) for name in names])
        columns = _columns(covariates, self.coding, len(array))
        found = np.empty_like(array)
        for some in pieces(array):
            expected = self.mean[some] + columns @ self.slopes[:, some]
            scaled = (array[:, some] - expected) / self.sd[some]
            found[:, some] = (scaled - self.shifts[codes, some]) / self.scales[codes, some] * self.sd[some] + expected
        return found

    def saved(self) -> dict[str, NDArray[np.generic]]:
        """All of it as arrays without objects, as :func:`numpy.savez` and :func:`combat_of_saved` take them."""
        found = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self) if field.name != "coding"}
        rows = [(name, level) for name, levels in self.coding for level in levels or ("",)]
        return found | {"coding": np.array(rows, np.str_).reshape(-1, 2)}


def combat_of_saved(saved: Mapping[str, NDArray[np.generic]]) -> Combat:
    """The fitted ComBat of what :meth:`Combat.saved` gave."""
    coding: dict[str, tuple[str, ...]] = {}
    for name, level in saved["coding"]:
        coding[str(name)] = (*coding.get(str(name), ()), *([str(level)] if level else []))
    words = {name: tuple(map(str, saved[name])) for name in ("sites", "notes")}
    flags = {name: bool(saved[name]) for name in ("robust", "shrunk")}
    arrays = {name: np.asarray(saved[name]) for name in ("people", "mean", "slopes", "sd", "shifts", "scales")}
    return Combat(coding=tuple(coding.items()), **words, **flags, **arrays)  # type: ignore[arg-type] # of many types


def fit_combat(
    values: ArrayLike,
    sites: Sequence[object],
    covariates: pd.DataFrame | None = None,
    *,
    persons: Sequence[str] | None = None,
    robust: bool = False,
    shrink: bool = True,
) -> Combat:
    """Estimate what each site adds to each feature.

    Parameters
    ----------
    values : array-like, shape (n_rows, n_features)
        Such as Fisher z of connections or a hub measure of regions, of those it is to be fitted on: all, the controls,
        or the training subjects. NaN is missing. Features are harmonised together only if they are of one kind, for
        their shifts and scales are drawn towards one another.
    sites : sequence of str, length n_rows
    covariates : DataFrame, n_rows rows, optional
        What is to be preserved: all that will be tested or adjusted for, such as group and age. Columns of words and of
        numbers. What is not preserved is taken away as far as sites differ in it.
    persons : sequence of str, length n_rows, optional
        Whose recording each row is. Each person counts once at a site, whose recordings share this weight.
    robust : bool
        Means, slopes and sites are M-estimates of Huber (1.345 residual SD of the site, where this SD is 1.4826 median
        absolute residuals), and variances of sites biweight midvariances (9 median absolute residuals) instead of
        least squares and variances, so that single people who are far off do not decide.
    shrink : bool
        Draw shifts and scales of features towards those of their site's other features. Fewer than 10 features are
        never shrunk, and a note says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values, sites = rng.standard_normal((40, 50)), np.repeat(["a", "b"], 20)
    >>> values[20:] = 2 * values[20:] + 3
    >>> harmonised = fit_combat(values, sites).harmonised(values, sites)
    >>> [float(round(harmonised[sites == site].mean(), 1)) for site in "ab"]
    [1.5, 1.5]
    """
    array, names = _checked(values, sites), _site_names(sites)
    weights = _shares_of_people(names, persons)
    levels, codes = np.unique(names, return_inverse=True)
    people = np.bincount(codes, weights).round().astype(np.int64)
    _check_sites(levels, people)
    coding, dropped = _coding(covariates, len(array))
    columns = _columns(covariates, coding, len(array))
    explained = _check_confounding(coding, columns, codes)
    found = site_statistics(array, codes, columns, weights, robust=robust)
    varies = found.variances.sum(axis=0) > 0
    shrunk = shrink and int(varies.sum()) >= _FEWEST_FEATURES
    # Without a prior, a site without variance has no scale.
    known = np.isfinite(found.mean) & (shrunk | ~varies | (found.variances > 0).all(axis=0))
    if not known.any():
        raise InputError(
            f"No feature can be harmonised: in each a site has fewer than {FEWEST_OF_SITE} people with a value, or its "
            "values are all the same."
        )
    shifts, variances = found.shifts.copy(), np.where(varies, found.variances, 1)  # the same in all stays as it is
    if shrunk:
        some = np.flatnonzero(varies)
        shifts[:, some], variances[:, some] = drawn_together(found.n[:, some], shifts[:, some], variances[:, some])
    n_repeated = len(array) - round(float(weights.sum()))
    return Combat(
        sites=tuple(map(str, levels)),
        people=people,
        coding=coding,
        mean=np.where(known, found.mean, np.nan),
        slopes=found.slopes,
        sd=found.sd,
        shifts=shifts,
        scales=np.sqrt(variances),
        robust=robust,
        shrunk=shrunk,
        notes=(
            *_notes_on_people(levels, people, coding, n_repeated, robust),
            *_notes_on_covariates(dropped, explained),
            *_notes_on_features(int((~known).sum()), int((known & varies).sum()), shrink and not shrunk),
        ),
    )


# Who and what goes in.


def _checked(values: ArrayLike, sites: Sequence[object]) -> NDArray[np.floating]:
    """Values as they are, of whichever precision, so that a memory map is not copied."""
    array = np.asarray(values)
    if array.ndim != 2 or len(array) != len(sites) or not array.size:
        raise InputError(
            f"Values have the shape {array.shape}, and {len(sites):,} sites are given: ComBat takes a row per "
            "recording and a column per feature."
        )
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def _site_names(sites: Sequence[object]) -> list[str]:
    missing = pd.isna(pd.Series(list(sites), dtype=object))
    if missing.any():
        raise InputError(
            f"The site of {counted(int(missing.sum()), 'row')} is not known, the first of which is row "
            f"{int(np.argmax(missing)) + 1}. ComBat needs everybody's site: complete it, or leave them out."
        )
    return [f"{site:g}" if isinstance(site, float) else str(site) for site in sites]


def _shares_of_people(names: Sequence[str], persons: Sequence[str] | None) -> FloatArray:
    """The weight of each row: one over the recordings of its person at its site."""
    if persons is None:
        return np.ones(len(names))
    if len(persons) != len(names):
        raise InputError(f"There are {len(names):,} rows and {len(persons):,} names of people for them.")
    both = pd.Series(list(zip(names, persons, strict=True)))
    return np.asarray(1 / both.map(both.value_counts()).to_numpy(np.float64))


def _check_sites(levels: NDArray[np.str_], people: NDArray[np.int64]) -> None:
    if len(levels) < 2:
        raise InputError(
            f"All are of one site ('{levels[0]}'), so there is nothing to harmonise. Choose no harmonisation."
        )
    small = [f"{name} has {n}" for name, n in zip(levels, people, strict=True) if n < FEWEST_OF_SITE]
    if small:
        raise InputError(
            f"ComBat needs {FEWEST_OF_SITE} people of each site that it is fitted on; {_some(small)}. Leave these "
            "sites out, or join them with others of the same scanner."
        )


def _coding(covariates: pd.DataFrame | None, n_rows: int) -> tuple[Coding, list[str]]:
    """The covariates that vary, with the values of words, and those that do not vary."""
    if covariates is None:
        return (), []
    if len(covariates) != n_rows:
        raise InputError(f"There are {n_rows:,} rows of values and {len(covariates):,} rows of covariates.")
    coding, same = [], []
    for name in covariates.columns:
        known = covariates[name].dropna()
        if known.nunique() < 2:
            same.append(str(name))
        else:
            words = () if pd.api.types.is_numeric_dtype(known) else tuple(sorted({str(one) for one in known}))
            coding.append((str(name), words))
    return tuple(coding), same


def _columns(covariates: pd.DataFrame | None, coding: Coding, n_rows: int) -> FloatArray:
    """Covariates as numbers, shape (n_rows, n_columns): of words a column for each value but the first."""
    if not coding:
        return np.zeros((n_rows, 0))
    absent = [name for name, _ in coding if covariates is None or name not in map(str, covariates)]
    if covariates is None or absent or len(covariates) != n_rows:
        what = (
            f"no {listed(absent, 'or')}"
            if absent
            else f"{len(covariates if covariates is not None else ()):,} rows for {n_rows:,} rows of values"
        )
        raise InputError(f"ComBat preserves {listed([name for name, _ in coding])}, and the covariates have {what}.")
    table, columns = covariates.set_axis(list(map(str, covariates)), axis=1), []
    for name, levels in coding:
        if table[name].isna().any():
            raise InputError(
                f"{covariate_words(name)} is not known in {counted(int(table[name].isna().sum()), 'row')}. ComBat "
                "preserves it, so it needs everybody's: complete it, leave it out, or leave these people out."
            )
        words = np.array([str(one) for one in table[name]], object) if levels else table[name].to_numpy()
        if bool(levels) == pd.api.types.is_numeric_dtype(table[name]):
            raise InputError(
                f"{covariate_words(name)} has {'numbers' if levels else 'words'} where ComBat was fitted on others."
            )
        if strange := sorted(set(words) - set(levels)) if levels else []:
            raise InputError(f"ComBat was fitted on nobody whose {covariate_words(name)} is {_some(strange)}.")
        columns += [words == level for level in levels[1:]] if levels else [words]
    return np.column_stack(columns).astype(np.float64)


def _check_confounding(coding: Coding, columns: FloatArray, codes: NDArray[np.int64]) -> dict[str, float]:
    """The share of each covariate that sites explain; refused where it is all, and where covariates say the same."""
    if not coding:
        return {}
    places, at = {}, 0
    for name, levels in coding:
        places[name] = slice(at, at := at + max(1, len(levels) - 1))
    explained = {name: _explained(columns[:, own], codes) for name, own in places.items()}
    centred = columns - columns.mean(axis=0)
    lost = [name for name, share in explained.items() if share > 1 - 1e-9]
    if not lost and _explained(columns, codes) > 1 - 1e-9:
        lost = list(places)
    if lost:
        raise InputError(
            f"{listed(list(map(covariate_words, lost)))} cannot be told apart from site: within sites there is no "
            f"difference in {'it' if len(lost) == 1 else 'them'} that could be preserved. Harmonising would take it "
            "away with the sites, or make it up. Add people in whom they differ, or compare within sites."
        )
    if np.linalg.matrix_rank(centred / np.maximum(np.linalg.norm(centred, axis=0), 1e-300)) < columns.shape[1]:
        raise InputError(
            f"Of {listed(list(places))} one says what the others do already, so what each has to do with a feature is "
            "not known for new people. Leave one of them out."
        )
    return explained


def _explained(columns: FloatArray, codes: NDArray[np.int64]) -> float:
    """The share that sites explain of a combination of columns, at most: the largest squared canonical correlation."""
    u, sizes, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    u = u[:, sizes > 1e-9 * sizes.max()]
    return float(np.linalg.norm(u - without_means(u, codes), 2) ** 2)


# What is said of it.


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return listed([*names[:_NAMED], *([f"{more} more"] if more > 0 else [])])


def _notes_on_people(
    levels: NDArray[np.str_], people: NDArray[np.int64], coding: Coding, n_repeated: int, robust: bool
) -> Iterator[str]:
    preserved = listed([covariate_words(name) for name, _ in coding]) or "no covariate"
    yield (
        f"ComBat{', robust,' if robust else ''} was fitted on {number_of_people(int(people.sum()))} of {len(levels)} "
        f"sites, preserving {preserved}."
    )
    if n_repeated:
        yield f"{counted(n_repeated, 'further recording')} of the same people at a site: each person counts once."
    if small := [f"{name} {n}" for name, n in zip(levels, people, strict=True) if n < _FEW_OF_SITE]:
        yield (
            f"{counted(len(small), 'site')} with fewer than {_FEW_OF_SITE} people ({_some(small)}): their scales are "
            "known poorly."
        )


def _notes_on_covariates(dropped: Sequence[str], explained: Mapping[str, float]) -> Iterator[str]:
    if dropped:
        names = listed(list(map(covariate_words, dropped)))
        yield f"{names}: the same in all whom ComBat was fitted on, so not modelled."
    for name, share in explained.items():
        if share >= NOTED_SHARE:
            yield (
                f"Sites explain {percent(share)} of {covariate_words(name)}: what is preserved of it rests on the "
                "differences within sites."
            )


def _notes_on_features(n_left: int, n_fitted: int, unshrunk: bool) -> Iterator[str]:
    if n_left:
        yield (
            f"{counted(n_left, 'feature')} not harmonised and left out: fewer than {FEWEST_OF_SITE} people of a site "
            "have a value, or it is the same in all people of a site."
        )
    if unshrunk:
        yield (
            f"{counted(n_fitted, 'feature')} {'is' if n_fitted == 1 else 'are'} too few for empirical Bayes: each site "
            "has the plain mean and variance."
        )


def site_shares(
    values: ArrayLike, sites: Sequence[object], covariates: pd.DataFrame | None = None
) -> tuple[FloatArray, FloatArray]:
    """The shares of variance that sites explain beyond covariates: of each feature, and of its spread.

    The first is about means of sites, the second about their variances: the same share of the absolute residuals. Both
    are adjusted for chance, so they scatter around 0 where sites do not differ.

    Parameters
    ----------
    values : array-like, shape (n_rows, n_features)
    sites : sequence of str, length n_rows
    covariates : DataFrame, n_rows rows, optional

    Returns
    -------
    means, spreads : ndarray, shape (n_features,)
        NaN where a value is missing, or all are the same.
    """
    array = np.asarray(_checked(values, sites), np.float64)
    codes = np.unique(_site_names(sites), return_inverse=True)[1]
    return shares_of_sites(array, codes, _columns(covariates, _coding(covariates, len(array))[0], len(array)))
