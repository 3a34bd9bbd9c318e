import type { z } from 'zod';
import type { Call } from '#lib/call/call';
import { sameJson } from '#lib/json/equal';
import type { PolicyQuestion } from '#lib/policy/decide-policy';
import { matchTools } from '#lib/policy/match';
import type { HookState } from '#lib/policy/policy-wire';
import type { HookNote } from '#lib/protocol/card';
import { shorten } from '#lib/schema/check-run';
import { redactShapes, valueRedactor } from '#lib/text/redact';
import { errorMessage } from '#lib/util/error-message';
import { given } from '#lib/util/given';
import type { BeforeOutcome, CheckRequest } from '../approvals/room.ts';
import type { FilteredResult, ResultFilter, ToolResult } from '../calls/room.ts';
import { afterSchema, askHook, beforeSchema, FAILED, type Hook, type HookDeps } from './hook.ts';

/** On a card. */
const MOST_KEYS = 20;

/** A failure is shown by so many characters. */
const MOST_MESSAGE = 500;

interface AskedHook extends Hook {
  isFor(toolName: string): boolean;
  readonly failures: { count: number; last: HookState['last_failure'] };
}

type Args = Record<string, unknown>;

/** The hooks of the configuration, asked one after the other (rules PO13 to PO15). */
export class HookChain implements ResultFilter {
  readonly #hooks: readonly AskedHook[];
  readonly #deps: HookDeps;

