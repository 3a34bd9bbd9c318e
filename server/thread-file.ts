import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Code that runs outside this process or thread: from the build, or in development from source. */
export function threadFile(
  at: { readonly project: string; readonly development: boolean },
  built: string,
  source: string,
): string {
  const file = join(at.project, 'dist', built);
  return !at.development && existsSync(file) ? file : join(at.project, 'server', source);
}
