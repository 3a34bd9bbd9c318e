import { isRecord } from '#lib/json/is-record';
import type { Lesson } from './lessons.ts';
import { isThoughtlessCall } from './read-refusal.ts';

/** `fetch` that sends the JSON of a provider's SDK as its server takes it (AL220). */
export function withLesson(fetchFrom: typeof fetch, lesson: Lesson): typeof fetch {
  const { without, fillsReasoning } = lesson;
  if (without.size === 0 && !fillsReasoning) return fetchFrom;
  return (input, init) => {
    if (typeof init?.body !== 'string') return fetchFrom(input, init);
    const body: unknown = JSON.parse(init.body);
    if (fillsReasoning && isRecord(body) && Array.isArray(body.messages)) {
      // Of other models, and before they thought: a blank is what servers take that ask for some.
      for (const one of body.messages) if (isThoughtlessCall(one)) one.reasoning_content = ' ';
    }
    dropFields(body, without);
    return fetchFrom(input, { ...init, body: JSON.stringify(body) });
  };
}

/** What people, models and tools wrote is no field of the request. */
const CONTENT = new Set([
  ...['input_schema', 'parameters', 'parametersJsonSchema', 'args', 'response'],
  ...['arguments', 'output', 'properties'],
]);

function dropFields(value: unknown, without: Lesson['without'], name = ''): void {
  if (Array.isArray(value)) for (const one of value) dropFields(one, without);
  else if (isRecord(value)) {
    // `input` is a list of messages, and the object of a call's arguments.
    if (CONTENT.has(name) || name === 'input') return;
    for (const key of Object.keys(value)) {
      if (without.has(key)) delete value[key];
      else dropFields(value[key], without, key);
    }
  }
}
