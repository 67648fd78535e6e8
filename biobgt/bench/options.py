"""What the bench plants, in how many people, and how it looks for it: its options."""

from dataclasses import dataclass

from biobgt.base.options import option
from biobgt.data.atlas import LABELLINGS
from biobgt.data.lesions import LESIONS, LesionKind
from biobgt.hubs.measures import EntanglementOptions
from biobgt.modules.measures import ModuleOptions


@dataclass(frozen=True)
class BenchOptions(EntanglementOptions, ModuleOptions):
    """A lesion, its sizes and samples, and the tests."""

    lesion: LesionKind = option(
        "network",
        title="Lesion",
        help="Network: the connections within a functional network fall by the size, those to others by less. Hub: the "
        "connections of one region do. Segregation: all connections are drawn to their mean by the size.",
        shown=LESIONS,
    )
    place: str = option(
        "",
        title="Place",
        help="Network or region that is lesioned. Default: the network of most regions, or the region of the highest "
        "mean connectivity.",
    )
    size: tuple[float, ...] = option(
        (0.3,),
        title="Sizes",
        help="Share of the connections that is lost, from 0 to 1; 0 plants nothing and shows how often a measure finds "
        "what is not there. Repeat the option for several.",
        low=0,
        high=1,
        fewest=1,
    )
    noise: float = option(
        0.0, title="Noise", help="Standard deviation of the size over people; sizes stay within 0 and 1.", low=0, high=1
    )
    people: tuple[int, ...] = option(
        (10, 20, 40),
        title="People",
        help="People with the lesion, beside as many without. Repeat the option for several sample sizes.",
        low=2,
        fewest=1,
    )
    repetitions: int = option(
        40, title="Repetitions", help="How often people are drawn and compared, at each size and number.", low=1
    )
    permutations: int = option(199, title="Permutations", help="Of each comparison.", low=19)
    edges: bool = option(True, title="Test edges", help="Test edges by NBS as well; that takes most of the time.")
    labelling: str = option(
        "",
        title="Functional networks",
        help="Networks of the lesion and of blocks of attention. Default: the first labels of the atlas.",
        shown=LABELLINGS,
    )
    group: str = option(
        "", title="Group", help="Whose people are used. Default: the first group, or everybody where there are none."
    )
    model: str = option(
        "",
        title="Model",
        help="Model, by its name or folder, whose attention is tested. It must know the atlas. By default attention is "
        "not measured.",
    )
    runs: int = option(1, title="Runs", help="How often Louvain is run per recording.", low=1)
    seed: int = option(0, title="Seed", help="Seed of lesions, draws, modules and permutations.", low=0)
