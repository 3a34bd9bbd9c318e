import { hash } from 'node:crypto';
import { SHOWN_WHOLE_BYTES } from '#lib/call/bound-card';
import type { CallEvent, Via } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { Answerer, Refusal } from '#lib/call/call-state';
import { fitsJson } from '#lib/json/cut-json';
import { sameJson } from '#lib/json/equal';
import { rememberJsonText } from '#lib/json/json-text';
import type { Attachment } from '#lib/protocol/attachment';
import { type CallError, callErrorSchema } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import type { ResultRejectionCode, ServerMessageOf } from '#lib/protocol/server-messages';
import { withoutSecretNames } from '#lib/text/redact';
import type { SteadyClock } from '../base/clock.ts';
import type { CallRepository } from './call-repository.ts';
import { clientActor } from './client-actor.ts';
import type { CallEngine } from './engine.ts';
import type { PendingReoffers } from './pending-reoffers.ts';
import { type ResultFilter, type ToolResult, withNotes } from './result-filter.ts';
import type { Withholding } from './withholding.ts';

/** A client's answer, its attachments stored already. */
export type ClientAnswer =
  | {
      readonly ok: true;
      readonly output: unknown;
      readonly display?: unknown;
      readonly attachments: readonly Attachment[];
    }
  | { readonly ok: false; readonly message: string; readonly clientCode?: string }
  /** What it sent cannot be taken: the call fails, and the client may forget it. */
  | {
      readonly ok: 'unusable';
      readonly code: 'result_invalid' | 'result_too_large';
      readonly message: string;
    };

export type AnswerReply =
  | ServerMessageOf<'result_acknowledged'>
  | ServerMessageOf<'result_rejected'>;
export type ClaimReply =
  | ServerMessageOf<'tool_call_granted'>
  | ServerMessageOf<'tool_call_refused'>;

/** `via`: by which token and from where it is connected (AU36). */
export type ClientSender = Answerer & { readonly via?: Via | undefined };

export interface ClientCallDeps {
  readonly engine: CallEngine;
  readonly repository: CallRepository;
  readonly clock: SteadyClock;
  readonly reoffers: Pick<PendingReoffers, 'hasGivenUp'>;
  readonly results?: ResultFilter;
  readonly withholding: Pick<Withholding, 'hidden'>;
}

/** What client instances say about calls. Replies are to be sent when the promise resolves: all is on disk then. */
export class CallsOfClients {
  readonly #deps: ClientCallDeps;

  constructor(deps: ClientCallDeps) {
    this.#deps = deps;
  }

