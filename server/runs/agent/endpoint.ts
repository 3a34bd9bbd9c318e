import { z } from 'zod';
import { parseModelRef } from '#lib/protocol/model-ref';
import type { Clock } from '../../base/clock.ts';
import { factsOf, type ModelFacts } from './model-facts.ts';
import { type TurnError, turnError, wordsOf } from './notices.ts';
export type Discovery =
  | { readonly ok: true; readonly ids: string[] }
  | { readonly ok: false; readonly message: string };

/** A proxy may list hundreds; a menu cannot. */
const MOST_IDS = 50;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** The server behind `OPENAI_BASE_URL`, and which models it has as far as it has answered. */
export class Endpoint {
  /** For people: without a user or a query. */
  readonly url: string;
  readonly #address: EndpointAddress;
  #models: readonly ListedModel[] = [];
  #trouble: TurnError | undefined;
  #asking: Promise<Discovery> | undefined;
  /** Facts of models whose entries in the list have ids alone. */
  readonly #shown = new Map<string, ModelFacts>();

  constructor(address: EndpointAddress) {
    this.#address = address;
    this.url = shownUrl(address.openaiBaseUrl);
  }

  /** Empty until it has answered with some. */
  get ids(): readonly string[] {
    return this.#models.map(({ id }) => id);
  }

  /** Why there are none. Undefined before it was asked, and once it has answered with some. */
  get trouble(): TurnError | undefined {
    return this.#trouble;
  }

  /** Asks it, for two seconds at most; who asks meanwhile shares the answer. */
  ask(): Promise<Discovery> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<Discovery> {
    const found = await listModels(this.#address);
    if (found.ok) this.#models = found.models.slice(0, MOST_IDS);
    this.#trouble = this.#models.length > 0 ? undefined : troubleOf(this.url, found);
    if (!found.ok) return { ok: false, message: found.message };
    return { ok: true, ids: found.models.map(({ id }) => id) };
  }

  /** Gives what it has said so far that the model can do, by its list or for this one alone. */
  facts(id: string): ModelFacts {
    const ofList = this.#listed(id)?.facts ?? {};
    return isAny(ofList) ? ofList : (this.#shown.get(id) ?? {});
  }

  /** The same, once it was asked for this model where its list says nothing of it; two seconds at most. */
  async learn(id: string): Promise<ModelFacts> {
    // Any id may be named; what is not in the list is asked for nowhere.
    if (!this.#listed(id) || this.#shown.has(id) || isAny(this.facts(id))) return this.facts(id);
    const answer = await showModel(this.#address, id);
    if (answer) this.#shown.set(id, answer);
    return this.facts(id);
  }

  #listed(id: string): ListedModel | undefined {
    return this.#models.find((model) => model.id === id);
  }

  /** Unless it has answered with a model, asks it in the background until it has. Returns its own undo. */
  keepAsking(onAnswer: () => void): () => void {
    if (this.#models.length > 0) return () => undefined;
    let cancelTimer: (() => void) | undefined;
    let isStopped = false;
    const later = (ms: number) => {
      if (isStopped) return;
      // Asked for another reason meanwhile, it may have answered.
      if (this.#models.length > 0) return onAnswer();
      cancelTimer = this.#address.clock.schedule(ms, async () => {
        await this.ask();
        later(Math.min(ms * 2, LONGEST_PAUSE_MS));
      });
    };
    later(FIRST_PAUSE_MS);
    return () => {
      isStopped = true;
      cancelTimer?.();
    };
  }
}

const isAny = (facts: ModelFacts): boolean => Object.keys(facts).length > 0;

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
