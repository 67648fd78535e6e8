"""Formulas: terms as statisticians read them, nothing that is run, and columns that formulaic makes, too."""

import numpy as np
import pandas as pd
import pytest
from formulaic import model_matrix

from biobgt.base.errors import InputError
from biobgt.inference.formula import check_variables, parse_formula, term_columns, term_name, variables_of


def _terms(formula: str) -> list[str]:
    return [term_name(term) for term in parse_formula(formula)]


def test_terms_are_those_of_the_formula():
    assert _terms("~ group + age") == ["1", "group", "age"]
    assert _terms("~ Group*AGE + log(fd)") == ["1", "group", "age", "log(fd)", "group:age"]
    assert _terms("~ (a + b) * c - b:c") == ["1", "a", "b", "c", "a:c"]
    assert _terms("1 + poly(age, 2) + C(site)") == ["1", "poly(age, 2)", "C(site)"]
    assert _terms("~ a + a") == ["1", "a"]
    assert _terms("~ 1") == ["1"]


@pytest.mark.parametrize(
    "hostile",
    [
        "~ __import__('os').system('touch {path}')",
        "~ log(__import__)",
        "~ age + open('{path}', 'w')",
        "~ {{open('{path}', 'w')}}",
        "~ `age` + exec(age)",
        "~ log(age.__class__)",
        "~ log(age) if age else open",
        "~ I(age ** 2)",
        "~ [x for x in age]",
        "~ eval(age)",
        "~ log(log(age))",
        "~ log(age, 2)",
        "~ poly(age, 9)",
        "~ age ** 99",
        "~ age | site",
        "~ .",
        "~ age; group",
        "~ lambda: age",
        "~ age @ age",
        "~ log(*age)",
        "~ bs(age, df=4)",
        "~ age\n+\\x41",
    ],
)
def test_hostile_formulas_are_refused_and_run_nothing(hostile, tmp_path, monkeypatch):
    def never(*_: object) -> None:
        raise AssertionError("evaluated")

    monkeypatch.setattr("formulaic.utils.stateful_transforms.stateful_eval", never)
    path = tmp_path / "made"
    table = pd.DataFrame({"age": [1.0, 2.0, 3.0], "group": list("abc")})
    with pytest.raises(InputError):
        check_variables(parse_formula(hostile.format(path=path)), table)
    assert not path.exists()


def test_formulaic_sees_no_word_of_the_user(monkeypatch):
    from formulaic.parser import DefaultFormulaParser

    seen, original = [], DefaultFormulaParser.get_terms
    monkeypatch.setattr(DefaultFormulaParser, "get_terms", lambda self, text: seen.append(text) or original(self, text))
    parse_formula("~ group * log(age) + os")
    assert seen == ["v0 * v1 + v2"]


@pytest.mark.parametrize(
    ("formula", "word"),
    [
        ("", "empty"),
        ("~ age +", "sign"),
        ("~ (age", "bracket"),
        ("~ age group", "sign"),
        ("fc ~ age", "~"),
        ("~ age - 1", "intercept"),
        ("~ age + 0", "number"),
        ("~ group:age", "without"),
        ("~ a*b*c*d", "more than 3"),
        ("~ " + "*".join("abcdefg"), "signs"),
        ("~ " + "+".join(f"v{i}" for i in range(31)), "30 variables"),
        ("~ " + "a" * 600, "characters"),
        ("~ " + "(" * 600, "characters"),
    ],
)
def test_what_cannot_be_a_design_is_refused_in_words(formula, word):
    with pytest.raises(InputError, match=word):
        parse_formula(formula)


def test_brackets_as_deep_as_a_formula_may_be_are_read():
    assert _terms("~" + "(" * 249 + "a" + ")" * 249) == ["1", "a"]


def test_names_that_the_table_does_not_have_are_refused():
    table = pd.DataFrame({"age": [1.0, 2.0], "site": ["a", "b"]})
    with pytest.raises(InputError, match="'iq'"):
        check_variables(parse_formula("~ iq"), table)
    with pytest.raises(InputError, match="words"):
        check_variables(parse_formula("~ log(site)"), table)


def test_columns_span_what_formulaic_makes_of_the_same_formula(rng):
    n = 60
    table = pd.DataFrame(
        {
            "group": rng.choice(["AD", "MCI", "NC"], n),
            "site": rng.choice([1.0, 2.0, 10.0], n),
            "age": rng.uniform(50, 90, n),
            "score": rng.standard_normal(n),
        }
    )
    ours = "~ group * age + C(site) + score * age + poly(age, 2) + log(age)"
    columns = np.hstack([term_columns(term, table) for term in parse_formula(ours)])
    theirs = np.asarray(model_matrix(ours[2:], table), float)
    assert (
        np.linalg.matrix_rank(columns)
        == np.linalg.matrix_rank(theirs)
        == np.linalg.matrix_rank(
            np.hstack([columns / np.linalg.norm(columns, axis=0), theirs / np.linalg.norm(theirs, axis=0)])
        )
    )


def test_a_word_has_columns_that_add_up_to_zero_over_its_values():
    table = pd.DataFrame({"group": ["AD", "NC", "MCI", "NC"]})
    np.testing.assert_array_equal(
        term_columns(parse_formula("~ group")[1], table), [[1, 0], [-1, -1], [0, 1], [-1, -1]]
    )


def test_variables_have_their_usual_names():
    raw = pd.DataFrame(
        {
            "subject": ["a", "b", "c"],
            "group": ["NC", "AD", None],
            "func_mean_fd": [0.1, 0.0, 0.2],
            "Gender": [1, 2, 1],
            "IQ, full-scale": [100, "n/a", 90],
            "regions": [90, 90, 90],
        }
    )
    table = variables_of(raw)
    assert list(table.columns) == ["log_mean_fd", "sex", "group", "func_mean_fd", "gender", "iq_full_scale", "motion"]
    np.testing.assert_allclose(table["motion"], [np.log(0.1), np.nan, np.log(0.2)])
    assert table["sex"].tolist() == ["1", "2", "1"]
    assert table["iq_full_scale"].isna().tolist() == [False, True, False]
    assert table["group"].isna().tolist() == [False, False, True]
