"""Run the programs of this folder with their own library and as several units compute, and
write what they gave as JSON Lines:  run.py ROWS.jsonl [PROGRAM...]

Sampled products of each run are kept from outside (record.c) and computed again by `bitcut
gemm`; what still reaches the program's own library is counted.  One more run compares each
product, at its place, with what three units would make of it; it changes nothing."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = '/usr/lib/x86_64-linux-gnu/blas:/usr/lib/x86_64-linux-gnu/lapack'
# One thread and one kernel: the same bits on every x86-64 processor with AVX2.
SAME = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'OPENBLAS_CORETYPE': 'Haswell',
        'NPY_DISABLE_CPU_FEATURES': 'AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL'}
PYTHON = os.environ.get('PYTHON', '/usr/bin/python3')
# Each with the BLAS and LAPACK that it runs on: OpenBLAS computes LU inside itself.
PROGRAMS = {
    'matmul': ([PYTHON, 'matmul.py'], {}),
    'kmeans': ([PYTHON, 'kmeans.py'], {}),
    'train': ([PYTHON, 'train.py'], {}),
    'least_squares': ([PYTHON, 'least_squares.py'], {'LD_LIBRARY_PATH': REFERENCE}),
    'eigen': ([PYTHON, 'eigen.py'], {'LD_LIBRARY_PATH': REFERENCE}),
    'refine': ([PYTHON, 'refine.py'], {'LD_LIBRARY_PATH': REFERENCE}),
    'solve': (['octave-cli', '-q', 'solve.m'], {'LD_LIBRARY_PATH': REFERENCE}),
    'products': (['Rscript', 'products.R'], {}),
}
CONFIGURATIONS = ['own', 'ootomo@a100', 'legemm@mi210', 'ootomo@mi210', 'ootomo@mi210,equilibrate',
        'bf16x3@h100', 'cublas-tf32@a100', 'plain@h100', 'plain@mi210']
# Where products are compared: of training those without a scale, as it is by default.
COMPARED_WITH = {'train': ['1']}
COMPARED = ['legemm@mi210', 'ootomo@mi210', 'plain@h100']


def call(command, **more):
    environment = {**os.environ, **SAME, **more}
    done = subprocess.run(command, cwd=HERE, env=environment, text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]


def options(configuration):
    recipe, unit, *more = re.split('[@,]', configuration)
    return ['--recipe', recipe, '--unit', unit, *('--' + x for x in more)]


def again(configuration, start, routine, alpha, beta, half):
    """Whether bitcut gemm gives the D of a call that was kept, to the bit."""
    files = ['-a', start + '.a.npy', '-b', start + '.b.npy']
    files += ['-c', start + '.c.npy'] if float(beta) else []
    call(['bitcut', 'gemm', *options(configuration), *files, '--alpha', alpha, '--beta', beta,
          '-o', start + '.e.npy', '--reference', 'none', '--threads', '1'])
    d, e = (np.load(start + x).view(np.uint32) for x in ('.d.npy', '.e.npy'))
    there = {'all': lambda x: x, 'upper': np.triu, 'lower': np.tril}[half]
    return (there(d) == there(e)).all()


def lines_of(folder):
    for name in glob.glob(folder + '/*.calls'):
        with open(name) as file:
            yield from ((name[:-6], line.split()) for line in file)


def run_configuration(command, libraries, configuration, shim):
    began = time.monotonic()
    if configuration == 'own':
        return call(command, **libraries), {'seconds': time.monotonic() - began}
    with tempfile.TemporaryDirectory() as work:
        kept, behind = (os.path.join(work, x) for x in ('kept', 'behind'))
        os.mkdir(kept)
        os.mkdir(behind)
        in_front = 'LD_PRELOAD=' + shim + '/record.so:$LD_PRELOAD exec "$@"'
        began = time.monotonic()
        rows = call(['bitcut', 'run', *options(configuration), '--threads', '1', '-o', work + '/log', '--',
                     '/bin/sh', '-c', in_front, 'sh', *command], **libraries, RECORD=kept,
                    BEHIND=behind, LD_PRELOAD=shim + '/behind.so')
        seconds = time.monotonic() - began
        with open(work + '/log') as file:
            total = [json.loads(line) for line in file][-1]
        same = [again(configuration, start + '.' + x[0], *x[1:])
                for start, x in lines_of(kept) if x[0] != 'calls']
        passed = sum(int(x[1]) for _, x in lines_of(behind) if x[0] == 'calls')
    return rows, {'seconds': seconds, 'product_seconds': total['seconds'],
                  'taken': total['taken'], 'failed': total['failed'], 'empty': total['empty'],
                  'original': passed, 'counted': total['counted'],
                  'sampled': len(same), 'equal': sum(map(bool, same))}


def compare(command, libraries, configuration):
    """One row per call site: how the configuration's products differ from those of the program; and the time."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        call(['bitcut', 'run', '--against', configuration, '--threads', '1', '-o', work + '/log', '--',
              *command], **libraries)
        with open(work + '/log') as file:
            rows = [json.loads(line) for line in file]
    total = rows.pop()
    seconds = time.monotonic() - began
    keys = 'call_site', 'routine', 'calls', 'm', 'n', 'k', 'differ', 'outputs', 'difference', 'largest'
    sites = [{'case': 'call_site', **{x: row[x] for x in keys}} for row in rows]
    return sites + [{'case': 'compared', 'seconds': seconds, 'calls': total['calls'],
                      'own_seconds': total['own_seconds']}]


def audit(command, libraries):
    """What an audit in a tenth of the program's time says of it."""
    with tempfile.TemporaryDirectory() as work:
        call(['bitcut', 'run', '--audit', '--threads', '1', '-o', work + '/log', '--', *command],
             **libraries)
        with open(work + '/log') as file:
            *sites, total = (json.loads(line) for line in file)
    return {'case': 'audit', 'calls': total['calls'], 'call_sites': len(sites),
            'watched': sum(x['watched'] for x in sites),
            'compared': sum(x['compared'] for x in sites),
            'relres': max(x['relres'] or 0 for x in sites),
            'backward': max(x['backward_max'] or 0 for x in sites),
            'advice': ', '.join(sorted({x['advice'] or 'none' for x in sites if x['advise']})),
            'own_seconds': total['own_seconds'], 'elapsed': total['elapsed'],
            'share': 100 * total['own_seconds'] / total['elapsed']}


def main(path, programs):
    with tempfile.TemporaryDirectory() as shim, open(path, 'w') as file:
        for name, flags in ('record', []), ('behind', ['-DBEHIND']):
            call(['cc', '-O2', '-shared', '-fPIC', *flags, '-o', '%s/%s.so' % (shim, name),
                  'record.c'])

        def write(**row):
            file.write(json.dumps(row) + '\n')
            file.flush()

        for program in programs:
            own = {}
            for configuration in CONFIGURATIONS:
                rows, calls = run_configuration(*PROGRAMS[program], configuration, shim)
                for row in rows:
                    own.setdefault(row['case'], row['digest'])
                    row['same'] = row['digest'] == own[row['case']]
                    write(program=program, configuration=configuration, **row)
                write(program=program, configuration=configuration, case='calls', **calls)
                print(program, configuration, calls, flush=True)
            for configuration in COMPARED:
                command, libraries = PROGRAMS[program]
                command = command + COMPARED_WITH.get(program, [])
                for row in compare(command, libraries, configuration):
                    write(program=program, configuration=configuration, **row)
            write(program=program, configuration='own', **audit(*PROGRAMS[program]))


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or PROGRAMS)

# SPDX-License-Identifier: BSD-3-Clause
