# SPDX-License-Identifier: BSD-3-Clause
"""Studies in shards: computed by the program `bitcut`, here or by the workers of an executor,
kept in a folder, and merged to the bytes of one run."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import queue
import shutil
import subprocess
import tempfile
from concurrent.futures import Future
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._gemm import integer
from ._library import BadArgument, BadFile, Error, Unsupported, __version__
from ._results import html_table, text_table

# What lines of a file have and rows of a table do not.
OF_LINES = ("study", "scale", "seed", "point", "rows", "version", "schema", "digest")


class Study(list):
    """Rows of a study, each a dict, in the study's order.

    ``jsonl`` has the lines of `bitcut study NAME -o FILE`, byte for byte; ``name`` is the study's
    name, ``what`` its description.  It prints as the program does, is a table in notebooks, and
    ``pandas.DataFrame`` takes it.
    """

    def __init__(self, name: str, what: str, jsonl: bytes):
        super().__init__(map(json.loads, jsonl.splitlines()))
        self.name, self.what, self.jsonl = name, what, jsonl

    def save(self, path: Any) -> None:
        """Write the rows to a file, as `bitcut study NAME -o FILE` does.

        Args:    path: the file's name
        Returns: None
        Raises:  OSError: the file cannot be written
        """
        _write(pathlib.Path(path), self.jsonl)

    def _table(self) -> list:
        return [{key: row[key] for key in row if key not in OF_LINES} for row in self]

    def __str__(self):
        return text_table(self._table())

    def __repr__(self):
        return f"<bitcut study {self.name}: {len(self)} rows>"

    def _repr_html_(self):
        return html_table(self._table())


# --- the program -----------------------------------------------------------------------------


def _program(*words: Any, refusal: type = Unsupported) -> bytes:
    """What the program prints; it is killed if this call is interrupted."""
    program = shutil.which("bitcut")
    if not program:
        raise Unsupported("bitcut.study needs the program bitcut in PATH, on every machine that "
                          "computes")
    done = subprocess.run([program, *map(str, words)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").splitlines()
        said = lines[-1] if lines else f"bitcut ended with status {done.returncode}"
        raise refusal(said[len("bitcut: "):] if said.startswith("bitcut: ") else said)
    return done.stdout


@functools.lru_cache(maxsize=None)
def _version() -> str:
    return _program("--version").decode().split()[-1]


class Settings(NamedTuple):
    """What all shards of a study share."""

    study: str
    scale: str
    seed: int
    shards: int
    version: str


def compute_shard(settings: Settings, shard: int, threads: int) -> bytes:
    """The lines of a shard, computed on the machine of this call.

    The program writes each line to a pipe, so that it ends soon after a process that is killed.
    """
    if not _version() == settings.version == __version__:
        raise Unsupported(f"a worker has bitcut {_version()} (Python {__version__}), and the study is "
                          f"of {settings.version}; install one version on all machines")
    return _program("study", settings.study, "--scale", settings.scale, "--seed", settings.seed,
                    "--shard", f"{shard}/{settings.shards}", "--json",
                    *(["--threads", threads] if threads else []))


# --- a folder of shards ----------------------------------------------------------------------


def _write(path: pathlib.Path, contents: bytes) -> None:
    """A file that is complete or absent."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name + ".", delete=False) as to:
        try:
            to.write(contents)
            to.close()
            os.replace(to.name, path)
        except BaseException:
            os.unlink(to.name)
            raise


class _Log:
    """A folder with a file for each finished shard, and the settings of all."""

    def __init__(self, folder: Any):
        self.folder = pathlib.Path(folder)
        self.settings = self.folder / "study.json"

    def shards(self) -> Optional[int]:
        """The number of shards of an earlier call, or None."""
        return self._read()["shards"] if self.settings.exists() else None

    def _read(self) -> Dict[str, Any]:
        try:
            found = json.loads(self.settings.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict) or set(found) != set(Settings._fields):
            raise BadFile(f"{self.settings}: not the settings of a study")
        return found

    def begin(self, settings: Settings) -> None:
        wanted = settings._asdict()
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.settings.exists():
            _write(self.settings, json.dumps(wanted).encode() + b"\n")
        for key, value in self._read().items():
            if value != wanted[key]:
                raise BadFile(f"{self.folder}: its shards have {key} {value}, not {wanted[key]}; "
                              "give another folder")

    def file(self, shard: int) -> pathlib.Path:
        return self.folder / f"shard{shard}.jsonl"

    def merge(self, settings: Settings) -> bytes:
        """The lines of all shards, which the program checks: digests, versions, seed, scale."""
        files = [self.file(shard) for shard in range(settings.shards)]
        with tempfile.TemporaryDirectory(dir=self.folder) as own:
            said = _program("study", "--merge", *files, "-o", f"{own}/all", "--json",
                            refusal=BadFile)
            merged = pathlib.Path(own, "all").read_bytes()
        found = [json.loads(line) for line in said.splitlines()]
        if [row["study"] for row in found] != [settings.study] or (
                found[0]["points"] != found[0]["resumed"]):
            raise BadFile(f"{self.folder}: the shards lack points of {settings.study}; delete "
                          "the files of incomplete shards")
        first = json.loads(merged[:merged.index(b"\n")])
        for key in ("scale", "seed", "version"):
            # A seed beyond 2^53 is a text in rows.
            if str(first.get(key)) != str(getattr(settings, key)):
                raise BadFile(f"{self.folder}: its rows have {key} {first.get(key)}, not "
                              f"{getattr(settings, key)}")
        return merged


