/**
 * Completes the project's lockfiles; `--check` only says what they lack and exits 1 then.
 *
 *     node server/bootstrap/complete-lock.mjs [--check]
 *
 * A registry that lacks the packages of some platforms makes npm write a lock without them, and
 * `npm ci` of npm 11 and later then refuses that lock. Run this after each change of dependencies.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BOOTSTRAP, ROOT } from './project.mjs';

/**
 * @typedef {object} LockEntry
 * @property {string | undefined} [version]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {boolean | undefined} [dev]
 * @property {boolean | undefined} [devOptional]
 * @property {boolean} [optional]
 * @property {string[] | undefined} [os]
 * @property {string[] | undefined} [cpu]
 * @property {string[] | undefined} [libc]
 *
 * @typedef {{ packages: Record<string, LockEntry> }} Lock
 */

const SYSTEM = /^(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)$/;
const PROCESSOR = /^(arm|arm64|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)$/;
const VERSION = /\d+\.\d+\.\d+(-[\w.-]+)?/;

/**
 * Gives the lock an entry for each optional dependency of an installed package that has none. The
 * entry says version and platform, but neither address nor digest: the package itself could not be
 * had; npm on that platform asks its own registry for it.
 *
 * @param {Lock} lock
 * @returns {{ lock: Lock, added: string[] }}
 */
export function completeLock(lock) {
  const packages = { ...lock.packages };
  const added = /** @type {string[]} */ ([]);
  for (const [owner, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const path = missingPath(packages, owner, name, range);
      if (path === undefined) continue;
      packages[path] = {
        // The lowest version that a caret or tilde range names lies in it; `*` names none.
        version: VERSION.exec(range)?.[0] ?? entry.version,
        ...platformOf(name),
        dev: entry.dev,
        devOptional: entry.devOptional,
        optional: true,
      };
      added.push(path);
    }
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { lock: { ...lock, packages: Object.fromEntries(sorted) }, added };
}

/**
 * Finds where an entry has to be added; undefined when the owner finds the one it wants, in its own
 * folder or in one that it lies in. A nearer folder hides a farther one, so where another exact
 * version is on the way, the owner needs an entry of its own.
 *
 * @param {Record<string, LockEntry>} packages
 * @param {string} owner such as `node_modules/a/node_modules/b`; '' is the project itself
 * @param {string} name
 * @param {string} range
 */
function missingPath(packages, owner, name, range) {
  const places = [];
  for (let at = owner; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('/node_modules/'), 0))) {
    places.push(`${at}/node_modules/${name}`);
  }
  places.push(`node_modules/${name}`);
  const found = places.find((path) => path in packages);
  if (found === undefined) return places.at(-1);
  const isExact = VERSION.exec(range)?.[0] === range;
  return !isExact || packages[found]?.version === range ? undefined : places[0];
}

/**
 * Reads the platform from a package's name: `@next/swc-win32-x64-msvc`, `…-linux-arm-gnueabihf`.
 *
 * @param {string} name
 */
export function platformOf(name) {
  const words = name.split(/[/@_-]/);
  const os = words.find((word) => SYSTEM.test(word));
  const cpu = words.find((word) => PROCESSOR.test(word));
  // Only Linux has the choice of a C library.
  const libc = os === 'linux' ? words.find((word) => /^(musl|gnu)/.test(word)) : undefined;
  return {
    cpu: cpu ? [cpu] : undefined,
    os: os ? [os] : undefined,
    libc: libc ? [libc.startsWith('musl') ? 'musl' : 'glibc'] : undefined,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const check = process.argv.includes('--check');
  for (const folder of [ROOT, BOOTSTRAP]) {
    const file = join(folder, 'package-lock.json');
    const { lock, added } = completeLock(JSON.parse(readFileSync(file, 'utf8')));
    for (const path of added) process.stdout.write(`${check ? 'missing' : 'added'}: ${path}\n`);
    if (added.length > 0 && !check) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
    if (added.length > 0 && check) process.exitCode = 1;
  }
}
