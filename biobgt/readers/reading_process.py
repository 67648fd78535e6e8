"""The process that reads foreign binary formats: one request after another, until nobody asks any more.

It is started by :mod:`biobgt.readers.isolate` as a script. A request is a line of JSON. A reply is two lengths, a JSON
object, and the bytes of an array: nothing is pickled. The process writes no files, and ends with the one that started
it.
"""

import ctypes
import json
import os
import signal
import struct
import sys
import traceback
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

LENGTHS = struct.Struct(">QQ")
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve until the requests end."""
    requests, replies = _private_streams()
    _end_with_parent(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides what an interrupt means
    warnings.simplefilter("ignore")
    from biobgt.base.limits import enforce_allowances

    enforce_allowances()
    while line := requests.readline():
        header, array = _serve(json.loads(line))
        text = json.dumps(header).encode()
        content = memoryview(b"") if array is None else array.data
        replies.write(LENGTHS.pack(len(text), content.nbytes))
        replies.write(text)
        replies.write(content)
        replies.flush()
        del header, array, text, content


def _serve(request: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Have one file read; what that raises becomes a reply too."""
    from biobgt.base.errors import ChoiceNeeded, InputError
    from biobgt.base.limits import DamagedFile, Limits, allow_memory, allow_seconds, out_of_memory

    limits = Limits(**request["limits"])
    try:
        module, name = request["reader"].split(":")
        read = getattr(import_module(module), name)  # before memory is counted: a library is no part of a file
        allow_seconds(request["seconds"])
        allow_memory(0, limits)
        answer, array = read(Path(request["path"]), request["options"], limits)
        if array is None:
            return {"answer": answer}, None
        array = array if array.flags.c_contiguous else array.copy(order="C")
        return {"answer": answer, "dtype": array.dtype.str, "shape": list(array.shape)}, array.reshape(-1).view("u1")
    except ChoiceNeeded as error:
        return {"question": error.question, "option": error.option, "choices": list(error.choices)}, None
    except InputError as error:
        return {"refused": str(error), "damaged": isinstance(error, DamagedFile)}, None
    except MemoryError:
        return {"refused": str(out_of_memory(limits)), "damaged": True}, None
    except Exception as error:
        return {"fault": type(error).__name__, "traceback": traceback.format_exc()}, None


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the two pipes to ourselves: a library that prints must not write into a reply."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return requests, replies


def _end_with_parent(parent: int) -> None:
    """On Linux, be killed with the parent, also in the middle of a file; elsewhere, at the end of the requests."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit()  # it went before we asked


if __name__ == "__main__":
    main()
