import { readFileSync } from 'node:fs';

/** npm dies of a signal without telling what it started, so the launcher looks for itself. */
const CHECK_MS = 500;

/**
 * Calls `onGone` once when the npm that started the launcher is gone; returns its undo.
 *
 * Only under npm: who starts the launcher by hand may well want it to outlive the shell (nohup, a
 * service).
 *
 * @param {() => void} onGone
 * @returns {() => void}
 */
export function watchAncestors(onGone) {
  if (!process.env.npm_lifecycle_event) return () => {};
  const before = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === before) return;
    clearInterval(timer);
    onGone();
  }, CHECK_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Our parent and its parent. Between npm and us is a shell on Linux, which lives on when npm is
 * killed; elsewhere the shell gives its place to us, and the parent is npm itself.
 */
function ancestors() {
  const parent = process.ppid;
  if (process.platform !== 'linux') return `${parent}`;
  try {
    // `pid (name) state ppid …`; a name may hold spaces and brackets, so from the last one on.
    const stat = readFileSync(`/proc/${parent}/stat`, 'utf8');
    return `${parent} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch {
    // It went between the two looks; the next parent is another.
    return `${process.ppid} gone`;
  }
}