  async claim(from: ClientSender & { attempt: number }, id: string): Promise<ClaimReply> {
    const { attempt } = from;
    const refuse = (reason: string): ClaimReply => ({
      type: 'tool_call_refused',
      id,
      attempt,
      reason,
    });
    const call = this.#deps.repository.latest(id) ?? (await this.#deps.repository.find(id));
    if (!call) return refuse('unknown_call');
    // It would start what the next offer starts, too (CB8).
    // guard: given-up-attempt-refused
    if (this.#deps.reoffers.hasGivenUp(from.instanceId, id, attempt))
      return refuse('stale_attempt');
    const applied = this.#deps.engine.apply(call, { type: 'claimed', from }, clientActor(from));
    // fault point: claim-came
    // A claim that comes twice gets its grant twice: a refusal could overtake the grant.
    // guard: repeated-claim-granted-again
    const isGranted = !applied.ok && applied.refusal === 'already_granted' && call.provider?.claims;
    if (!applied.ok && !isGranted) return refuse(applied.refusal);
    await (applied.ok ? this.#deps.engine.grantReady(id) : this.#deps.repository.settled(id));
    // fault point: grant-ready
    const now = this.#deps.repository.latest(id);
    // Until the grant has left, a cancel may still take it back (CA14).
    const isHeld = now?.phase === 'granted' || now?.phase === 'device';
    if (!isHeld || now.provider?.attempt !== attempt) return refuse('already_final');
    this.#deps.engine.grantLeaves(id);
    const steady = this.#deps.clock.steady();
    const remaining = (now.deadlines.execute ?? steady) - steady;
    return {
      type: 'tool_call_granted',
      id,
      attempt,
      remaining_ms: Math.max(0, Math.round(remaining)),
    };
  }

  /** Shown to people; ignored unless it comes from the instance that was asked. */
  status(from: ClientSender, message: ClientMessageOf<'tool_status'>): void {
    const call = this.#deps.repository.latest(message.id);
    if (!call || !isAsked(call, from)) return;
    if (message.phase && (message.phase === 'device') !== (call.phase === 'device')) {
      const event = { type: 'device', asking: message.phase === 'device', from } as const;
      this.#deps.engine.apply(call, event, clientActor(from));
    }
    const { tip, params, progress, preview } = message;
    const update = {
      ...(tip === undefined ? {} : { tip }),
      ...(params === undefined ? {} : besideArguments(params, call)),
      ...(progress === undefined ? {} : { progress }),
      ...(preview === undefined ? {} : { preview }),
    };
    if (Object.keys(update).length > 0)
      this.#deps.engine.status(message.id, update, clientActor(from));
  }

  async answer(from: ClientSender, id: string, given: ClientAnswer): Promise<AnswerReply> {
    const call = this.#deps.repository.latest(id) ?? (await this.#deps.repository.find(id));
    if (!call) return reject(id, 'unknown_call', `No call ${id} is known here`);
    // guard: no-reply-to-other-clients
    if (call.provider?.clientId !== from.clientId) {
      return reject(id, 'not_your_call', `The call ${id} was not given to this client`);
    }
    const measured = measure(given);
    // fault point: result-came
    if (!this.#deps.results?.isFor(call.toolName)) return this.#settle(call, from, measured, {});
    const { answer, notes } = await filterAnswer(
      this.#deps.results,
      call,
      this.#deps.withholding.hidden(call, measured.answer),
    );
    // What happened to the call meanwhile stands.
    const now = this.#deps.repository.latest(id) ?? (await this.#deps.repository.find(id)) ?? call;
    return this.#settle(now, from, { ...measured, answer }, withNotes(now, notes));
  }

  async #settle(
    call: CallRecord,
    from: ClientSender,
    measured: Measured,
    noted: Pick<CallEvent, 'shown'>,
  ): Promise<AnswerReply> {
    const { id } = call;
    // guard: late-answer-set-aside
    if (isFinalStatus(call.status)) return this.#answerLate(call, from, measured);
    const { answer, hash: resultHash } = measured;
    const fields =
      answer.ok === true
        ? {
            result: answer.output,
            display: answer.display,
            attachments: answer.attachments,
            resultHash,
          }
        : { resultHash };
    const event = { type: 'answered', from, error: toError(answer), fields, ...noted } as const;
    const applied = this.#deps.engine.apply(call, event, clientActor(from));
    if (!applied.ok) {
      return reject(id, toRejection(applied.refusal), REFUSAL_TEXT[applied.refusal]);
    }
    // guard: acknowledged-once-written
    await applied.written;
    if (answer.ok === 'unusable') return reject(id, answer.code, answer.message);
    // fault point: result-written
    return { type: 'result_acknowledged', id, disposition: 'accepted' };
  }

  /** The call was final already: the same again, a different one, or one that came too late. */
  async #answerLate(
    call: CallRecord,
    from: ClientSender,
    { answer: given, hash: resultHash }: Measured,
  ): Promise<AnswerReply> {
    const { id } = call;
    // As the one that it is compared with is stored.
    const answer = this.#deps.withholding.hidden(call, given);
    await this.#deps.repository.settled(id);
    if (call.resultHash !== null) {
      // Mostly it is the same text; another text may be the same answer in another order of keys.
      // guard: second-answer-compared
      if (call.resultHash === resultHash || sameJson(accepted(call), toAccepted(answer))) {
        return { type: 'result_acknowledged', id, disposition: 'duplicate' };
      }
      return reject(id, 'conflict', `The call ${id} has another answer already; it stands`);
    }
    const final = this.#deps.repository.latest(id) ?? call;
    const kept = final.lateResult;
    const lateResult = answer.ok === true ? answer.output : { error: toError(answer) };
    // That a tool was stopped says less than what it had done by then.
    if (kept === undefined || (answer.ok === true && isLateError(kept))) {
      const isShown = isNews(final, toError(answer));
      this.#deps.engine.apply(
        final,
        { type: 'late_answer', lateResult, isShown },
        clientActor(from),
      );
    } else if (answer.ok === true && !sameJson(kept, lateResult)) {
      return reject(id, 'conflict', `The call ${id} has another late answer already; it is kept`);
    }
    await this.#deps.repository.settled(id);
    return { type: 'result_acknowledged', id, disposition: 'late' };
  }

