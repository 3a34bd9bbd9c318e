import type { IncomingHttpHeaders } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';
import { serveHttp } from '#lib/net/testing/serve-http';

const valueSchema = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
]);
const attributesSchema = z.array(z.strictObject({ key: z.string().min(1), value: valueSchema }));
const nanoseconds = z.string().regex(/^[1-9]\d{12,18}$/);

const spanSchema = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string().min(1),
  kind: z.literal([1, 2, 3]),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes: attributesSchema,
  status: z.strictObject({ code: z.literal(2).optional() }),
  links: z
    .array(
      z.strictObject({
        traceId: z.string().regex(/^[0-9a-f]{32}$/),
        spanId: z.string().regex(/^[0-9a-f]{16}$/),
      }),
    )
    .min(1)
    .optional(),
});

/** `ExportTraceServiceRequest` of OTLP 1.x as JSON, with what Callboard sends of it and nothing else. */
const requestSchema = z.strictObject({
  resourceSpans: z.tuple([
    z.strictObject({
      resource: z.strictObject({ attributes: attributesSchema }),
      scopeSpans: z.tuple([
        z.strictObject({
          scope: z.strictObject({ name: z.literal('callboard') }),
          spans: z.array(spanSchema).min(1).max(512),
        }),
      ]),
    }),
  ]),
});

export type ReceivedSpan = Omit<z.infer<typeof spanSchema>, 'attributes'> & {
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
};

/** What the next request is answered with. */
export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const TAKEN: Answer = { status: 200, body: '{"partialSuccess":{}}' };

/** A receiver of traces by OTLP/HTTP that holds each request to the protocol. */
export async function startOtlpReceiver(answerTo: (request: number) => Answer = () => TAKEN) {
  const spans: ReceivedSpan[] = [];
  const requests: { headers: IncomingHttpHeaders; path: string; body: string }[] = [];
  const problems: string[] = [];
  const { origin: endpoint, close } = await serveHttp(async (incoming, outgoing) => {
    const body = await readText(incoming);
    requests.push({ headers: incoming.headers, path: incoming.url ?? '', body });
    const { status, headers = {}, body: text = '' } = answerTo(requests.length);
    if (status === 200) take(body);
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  });
  function take(body: string): void {
    const read = requestSchema.safeParse(JSON.parse(body));
    if (!read.success) return void problems.push(z.prettifyError(read.error));
    for (const { attributes, ...span } of read.data.resourceSpans[0].scopeSpans[0].spans) {
      const named = attributes.map(({ key, value }) => [key, plain(value)] as const);
      spans.push({ ...span, attributes: Object.fromEntries(named) });
    }
  }
  return {
    /** What `OTEL_EXPORTER_OTLP_ENDPOINT` names. */
    endpoint,
    spans,
    requests,
    /** What a request had that OTLP has not. */
    problems,
    named: (name: string) => spans.filter((span) => span.name === name),
    close,
  };
}

function plain(value: z.infer<typeof valueSchema>): string | number | boolean {
  if ('stringValue' in value) return value.stringValue;
  if ('intValue' in value) return Number(value.intValue);
  return 'doubleValue' in value ? value.doubleValue : value.boolValue;
}
