import { readlink } from 'node:fs/promises';
import { type Isolation, runProgram } from './run-program.ts';

const PROBE_MS = 20_000;

/** The namespaces of a user without rights belong to a user namespace, across which no environment is read. */
const OF_USER = ['--user', '--map-current-user', '--pid', '--fork', '--mount-proc', '--kill-child'];
const OF_ROOT = ['--pid', '--fork', '--mount', '--propagation', 'private', '--kill-child'];

/** The first process of the namespace waits for all others, so that none stays as a zombie. */
const INIT = '"$@"; exit';

/**
 * Root could unmount a `/proc` that lies over the one of the machine: that one is taken away first,
 * wherever it is mounted, in this mount namespace alone.
 */
const INIT_OF_ROOT = `
mounts=$(cat /proc/self/mountinfo)
while read -r _ _ _ _ at rest; do
  case $rest in *' - proc '*) umount -l "$at" 2>/dev/null ;; esac
done <<END
$mounts
END
mount -t proc proc /proc &&
[ "$(grep -c ' - proc ' /proc/self/mountinfo)" = 1 ] || exit
${INIT}`;

/** Tries it once, with a program that looks at the namespace in which it runs; `reason`: why there is none here. */
export async function probeIsolation(options: {
  /** `program-starter`, built or source. */
  readonly starterPath: string;
  /** Where `unshare`, `sh`, `mount` and `umount` are looked for. */
  readonly path: string;
}): Promise<{ readonly isolation?: Isolation; readonly reason?: string }> {
  if (process.platform !== 'linux') return { reason: 'it needs Linux' };
  const isolation = isolationBy(options);
  const look = 'readlink /proc/1/ns/pid && readlink /proc/self/ns/pid';
  const ended = await runProgram({
    program: 'sh',
    args: ['-c', look],
    cwd: '/',
    env: { PATH: options.path },
    isolation,
    signal: AbortSignal.timeout(PROBE_MS),
    tailChars: 0,
    onOutput: () => undefined,
  }).catch((error: unknown) => ({ kind: 'not_started' as const, reason: String(error) }));
  if (ended.kind === 'not_started') return { reason: ended.reason };
  const [first, own] = ended.stdout.split('\n');
  const outer = await readlink('/proc/self/ns/pid');
  const isOwn = first !== undefined && first === own && own.startsWith('pid:') && own !== outer;
  return isOwn ? { isolation } : { reason: ended.stderr.trim() || 'the namespace is not another' };
}

function isolationBy({ starterPath, path }: { starterPath: string; path: string }): Isolation {
  const isRoot = process.geteuid?.() === 0;
  const starter = [process.execPath, '--disable-warning=ExperimentalWarning', starterPath];
  return {
    command: 'unshare',
    args: [
      ...(isRoot ? OF_ROOT : OF_USER),
      ...['--', 'sh', '-c', isRoot ? INIT_OF_ROOT : INIT, 'sh', ...starter],
    ],
    env: { PATH: path },
  };
}
