import { type ModelMessage, streamText } from 'ai';
import { HttpError } from '#lib/protocol/http-error';
import { forModel } from '#lib/text/for-model';
import { NO_LESSON } from './lessons.ts';
import type { Models } from './models.ts';
import { describeModelError, type TurnError } from './notices.ts';
export interface AsideRequest {
  /** The default where not given. */
  readonly model: string | undefined;
  readonly instructions: string;
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  readonly signal: AbortSignal;
}

export type AsideAnswer =
  | {
      readonly ok: true;
      readonly text: string;
      readonly tokens: { readonly input: number; readonly output: number };
    }
  | { readonly ok: false; readonly error: Pick<TurnError, 'code' | 'message'> };

/** A short answer, such as a title: of a model that waits for nobody. */
const MOST_MS = 60_000;

/** One request to a model, without tools and outside of every run: nothing of it is kept. */
export async function answerAside(
  models: Pick<Models, 'resolve' | 'open'>,
  { model: wanted, instructions, messages, signal }: AsideRequest,
): Promise<AsideAnswer> {
  const named = models.resolve(wanted);
  if (!named.ok) throw new HttpError('bad_request', named.message);
  const opened = await models.open(named.ref);
  if (!opened.ok) return opened;
  let failure: unknown;
  const asked = streamText({
    model: opened.model.taught(NO_LESSON),
    ...(instructions !== '' && { instructions: forModel(instructions) }),
    messages: messages.map(({ role, text }): ModelMessage => ({ role, content: forModel(text) })),
    providerOptions: opened.model.providerOptions,
    abortSignal: AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)]),
    maxRetries: 1,
    onError: ({ error }) => {
      failure = error;
    },
  });
  try {
    const [text, usage] = await Promise.all([asked.text, asked.totalUsage]);
    const { inputTokens: input = 0, outputTokens: output = 0 } = usage;
    return { ok: true, text, tokens: { input, output } };
  } catch (error) {
    return { ok: false, error: describeModelError(failure ?? error, named.ref) };
  }
}
