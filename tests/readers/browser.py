# SPDX-License-Identifier: BSD-2-Clause
"""A Chromium without a window, steered by its own protocol over a pipe."""
import json
import os
import subprocess
import time


class Browser:
    """A context: with Browser() as browser."""

    def __enter__(self):
        (theirs_in, self.out), (self.input, theirs_out) = os.pipe(), os.pipe()

        def connect():
            # They may have the numbers 3 and 4 already: through high ones.
            os.dup2(theirs_in, 103)
            os.dup2(theirs_out, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            ['chromium-headless-shell', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe',
             '--allow-file-access-from-files', f'--user-data-dir={os.getcwd()}/browser',
             '--disable-dev-shm-usage', 'about:blank'], close_fds=False, preexec_fn=connect,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open('browser.log', 'w'))
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.number, self.events = b'', 0, []
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        self.call('Page.enable')
        self.call('DOM.enable')
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.input)

    session = None

    def call(self, method, **arguments):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': arguments}
        if self.session:
            message['sessionId'] = self.session
        text = json.dumps(message).encode() + b'\0'
        while text:
            text = text[os.write(self.out, text):]
        while True:
            while b'\0' not in self.rest:
                more = os.read(self.input, 1 << 16)
                if not more:
                    raise SystemExit('the browser ended: ' + open('browser.log').read()[-2000:])
                self.rest += more
            answer, _, self.rest = self.rest.partition(b'\0')
            answer = json.loads(answer)
            if 'method' in answer:
                self.events.append((answer['method'], answer['params']))
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise SystemExit(f'{method}: {answer["error"]}')
                return answer['result']

    def open(self, path, extra=''):
        address = path if path.startswith('about:') else f'file://{os.path.abspath(path)}{extra}'
        self.call('Page.navigate', url=address)
        self.wait('document.readyState === "complete"')

    def ask(self, script):
        """Runs a script in the page and returns its value."""
        answer = self.call('Runtime.evaluate', expression=script, returnByValue=True)
        if 'exceptionDetails' in answer:
            raise SystemExit(f'{script}: {answer["exceptionDetails"]}')
        return answer['result'].get('value')

    def wait(self, condition):
        for _ in range(600):
            if self.ask(condition):
                return
            time.sleep(0.1)
        raise SystemExit(f'the page never fulfilled {condition}: '
                         f'{self.ask("document.body ? document.body.innerText : 0")}')

    def choose_file(self, selector, path):
        root = self.call('DOM.getDocument')['root']['nodeId']
        node = self.call('DOM.querySelector', nodeId=root, selector=selector)['nodeId']
        self.call('DOM.setFileInputFiles', nodeId=node, files=[os.path.abspath(path)])

    def key(self, key):
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key,
                      text=key if kind == 'keyDown' and len(key) == 1 else '')
