import { doubled } from '#lib/net/backoff';
import { type Clock, waitFor } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { postOnce } from '../base/post-once.ts';
import { counter, type Metric } from './prometheus.ts';
import { type Attributes, type Span, type Spans, toBounded, toOtlp } from './span.ts';
import type { TracesConfig } from './telemetry-config.ts';

const BATCH = 512;
const BATCH_MS = 5_000;
/** Spans that wait; of more, each is dropped and counted. */
const MOST_WAITING = 2_048;
const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** A receiver that says so will take the same spans later. */
const RETRIED: readonly number[] = [429, 502, 503, 504];

export interface SpanExporterDeps {
  readonly config: Pick<TracesConfig, 'url' | 'headers'>;
  readonly resource: Attributes;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes out of a text what is secret. */
  hide(text: string): string;
}

/** Why a request was not taken; `retryMs`: it may be made again then. Undefined: it was taken. */
type Refused = { readonly why: string; readonly retryMs?: number } | undefined;

/** Sends spans by OTLP/HTTP as JSON, in batches (rules TM11 to TM14). Nothing waits for it. */
export class SpanExporter implements Metric, Spans {
  readonly isOn = true;
  readonly #deps: SpanExporterDeps;
  readonly #exported = counter('callboard_traces_exported_total', 'Spans that were taken', []);
  readonly #dropped = counter('callboard_traces_dropped_total', 'Spans that were not taken', []);
  readonly #waiting: Span[] = [];
  #cancelTimer: (() => void) | undefined;
  /** Resolves when no batch is on its way. */
  #sending: Promise<void> | undefined;
  /** No span is taken any more, and no request is made twice. */
  readonly #closing = new AbortController();
  /** No request goes on. */
  readonly #closed = new AbortController();
  #isInTrouble = false;

  constructor(deps: SpanExporterDeps) {
    this.#deps = deps;
    this.#exported.addTo(0);
    this.#dropped.addTo(0);
  }

  add(span: Span): void {
    if (this.#waiting.length >= MOST_WAITING || this.#isClosing) return this.#dropped.addTo(1);
    const { clock, hide } = this.#deps;
    this.#waiting.push(toBounded({ ...span, end: span.end ?? clock.now() }, hide));
    if (this.#waiting.length >= BATCH) this.#begin();
    else this.#later();
  }

  text(): string {
    return this.#exported.text() + this.#dropped.text();
  }

  /** Sends what waits, for so long at most; the rest is dropped. */
  async close(withinMs: number): Promise<void> {
    const timer = setTimeout(() => this.#closed.abort(), withinMs);
    this.#closing.abort();
    await this.#sending;
    this.#begin();
    await this.#sending;
    clearTimeout(timer);
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  #later(): void {
    if (this.#sending) return;
    this.#cancelTimer ??= this.#deps.clock.schedule(BATCH_MS, () => this.#begin());
  }

  #begin(): void {
    if (this.#sending || this.#waiting.length === 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#sending = this.#sendAll()
      .catch(this.#deps.logger.error)
      .finally(() => {
        this.#sending = undefined;
        if (this.#waiting.length > 0) this.#later();
      });
  }

  /** One batch, and while there are whole ones, or it is the end, the next. */
  async #sendAll(): Promise<void> {
    do {
      const batch = this.#waiting.splice(0, BATCH);
      const refused = await this.#deliver(batch);
      (refused ? this.#dropped : this.#exported).addTo(batch.length);
    } while (this.#waiting.length >= (this.#isClosing ? 1 : BATCH));
  }

  /** Gives the outcome of the last request that was made for them. */
  async #deliver(spans: readonly Span[]): Promise<Refused> {
    const { hide, resource, clock } = this.#deps;
    const body = hide(JSON.stringify(toOtlp(spans, resource)));
    for (let tries = 1; ; tries += 1) {
      const refused = await this.#post(body);
      this.#report(refused?.why);
      const retryMs = refused?.retryMs;
      if (retryMs === undefined || tries >= MOST_TRIES || this.#isClosing) return refused;
      const pauseMs = Math.max(retryMs, doubled(FIRST_PAUSE_MS, tries - 1, LONGEST_PAUSE_MS));
      await waitFor(clock, pauseMs, [this.#closing.signal]);
    }
  }

  async #post(body: string): Promise<Refused> {
    const { config, clock } = this.#deps;
    const { status, failure, code, retryAfterMs } = await postOnce({
      url: config.url,
      headers: { ...config.headers, 'content-type': 'application/json' },
      body,
      signal: this.#closed.signal,
      now: clock.now(),
      longestRetryAfterMs: LONGEST_PAUSE_MS,
    });
    if (failure === undefined) return undefined;
    if (status === null) return { why: code ?? failure, retryMs: 0 };
    const why = `it answered ${status}`;
    return RETRIED.includes(status) ? { why, retryMs: retryAfterMs ?? 0 } : { why };
  }

  /** One line when trouble begins, and one when it has passed. */
  #report(why: string | undefined): void {
    const { logger, hide } = this.#deps;
    const isTrouble = why !== undefined;
    if (isTrouble === this.#isInTrouble || this.#isClosing) return;
    this.#isInTrouble = isTrouble;
    const line = isTrouble
      ? `The receiver of traces takes no spans (${why}); those over ${MOST_WAITING} are dropped`
      : 'The receiver of traces takes spans again';
    logger.info(hide(line));
  }
}