# --- shards by an executor -------------------------------------------------------------------


class _Here:
    """An executor that computes in submit(), on all processors of this machine."""

    def submit(self, function: Callable, *arguments: Any) -> Future:
        future: Future = Future()
        future.set_result(function(*arguments))
        return future


def _computed(client: Any, settings: Settings, shards: List[int],
              threads: int) -> Iterator[Tuple[int, bytes]]:
    """Each shard with its lines, as they are finished.  Shards that do not run yet are cancelled
    if the caller stops."""
    done: queue.SimpleQueue = queue.SimpleQueue()
    futures, left = [], len(shards)
    try:
        for shard in shards:
            future = client.submit(compute_shard, settings, shard, threads)
            futures.append(future)
            future.add_done_callback(lambda future, shard=shard: done.put((shard, future)))
            while not done.empty():
                left -= 1
                yield _result(done.get())
        while left:
            left -= 1
            yield _result(done.get())
    finally:
        for future in futures:
            future.cancel()


def _result(done: Tuple[int, Any]) -> Tuple[int, bytes]:
    shard, future = done
    return shard, future.result()


def _about(name: str, scale: str) -> Tuple[dict, int]:
    """The row of a study, and its number of points."""
    rows = [json.loads(line) for line in _program("list", "studies", "--json").splitlines()]
    for row in rows:
        if row["name"] == name:
            if "points_" + str(scale) not in row:
                raise BadArgument(f"scale: {scale!r} is neither small nor paper")
            return row, row["points_" + scale]
    raise BadArgument(f"{name}: unknown study; `bitcut list studies` has all")


def study(name: str, *, scale: str = "small", seed: int = 1, client: Any = None,
          shards: Optional[int] = None, log: Any = None, threads: Optional[int] = None,
          progress: Optional[Callable[[int, int], Any]] = None) -> Study:
    """Compute a study in shards, here or on the workers of an executor, and merge them.

    The rows and their bytes are those of one run of `bitcut study`, for any number of shards and
    workers.  Shards have similar work, the longest points first.  A shard is computed by the
    program `bitcut`, which must be in PATH on every machine, in the version of this package.

    Interrupted, the call cancels shards that do not run yet.  With `log`, every finished shard stays in
    the folder, and a second call computes the others.  If an executor loses a worker and starts its
    tasks again, as Dask does, nothing is lost; if the executor fails as a whole, as
    ProcessPoolExecutor does, a second call with a new one continues.

    Args:    name: a name of `bitcut list studies`
             scale: small (seconds) or paper (the sizes of papers, hours)
             seed: seed of the study, 0 to 2^64 - 1
             client: an object whose submit() and futures are those of concurrent.futures.Executor, such
                 as distributed.Client, ThreadPoolExecutor or ProcessPoolExecutor; None: this process
             shards: number of shards, at most one for each point; None: as in `log`; else with a client
                 one for each point, without one as many as keep all processors busy
             log: folder for finished shards, made if needed; None: they are lost with the call
             threads: number of threads of each shard; 0: all processors; None: 1 with a client, else 0
             progress: called with the number of finished shards and of all, after each
    Returns: Study, a list of the rows
    Raises:  BadArgument: unknown study or scale, or a number that is too small
             BadFile: `log` belongs to other settings or another version, or a shard was changed or is
                 incomplete
             Unsupported: no program `bitcut`, or a worker has another version
    """
    row, points = _about(name, scale)
    seed = integer(seed, "seed", 2**64 - 1)
    kept = _Log(log) if log is not None else None
    if shards is None:
        shards = kept.shards() if kept else None
    if shards is None:
        alone = points if row["threaded"] else max(1, points // (2 * (os.cpu_count() or 1)))
        shards = alone if client is None else points
    if integer(shards, "shards") < 1:
        raise BadArgument("shards: must be 1 or more")
    if threads is None:
        threads = 0 if client is None else 1
    settings = Settings(name, scale, seed, min(shards, points), __version__)
    with tempfile.TemporaryDirectory() as own:
        kept = kept or _Log(own)
        kept.begin(settings)
        _compute(kept, settings, _Here() if client is None else client,
                 integer(threads, "threads"), progress)
        return Study(name, row["what"], kept.merge(settings))


def _compute(kept: _Log, settings: Settings, client: Any, threads: int,
             progress: Optional[Callable[[int, int], Any]]) -> None:
    """Compute the shards that the folder does not have."""
    missing = [shard for shard in range(settings.shards) if not kept.file(shard).exists()]
    finished = settings.shards - len(missing)
    with contextlib.closing(_computed(client, settings, missing, threads)) as computed:
        for shard, lines in computed:
            _write(kept.file(shard), lines)
            finished += 1
            if progress:
                progress(finished, settings.shards)
