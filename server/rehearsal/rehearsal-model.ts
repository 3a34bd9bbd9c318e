import type {
  LanguageModelV4,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { type Clock, pause } from '../base/clock.ts';
import { type PlannedAnswer, planAnswer } from './plan-answer.ts';

export interface RehearsalOptions {
  readonly clock: Clock;
  /** Milliseconds between two pieces, so that people see text and arguments being written. */
  readonly paceMs: number;
}

const TEXT_PIECE = 8;
const ARGUMENT_PIECE = 4;

/** It costs nothing and counts no tokens. */
const USAGE: LanguageModelV4Usage = {
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/**
 * A language model without a language model: rules that match words against
 * tools, so that the whole way works without a key and without a network. It
 * streams as a real one does, and names in each answer what it is.
 */
export function createRehearsalModel({ clock, paceMs }: RehearsalOptions): LanguageModelV4 {
  async function* paced(answer: PlannedAnswer, signal: AbortSignal | undefined) {
    for (const part of partsOf(answer)) {
      if ('delta' in part) await pause(clock, paceMs, signal);
      yield part;
    }
  }

  return {
    specificationVersion: 'v4',
    provider: 'rehearsal',
    modelId: 'rehearsal',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('Every model is asked for a stream.')),
    async doStream(options) {
      const parts = paced(planAnswer(options), options.abortSignal);
      // Pulled one by one, so that nothing is made for a reader that has left.
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        async pull(controller) {
          const { done, value } = await parts.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      return { stream };
    },
  };
}

function* partsOf(answer: PlannedAnswer): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 'text' };
  for (const delta of pieces(answer.text, TEXT_PIECE))
    yield { type: 'text-delta', id: 'text', delta };
  yield { type: 'text-end', id: 'text' };
  for (const [index, call] of answer.calls.entries()) {
    const id = `call_${index + 1}`;
    const input = JSON.stringify(call.args);
    yield { type: 'tool-input-start', id, toolName: call.name };
    for (const delta of pieces(input, ARGUMENT_PIECE))
      yield { type: 'tool-input-delta', id, delta };
    yield { type: 'tool-input-end', id };
    yield { type: 'tool-call', toolCallId: id, toolName: call.name, input };
  }
  yield { type: 'finish', finishReason: finishReason(answer), usage: USAGE };
}

const finishReason = (answer: PlannedAnswer) =>
  answer.calls.length > 0
    ? { unified: 'tool-calls' as const, raw: 'tool_calls' }
    : { unified: 'stop' as const, raw: 'stop' };

/** By whole characters: none is cut in two. */
const pieces = (text: string, size: number): string[] =>
  text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
