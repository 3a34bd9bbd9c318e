import { isRecord } from '../../json/is-record.ts';
import { isToolName } from '../../protocol/tool-name.ts';
import type { ToolAnnotations } from '../../protocol/tool-spec.ts';
import { abortable } from '../../util/abortable.ts';
import { errorMessage } from '../../util/error-message.ts';
import { given } from '../../util/given.ts';
import { type ClientToolContext, type ClientToolDefinition, ToolFailure } from '../client-tool.ts';
import type { BadgeCall } from './badge.ts';

/** A tool as a page offers it. */
export interface PageTool<Args extends object = Record<string, unknown>> {
  /** 1 to 64 letters, digits and `. _ -`, a letter first. */
  readonly name: string;
  /** It tells the model what the tool does, which decides whether to call it. */
  readonly description: string;
  /** JSON Schema of the arguments, of the type `object`. Without it there are none. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Milliseconds; 30,000 by default. */
  readonly timeoutMs?: number;
  readonly displayName?: string;
  readonly annotations?: ToolAnnotations;
  /** How many calls of it may run at once. Default 1. */
  readonly concurrency?: number;
  /**
   * Gets arguments that fit `parameters`. What it returns, any JSON, goes to the model; what it
   * throws fails the call with the message of the error.
   */
  execute(args: Args, context: ClientToolContext): unknown;
}

/** How such a call is shown and stopped is decided elsewhere. */
export type Execute = PageTool['execute'];

type Spec = Omit<ClientToolDefinition, 'run'>;

/** The tool as the client registers it, without `execute`. Throws a TypeError that says what is wrong. */
export function readPageTool(tool: unknown): { readonly spec: Spec; readonly execute: Execute } {
  if (!isRecord(tool)) {
    throw new TypeError(
      `callboard.tool takes { name, description, parameters, execute }; it was given ${nameOf(tool)}.`,
    );
  }
  const { name, description, execute } = tool;
  if (!isToolName(name)) {
    throw new TypeError(
      `The name of a tool has 1 to 64 letters, digits and the signs . _ -, and begins with a letter; this one is ${show(name)}.`,
    );
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw wrong(name, 'description', 'text that says what the tool does', description);
  }
  if (typeof execute !== 'function') {
    throw wrong(name, 'execute', 'a function of the arguments', execute);
  }
  const { timeoutMs, displayName, annotations, concurrency } = tool as Partial<PageTool>;
  if (concurrency !== undefined && !(Number.isSafeInteger(concurrency) && concurrency > 0)) {
    throw wrong(name, 'concurrency', 'an integer from 1 on', concurrency);
  }
  const spec: Spec = {
    name,
    description,
    parameters: readParameters(name, tool.parameters),
    ...given({ timeoutMs, displayName, annotations, concurrency }),
  };
  // It is called as a method, since it may use `this`.
  return { spec, execute: (args, context) => execute.call(tool, args, context) };
}

/** A copy: what the page does to its object later changes no registration. */
function readParameters(name: string, given: unknown): Record<string, unknown> {
  if (given === undefined) return { type: 'object', properties: {} };
  if (!isRecord(given) || given.type !== 'object') {
    const right =
      'a JSON Schema such as { type: "object", properties: { text: { type: "string" } } }';
    throw wrong(name, 'parameters', right, given);
  }
  try {
    return JSON.parse(JSON.stringify(given));
  } catch (error) {
    throw new TypeError(`${name}: its parameters are not JSON: ${errorMessage(error)}.`);
  }
}

const wrong = (name: string, field: string, right: string, given: unknown): TypeError =>
  new TypeError(`${name}: ${field} must be ${right}; it is ${show(given)}.`);

function show(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : nameOf(value);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return value === undefined ? 'missing' : `of the type ${typeof value}`;
}

/** For the caller, who reads it as the reason why the call was cancelled. */
const STOPPED = 'The person at this page stopped it.';

/**
 * A tool's work that the person at the page sees and can end. A stop ends the call at once, also
 * where the tool does not heed its signal: what it does after that changes nothing (PG7).
 */
export function stoppable(
  { name, displayName }: Pick<ClientToolDefinition, 'name' | 'displayName'>,
  execute: Execute,
  show: (call: Omit<BadgeCall, 'server'>) => () => void,
): ClientToolDefinition['run'] {
  return async (args, context) => {
    const stopped = new AbortController();
    const signal = AbortSignal.any([context.signal, stopped.signal]);
    const hide = show({
      tool: displayName ?? name,
      caller: context.requestedBy,
      stop: () => stopped.abort(new ToolFailure('cancelled', STOPPED)),
    });
    try {
      // In a function of its own, so that what it throws at once is a rejection as well.
      const work = (async () => execute({ ...args }, { ...context, signal }))();
      const output = await abortable(stopped.signal, work);
      return { output: output === undefined ? null : output };
    } finally {
      hide();
    }
  };
}
