import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerMessageOf } from '../../lib/protocol/server-messages.ts';
import type { Connect } from '../contract/kit/contract-test.ts';
import { reader, type ToolClient } from '../contract/kit/tool-client.ts';
import type { Callboard } from '../start-callboard.ts';

/** One red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
/** A head of WAV without a sample. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

const picture = { media_type: 'image/png', data: PNG };
const sound = { media_type: 'audio/wav', data: WAV };
const text = (content: string) => ({
  media_type: 'text/plain',
  data: Buffer.from(content).toString('base64'),
});

interface Asked {
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
}

type Answer = (client: ToolClient, asked: Asked) => void | Promise<void>;

const gives =
  (output: unknown, attachments: readonly object[] = []): Answer =>
  (client, { id }) =>
    client.succeed(id, output, { attachments });

const failsAfter =
  (ms: number): Answer =>
  async (client, { id }) => {
    await sleep(ms);
    client.fail(id, 'This tool intentionally returns an error for testing');
  };

/** The official conformance suite calls these by name, and looks at the parameters of some. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  test_simple_text: gives('This is a simple text response for testing.'),
  test_image_content: gives(null, [picture]),
  test_audio_content: gives(null, [sound]),
  test_embedded_resource: gives(null, [text('This is an embedded resource content.')]),
  test_multiple_content_types: gives('Multiple content types test:', [
    picture,
    { ...text('{}'), media_type: 'application/json' },
  ]),
  test_error_handling: failsAfter(0),
  json_schema_2020_12_tool: gives('ok'),
  test_streaming_elicitation: gives('It asks its client nothing.'),
  test_logging_tool: gives('It writes no log to its client.'),
  async test_trigger_tool_change(client, { id }) {
    await client.register(reader('test_added'));
    client.succeed(id, 'added');
  },
  greet: (client, { id, args }) => client.succeed(id, `Hello, ${String(args.name)}!`),
  failing_job: failsAfter(1_000),
  async slow_compute(client, { id, args }) {
    await sleep(Number(args.seconds ?? 0) * 1_000);
    client.succeed(id, 'computed');
  },
  async test_tool_with_progress(client, { id }) {
    for (const done of [0, 50, 100]) {
      client.send({ type: 'tool_status', id, progress: { done, total: 100 } });
      await sleep(50);
    }
    client.succeed(id, 'done');
  },
};

export const FIXTURES: readonly string[] = Object.keys(ANSWERS);

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/** Longer than the whole suite takes. */
const PATIENCE_MS = 600_000;

/** A client by WebSocket that offers the tools of the suite: the whole way is tested. */
export async function offerFixtures(connect: Connect, board: Callboard): Promise<void> {
  const tools = FIXTURES.map((name) =>
    reader(name, name === 'json_schema_2020_12_tool' ? { parameters: SCHEMA_2020_12 } : {}),
  );
  const client = await connect.client(board, {
    ...{ hello: { name: 'Fixtures', caps: ['cancel'] }, tools, patienceMs: PATIENCE_MS },
  });
  void each(client, 'tool_call_request', (asked) => ANSWERS[asked.name]?.(client, asked));
  void each(client, 'tool_call_cancel', ({ id }) =>
    client.fail(id, 'It was stopped', { code: 'cancelled' }),
  );
}

/** Until the connection ends. */
async function each<T extends 'tool_call_request' | 'tool_call_cancel'>(
  client: ToolClient,
  type: T,
  handle: (message: ServerMessageOf<T>) => unknown,
): Promise<void> {
  const closed = client.closed.then(() => undefined);
  for (;;) {
    const message = await Promise.race([client.next(type).catch(() => undefined), closed]);
    if (!message) return;
    void handle(message);
  }
}
