# SPDX-License-Identifier: BSD-2-Clause
"""A server of PostgreSQL, for the tests that load tables."""
import json
import os
import pwd
import shutil
import subprocess
import tempfile

from common import run


class PostgreSQL:
    """A server of our own, as another user if we are root."""

    def __enter__(self):
        # The path of a socket must be short.
        self.folder = tempfile.mkdtemp(prefix='mprof-pg-')
        self.programs = sorted(os.listdir('/usr/lib/postgresql'))[-1]
        self.programs = f'/usr/lib/postgresql/{self.programs}/bin'
        self.user = []
        if os.getuid() == 0:
            shutil.chown(self.folder, 'postgres')
            self.user = ['setpriv', f'--reuid={pwd.getpwnam("postgres").pw_uid}',
                         f'--regid={pwd.getpwnam("postgres").pw_gid}', '--clear-groups']
        self.start(f'{self.programs}/initdb', '-D', f'{self.folder}/data', '-A', 'trust', '-E', 'UTF8',
                   '--locale=C.UTF-8', '-U', 'mprof', '--no-sync', '--no-instructions')
        self.start(f'{self.programs}/pg_ctl', '-D', f'{self.folder}/data', '-w', '-l', f'{self.folder}/log', '-o',
                   f"-k {self.folder} -c listen_addresses='' -c fsync=off -c jit=off -c max_parallel_workers_per_gather=0", 'start')
        return self

    def start(self, *command):
        # The server keeps the descriptors that it gets.
        done = subprocess.run([*self.user, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE if 'start' not in command else subprocess.DEVNULL,
                              cwd=self.folder)
        if done.returncode:
            raise SystemExit(f'{command}: {(done.stderr or b"").decode()}')

    def command(self, *arguments):
        return [f'{self.programs}/psql', '-X', '-q', '-h', self.folder, '-U', 'mprof', '-d', 'postgres', *arguments]

    def psql(self, *arguments, cwd=None, **more):
        return run(*self.command('-v', 'ON_ERROR_STOP=1', *arguments), cwd=cwd, **more).stdout

    def start_psql(self, *arguments, **more):
        return subprocess.Popen(self.command(*arguments), **more)

    def ask(self, query, width):
        """Returns the rows of a query with so many columns."""
        columns = ', '.join(f'c{i}' for i in range(width))
        return json.loads(self.psql('-At', '-c', f"SELECT coalesce(json_agg(json_build_array({columns})), '[]') "
                                                 f'FROM ({query}) q({columns})'))

    def __exit__(self, *_):
        subprocess.run([*self.user, f'{self.programs}/pg_ctl', '-D', f'{self.folder}/data', '-m', 'immediate', 'stop'],
                       stdout=subprocess.DEVNULL, cwd=self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)
