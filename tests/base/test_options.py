"""Options are declared once and refuse in a sentence what they cannot be; registers keep their order."""

from dataclasses import FrozenInstanceError, dataclass, fields
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biobgt import ConnectomeSettings, ImageOptions, InputError, ReadOptions
from biobgt.base.options import LARGEST_SEED, Options, Registry, option, to_text
from biobgt.data.simulate import demo_cohort
from biobgt.figures.hubs import HubCurvesOptions
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import all_figures
from biobgt.hubs.measures import HUB_MEASURES, EntanglementOptions, HubAnalysisOptions, HubOptions
from biobgt.modules.measures import ModuleOptions
from biobgt.readers.fetch import FetchOptions

GROUPS = [
    ConnectomeSettings,
    ModuleOptions,
    HubAnalysisOptions,
    ReadOptions,
    ImageOptions,
    FetchOptions,
    PaperStyle,
    *(figure.takes for figure in all_figures().values()),
]


@dataclass(frozen=True)
class Thing:
    key: str
    weight: int = 0


@dataclass(frozen=True)
class Baking(Options):
    """How a cake is baked."""

    heat: float = option(180.0, title="Heat", help="In °C.", above=0.0, steps=(160.0, 180.0), link="heat")
    flour: str = option("rye", title="Made of", choices=("rye", "oats"), shown={"rye": "Rye"})
    eggs: int = option(2, title="Eggs", low=0)
    sweet: bool = option(False, title="Sweet")
    times: tuple[float, ...] = option((1.0, 2.0), title="Times", above=0.0)
    spices: tuple[str, ...] = option(
        ("salt",), title="Spices", choices=Registry("spice", Thing("salt"), Thing("pepper"))
    )
    layer: str = option("top", title="Layer", choices_of=lambda cohort: (*cohort.atlas.labels, "top"))


@dataclass(frozen=True)
class Sold(Baking):
    """A cake that is sold."""

    price: float = option(3.0, title="Price", low=1, high=9, unit="crowns")
    label: str | Path | None = option(None, title="Label")
    weight: float | None = option(None, title="Weight", above=0, high=5, unit="kg", flag="--kg")
    wrapped: bool = option(True, title="Wrapped", flag="--wrap/--no-wrap")
    ways: tuple[str, ...] = option(("oven", "pan"), title="Ways", fewest=1)


def test_options_are_declared_in_order_those_of_the_base_first():
    assert list(Baking.declared()) == ["heat", "flour", "eggs", "sweet", "times", "spices", "layer"]
    assert list(Sold.declared()) == [*Baking.declared(), "price", "label", "weight", "wrapped", "ways"]
    heat = Sold.declared()["heat"]
    assert (heat.name, heat.default, heat.title, heat.help, heat.link) == ("heat", 180.0, "Heat", "In °C.", "heat")
    assert Baking().heat == 180.0
    with pytest.raises(FrozenInstanceError):
        Baking().heat = 1.0


