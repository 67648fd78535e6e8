"""What a card says was typed: enough to make the model again, and nothing of the machine."""

import pytest

from biobgt.cli.models import typed_command


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--data /home/me/abide --out pretrained/mine --resume", "--data DATA --out pretrained/mine"),
        ("--data=x --out=/home/me/models/mine --threads 2", "--data DATA --out mine"),
        ("--data x --out o --phenotypes /home/me/table.csv", "--data DATA --out o --phenotypes table.csv"),
        ("--data x --out o --runs=/scratch/r --seed 3", "--data DATA --out o --seed 3"),
    ],
)
def test_no_path_of_the_machine_is_on_a_card(typed: str, said: str) -> None:
    assert typed_command(["train", "--cohort", "abide", *typed.split()]) == f"biobgt train --cohort abide {said}"
