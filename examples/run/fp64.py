# SPDX-License-Identifier: BSD-3-Clause
"""Run the FP64 programs of this folder with their own library and by schemes with several
numbers of parts, and write what they gave as JSON Lines:  fp64.py ROWS.jsonl [PROGRAM...]
Print the tables of such rows in Texinfo:  fp64.py --table ROWS.jsonl"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ.get('PYTHON', '/usr/bin/python3')
PROGRAMS = ['lu64', 'eigen64', 'cg64']
UNIT = 'h100'
PARTS = {'ozimmu-h': range(3, 10), 'ozimmu': range(6, 10), 'gemmul8': (8, 10, 12, 13, 14, 15),
         'slices-f16': range(4, 8)}
# The columns of each table: case, key, format.
TABLES = [[('LU 1e1', 'first', '%.0e'), ('LU 1e1', 'steps', '%d'),
           ('LU 1e6', 'first', '%.0e'), ('LU 1e6', 'steps', '%d'),
           ('LU 1e12', 'first', '%.0e'), ('LU 1e12', 'steps', '%d')],
          [('subspace', 'iterations', '%d'), ('subspace', 'residual', '%.0e'),
           ('block CG 1e2', 'iterations', '%d'), ('block CG 1e2', 'residual', '%.0e'),
           ('block CG 1e4', 'iterations', '%d'), ('block CG 1e4', 'residual', '%.0e')]]


def call(command):
    environment = {**os.environ, 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
    done = subprocess.run(command, cwd=HERE, env=environment, text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]


def run(program, scheme, parts):
    """The program's rows, and how many of its calls bitcut computed."""
    with tempfile.TemporaryDirectory() as work:
        log = os.path.join(work, 'log')
        rows = call(['bitcut', 'run', '--scheme', scheme, '--parts', str(parts), '--unit',
                     UNIT, '--threads', '1', '-o', log, '--', PYTHON, program + '.py'])
        with open(log) as file:
            total = [json.loads(line) for line in file][-1]
    calls = {'taken': total['taken'], 'failed': total['failed'], 'empty': total['empty']}
    return rows, calls


def record(path, programs):
    with open(path, 'w') as file:
        for program in programs:
            for row in call([PYTHON, program + '.py']):
                file.write(json.dumps({'program': program, 'scheme': 'own', **row}) + '\n')
            for scheme, numbers in PARTS.items():
                for parts in numbers:
                    rows, calls = run(program, scheme, parts)
                    for row in rows:
                        file.write(json.dumps({'program': program, 'scheme': scheme,
                                               'parts': parts, **row, **calls}) + '\n')
                    file.flush()


def tables(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    for columns in TABLES:
        value = {(x['scheme'], x.get('parts'), x['case'], key): float(x[key])
                 for x in rows for key in x if key not in ('program', 'scheme', 'case', 'digest')}
        for scheme, parts in dict.fromkeys((x['scheme'], x.get('parts')) for x in rows):
            name = 'its own FP64' if scheme == 'own' else '@code{%s}, %d' % (scheme, parts)
            numbers = ((form, value[scheme, parts, case, key]) for case, key, form in columns)
            print(' @tab '.join(['@item ' + name] + [form % x if x < float('inf') else 'none'
                                                     for form, x in numbers]))


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == '--table':
        tables(sys.argv[2])
    else:
        record(sys.argv[1], sys.argv[2:] or PROGRAMS)