@pytest.mark.parametrize("kind", GROUPS, ids=lambda kind: kind.__name__)
def test_every_field_of_every_group_is_declared_and_its_default_is_allowed(kind):
    declared = kind.declared()
    types = get_type_hints(kind)
    assert list(declared) == [one.name for one in fields(kind) if types[one.name] is not ImageOptions]
    kind()
    for one in declared.values():
        one.check(one.default)
        assert one.read(to_text(one.default)) == one.default
        if one.steps is not None:
            for step in one.steps:
                one.check(step)
        assert one.title
        assert one.help.endswith((".", "?")) or not one.help


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"heat": 0.0}, "The option 'heat' is 0; it must be above 0."),
        ({"heat": float("nan")}, "The option 'heat' is nan; it must be above 0."),
        ({"heat": "hot"}, "The option 'heat' cannot be 'hot'; a valid value is 180.0."),
        ({"heat": True}, "The option 'heat' cannot be True; a valid value is 180.0."),
        ({"flour": "sand"}, "The option 'flour' cannot be 'sand'. Choose one of: rye, oats."),
        ({"flour": 3}, "The option 'flour' cannot be 3; a valid value is 'rye'."),
        ({"eggs": -1}, "The option 'eggs' is -1; it must be 0 or more."),
        ({"eggs": 1.5}, "The option 'eggs' cannot be 1.5; a valid value is 2."),
        ({"sweet": 1}, "The option 'sweet' cannot be 1; a valid value is False."),
        ({"times": (1.0, 0.0)}, "The option 'times' is 0; it must be above 0."),
        ({"times": [1.0]}, "The option 'times' cannot be [1.0]; a valid value is (1.0, 2.0)."),
        ({"spices": ("salt", "sugar")}, "There is no spice 'sugar'. Choose one of: salt, pepper."),
        ({"spices": (1,)}, "The option 'spices' cannot be (1,); a valid value is ('salt',)."),
        ({"price": 0.5}, "The option 'price' is 0.5; it must be from 1 to 9 crowns."),
        ({"price": 10}, "The option 'price' is 10; it must be from 1 to 9 crowns."),
        ({"price": None}, "The option 'price' cannot be None; a valid value is 3.0."),
        ({"weight": 0}, "The option 'weight' is 0; it must be above 0 kg, and at most 5 kg."),
        ({"weight": 6}, "The option 'weight' is 6; it must be above 0 kg, and at most 5 kg."),
        ({"weight": "heavy"}, "The option 'weight' cannot be 'heavy'; give a number."),
        ({"weight": True}, "The option 'weight' cannot be True; give a number."),
        ({"label": 3}, "The option 'label' cannot be 3; give a text."),
        ({"ways": ()}, "The option 'ways' needs at least 1; write it like ways=oven,pan."),
    ],
)
def test_what_an_option_cannot_be_is_refused_with_a_sentence(given, sentence):
    with pytest.raises(InputError) as refused:
        Sold(**given)
    assert str(refused.value) == sentence


def test_an_option_that_may_be_left_out_is_none_by_default():
    sold, declared = Sold(label=Path("x"), weight=2), Sold.declared()
    assert (Sold().label, Sold().weight, sold.label, sold.weight) == (None, None, Path("x"), 2)
    assert [declared["weight"].text(value) for value in (None, 2.0)] == ["none", "2"]
    assert Sold.read_text("weight=1.5", of="The cake") == ("weight", 1.5)
    assert Sold.read_text("weight=none", of="The cake") == ("weight", None)


def test_options_as_the_words_of_a_command():
    assert Sold(weight=2).command_line()[-9:] == [
        *("--price", "3", "--kg", "2", "--wrap"),
        *("--ways", "oven", "--ways", "pan"),
    ]
    words = Sold(sweet=True, wrapped=False, label="a b").command_line()
    assert words[:2] == ["--heat", "180"]
    assert "--sweet" in words
    assert words[-7:-4] == ["--label", "a b", "--no-wrap"]


def test_plain_values_are_taken_with_the_defaults_of_all_others():
    assert Sold.from_plain({"eggs": 3}, of="The cake") == Sold(eggs=3)
    assert Baking(heat=200, times=(1, 2)) == Baking(heat=200.0, times=(1.0, 2.0)), "whole numbers will do"
    with pytest.raises(InputError, match=r"The cake has no option 'price'\. It has: heat, flour"):
        Baking.from_plain({"price": 1.0}, of="The cake")
    with pytest.raises(InputError, match=r"no option 'price'\. It has: none\."):
        Options.from_plain({"price": 1.0}, of="The cake")


def test_text_is_read_as_the_command_line_has_it():
    texts = ("heat=200", "eggs=3", "sweet=true", "times=0.5,1", "spices=salt,,pepper", "layer=a=b")
    read = [Baking.read_text(text, of="The cake")[1] for text in texts]
    assert read == [200.0, 3, True, (0.5, 1.0), ("salt", "pepper"), "a=b"]
    assert isinstance(read[0], float)
    for text in ("price=3", "heat"):
        with pytest.raises(InputError, match=f"The cake has no option '{text}'. .*heat=180, flour=rye, eggs=2"):
            Baking.read_text(text, of="The cake")
    for text, would_do in (("heat=hot", "heat=180"), ("sweet=yes", "sweet=false"), ("times=a,b", "times=1,2")):
        with pytest.raises(InputError, match=f"'{text}' cannot be read; write it like {would_do}"):
            Baking.read_text(text, of="The cake")


