import type { ApiFailure } from '#lib/api/api-result';
import type { AccessApi, AuditQuery } from '#lib/api/settings-api';

/** The most that the server gives at once. */
const PER_PAGE = 200;
/** Parts before they become one: a part is a piece of a file that the browser holds, and not the page. */
const MOST_PARTS = 64;
/** Attempts at one page while the server asks for patience. */
const MOST_ATTEMPTS = 10;

export type AuditFilter = Pick<AuditQuery, 'actor' | 'act'>;

export interface ExportDeps {
  readonly listAudit: AccessApi['listAudit'];
  /** Called with how many entries there are so far. */
  readonly onProgress: (entries: number) => void;
  readonly signal: AbortSignal;
  readonly wait: (seconds: number) => Promise<void>;
}

export type Exported =
  | { readonly kind: 'done'; readonly file: Blob }
  | { readonly kind: 'failed'; readonly failure: ApiFailure }
  | { readonly kind: 'cancelled' };

/**
 * All entries that a filter gives, newest first, as JSON lines in the form of `GET /v1/audit`. They
 * come by pages, of which the page's memory holds one; what is written down meanwhile is not in it.
 */
export async function exportAudit(filter: AuditFilter, deps: ExportDeps): Promise<Exported> {
  let parts: Blob[] = [];
  let entries = 0;
  for (let cursor: number | undefined; ; ) {
    const at = cursor === undefined ? {} : { cursor };
    const answer = await askPatiently({ ...filter, ...at, limit: PER_PAGE }, deps);
    if (deps.signal.aborted) return { kind: 'cancelled' };
    if (!answer.ok) return { kind: 'failed', failure: answer };
    const page = answer.value;
    parts.push(new Blob(page.entries.map((entry) => `${JSON.stringify(entry)}\n`)));
    if (parts.length >= MOST_PARTS) parts = [new Blob(parts)];
    entries += page.entries.length;
    deps.onProgress(entries);
    if (page.next_cursor === null) {
      return { kind: 'done', file: new Blob(parts, { type: 'application/x-ndjson' }) };
    }
    cursor = page.next_cursor;
  }
}

async function askPatiently(query: AuditQuery, { listAudit, signal, wait }: ExportDeps) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await listAudit(query);
    if (answer.ok || answer.code !== 'rate_limited') return answer;
    if (signal.aborted || attempt >= MOST_ATTEMPTS) return answer;
    await wait(answer.retryAfter ?? 1);
  }
}
