import { gives, type Patch } from '../patch.ts';

/** The same figure stands in `server/main/create-endpoints.ts`. */
const REAL_MS = 10_000;
const SHORT_MS = 1_000;
const RESTING_MS = 600_000;

type Length = { readonly isShort: boolean };

/**
 * What takes several heartbeats takes a minute. The long run waits for it; the
 * short one takes a build of a server whose heart beats faster, and all that
 * counts in heartbeats is counted in those.
 */
export const hurriedPatches = ({ isShort }: Length): readonly Patch[] =>
  isShort ? [heartbeat(SHORT_MS)] : [];

/** For scenarios in which nothing may be said, and no socket be ended, but by the fault. */
export const restingHeart = (): readonly Patch[] => [heartbeat(RESTING_MS)];

const heartbeat = (ms: number): Patch => gives('heartbeat', String(ms));

export const beatMsOf = ({ isShort }: Length): number => (isShort ? SHORT_MS : REAL_MS);
