import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchParent } from './parent-watch.ts';

const module = join(import.meta.dirname, 'parent-watch.ts');

/** A program that lives until its parent has ended, and then ends with 7. */
const CHILD = `
  import { watchParent } from ${JSON.stringify(module)};
  setInterval(() => {}, 1_000);
  watchParent(() => process.exit(7));
  console.log('watching', process.pid);
`;

test('notifies a process that its launcher was killed outright', async () => {
  const launcher = spawn(process.execPath, ['--input-type=module', '--eval', LAUNCHER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(launcher.stdout, 'data');
  const child = Number(String(line).split(' ')[1]);
  onTestFinished(() => {
    launcher.stdout.destroy();
    for (const pid of [launcher.pid, child]) {
      if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
  });

  launcher.kill('SIGKILL');
  // The child holds the launcher's stdout: it closes only when the child has ended too.
  await once(launcher.stdout, 'close');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A launcher as ours: its child gets a channel and its own stdout. */
const LAUNCHER = `
  import { spawn } from 'node:child_process';
  const args = ['--input-type=module', '--eval', ${JSON.stringify(CHILD)}];
  spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  setInterval(() => {}, 1_000);
`;

test('notifies it too when the channel was closed before it listened', async () => {
  const exited = new Promise<void>((resolve) => {
    watchParent(resolve, { connected: false, once: () => {}, off: () => {} });
  });
  await exited;
});

test('watches nothing in a process that was started by hand', () => {
  const listen = () => expect.unreachable('there is no channel to listen to');
  watchParent(listen, { once: listen, off: listen })();
});

test('a process that has nothing left to do ends, though its launcher lives', async () => {
  const child = fork('-', [], {
    execArgv: [
      '--input-type=module',
      '--eval',
      `import { watchParent } from ${JSON.stringify(module)}; watchParent(() => process.exit(7));`,
    ],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(await once(child, 'exit')).toEqual([0, null]);
});
