import { isRecord } from '#lib/json/is-record';
import { NAMELESS } from './find-tool.ts';

type Fetch = typeof fetch;

/**
 * `fetch` for the providers of the SDK, which drop a streamed call without a
 * name or fail at it: the turn would end without a word. In event streams each
 * such call gets the name `NAMELESS`, which fails as a call of its own (AL104).
 */
export function withNamedCalls(fetchFrom: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetchFrom(input, init);
    const type = response.headers.get('content-type') ?? '';
    if (!response.body || !type.includes('text/event-stream')) return response;
    const { status, statusText, headers } = response;
    const body = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(repairedLines())
      .pipeThrough(new TextEncoderStream());
    return new Response(body, { status, statusText, headers });
  };
}

function repairedLines(): TransformStream<string, string> {
  const repair = createToolCallRepair();
  let rest = '';
  return new TransformStream({
    transform(text, controller) {
      const end = text.lastIndexOf('\n');
      if (end >= 0) {
        const lines = (rest + text.slice(0, end)).split('\n');
        controller.enqueue(`${lines.map(repair).join('\n')}\n`);
        rest = '';
      }
      rest += text.slice(end + 1);
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(repair(rest));
    },
  });
}

/** Mends one stream, line by line. What is not a tool call passes as it came. */
function createToolCallRepair(): (line: string) => string {
  const chat = createChatRepair();
  return (line) => {
    if (!line.startsWith('data:')) return line;
    const isResponses = line.includes('"function_call"');
    if (!isResponses && !chat.isConcerned(line)) return line;
    const event = parsed(line.slice('data:'.length));
    if (!isRecord(event)) return line;
    const repaired = isResponses ? repairResponsesEvent(event) : chat.repair(event);
    return repaired ? `data: ${JSON.stringify(event)}` : line;
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';

/** An item of the Responses API says its name once, so it is mended in place. True when it was. */
function repairResponsesEvent(event: Record<string, unknown>): boolean {
  const { item } = event;
  if (!isRecord(item) || item.type !== 'function_call') return false;
  const isWhole = isText(item.name) && typeof item.call_id === 'string';
  if (!isText(item.name)) item.name = NAMELESS;
  if (typeof item.call_id !== 'string') item.call_id = '';
  return !isWhole;
}

interface Withheld {
  readonly index: number;
  id: unknown;
  args: string;
}

/**
 * The chat API names a call in its first piece, some servers in a later one. A
 * piece that belongs to no named call is held back until the name comes, or
 * until the end, where the call goes out as `NAMELESS`.
 */
function createChatRepair() {
  const named = new Set<number>();
  const withheld = new Map<number, Withheld>();

  const take = (call: unknown): Record<string, unknown> | undefined => {
    if (!isRecord(call)) return undefined;
    const given = isRecord(call.function) ? call.function : {};
    // Without an index it continues the one call that there is.
    const index = typeof call.index === 'number' ? call.index : 0;
    const held = withheld.get(index);
    const args = (held?.args ?? '') + (typeof given.arguments === 'string' ? given.arguments : '');
    if (isText(given.name)) {
      named.add(index);
      withheld.delete(index);
      return held
        ? { ...call, id: call.id ?? held.id, function: { ...given, arguments: args } }
        : call;
    }
    if (named.has(index)) {
      const isFine = given.name === undefined || given.name === null || given.name === '';
      return isFine ? call : { ...call, function: { arguments: given.arguments } };
    }
    withheld.set(index, { index, id: call.id ?? held?.id, args });
    return undefined;
  };

  const release = (): Record<string, unknown>[] => {
    const calls = [...withheld.values()].map(({ index, id, args }) => ({
      index,
      ...(isText(id) ? { id } : {}),
      type: 'function',
      function: { name: NAMELESS, arguments: args },
    }));
    withheld.clear();
    return calls;
  };

  return {
    isConcerned: (line: string) => withheld.size > 0 || line.includes('"tool_calls"'),
    repair(event: Record<string, unknown>): boolean {
      const choice = Array.isArray(event.choices) ? event.choices[0] : undefined;
      if (!isRecord(choice)) return false;
      const delta = isRecord(choice.delta) ? choice.delta : {};
      const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
      const passed = calls.map(take).filter((call) => call !== undefined);
      const isEnd = typeof choice.finish_reason === 'string';
      const repaired = isEnd ? [...passed, ...release()] : passed;
      if (repaired.length === calls.length && repaired.every((call, at) => call === calls[at])) {
        return false;
      }
      choice.delta = { ...delta, tool_calls: repaired };
      return true;
    },
  };
}
