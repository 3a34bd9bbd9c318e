import type { z } from 'zod';
import type { ApiFailure } from '#lib/api/api-result';
import { type ApiRequest, sendRequest } from '#lib/api/send-request';
import { describeIssue } from '#lib/policy/describe-issue';
import { errorMessage } from '#lib/util/error-message';
import { CliError, type ExitName } from './exit-codes.ts';

/** More than the largest record: what comes beyond it is not an answer of Callboard. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

type Request = Omit<ApiRequest, 'onReceived'>;

/** The HTTP API with a token. An answer has the shape of its schema, or the command ends. */
export class ServerApi {
  readonly url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.#token = token;
  }

  get<T>(path: string, schema: z.ZodType<T>, signal?: AbortSignal): Promise<T> {
    return this.send({ method: 'GET', path, ...(signal && { signal }) }, schema);
  }

  post<T>(path: string, body: unknown, schema: z.ZodType<T>): Promise<T> {
    return this.send({ method: 'POST', path, body }, schema);
  }

  async send<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
    const tooLarge = new AbortController();
    const answer = await sendRequest<unknown>(
      { baseUrl: this.url, fetch: (url, init) => this.#fetch(url, init, tooLarge.signal) },
      {
        ...request,
        onReceived: ({ received }) => {
          if (received > MOST_ANSWER_BYTES) tooLarge.abort(new Error('the answer has no end'));
        },
      },
    );
    if (!answer.ok) throw toCliError(answer, this.url);
    const checked = schema.safeParse(answer.value);
    if (checked.success) return checked.data;
    throw new CliError(
      'failed',
      `${request.method} ${request.path} was not answered as Callboard answers it: ${describeIssue(checked.error, 'the answer')}`,
    );
  }

  /** The bytes of a blob, as they come. */
  async blob(id: string): Promise<ReadableStream<Uint8Array>> {
    const path = `/v1/blobs/${encodeURIComponent(id)}`;
    const response = await this.#fetch(this.url + path, {}).catch((error: unknown) => {
      throw unreachable(this.url, errorMessage(error));
    });
    if (response.ok && response.body) return response.body;
    throw new CliError(
      response.status === 404 ? 'notFound' : 'failed',
      `the file ${id} was answered with HTTP ${response.status}`,
    );
  }

  async #fetch(url: string, init: RequestInit, end?: AbortSignal): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.#token}`);
    const signals = [init.signal, end].filter((one) => one instanceof AbortSignal);
    const request = { ...init, headers, signal: AbortSignal.any(signals) };
    try {
      // A redirect would take the token elsewhere.
      return await fetch(url, { ...request, redirect: 'error' });
    } catch (error) {
      // The error of fetch says nothing; its cause does.
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    }
  }
}

const EXIT_OF_STATUS: Readonly<Record<number, ExitName>> = {
  0: 'unreachable',
  400: 'usage',
  401: 'refused',
  403: 'refused',
  404: 'notFound',
  422: 'usage',
};

function toCliError({ status, code, message, details }: ApiFailure, url: string): CliError {
  if (status === 0) return unreachable(url, message);
  if (status === 401) {
    const right = 'give the right one: CALLBOARD_TOKEN, --token, or --data-dir of that server';
    return new CliError('refused', `${url} does not accept the token; ${right}`, code);
  }
  // The server's message names the first problem already, or all of them.
  const unnamed = details.filter(
    ({ path, problem }) =>
      !message.includes(`${path}: ${problem}`) && !message.includes(`${path} ${problem}`),
  );
  const more = unnamed.map(({ path, problem }) => `; ${path || 'the body'}: ${problem}`).join('');
  return new CliError(EXIT_OF_STATUS[status] ?? 'failed', `${message}${more}`, code);
}

function unreachable(url: string, message: string): CliError {
  const isCertificate = /certificate|self-signed|altname|unable to verify/i.test(message);
  const hint = isCertificate
    ? 'name its certificate authority with --ca, and check the rest with "callboard doctor"'
    : '"callboard doctor" examines why';
  return new CliError('unreachable', `${url}: ${message}; ${hint}`);
}