  /** Whether the call was given to this client, whatever has become of it. */
  async wasAsked(clientId: string, id: string): Promise<boolean> {
    return (await this.#deps.repository.find(id))?.provider?.clientId === clientId;
  }
}

/** That the outcome is unknown, or that it was stopped, is on the card already. */
function isNews({ error }: CallRecord, late: CallError | null): boolean {
  if (late?.code === 'cancelled') return false;
  return !(late?.code === 'outcome_unknown' && error?.code === 'outcome_unknown');
}

/**
 * What a client reports is shown beside the arguments, never over them: of a
 * key that is an argument the card keeps what the executor got (rule CR7).
 */
function besideArguments(
  given: Record<string, unknown>,
  { args, card }: CallRecord,
): Pick<CardUpdate, 'params' | 'status_params' | 'argument_names'> {
  const params = withoutSecretNames(given);
  const names = Object.keys(args);
  const reported = { ...card.status_params, ...params };
  // A card is bounded: what a client reports beyond that, over all its statuses, is not shown.
  if (!fitsJson([reported, names], SHOWN_WHOLE_BYTES)) return {};
  const more = Object.fromEntries(
    Object.entries(params).filter(([key]) => !Object.hasOwn(args, key)),
  );
  // Long arguments leave no room among them (CA20).
  const hasRoom = fitsJson({ ...card.params, ...more }, SHOWN_WHOLE_BYTES);
  return {
    params: hasRoom ? more : {},
    status_params: params,
    ...(card.argument_names ? {} : { argument_names: names }),
  };
}

const isLateError = (kept: unknown): boolean =>
  typeof kept === 'object' &&
  kept !== null &&
  Object.keys(kept).join() === 'error' &&
  callErrorSchema.safeParse(Object.values(kept)[0]).success;

/** What an answer comes to. What people are shown in place of the output is no part of it. */
const toAccepted = (given: ClientAnswer) =>
  given.ok === true
    ? { output: given.output, attachments: given.attachments }
    : { error: toError(given) };

/** The answer that ended a call, in the form of `toAccepted`. */
const accepted = ({ error, result, attachments }: CallRecord) =>
  error ? { error } : { output: result, attachments };

const isAsked = ({ provider }: CallRecord, from: Answerer): boolean =>
  provider?.clientId === from.clientId &&
  provider.instanceId === from.instanceId &&
  (from.attempt === undefined || from.attempt === provider.attempt);

/** Attachments go with the output that they came with. */
async function filterAnswer(results: ResultFilter, call: CallRecord, given: ClientAnswer) {
  if (given.ok === 'unusable') return { answer: given, notes: [] };
  const filtered = await results.filter(call, toResult(given));
  const { notes } = filtered;
  if ('withheld' in filtered) {
    const { withheld: message } = filtered;
    return { answer: { ok: 'unusable', code: 'result_invalid', message } as const, notes };
  }
  const { result, isReplaced } = filtered;
  if (!isReplaced) return { answer: given, notes };
  return { answer: result.ok ? { ...result, attachments: [] } : { ...given, ...result }, notes };
}

const toResult = (given: Exclude<ClientAnswer, { ok: 'unusable' }>): ToolResult =>
  given.ok
    ? {
        ...{ ok: true, output: given.output },
        ...(given.display === undefined ? {} : { display: given.display }),
      }
    : { ok: false, message: given.message };

interface Measured {
  readonly answer: ClientAnswer;
  readonly hash: string;
}

/** One serialisation serves the size limit and the hash. */
function measure(given: ClientAnswer): Measured {
  const text = JSON.stringify(given);
  rememberOutput(given, text);
  const digest = hash('sha256', text);
  // A character takes at most three bytes, so a short text need not be measured.
  const bytes = text.length * 3 <= LIMITS.resultBytes ? 0 : Buffer.byteLength(text);
  if (given.ok !== true || bytes <= LIMITS.resultBytes) return { answer: given, hash: digest };
  const message = `The result has ${bytes} bytes; at most ${LIMITS.resultBytes} are taken. Send large data as an attachment`;
  return { answer: { ok: 'unusable', code: 'result_too_large', message }, hash: digest };
}

/** The text of the output stands in that of the answer: it is not made again. */
function rememberOutput(given: ClientAnswer, text: string): void {
  if (given.ok !== true || !text.startsWith(BEFORE_OUTPUT)) return;
  const isAlone = given.attachments.length === 0 && given.display === undefined;
  const after = isAlone
    ? NOTHING_BESIDE.length
    : JSON.stringify({ ...given, output: undefined }).length - '{"ok":true'.length;
  const output = text.slice(BEFORE_OUTPUT.length, text.length - after);
  // A small part of a large text would keep all of it in memory.
  if (isAlone || output.length * 2 > text.length) rememberJsonText(given.output, output);
}

const BEFORE_OUTPUT = '{"ok":true,"output":';
const NOTHING_BESIDE = ',"attachments":[]}';

function toError(given: ClientAnswer): CallError | null {
  if (given.ok === true) return null;
  if (given.ok === 'unusable') {
    return { code: given.code, message: given.message, executed: 'yes' };
  }
  if (given.clientCode === 'outcome_unknown') {
    return { code: 'outcome_unknown', message: given.message, executed: 'unknown' };
  }
  return {
    code: isOwnCode(given.clientCode) ? given.clientCode : 'tool_error',
    message: given.message,
    executed: given.clientCode === 'cancelled' ? 'unknown' : 'yes',
    ...(given.clientCode === undefined ? {} : { client_code: given.clientCode }),
  };
}

/** What a client reports in the words of a call's own errors: it was stopped, or its result cannot be sent. */
const isOwnCode = (code: string | undefined): code is 'cancelled' | 'result_too_large' =>
  code === 'cancelled' || code === 'result_too_large';

const REFUSAL_TEXT: Record<Refusal, string> = {
  already_final: 'The call has ended',
  not_your_call: 'Only the instance that was asked may answer',
  stale_attempt: 'This attempt was given up; answer the newest one',
  not_granted: 'The call was not granted to this attempt; claim it first',
  already_granted: 'The call was granted already',
  cancelling: 'The call is being cancelled',
  not_possible_now: 'The call does not wait for an answer',
};

function toRejection(refusal: Refusal): ResultRejectionCode {
  switch (refusal) {
    case 'not_your_call':
    case 'stale_attempt':
    case 'not_granted':
      return refusal;
    default:
      return 'conflict';
  }
}

const reject = (id: string, code: ResultRejectionCode, message: string): AnswerReply => ({
  type: 'result_rejected',
  id,
  code,
  message,
  final: true,
});