def test_a_part_has_the_values_that_both_groups_have():
    whole = HubAnalysisOptions(gamma=3.0, perturbation="remove", rule="sd", share=0.2, seed=5)
    assert whole.part(HubOptions) == HubOptions(3.0, "remove", "sd", 0.2)
    assert whole.part(EntanglementOptions) == EntanglementOptions(3.0, "remove")
    assert type(whole.part(EntanglementOptions)) is EntanglementOptions


def test_values_are_written_as_they_are_read():
    values = (True, 0.5, 3, "a", (0.1, 1.0), ("a", "b"), ("IQ, full", 'the "best"'))
    assert [to_text(value) for value in values] == [
        *("true", "0.5", "3", "a", "0.1,1", "a,b", '"IQ, full","the ""best"""')
    ]
    flour = Baking.declared()["flour"]
    assert (flour.text("rye"), flour.text("oats")) == ("Rye", "oats")
    assert Baking().as_dict() == {one.name: one.default for one in Baking.declared().values()}


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1), max_size=4).map(tuple))
def test_a_list_of_any_names_is_read_as_it_is_written(names):
    """A covariate may be a column called 'IQ, full scale' or '6" scan'."""
    assert Baking.declared()["spices"].read(to_text(names)) == names


def test_a_page_offers_what_an_option_may_be():
    cohort, declared = demo_cohort("ad", n_per_group=1), Baking.declared()
    assert declared["heat"].offered(cohort) == (160.0, 180.0)
    assert declared["flour"].offered(cohort) == ("rye", "oats")
    assert declared["spices"].offered(cohort) == ("salt", "pepper")
    assert declared["sweet"].offered(cohort) == (False, True)
    assert declared["eggs"].offered(cohort)[-1] == LARGEST_SEED
    assert declared["layer"].offered(cohort) == (*cohort.atlas.labels, "top")
    assert HubCurvesOptions.declared()["measures"].offered(cohort) == tuple(HUB_MEASURES)


def test_which_regions_are_hubs_in_words():
    assert HubOptions().hubs_are == "the top 10 % of regions"
    assert HubOptions(share=0.05).hubs_are == "the top 5 % of regions"
    assert HubOptions(rule="sd").hubs_are == "regions above the mean + 1 SD"
    with pytest.raises(InputError, match=r"The option 'share' is 1\.5; it must be above 0, and at most 1"):
        HubOptions(share=1.5)


def things():
    return Registry("thing", Thing("b", 1), Thing("a", 2))


def test_a_register_is_a_mapping_in_the_order_of_registration():
    register = things()
    assert register.register(Thing("0")) == Thing("0")
    assert [(key, thing.weight) for key, thing in register.items()] == [("b", 1), ("a", 2), ("0", 0)]
    with pytest.raises(ValueError, match="already"):
        register.register(Thing("a", 9))
    assert register.named("a").weight == 2, "the first stays"
    with pytest.raises(InputError, match=r"There is no thing 'c'\. Choose one of: b, a, 0\."):
        register.named("c")


def test_what_is_added_for_a_while_goes_again_whatever_happens():
    register = things()
    with register.temporarily(Thing("c", 3)) as added:
        assert register.named("c") is added
        assert list(register) == ["b", "a", "c"]
    assert list(register) == ["b", "a"]
    with pytest.raises(RuntimeError), register.temporarily(Thing("c")):
        raise RuntimeError
    assert "c" not in register
    with pytest.raises(ValueError, match="already"), register.temporarily(Thing("a")):
        pass
    assert register["a"].weight == 2, "the one that was there before stays"
