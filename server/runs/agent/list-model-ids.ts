import { z } from 'zod';
import type { Clock } from '../../clock.ts';
import { wordsOf } from './describe-model-error.ts';

export type Discovery =
  | { readonly ok: true; readonly ids: string[] }
  | { readonly ok: false; readonly message: string };

/** A start does not wait longer for a server that may be off. */
const BOUND_MS = 2_000;
const LONGEST_BODY = 1024 * 1024;

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string().min(1).max(128) })) });

/** `GET {base}/models`, as every OpenAI-compatible server answers it. */
export async function listModelIds(options: {
  readonly openaiBaseUrl: string;
  readonly openaiApiKey: string | undefined;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
}): Promise<Discovery> {
  const { openaiBaseUrl, openaiApiKey, clock } = options;
  const url = `${openaiBaseUrl.replace(/\/+$/, '')}/models`;
  const controller = new AbortController();
  const cancelTimer = clock.schedule(BOUND_MS, () => controller.abort());
  try {
    const response = await (options.fetch ?? fetch)(url, {
      signal: controller.signal,
      headers: openaiApiKey === undefined ? {} : { authorization: `Bearer ${openaiApiKey}` },
    });
    if (!response.ok)
      return { ok: false, message: `GET /models answered HTTP ${response.status}.` };
    const text = await response.text();
    if (text.length > LONGEST_BODY) return { ok: false, message: 'GET /models answered too much.' };
    const parsed = modelsSchema.safeParse(JSON.parse(text));
    if (!parsed.success) return { ok: false, message: 'GET /models answered no list of models.' };
    return { ok: true, ids: parsed.data.data.map((one) => one.id) };
  } catch (error) {
    const why = controller.signal.aborted ? `no answer in ${BOUND_MS} ms` : wordsOf(error);
    return { ok: false, message: `${why}.` };
  } finally {
    cancelTimer();
  }
}