  constructor(hooks: readonly Hook[], deps: HookDeps) {
    this.#hooks = hooks.map((hook) => ({
      ...hook,
      isFor: hook.tools ? matchTools(hook.tools) : () => true,
      failures: { count: 0, last: null },
    }));
    this.#deps = deps;
  }

  /** In the order in which they are asked. */
  state(): HookState[] {
    return this.#hooks.map(({ name, module, tools = null, timeout_ms, security, ...hook }) => ({
      name,
      module,
      tools,
      timeout_ms,
      security,
      before: hook.before !== undefined,
      after: hook.after !== undefined,
      failures: hook.failures.count,
      last_failure: hook.failures.last,
    }));
  }

  isBefore(toolName: string): boolean {
    return this.#hooks.some((one) => one.before && one.isFor(toolName));
  }

  /** A hook for security is asked: what it lets through was for the client that it was told of. */
  isGuarded(toolName: string): boolean {
    return this.#hooks.some((one) => one.security && one.before && one.isFor(toolName));
  }

  isFor(toolName: string): boolean {
    return this.#hooks.some((one) => one.after && one.isFor(toolName));
  }

  /** Undefined: none did anything. */
  async before(
    question: PolicyQuestion,
    request: Pick<CheckRequest, 'runId' | 'tool'>,
  ): Promise<BeforeOutcome | undefined> {
    let outcome: BeforeOutcome | undefined;
    for (const hook of this.#hooks) {
      if (!hook.before || !hook.isFor(question.toolName)) continue;
      const args = outcome?.args ?? question.args;
      const done = await this.#askBefore(hook, { ...question, args }, request);
      if (done === undefined) continue;
      outcome = {
        ...outcome,
        ...done,
        ...given({ verdict: bothVerdicts(outcome?.verdict, done.verdict) }),
        notes: [...(outcome?.notes ?? []), ...done.notes],
      };
      if (outcome.verdict?.effect === 'deny') break;
    }
    return outcome;
  }

  async #askBefore(
    hook: AskedHook,
    question: PolicyQuestion,
    { runId, tool }: Pick<CheckRequest, 'runId' | 'tool'>,
  ): Promise<BeforeOutcome | undefined> {
    const call = toHookCall(question, runId);
    const hide = hiderOf(tool, question.args);
    const answer = await this.#ask(hook, () => hook.before?.(call), beforeSchema, hide);
    if (answer === FAILED) return failedBefore(hook);
    const by = hook.name;
    const note = (did: HookNote['did']) => [{ name: by, did }];
    switch (answer?.action) {
      case 'cancel':
        return { by, notes: note('cancelled'), verdict: { effect: 'deny', reason: answer.reason } };
      case 'ask':
        return { by, notes: note('asked'), verdict: asking(answer.reason) };
      case 'change': {
        const keys = changedKeys(question.args, answer.args);
        if (keys.length === 0) return undefined;
        const checked = tool.check(answer.args);
        if (checked.ok)
          return { by, args: checked.args, notes: [{ name: by, did: 'changed_arguments', keys }] };
        const { toolName } = question;
        const problem = `The hook ${by} made arguments that do not fit ${toolName}`;
        this.#deps.logger.info(problem);
        this.#failed(hook, problem);
        return failedBefore(hook);
      }
      default:
        return undefined;
    }
  }

  async filter(call: Call, result: ToolResult): Promise<FilteredResult> {
    const notes: HookNote[] = [];
    let now = result;
    let isReplaced = false;
    for (const hook of this.#hooks) {
      if (!hook.after || !hook.isFor(call.toolName)) continue;
      const [about, given] = structuredClone([toResultCall(call), now]);
      const answer = await this.#ask(hook, () => hook.after?.(about, given), afterSchema);
      const next = answer === FAILED || answer?.action !== 'replace' ? now : replaced(now, answer);
      if (answer === FAILED || next === undefined) {
        notes.push({ name: hook.name, did: 'failed' });
        if (hook.security) return { withheld: withheldBy(hook.name), notes };
      } else if (next !== now) {
        notes.push({ name: hook.name, did: 'changed_result' });
        now = next;
        isReplaced = true;
      }
    }
    return { result: now, isReplaced, notes };
  }

  #ask<Schema extends z.ZodType>(
    hook: AskedHook,
    call: () => unknown,
    schema: Schema,
    hideArgs: (text: string) => string = (text) => text,
  ) {
    const { hide: hideKnown = redactShapes } = this.#deps;
    const hide = (text: string): string => hideKnown(hideArgs(text));
    const onFailed = (error: unknown) => this.#failed(hook, hide(errorMessage(error)));
    return askHook(hook, call, schema, { ...this.#deps, hide, onFailed });
  }

  #failed({ failures }: AskedHook, why: string): void {
    failures.count += 1;
    failures.last = { at: this.#deps.clock.now() / 1_000, message: why.slice(0, MOST_MESSAGE) };
  }
}

/** Takes out of a text what the tool's schema marks of the arguments. */
const hiderOf = ({ withhold }: CheckRequest['tool'], args: CheckRequest['args']) =>
  valueRedactor((withhold?.(args, '')?.texts ?? []).map((value) => ({ kind: 'argument', value })));

/** A security hook that fails lets nothing through; another one lets the call go on. */
const failedBefore = ({ name, security }: Hook): BeforeOutcome => ({
  by: name,
  notes: [{ name, did: 'failed' }],
  ...(security
    ? {
        verdict: {
          effect: 'deny',
          reason: `The security hook ${JSON.stringify(name)} failed, so the call is not made; the server log says more`,
        },
      }
    : {}),
});

type HookVerdict = NonNullable<BeforeOutcome['verdict']>;

const asking = (text: string): HookVerdict => ({
  effect: 'ask',
  reasons: [{ code: 'hook', text }],
});

/** Each hook that asks has its reason on the card; one that cancels counts alone. */
function bothVerdicts(
  before: HookVerdict | undefined,
  now: HookVerdict | undefined,
): HookVerdict | undefined {
  if (before?.effect !== 'ask' || now?.effect !== 'ask') return now ?? before;
  return { effect: 'ask', reasons: [...before.reasons, ...now.reasons] };
}

const withheldBy = (name: string): string =>
  `The security hook ${JSON.stringify(name)} failed, so the result of the tool is withheld; the server log says more`;

/** Undefined: a result needs an output, and an error a message. */
function replaced(
  result: ToolResult,
  {
    output,
    display,
    message,
  }: { output?: unknown; display?: unknown; message?: string | undefined },
): ToolResult | undefined {
  if (!result.ok) return message === undefined ? undefined : { ok: false, message };
  if (output === undefined) return undefined;
  return { ok: true, output, ...(display === undefined ? {} : { display }) };
}

/** A copy, so that nothing is changed but by what a hook returns. */
const toHookCall = (question: PolicyQuestion, runId: string) =>
  structuredClone({
    tool_name: question.toolName,
    args: question.args,
    run_id: runId,
    caller: question.caller,
    via: question.via,
    client_id: question.clientId,
    access: question.access,
  });

const toResultCall = ({ id, toolName, args, runId, provider }: Call) => ({
  id,
  tool_name: toolName,
  args,
  run_id: runId,
  client_id: provider?.clientId ?? null,
});

const changedKeys = (before: Args, after: Args): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => !sameJson(before[key], after[key]))
    .slice(0, MOST_KEYS)
    .map(shorten);
