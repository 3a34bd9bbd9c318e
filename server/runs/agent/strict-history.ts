import { createHash } from 'node:crypto';
import type { ModelMessage } from 'ai';

/** Stands between results and what a person says, where a model was stopped, failed, or is shown a picture. */
const BETWEEN: ModelMessage = { role: 'assistant', content: 'I have the results.' };

/**
 * The history in the order that strict servers and templates of models ask for (AL48): nobody
 * speaks twice in a row, and behind results the model speaks before a person does.
 */
export function inStrictOrder(messages: readonly ModelMessage[]): ModelMessage[] {
  const ordered: ModelMessage[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    if (last?.role === 'user' && message.role === 'user') {
      const content =
        typeof last.content === 'string' && typeof message.content === 'string'
          ? `${last.content}\n\n${message.content}`
          : [...partsOf(last.content), ...partsOf(message.content)];
      ordered[ordered.length - 1] = { ...last, content };
    } else if (last?.role === 'assistant' && message.role === 'assistant') {
      const content = [...partsOf(last.content), ...partsOf(message.content)];
      ordered[ordered.length - 1] = { ...last, content };
    } else {
      if (message.role === 'user' && last?.role === 'tool') ordered.push(BETWEEN);
      ordered.push(message);
    }
  }
  return ordered;
}

const partsOf = <Part>(content: string | readonly Part[]) =>
  typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;

/** The id of a call in the one form that every server takes: nine letters or digits. */
export const strictId = (callId: string): string =>
  createHash('sha256').update(callId).digest('hex').slice(0, 9);
