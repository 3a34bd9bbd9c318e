import { z } from 'zod';
import type { Store } from '../store/store.ts';
import { OFF_AREA } from './lane.ts';
import type { Target } from './target.ts';

const markSchema = z.object({ off: z.literal(true), fingerprint: z.string().optional() });

/**
 * Which targets an earlier server left off, by their ids, with the time. The mark of a name that is
 * not there any more, or that leads elsewhere now, is deleted (rule OB27).
 */
export async function readOffTargets(
  store: Pick<Store, 'write' | 'listKept'>,
  find: (id: string) => Target | undefined,
): Promise<ReadonlyMap<string, number>> {
  const kept = await store.listKept(OFF_AREA);
  const isMeant = ({ key, value }: (typeof kept)[number]): boolean => {
    const target = find(key);
    if (!target) return false;
    const { fingerprint } = markSchema.parse(value);
    // One that an older version wrote has none.
    return fingerprint === undefined || fingerprint === target.fingerprint;
  };
  const [meant, stale] = [kept.filter(isMeant), kept.filter((one) => !isMeant(one))];
  if (stale.length > 0) {
    await store.write(stale.map(({ key }) => ({ type: 'delete_kept', area: OFF_AREA, key })));
  }
  return new Map(meant.map(({ key, putAt }) => [key, putAt]));
}
