import { isRecord } from '#lib/json/is-record';

type Message = Record<string, unknown>;
type Filling = (message: Message, toolNames: ReadonlyMap<unknown, unknown>) => unknown;

/** Fields of messages that some servers want, with what one that lacks it gets; undefined for others. */
const FILLINGS: Readonly<Record<string, Filling>> = {
  // Of other models, and before they thought: a blank is what servers take that ask for some.
  reasoning_content: ({ tool_calls, reasoning_content }) =>
    Array.isArray(tool_calls) && !reasoning_content ? ' ' : undefined,
  content: ({ content }) => (content === null ? '' : undefined),
  name: ({ role, name, tool_call_id: id }, toolNames) =>
    role === 'tool' && !name ? toolNames.get(id) : undefined,
};

/** What the messages of a request lack of these fields. */
export function* fillingsOf(body: unknown, fields: ReadonlySet<string>) {
  const messages = [isRecord(body) ? body.messages : []].flat().filter(isRecord);
  const calls = messages.flatMap((message) => message.tool_calls ?? []).filter(isRecord);
  const toolNames = new Map(
    calls.map(({ id, function: called }) => [id, isRecord(called) ? called.name : undefined]),
  );
  for (const [field, fillingOf] of Object.entries(FILLINGS)) {
    for (const message of fields.has(field) ? messages : []) {
      const value = fillingOf(message, toolNames);
      if (value !== undefined) yield { message, field, value };
    }
  }
}
