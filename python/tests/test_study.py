# SPDX-License-Identifier: BSD-3-Clause
"""Studies in shards: for any executor and number of shards the bytes of one run of the program,
also after an interruption and after a worker was killed; what does not fit is refused."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from helper import Folder

import bitcut
from bitcut import _study

try:
    import distributed
except ImportError:
    distributed = None

STUDY, POINTS = "figure5", 50


class Queue(concurrent.futures.ThreadPoolExecutor):
    """Two threads; the shards that they were given, and the number that they computed."""

    def __init__(self):
        super().__init__(2)
        self.shards, self.computed = [], 0

    def submit(self, fn, /, *args, **kwargs):
        self.shards.append(args[1])
        return super().submit(self.compute, fn, *args, **kwargs)

    def compute(self, fn, *args):
        self.computed += 1
        return fn(*args)


@unittest.skipUnless(shutil.which("bitcut"), "needs the program bitcut in PATH")
class WithStudy(Folder):
    @classmethod
    def setUpClass(cls):
        cls.whole = subprocess.run(["bitcut", "study", STUDY, "--json"], stdout=subprocess.PIPE,
                                   check=True).stdout

    def setUp(self):
        super().setUp()
        self.log = pathlib.Path(self.folder.name, "log")

    def study(self, **more):
        return bitcut.study(STUDY, **more)

    def refused(self, error, words, **more):
        with self.assertRaisesRegex(error, words):
            self.study(**more)

    def kept(self):
        return sorted(int(file.stem[len("shard"):]) for file in self.log.glob("shard*.jsonl"))


class Studies(WithStudy):
    def test_here(self):
        said = []
        found = self.study(shards=3, progress=lambda *x: said.append(x))
        self.assertEqual(found.jsonl, self.whole)
        self.assertEqual(list(found), [json.loads(line) for line in self.whole.splitlines()])
        self.assertEqual(said, [(1, 3), (2, 3), (3, 3)])
        text = subprocess.run(["bitcut", "study", STUDY], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        self.assertEqual(str(found), text.rstrip("\n"))
        self.assertIn("<td>", found._repr_html_())
        found.save(f"{self.folder.name}/saved.jsonl")
        self.assertEqual(pathlib.Path(self.folder.name, "saved.jsonl").read_bytes(), self.whole)

    def test_executor(self):
        with Queue() as client:
            self.assertEqual(self.study(client=client, shards=12).jsonl, self.whole)
            self.assertEqual(client.shards, list(range(12)))
            bitcut.study("recorded", client=client, shards=9)  # it has one point
            self.assertEqual(client.shards[12:], [0])
            self.assertEqual(self.study(client=client, shards=5, seed=2**63).jsonl,
                             self.study(shards=1, seed=2**63).jsonl)

    def test_interrupted(self):
        """Finished shards stay, and only the others are computed by the next call."""
        def stop(done, shards):
            if done == 3:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.study(shards=7, log=self.log, progress=stop)
        self.assertEqual(self.kept(), [0, 1, 2])
        with Queue() as client, self.assertRaises(KeyboardInterrupt):
            self.study(client=client, seed=2, shards=40, progress=stop)
        self.assertLess(client.computed, 40)
        with Queue() as client:
            self.assertEqual(self.study(client=client, log=self.log).jsonl, self.whole)
            self.assertEqual(client.shards, [3, 4, 5, 6])
        self.assertEqual(self.study(log=self.log).jsonl, self.whole)
        self.assertEqual(sorted(x.name for x in self.log.iterdir()),
                         [f"shard{i}.jsonl" for i in range(7)] + ["study.json"])

    def test_refused(self):
        with self.assertRaisesRegex(bitcut.BadArgument, "figure0: unknown study"):
            bitcut.study("figure0")
        self.refused(bitcut.BadArgument, "neither small nor paper", scale="large")
        self.refused(bitcut.BadArgument, "shards: must be 1 or more", shards=0)
        self.refused(bitcut.BadArgument, "seed: -1 is not", seed=-1)
        self.study(shards=2, log=self.log)
        self.refused(bitcut.BadFile, "its shards have shards 2, not 3", shards=3, log=self.log)
        self.refused(bitcut.BadFile, "its shards have seed 1, not 2", seed=2, log=self.log)
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = self.folder.name
        self.refused(bitcut.Unsupported, "needs the program bitcut in PATH")

    def change(self, shard, old, new):
        """Change a shard, without the digests that would show it."""
        file = self.log / f"shard{shard}.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            del line["digest"]
            self.assertEqual(line[old], getattr(_study.Settings(STUDY, "small", 1, 3,
                                                                bitcut.__version__), old))
            line[old] = new
        file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))

    def test_foreign_shards(self):
        """Of another version or machine with other settings; damaged; incomplete."""
        for key, value, words in (("version", "0.0.1", "computed by bitcut 0.0.1"),
                                  ("seed", 2, "the seed of the row is not 1"),
                                  ("scale", "paper", "the scale of the row")):
            self.study(shards=3, log=self.log)
            self.change(1, key, value)
            self.refused(bitcut.BadFile, words, log=self.log)
            (self.log / "shard1.jsonl").unlink()
        self.study(shards=3, log=self.log)
        for shard in range(3):
            self.change(shard, "version", "0.0.1")
        self.refused(bitcut.BadFile, "its rows have version 0.0.1, not", log=self.log)
        settings = json.loads((self.log / "study.json").read_text())
        (self.log / "study.json").write_text(json.dumps({**settings, "version": "0.0.1"}))
        self.refused(bitcut.BadFile, "its shards have version 0.0.1", log=self.log)
        (self.log / "study.json").write_text("{}")
        self.refused(bitcut.BadFile, "not the settings of a study", log=self.log)

    def test_damaged_shards(self):
        self.study(shards=3, log=self.log)
        file = self.log / "shard1.jsonl"
        lines = file.read_bytes().splitlines(True)
        file.write_bytes(b"".join(lines[:-1]))
        self.refused(bitcut.BadFile, "the shards lack points of figure5", log=self.log)
        file.write_bytes(b"".join(lines).replace(b'"k":16,', b'"k":17,', 1))
        self.refused(bitcut.BadFile, "the row was changed", log=self.log)
        file.unlink()
        self.assertEqual(self.study(log=self.log).jsonl, self.whole)

    def test_other_version_on_a_worker(self):
        settings = _study.Settings(STUDY, "small", 1, 2, "0.0.1")
        with self.assertRaisesRegex(bitcut.Unsupported, "the study is of 0.0.1; install one"):
            _study.compute_shard(settings, 0, 1)

    def test_lost_pool(self):
        """An executor that fails as a whole keeps the finished shards."""
        killed = []

        def kill(done, shards):
            if not killed:
                killed.append(done)
                for worker in pool._processes:  # pylint: disable=protected-access
                    os.kill(worker, signal.SIGKILL)

        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            with self.assertRaises(concurrent.futures.process.BrokenProcessPool):
                self.study(client=pool, shards=20, log=self.log, progress=kill)
        self.assertIn(0, self.kept())
        self.assertLess(len(self.kept()), 20)
        self.assertEqual(self.study(log=self.log).jsonl, self.whole)


def is_computing(worker):
    """Whether a worker has started the program."""
    for children in pathlib.Path(f"/proc/{worker}/task").glob("*/children"):
        for child in children.read_text().split():
            try:
                if pathlib.Path(f"/proc/{child}/comm").read_text() == "bitcut\n":
                    return True
            except OSError:  # it has ended
                pass
    return False


@unittest.skipUnless(distributed, "needs python3-distributed")
@unittest.skipUnless(sys.platform == "linux", "needs Linux")
class Cluster(WithStudy):
    """On a Dask cluster of two worker processes; one is killed while it computes."""

    def test_killed_worker(self):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                      local_directory=self.folder.name, silence_logs=50) as cluster, \
                distributed.Client(cluster) as client:
            workers = list(client.run(os.getpid).values())
            self.assertEqual(len(set(workers)), 2)
            killed = []

            def kill(done, shards):
                if killed or done < 5:
                    return
                end = time.monotonic() + 20
                while not is_computing(workers[0]):
                    self.assertLess(time.monotonic(), end, "the worker computes nothing")
                os.kill(workers[0], signal.SIGKILL)
                killed.append(done)

            found = self.study(client=client, log=self.log, progress=kill)
            self.assertEqual(found.jsonl, self.whole)
            self.assertTrue(0 < killed[0] < POINTS)
            self.assertEqual(self.kept(), list(range(POINTS)))

if __name__ == "__main__":
    unittest.main()
