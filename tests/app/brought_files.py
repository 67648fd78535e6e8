"""Files as the uploader hands them over."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Uploaded:
    name: str
    content: bytes

    @property
    def file_id(self) -> str:
        return self.name

    def getbuffer(self) -> memoryview:
        return memoryview(self.content)


def abide_text(series: np.ndarray) -> bytes:
    header = "\t".join(f"#{i}" for i in range(1, series.shape[1] + 1))
    rows = ("\t".join(f"{value:.6f}" for value in row) for row in series)
    return "\n".join([header, *rows, ""]).encode()


BROKEN = Uploaded("broken.1D", b"#1\t#2\n1.0\tpear\n2.0\t3.0\n")
