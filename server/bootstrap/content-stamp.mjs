import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * One hash over the names and contents of files and whole folders, in an order of its own; what
 * does not exist counts as such. Times do not matter: a fresh clone hashes like the old one.
 *
 * @param {string} root
 * @param {readonly string[]} paths relative to `root`, with forward slashes
 * @param {(path: string) => boolean} [skip] of a file or folder, by its path relative to `root`
 */
export function hashContents(root, paths, skip = () => false) {
  const hash = createHash('sha256');
  /** @param {string} path */
  const add = (path) => {
    if (skip(path)) return;
    const full = join(root, path);
    if (!existsSync(full)) return void hash.update(`absent ${path}\n`);
    if (statSync(full).isDirectory()) {
      for (const name of readdirSync(full).sort()) add(`${path}/${name}`);
      return;
    }
    const contents = readFileSync(full);
    hash.update(`file ${path} ${contents.length}\n`).update(contents);
  };
  for (const path of paths) add(path);
  return hash.digest('hex');
}

/**
 * A stamp says from what something was made. It is taken away before work starts and written once
 * it is whole, so that work that was cut short is done again.
 *
 * @param {string} file
 */
export function createStamp(file) {
  return {
    /** @param {string} hash */
    matches: (hash) => existsSync(file) && readFileSync(file, 'utf8') === hash,
    exists: () => existsSync(file),
    remove: () => rmSync(file, { force: true }),
    /** @param {string} hash */
    write: (hash) => writeFileSync(file, hash),
  };
}
