/**
 * @typedef {object} LockEntry
 * @property {string} [version]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {boolean} [dev]
 * @property {boolean} [devOptional]
 * @property {boolean} [optional]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 * @property {string} [integrity]
 *
 * @typedef {{ packages: Record<string, LockEntry> }} Lock
 */

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];

/**
 * The lock with an entry for each optional dependency of an installed package that has none. An
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
      const path = missingPath(packages, { owner, name, range });
      if (path === undefined) continue;
      packages[path] = entryFor({ name, range, owner: entry });
      added.push(path);
    }
  }
  return { lock: { ...lock, packages: sortedAsNpmDoes(packages) }, added };
}

/**
 * Where an entry has to be added; undefined when the owner finds the one it wants. A nearer folder
 * hides a farther one, so another exact version on the way needs an entry of the owner's own.
 *
 * @param {Record<string, LockEntry>} packages
 * @param {{ owner: string, name: string, range: string }} wanted
 */
function missingPath(packages, { owner, name, range }) {
  const places = placesToLook(owner).map((folder) => `${folder}node_modules/${name}`);
  const found = places.find((path) => path in packages);
  if (found === undefined) return `node_modules/${name}`;
  return !isExact(range) || packages[found]?.version === range ? undefined : places[0];
}

/**
 * The folders in which Node looks from a package: its own, then each that it lies in.
 *
 * @param {string} owner such as `node_modules/a/node_modules/b`; '' is the project itself
 */
function placesToLook(owner) {
  const folders = /** @type {string[]} */ ([]);
  for (let at = owner; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('/node_modules/'), 0))) {
    folders.push(`${at}/`);
  }
  return [...folders, ''];
}

/** @param {string} range */
const isExact = (range) => /^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(range);

/** @param {{ name: string, range: string, owner: LockEntry }} dependency */
function entryFor({ name, range, owner }) {
  // The lowest version that a caret or tilde range names lies in it; `*` names none.
  const version = /\d+\.\d+\.\d+(-[\w.-]+)?/.exec(range)?.[0] ?? owner.version;
  return {
    ...(version && { version }),
    ...platformOf(name),
    ...(owner.dev && { dev: true }),
    ...(owner.devOptional && { devOptional: true }),
    optional: true,
  };
}

/**
 * The platform that a package's name tells: `@next/swc-win32-x64-msvc`, `…-linux-arm-gnueabihf`.
 *
 * @param {string} name
 * @returns {{ os?: string[], cpu?: string[], libc?: string[] }}
 */
export function platformOf(name) {
  const words = name.split(/[/@_-]/);
  const os = words.find((word) => SYSTEMS.includes(word));
  const cpu = words.find((word) => PROCESSORS.includes(word));
  const libc = words.map(libcOf).find((found) => found !== undefined);
  return {
    ...(cpu && { cpu: [cpu] }),
    ...(os && { os: [os] }),
    // Only Linux has the choice.
    ...(os === 'linux' && libc && { libc: [libc] }),
  };
}

/** @param {string} word */
function libcOf(word) {
  if (word.startsWith('musl')) return 'musl';
  return word.startsWith('gnu') ? 'glibc' : undefined;
}

/** @param {Record<string, LockEntry>} packages */
function sortedAsNpmDoes(packages) {
  return Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
}
