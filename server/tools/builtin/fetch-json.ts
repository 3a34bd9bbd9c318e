import { ToolError } from '../define-tool.ts';

const MAX_BYTES = 1024 * 1024;

/** The part of `fetch` that is used. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/**
 * Gets JSON from a service that is trusted to be there and not much more: no
 * redirects, so that it cannot send us to other hosts, and a bounded body.
 * Throws `ToolError` in words that name what to do.
 */
export async function fetchJson(
  url: URL,
  { fetch, signal, service }: { fetch: Fetch; signal: AbortSignal; service: string },
): Promise<unknown> {
  let text: string;
  try {
    const response = await fetch(url, {
      signal,
      redirect: 'manual',
      headers: { accept: 'application/json' },
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new ToolError(statusProblem(service, response.status));
    }
    text = await readText(response, service);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    if (signal.aborted) {
      throw new ToolError(`The ${service} did not answer in time; try again in a moment.`);
    }
    throw new ToolError(
      `The ${service} could not be reached (${url.host}). Check this server's internet connection, or tell the user that the data is not available now.`,
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ToolError(`The ${service} sent something that is not JSON; try again later.`);
  }
}

function statusProblem(service: string, status: number): string {
  if (status === 429) return `The ${service} has had too many requests from here; wait a minute.`;
  if (status >= 300 && status < 400) {
    return `The ${service} redirects elsewhere (HTTP ${status}), which is not followed; its configured address is wrong.`;
  }
  if (status >= 500) return `The ${service} failed (HTTP ${status}); try again later.`;
  return `The ${service} refused the request (HTTP ${status}); check the place that was asked for.`;
}

async function readText(response: Response, service: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest.
    if (bytes > MAX_BYTES) throw new ToolError(`The ${service} sent more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
