# SPDX-License-Identifier: BSD-3-Clause
"""The library is found or one line says where not; long calls let other threads of Python run
and give way to Ctrl-C; calls may run at the same time."""

import copy
import gc
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

from helper import PACKAGE, needs_numpy, numpy, part, python, uniform

import bitcut

LONG = """
import bitcut, numpy, time
a = numpy.ones((3000, 3000), "f4")
print("begins", flush=True)
try:
    {}
except KeyboardInterrupt:
    print("interrupted")
    begun = time.process_time()
    time.sleep(0.3)
    print("idle" if time.process_time() - begun < 0.1 else "still computing")
    print(bitcut.gemm(a[:2, :3], a[:3, :2], recipe="plain", unit="a100").d.tolist())
"""
CALLS = ("bitcut.gemm(a, a, recipe='ootomo', unit='a100')",
         "bitcut.explain(a, a, a, seconds=600)",
         "bitcut.tolerance(a, a, recipe='ootomo', unit='a100', runs=10**6)",
         "bitcut.bound(a, a, recipe='ootomo', unit='a100', name='running')")


class Found(unittest.TestCase):
    def test_not_found(self):
        for name, words in (("/nowhere/libbitcut.so", "no libbitcut.so: .*BITCUT_LIBRARY"),
                            ("libm.so.6", "libm.so.6 is not libbitcut.so 0")):
            done = python("import bitcut", BITCUT_LIBRARY=name)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.splitlines()[-1], "NotFound: " + words)
        self.assertTrue(issubclass(bitcut.NotFound, ImportError))

    def test_named(self):
        name = bitcut.library
        if "/" in name:  # else that which the loader finds, anywhere
            name = os.path.abspath(name)
        done = python("import bitcut; print(bitcut.library)", BITCUT_LIBRARY=name)
        self.assertEqual(done.stdout.strip(), name)


@needs_numpy
class Calls(unittest.TestCase):
    def test_interrupted(self):
        for call in part(CALLS):
            with subprocess.Popen([sys.executable, "-B", "-c", LONG.format(call)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "PYTHONPATH": PACKAGE},
                                  preexec_fn=lambda: signal.signal(
                                      signal.SIGINT, signal.default_int_handler)) as child:
                self.assertEqual(child.stdout.readline(), "begins\n")
                time.sleep(0.3)
                child.send_signal(signal.SIGINT)
                begun = time.monotonic()
                try:
                    out, err = child.communicate(timeout=60)
                except subprocess.TimeoutExpired:
                    child.kill()
                    self.fail(f"not interrupted: {call}")
            self.assertEqual((out, err, child.returncode),
                             ("interrupted\nidle\n[[3.0, 3.0], [3.0, 3.0]]\n", "", 0), call)
            self.assertLess(time.monotonic() - begun, 30)

    def test_others_run(self):
        a, counted, done = uniform(700, 700), [], threading.Event()

        def count():
            while not done.wait(0.001):
                counted.append(1)

        other = threading.Thread(target=count)
        other.start()
        bitcut.gemm(a, a, recipe="ootomo", unit="a100", threads=1)
        done.set()
        other.join()
        self.assertGreater(len(counted), 5)

    def test_at_the_same_time(self):
        a, b = uniform(90, 90), uniform(90, 90, seed=2)
        want, got = bitcut.gemm(a, b, recipe="ootomo", unit="a100").d.tobytes(), []

        def call():
            for _ in range(20):
                got.append(bitcut.gemm(a, b, recipe="ootomo", unit="a100").d.tobytes())

        threads = [threading.Thread(target=call) for _ in range(4)]
        for x in threads:
            x.start()
        for x in threads:
            x.join()
        self.assertEqual(set(got), {want})

    def test_nothing_is_kept(self):
        """A result's matrices go when it does, without the collector of cycles."""
        gc.collect()
        gc.disable()
        try:
            d = weakref.ref(bitcut.gemm(numpy.ones((9, 9), "f4"), numpy.ones((9, 9), "f4"),
                                        recipe="plain", unit="a100").d)
            self.assertIsNone(d())
        finally:
            gc.enable()

    def test_forked(self):
        """A process that is forked behind a call computes, too."""
        a = uniform(64, 16, 16)
        want = bitcut.gemm(a, a, recipe="ootomo", unit="a100").d.tobytes()
        child = os.fork()
        if not child:
            os._exit(bitcut.gemm(a, a, recipe="ootomo", unit="a100").d.tobytes() != want)
        for _ in range(300):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            time.sleep(0.1)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self.fail("it hangs")
        self.assertEqual(status, 0)

    def test_copies(self):
        """Results are copied and kept by pickle; their arrays are."""
        a = uniform(9, 8)
        words = bitcut.split(a)
        again = copy.deepcopy(words)
        del words
        self.assertEqual(again.retention().count, 72)
        self.assertEqual(pickle.loads(pickle.dumps(again)).retention().count, 72)
        g = bitcut.gemm(a, a.T, recipe="ootomo", unit="a100")
        kept = pickle.loads(pickle.dumps(g))
        self.assertEqual((kept.line, kept.d.tobytes()), (g.line, g.d.tobytes()))
        with self.assertRaisesRegex(bitcut.BadArgument, "a copy without A and B"):
            kept.judge()
        array = bitcut.Array((2, 2), "f16", "u2")
        array.memoryview()[1] = 0x3c00
        self.assertEqual(pickle.loads(pickle.dumps(array)).tolist(), [[0, 1], [0, 0]])

    def test_memory_comes_back(self):
        a = uniform(64, 64)
        for i in range(1500):
            bitcut.gemm(a, a, recipe="plain", unit="a100", threads=1)
            if i == 500:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 8000)

    def test_no_memory(self):
        one = numpy.zeros((1, 1), "f4")
        huge = numpy.lib.stride_tricks.as_strided(one, (2**30, 1), (4, 4))
        with self.assertRaises(bitcut.Error):
            bitcut.gemm(huge, one, recipe="plain", unit="a100")


if __name__ == "__main__":
    unittest.main()
