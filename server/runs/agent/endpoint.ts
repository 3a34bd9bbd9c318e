import type { Clock } from '../../clock.ts';
import type { TurnError } from './describe-model-error.ts';
import { type Discovery, listModelIds } from './list-model-ids.ts';

/** The server behind `OPENAI_BASE_URL`, and which models it has as far as it has answered. */
export interface Endpoint {
  /** Empty until it has answered with some. */
  readonly ids: readonly string[];
  /** Why there are none. Undefined before it was asked, and once it has answered with some. */
  readonly trouble: TurnError | undefined;
  /** For people: without a user or a query. */
  readonly url: string;
  /** Asks it, for two seconds at most; who asks meanwhile shares the answer. */
  ask(): Promise<Discovery>;
  /** Unless it has answered with a model, asks it in the background until it has. Returns its own undo. */
  keepAsking(onAnswer: () => void): () => void;
}

/** A proxy may list hundreds; a menu cannot. */
const MOST_IDS = 50;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createEndpoint(deps: {
  readonly openaiBaseUrl: string;
  readonly openaiApiKey: string | undefined;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
}): Endpoint {
  const url = shownUrl(deps.openaiBaseUrl);
  let ids: readonly string[] = [];
  let trouble: TurnError | undefined;
  let asking: Promise<Discovery> | undefined;

  const askOnce = async (): Promise<Discovery> => {
    const found = await listModelIds(deps);
    if (found.ok) ids = found.ids.slice(0, MOST_IDS);
    trouble = ids.length > 0 ? undefined : found.ok ? empty(url) : silent(url, found.message);
    return found;
  };

  const ask = () => {
    asking ??= askOnce().finally(() => {
      asking = undefined;
    });
    return asking;
  };

  return {
    get ids() {
      return ids;
    },
    get trouble() {
      return trouble;
    },
    url,
    ask,
    keepAsking(onAnswer) {
      if (ids.length > 0) return () => undefined;
      let cancelTimer: (() => void) | undefined;
      let isStopped = false;
      const later = (ms: number) => {
        if (isStopped) return;
        // Asked for another reason meanwhile, it may have answered.
        if (ids.length > 0) onAnswer();
        else {
          cancelTimer = deps.clock.schedule(ms, async () => {
            await ask();
            later(Math.min(ms * 2, LONGEST_PAUSE_MS));
          });
        }
      };
      later(FIRST_PAUSE_MS);
      return () => {
        isStopped = true;
        cancelTimer?.();
      };
    },
  };
}

function shownUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

const silent = (url: string, detail: string): TurnError => ({
  code: 'endpoint_silent',
  message: `The model server ${url} (OPENAI_BASE_URL) did not answer with its models: ${detail} Start it, then send again. It is asked anew with each run.`,
  params: { url, detail },
});

const empty = (url: string): TurnError => ({
  code: 'endpoint_empty',
  message: `The model server ${url} (OPENAI_BASE_URL) answers, but has no models. Load one there, then send again.`,
  params: { url },
});
