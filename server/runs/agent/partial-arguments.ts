import { parsePartialJson } from 'ai';
import type { Clock } from '../../clock.ts';
import { createArgumentScanner, type Growing } from './argument-scanner.ts';

export interface PartialArguments {
  /** More of the argument text, as the model writes it. */
  push(delta: string): void;
  readonly isEmpty: boolean;
  /** Characters looked at so far, each as often as it was; for the rule on work (AL22). */
  readonly examined: number;
  /** Nothing is sent after this. */
  end(): void;
}

/** Milliseconds between two updates: at most 20 a second (AL21). */
const INTERVAL_MS = 50;
/** After a large update the pause is longer, so that a call sends a few kB a second at most. */
const SMALL_BYTES = 200;
const LONGEST_PAUSE_MS = 200;

/**
 * Turns argument text that grows letter by letter into updates of those
 * top-level keys that changed (rules AL20 to AL24). A card is a preview: of a
 * long value it shows the end, where the writing goes on, and the whole
 * arguments follow when they are complete. So work is linear in the text, and
 * no text stands still for longer than the longest pause.
 */
export function createPartialArguments(deps: {
  clock: Clock;
  send: (params: Record<string, unknown>) => void;
}): PartialArguments {
  const scanner = createArgumentScanner();
  /** The value that was being written when it was last sent, as JSON. */
  let sentGrowing: { readonly key: string; readonly json: string } | undefined;
  let examined = 0;
  let nextAt = 0;
  let isEmpty = true;
  let hasChanged = false;
  let looking = false;
  let ended = false;
  let cancelTimer: (() => void) | undefined;

  const consider = () => {
    if (ended || looking || cancelTimer || !hasChanged || scanner.isBroken) return;
    const waitMs = nextAt - deps.clock.now();
    if (waitMs <= 0) {
      void look();
      return;
    }
    cancelTimer = deps.clock.schedule(waitMs, () => {
      cancelTimer = undefined;
      void look();
    });
  };

  const look = async () => {
    looking = true;
    // What comes in one moment makes one update.
    await undefined;
    hasChanged = false;
    const { finished, growing } = scanner.take();
    const shown = growing && (await readGrowing(growing));
    looking = false;
    if (ended || scanner.isBroken) return;
    send(finished, shown);
    consider();
  };

  const readGrowing = async (growing: Growing): Promise<readonly [string, unknown]> => {
    if ('shown' in growing) return [growing.key, growing.shown];
    examined += growing.json.length;
    return [growing.key, (await parsePartialJson(growing.json)).value];
  };

  const send = (
    finished: readonly (readonly [string, unknown])[],
    growing: readonly [string, unknown] | undefined,
  ) => {
    const isNew = (key: string, json: string) =>
      key !== sentGrowing?.key || json !== sentGrowing.json;
    const changed = [...finished, ...(growing ? [growing] : [])]
      .map(([key, value]) => ({ key, value, json: JSON.stringify(value) }))
      .filter(({ key, value, json }) => value !== undefined && isNew(key, json));
    if (changed.length === 0) return;
    const last = changed.at(-1);
    if (growing && last) sentGrowing = last;
    const bytes = changed.reduce((sum, one) => sum + one.key.length + one.json.length, 0);
    const pauseMs = Math.min(INTERVAL_MS + Math.max(0, bytes - SMALL_BYTES), LONGEST_PAUSE_MS);
    nextAt = deps.clock.now() + pauseMs;
    deps.send(Object.fromEntries(changed.map(({ key, value }) => [key, value])));
  };

  return {
    push(delta) {
      if (delta === '' || ended) return;
      isEmpty = false;
      hasChanged = true;
      examined += delta.length;
      scanner.push(delta);
      consider();
    },
    get isEmpty() {
      return isEmpty;
    },
    get examined() {
      return examined;
    },
    end() {
      ended = true;
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}
