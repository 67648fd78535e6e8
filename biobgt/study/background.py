"""A study as a process of its own, which goes on when whoever started it is gone: started, looked at, stopped, resumed.

Its private folder holds the subjects as a project file, the study's own folder, and what the process said. The process
is ``biobgt study`` as anybody types it. Other commands that work on into a folder are run likewise.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from biobgt.base.files import data_folder, write_atomically
from biobgt.base.options import Options
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.readers.project import PROJECT_SUFFIX, save_project
from biobgt.study.folder import PROGRESS, REPORT

State = Literal["none", "running", "stopped", "failed", "finished"]
_RUN, _LOG = "run.json", "run.log"
_GRAPH = ("estimator", "sign", "backbone")  # of the settings of graphs; a study has levels of its own
_PATIENCE_S = 10.0
_BOX = re.compile("[\u2500-\u257f]+")  # around what a command refuses


@dataclass(frozen=True)
class RunState:
    """How far a run is.

    Attributes
    ----------
    state : {"none", "running", "stopped", "failed", "finished"}
    progress : mapping
        As the study's ``progress.json`` has it; empty before anything is measured.
    said : str
        What the process said last.
    """

    state: State
    progress: Mapping[str, Any]
    said: str = ""


class BackgroundRun:
    """A command that works on subjects into a private folder.

    Parameters
    ----------
    home : Path
        The private folder.
    out : str
        The folder within it that the command writes into.
    last : str
        The file that is written last.
    """

    def __init__(self, home: Path, *, out: str, last: str) -> None:
        self.home, self.out = home, home / out
        self.last = self.out / last

    def run(self, command: str, cohort: Cohort, settings: ConnectomeSettings, words: Sequence[str]) -> None:
        """Start, or go on with, what is not there yet.

        Parameters
        ----------
        command : str
            Such as ``study``.
        cohort : Cohort
        settings : ConnectomeSettings
            Kept with the subjects.
        words : sequence of str
            Options of the command.
        """
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.home.chmod(0o700)
        self.last.unlink(missing_ok=True)
        (self.out / PROGRESS).unlink(missing_ok=True)
        subjects = self.home / f"subjects{PROJECT_SUFFIX}"
        save_project(cohort, settings, {}, subjects)
        typed = [command, str(subjects), str(self.out), *words]
        with (self.home / _LOG).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", "from biobgt.cli import main; main()", *typed],
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._remember(process.pid)

    def stop(self) -> None:
        """End the process; what was measured stays."""
        pid = self._pid
        self._remember(pid, stopped=True)
        for asked in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, asked)
            until = time.monotonic() + _PATIENCE_S
            while self._lives() and time.monotonic() < until:
                time.sleep(0.05)
            if not self._lives():
                return

    def forget(self) -> None:
        """Delete everything; the process is ended first."""
        if self._lives():
            self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def look(self) -> RunState:
        """How far it is."""
        about = self._about
        if not about:
            return RunState("none", {})
        progress = _read_json(self.out / PROGRESS)
        if self._lives():
            return RunState("running", progress, self._said())
        if self.last.exists():
            return RunState("finished", progress)
        return RunState("stopped" if about.get("stopped") else "failed", progress, self._said())

    @property
    def _about(self) -> dict[str, Any]:
        return _read_json(self.home / _RUN)

    @property
    def _pid(self) -> int:
        return int(self._about["pid"])

    def _remember(self, pid: int, *, stopped: bool = False) -> None:
        write_atomically(self.home / _RUN, json.dumps({"pid": pid, "began": _began(pid), "stopped": stopped}))

    def _lives(self) -> bool:
        """Whether the process that was started is still at work, and no other has its number."""
        about = self._about
        if not about:
            return False
        with suppress(ChildProcessError):
            os.waitpid(about["pid"], os.WNOHANG)  # one that ended stays in the system's list until it is asked for
        try:
            os.kill(about["pid"], 0)
        except OSError:
            return False
        began = _began(about["pid"])
        return began is None or about["began"] is None or began == about["began"]

    def _said(self) -> str:
        with suppress(OSError):
            log = _BOX.sub(" ", (self.home / _LOG).read_text(encoding="utf-8", errors="replace"))
            return next((line.strip() for line in reversed(log.splitlines()) if line.strip()), "")
        return ""


class BackgroundStudy(BackgroundRun):
    """The study of one cohort in a private folder.

    Parameters
    ----------
    key : str
        Of the cohort: hexadecimal.
    root : Path, optional
        By default in the user's data folder.
    """

    def __init__(self, key: str, root: Path | None = None) -> None:
        super().__init__((root or data_folder() / "studies") / key, out="study", last=REPORT)

    @property
    def report(self) -> Path:
        """The report, which is written last."""
        return self.last

    def start(self, cohort: Cohort, settings: ConnectomeSettings, options: Sequence[Options]) -> None:
        """Start, or go on with, what is not there yet; the findings are made anew.

        Parameters
        ----------
        cohort : Cohort
        settings : ConnectomeSettings
            Of which a study takes the estimator and what becomes of negative connections.
        options : sequence of Options
            What is measured and tested.
        """
        words = [word for one in options for word in one.command_line(changed=True)]
        self.run("study", cohort, settings, [*words, *graph_words(settings, _GRAPH)])


def graph_words(settings: ConnectomeSettings, names: Collection[str] = ConnectomeSettings.declared()) -> list[str]:
    """The words of a command that say how graphs are made; a study has levels of its own.

    Parameters
    ----------
    settings : ConnectomeSettings
    names : collection of str
        Of the settings that the command takes; by default all.
    """
    words = []
    for name in names:
        one, value = ConnectomeSettings.declared()[name], getattr(settings, name)
        if value == "tangent":  # needs everybody at once, and a study measures one by one
            continue
        words += [one.flags[not value]] if isinstance(value, bool) else [one.flags[0], str(value)]
    return words


def _began(pid: int) -> str | None:
    """When a process began, as the system counts it; None where it does not say."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[19]
    return None


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
