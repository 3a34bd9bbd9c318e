import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers one request; without an end it hangs. */
type Answer = (response: ServerResponse, received: Received) => void;

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end('answer');

/** Never answers. */
export const hang: Answer = () => {};

/** A receiver on a port of its own, that answers each request by the next of `answers`, and then by the last. It ends with its test. */
export async function startReceiver(...answers: Answer[]) {
  const received: Received[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const { origin, close } = await serveHttp(async (request, response) => {
    const { url = '', headers } = request;
    const one = { path: url, headers, body: await text(request) };
    received.push(one);
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? status(200);
    answer(response, one);
    for (const { count, resolve } of waiting) if (received.length >= count) resolve();
  });
  onTestFinished(close);
  return {
    ...{ received, origin },
    /** Resolves once so many requests have come. */
    async got(count: number): Promise<void> {
      if (received.length >= count) return;
      await new Promise<void>((resolve) => waiting.push({ count, resolve }));
    },
  };
}
