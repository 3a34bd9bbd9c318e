import { z } from 'zod';
import { parseModelRef } from '#lib/protocol/model-ref';
import type { Clock } from '../../clock.ts';
import { wordsOf } from './describe-model-error.ts';
import { factsOf, type ModelFacts } from './model-facts.ts';

/** The server behind `OPENAI_BASE_URL`, and with what it is asked. */
export interface EndpointAddress {
  readonly openaiBaseUrl: string;
  readonly openaiApiKey: string | undefined;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
}

export interface ListedModel {
  readonly id: string;
  readonly facts: ModelFacts;
}

/** A start does not wait longer for a server that may be off. */
const BOUND_MS = 2_000;
const LONGEST_BODY = 1024 * 1024;

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
export async function listModels(
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
export async function showModel(
  address: EndpointAddress,
  id: string,
): Promise<ModelFacts | undefined> {
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
    if (!response.ok) return { ok: false, message: `${name} answered HTTP ${status}.`, status };
    const text = await response.text();
    if (text.length > LONGEST_BODY)
      return { ok: false, message: `${name} answered too much.`, status };
    if (text.trimStart().startsWith('<')) {
      const message = `${name} answered with a web page: is /v1 missing at the end of OPENAI_BASE_URL?`;
      return { ok: false, message, status };
    }
    return { ok: true, body: JSON.parse(text) };
  } catch (error) {
    const why = controller.signal.aborted ? `no answer in ${BOUND_MS} ms` : wordsOf(error);
    return { ok: false, message: `${why}.` };
  } finally {
    cancelTimer();
  }
}
