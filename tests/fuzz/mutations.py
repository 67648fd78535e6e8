"""Ways to damage a file: bytes, lengths and lines, as broken disks, bad copies and hostile hands do."""

import io
import os
import shutil
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

# Values that lengths, counts and offsets break at, and words that parsers trip over.
_NUMBERS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**62, 2**64 - 1]
_WORDS = [
    *(b"", b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b",,,,,,", b"\t\t\t", b";;;", b'"', b'""'),
    *(b"'", b"\r", b"\n\n", b"#"),
    *(b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"9" * 400, b"0x10", b"1_000", "١٢".encode(), "²".encode()),
    *(b"(" * 300, b"[" * 3000, b"{}", b"(1,)", b"(-1, 5)", b"(99999999999999999999, 2)"),
    *(b"None", b"True", b"<f8", b"|O"),
    *(b"<U9999999", b"<", b">", b"&amp;", b"<!ENTITY", b"../", b"/", b"a" * 5000, b"NaN", b"null", b"1e5", b"-0"),
]


def mutate(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage bytes in one to four places; inside a zip or gzip file, now and then behind the compression."""
    if rng.random() < 0.4 and (inner := _inside(content, rng)) is not None:
        return inner
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        _BYTEWISE[rng.integers(len(_BYTEWISE))](data, rng)
    return bytes(data)


def mutate_folder(folder: Path, rng: np.random.Generator) -> None:
    """Put something odd into a folder of subjects: links, loops, odd names, empty and unreadable files."""
    oddities = ["loop", "self", "out", "dangling", "deep", "empty", "name", "folder", "fifo", "words", "long"]
    for what in rng.choice(oddities, size=int(rng.integers(1, 4)), replace=False):
        _add_oddity(folder, str(what), rng)


def _add_oddity(folder: Path, what: str, rng: np.random.Generator) -> None:
    match what:
        case "loop":
            (folder / "loop_a.csv").symlink_to("loop_b.csv")
            (folder / "loop_b.csv").symlink_to("loop_a.csv")
        case "self":
            (folder / "inside").symlink_to(folder, target_is_directory=True)
        case "out":
            (folder / "passwd.csv").symlink_to("/etc/passwd")
        case "dangling":
            (folder / "gone.csv").symlink_to("nowhere.csv")
        case "deep":
            deep = folder.joinpath(*["d"] * 40)
            deep.mkdir(parents=True)
            shutil.copy(folder / "mutant.csv", deep / "deep.csv")
        case "empty":
            (folder / "participants.tsv").write_bytes(rng.choice([b"", b"\xef\xbb\xbf", b"\t\t\n", b"\xff\xfe"]))
        case "name":
            (Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.csv"))).write_text("1,2\n3,4\n")
        case "folder":
            (folder / "sub-09.csv").mkdir()
        case "fifo":
            os.mkfifo(folder / "pipe.csv")
        case "words":
            (folder / "phenotypes.xlsx").write_bytes(rng.bytes(200))
        case "long":
            (folder / ("x" * 240 + ".csv")).write_text("1,2\n3,4\n")


def _inside(content: bytes, rng: np.random.Generator) -> bytes | None:
    """Damage what is compressed and pack it again, so that the damage comes past the checksum."""
    if content.startswith(b"\x1f\x8b"):
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        return packer.compress(mutate(zlib.decompress(content, 31), rng)) + packer.flush()
    if not content.startswith(b"PK\x03\x04"):
        return None
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        entries = old.infolist()
        chosen = int(rng.integers(len(entries)))
        for i, entry in enumerate(entries):
            data = old.read(entry)
            new.writestr(entry.filename, mutate(data, rng) if i == chosen else data)
    return result.getvalue()


def _place(data: bytearray, rng: np.random.Generator) -> int:
    """Headers matter more than bodies: half of the places lie in the first 300 bytes, some in the last."""
    if not data:
        return 0
    where = rng.random()
    if where < 0.5:
        return int(rng.integers(min(len(data), 300)))
    return len(data) - 1 - int(rng.integers(min(len(data), 200))) if where < 0.65 else int(rng.integers(len(data)))


def _flip(data: bytearray, rng: np.random.Generator) -> None:
    if data:
        data[_place(data, rng)] ^= 1 << int(rng.integers(8))


def _set_byte(data: bytearray, rng: np.random.Generator) -> None:
    if data:
        data[_place(data, rng)] = int(rng.integers(256))


def _set_number(data: bytearray, rng: np.random.Generator) -> None:
    code, size = [("B", 1), ("H", 2), ("I", 4), ("Q", 8)][rng.integers(4)]
    value = int(rng.choice(np.array(_NUMBERS, dtype=object))) % (1 << (8 * size))
    where = _place(data, rng)
    data[where : where + size] = struct.pack("<>"[rng.integers(2)] + code, value)


def _cut(data: bytearray, rng: np.random.Generator) -> None:
    del data[_place(data, rng) :]


def _remove(data: bytearray, rng: np.random.Generator) -> None:
    where = _place(data, rng)
    del data[where : where + int(rng.integers(1, 40))]


def _repeat(data: bytearray, rng: np.random.Generator) -> None:
    where = _place(data, rng)
    data[where:where] = data[where : where + int(rng.integers(1, 60))] * int(rng.integers(1, 20))


def _insert_word(data: bytearray, rng: np.random.Generator) -> None:
    where = _place(data, rng)
    data[where : where + int(rng.integers(0, 8))] = _WORDS[rng.integers(len(_WORDS))]


def _swap_digits(data: bytearray, rng: np.random.Generator) -> None:
    """Change the digits of a number written in text: shapes, counts, coordinates."""
    places = [i for i, byte in enumerate(data[:5000]) if 48 <= byte <= 57]
    if places:
        where = places[rng.integers(len(places))]
        data[where : where + 1] = str(int(rng.choice([0, 1, 7, 99, 10**6, 10**12, 10**25]))).encode()


def _shuffle(data: bytearray, rng: np.random.Generator) -> None:
    where = _place(data, rng)
    piece = bytearray(data[where : where + 16])
    rng.shuffle(piece)
    data[where : where + 16] = piece


_BYTEWISE = (
    *(_flip, _flip, _set_byte, _set_byte, _set_number, _set_number),
    *(_cut, _remove, _repeat, _insert_word, _swap_digits, _shuffle),
)
