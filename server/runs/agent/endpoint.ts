import { z } from 'zod';
import { parseModelRef } from '#lib/protocol/model-ref';
import type { Clock } from '../../base/clock.ts';
import { type TurnError, turnError, wordsOf } from './describe-model-error.ts';
import { factsOf, type ModelFacts } from './model-facts.ts';

export type Discovery =
  | { readonly ok: true; readonly ids: string[] }
  | { readonly ok: false; readonly message: string };

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
  /** What it has said so far that the model can do. */
  facts(id: string): ModelFacts;
  /** The same, once it was asked for this model where its list says nothing of it; two seconds at most. */
  learn(id: string): Promise<ModelFacts>;
  /** Unless it has answered with a model, asks it in the background until it has. Returns its own undo. */
  keepAsking(onAnswer: () => void): () => void;
}

/** A proxy may list hundreds; a menu cannot. */
const MOST_IDS = 50;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createEndpoint(deps: EndpointAddress): Endpoint {
  const url = shownUrl(deps.openaiBaseUrl);
  let models: readonly ListedModel[] = [];
  let ids: readonly string[] = [];
  let trouble: TurnError | undefined;
  let asking: Promise<Discovery> | undefined;

  const askOnce = async (): Promise<Discovery> => {
    const found = await listModels(deps);
    if (found.ok) {
      models = found.models.slice(0, MOST_IDS);
      ids = models.map(({ id }) => id);
    }
    trouble = ids.length > 0 ? undefined : troubleOf(url, found);
    return found.ok
      ? { ok: true, ids: found.models.map(({ id }) => id) }
      : { ok: false, message: found.message };
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
    ...createFacts(deps, () => models),
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

/** What the server says of its models, by its list or of each for itself. */
function createFacts(
  deps: EndpointAddress,
  models: () => readonly ListedModel[],
): Pick<Endpoint, 'facts' | 'learn'> {
  /** Of models whose entries in the list have ids alone. */
  const shown = new Map<string, ModelFacts>();
  const listed = (id: string) => models().find((model) => model.id === id);
  const isAny = (facts: ModelFacts) => Object.keys(facts).length > 0;
  const facts = (id: string): ModelFacts => {
    const ofList = listed(id)?.facts ?? {};
    return isAny(ofList) ? ofList : (shown.get(id) ?? {});
  };
  return {
    facts,
    async learn(id) {
      // Any id may be named; what is not in the list is asked for nowhere.
      if (!listed(id) || shown.has(id) || isAny(facts(id))) return facts(id);
      const answer = await showModel(deps, id);
      if (answer) shown.set(id, answer);
      return facts(id);
    },
  };
}

function shownUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

const troubleOf = (url: string, found: Awaited<ReturnType<typeof listModels>>): TurnError =>
  found.ok
    ? turnError('endpoint_empty', { url })
    : turnError('endpoint_silent', { url, detail: found.message });

/** The server behind `OPENAI_BASE_URL`, and with what it is asked. */
interface EndpointAddress {
  readonly openaiBaseUrl: string;
  readonly openaiApiKey: string | undefined;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
}

interface ListedModel {
  readonly id: string;
  readonly facts: ModelFacts;
}

/** A start does not wait longer for a server that may be off. */
const BOUND_MS = 2_000;
const LONGEST_BODY = 1024 * 1024;
const NO_API = 'is /v1 missing at the end of OPENAI_BASE_URL?';

/** Some servers answer with the list alone, or call it by what it holds. */
const listSchema = z.union([
  z.array(z.unknown()),
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => models),
]);
/** An id that no reference can hold cannot be asked for. */
const entrySchema = z.looseObject({
  id: z.string().refine((id) => parseModelRef(`compatible:${id}`)),
});

type Answer = { readonly ok: true; readonly body: unknown } | Failure;
/** `status`: of an answer that is no success. */
type Failure = { readonly ok: false; readonly message: string; readonly status?: number };

/** `GET {base}/models`, as every OpenAI-compatible server answers it. */
async function listModels(
  address: EndpointAddress,
): Promise<{ readonly ok: true; readonly models: ListedModel[] } | Failure> {
  const answer = await askJson(address, 'GET /models', `${baseOf(address)}/models`);
  if (!answer.ok) return answer;
  const list = listSchema.safeParse(answer.body);
  if (!list.success) return { ok: false, message: 'GET /models answered no list of models.' };
  const entries = list.data.map((entry) => entrySchema.safeParse(entry).data);
  const models = entries.flatMap((one) => (one ? [{ id: one.id, facts: factsOf(one) }] : []));
  return { ok: true, models };
}

/**
 * `POST /api/show` of Ollama, whose list has ids alone. Undefined where nothing answered, so that it
 * can be asked again; a server that is none of Ollama's has nothing to say.
 */
async function showModel(address: EndpointAddress, id: string): Promise<ModelFacts | undefined> {
  const url = `${baseOf(address).replace(/\/v1$/, '')}/api/show`;
  const answer = await askJson(address, 'POST /api/show', url, { model: id });
  if (answer.ok) return factsOf(answer.body);
  return answer.status === undefined ? undefined : {};
}

const baseOf = ({ openaiBaseUrl }: EndpointAddress): string => openaiBaseUrl.replace(/\/+$/, '');

async function askJson(
  { openaiApiKey, clock, ...address }: EndpointAddress,
  name: string,
  url: string,
  body?: object,
): Promise<Answer> {
  const controller = new AbortController();
  const cancelTimer = clock.schedule(BOUND_MS, () => controller.abort());
  try {
    const response = await (address.fetch ?? fetch)(url, {
      signal: controller.signal,
      headers: {
        ...(openaiApiKey === undefined ? {} : { authorization: `Bearer ${openaiApiKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    const { status } = response;
    if (!response.ok) {
      const end = status === 404 ? `: ${NO_API}` : '.';
      return { ok: false, message: `${name} answered HTTP ${status}${end}`, status };
    }
    const text = await response.text();
    if (text.length > LONGEST_BODY)
      return { ok: false, message: `${name} answered too much.`, status };
    if (text.trimStart().startsWith('<')) {
      return { ok: false, message: `${name} answered with a web page: ${NO_API}`, status };
    }
    return { ok: true, body: JSON.parse(text) };
  } catch (error) {
    const why = controller.signal.aborted ? `no answer in ${BOUND_MS} ms` : wordsOf(error);
    return { ok: false, message: `${why}.` };
  } finally {
    cancelTimer();
  }
}
