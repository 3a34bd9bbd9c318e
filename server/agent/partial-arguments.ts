import { parsePartialJson } from 'ai';
import { isRecord } from '#lib/json/is-record';
import { LIMITS } from '#lib/protocol/limits';
import type { Clock } from '../clock.ts';
import { isNestedTooDeep } from './is-nested-too-deep.ts';

export interface PartialArguments {
  /** More of the argument text, as the model writes it. */
  push(delta: string): void;
  /** All of the text so far. */
  readonly text: string;
  /** Nothing is sent after this. */
  end(): void;
}

/** Milliseconds between two updates: at most 20 a second (issue 2, Agent). */
const INTERVAL_MS = 50;
/**
 * The text must have grown by a third since it was last looked at, so that all
 * looks together cost four times the text at most, however slowly it arrives.
 */
const GROWTH = 4 / 3;
/** Characters up to which each letter may show. */
const SHORT_TEXT = 32;
/** What may be sent: twice what was written, and a start so that short arguments show each letter. */
const BUDGET_FACTOR = 2;
const BUDGET_START_BYTES = 512;

/**
 * Turns argument text that grows letter by letter into updates of those
 * top-level keys that changed (rules AL20 to AL24). Bytes sent and work done
 * are linear in the size of the argument; a card is a preview, and the whole
 * argument follows when it is complete.
 */
export function createPartialArguments(deps: {
  clock: Clock;
  send: (params: Record<string, unknown>) => void;
}): PartialArguments {
  const told = new Map<string, string>();
  let text = '';
  let lookedAt = 0;
  let sentBytes = 0;
  let nextAt = 0;
  let looking = false;
  let ended = false;
  let unschedule: (() => void) | undefined;

  const hasGrown = () =>
    text.length > lookedAt && (text.length <= SHORT_TEXT || text.length >= lookedAt * GROWTH);

  const consider = () => {
    if (ended || looking || unschedule || !hasGrown() || text.length > LIMITS.argsBytes) return;
    const waitMs = nextAt - deps.clock.now();
    if (waitMs <= 0) {
      void look();
      return;
    }
    unschedule = deps.clock.schedule(waitMs, () => {
      unschedule = undefined;
      void look();
    });
  };

  const look = async () => {
    looking = true;
    lookedAt = text.length;
    const { value } = await parsePartialJson(text);
    looking = false;
    if (ended) return;
    if (isRecord(value) && !isNestedTooDeep(value)) sendChanged(value);
    consider();
  };

  const sendChanged = (params: Record<string, unknown>) => {
    const changed = Object.entries(params)
      .map(([key, value]) => ({ key, value, json: JSON.stringify(value) }))
      .filter(({ key, json }) => told.get(key) !== json);
    const bytes = changed.reduce((sum, one) => sum + one.key.length + one.json.length, 0);
    if (changed.length === 0 || sentBytes + bytes > lookedAt * BUDGET_FACTOR + BUDGET_START_BYTES) {
      return;
    }
    for (const { key, json } of changed) told.set(key, json);
    sentBytes += bytes;
    nextAt = deps.clock.now() + INTERVAL_MS;
    deps.send(Object.fromEntries(changed.map(({ key, value }) => [key, value])));
  };

  return {
    push(delta) {
      text += delta;
      consider();
    },
    get text() {
      return text;
    },
    end() {
      ended = true;
      unschedule?.();
      unschedule = undefined;
    },
  };
}
