import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { refusal } from '../define-tool.ts';

/** A folder of the workspace that is held open, so that what replaces it meanwhile changes nothing. */
export interface OpenFolder {
  /** The path of something in it; by the open folder where the system can do that. */
  at(name: string): string;
  /** The path is that of the folder itself. */
  readonly path: string;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const MOST_SEGMENTS = 64;

/** A path that a model gave, as its parts from the workspace on. Throws `ToolError` for one that may lead elsewhere. */
export function parsePath(path: string): string[] {
  const segments = path.split('/').filter((part) => part !== '' && part !== '.');
  const leadsElsewhere =
    path.startsWith('/') ||
    path.includes('\0') ||
    segments.includes('..') ||
    (process.platform === 'win32' && /[\\:]/.test(path));
  if (leadsElsewhere) {
    const shown = JSON.stringify(path);
    throw refusal(`${shown} is not a path inside the workspace, such as "notes/today.md"`);
  }
  if (segments.length > MOST_SEGMENTS) throw refusal(`The path has over ${MOST_SEGMENTS} parts`);
  return segments;
}

/**
 * Opens the folders one by one, each in the one before it, and follows no symbolic link: there is no
 * moment in which one of them can be exchanged for a way out. `root` is trusted.
 */
export async function withFolder<T>(
  root: string,
  folders: readonly string[],
  { create = false }: { readonly create?: boolean },
  use: (folder: OpenFolder) => Promise<T>,
): Promise<T> {
  let current = await openFolder(root, root);
  try {
    for (const name of folders) {
      const next = await openNext(current, name, create);
      await current.handle.close();
      current = next;
    }
    return await use(current);
  } finally {
    await current.handle.close();
  }
}

interface HeldFolder extends OpenFolder {
  readonly handle: FileHandle;
}

async function openNext(parent: HeldFolder, name: string, create: boolean): Promise<HeldFolder> {
  const path = join(parent.path, name);
  try {
    return await openFolder(parent.at(name), path);
  } catch (error) {
    if (!create || codeOf(error) !== 'ENOENT') throw error;
    // Another may have made it in the meantime.
    await mkdir(parent.at(name)).catch((failed) => {
      if (codeOf(failed) !== 'EEXIST') throw failed;
    });
    return openFolder(parent.at(name), path);
  }
}

async function openFolder(at: string, path: string): Promise<HeldFolder> {
  const handle = await open(at, FOLDER);
  // Elsewhere there is no such way, and a link that is put there in between would be followed.
  const base = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
  return { handle, path, at: (name) => join(base, name) };
}

/** Words for the model what the system refused, with the path as it was given. */
export function toFileError(error: unknown, path: string): unknown {
  const message = MESSAGES[codeOf(error) ?? ''];
  return message === undefined ? error : refusal(`${JSON.stringify(path)} ${message}`);
}

const MESSAGES: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'leads over something that is not a folder, or is a symbolic link',
  ELOOP: 'is a symbolic link, which is not followed',
  EISDIR: 'is a folder',
  EACCES: 'may not be opened',
  EPERM: 'may not be opened',
  ENAMETOOLONG: 'is too long',
  ENOSPC: 'cannot be written: the disk is full',
  EROFS: 'cannot be written: the disk is read-only',
  ENXIO: 'is not a regular file',
};

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
