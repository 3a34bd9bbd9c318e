import { type Build, buildVariant } from '../build-variant.ts';
import type { TortureContext } from '../scenario.ts';

/** As in `server/main.ts`. */
const REAL_MS = 10_000;
const SHORT_MS = 600;

/**
 * What takes several heartbeats takes a minute. The long run waits for it; the
 * short one takes a build of a server whose heart beats faster, and all that
 * counts in heartbeats is counted in those. `remove` the build in both cases.
 */
export async function hurried({
  isShort,
  build,
}: Pick<TortureContext, 'isShort' | 'build'>): Promise<{ build: Build; beatMs: number }> {
  if (!isShort) return { build: { ...build, remove: async () => {} }, beatMs: REAL_MS };
  const patched = await buildVariant('hurried', [
    ...build.patches,
    {
      file: 'server/main.ts',
      find: 'const HEARTBEAT_MS = 10_000;',
      replace: `const HEARTBEAT_MS = ${SHORT_MS};`,
    },
  ]);
  return { build: patched, beatMs: SHORT_MS };
}
