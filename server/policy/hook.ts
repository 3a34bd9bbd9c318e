import { z } from 'zod';
import type { hooksDefinitionSchema } from '#lib/policy/policy-definition';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';

type HookDefinition = z.infer<typeof hooksDefinitionSchema>[number];

/** A module of the configuration, as far as it is a hook. */
export interface Hook extends Pick<HookDefinition, 'module' | 'tools' | 'timeout_ms' | 'security'> {
  readonly name: string;
  readonly before?: (call: unknown) => unknown;
  readonly after?: (call: unknown, result: unknown) => unknown;
}

export interface HookDeps {
  readonly clock: Pick<Clock, 'schedule' | 'now'>;
  readonly logger: Logger;
  /** Takes out of what is shown what is secret; without it tokens alone. */
  readonly hide?: (text: string) => string;
}

const MOST_REASON = 2_000;

/** Cut, and no failure: one that is too long must not let the call through. */
const reason = z
  .string()
  .min(1)
  .transform((text) => text.slice(0, MOST_REASON).toWellFormed());
const goOn = z.strictObject({ action: z.literal('continue') });

/** `before_tool_call` may return one of these; nothing is `continue`. */
export const beforeSchema = z
  .discriminatedUnion('action', [
    goOn,
    z.strictObject({ action: z.literal('change'), args: z.record(z.string(), z.json()) }),
    z.strictObject({ action: z.literal('ask'), reason }),
    z.strictObject({ action: z.literal('cancel'), reason }),
  ])
  .nullish();

/** `after_tool_call` may return `message` for a call that failed, else `output`. */
export const afterSchema = z
  .discriminatedUnion('action', [
    goOn,
    z.strictObject({
      action: z.literal('replace'),
      output: z.json().optional(),
      display: z.json().optional(),
      message: z.string().max(100_000).optional(),
    }),
  ])
  .nullish();

/** It threw, took too long, or returned what is not in the schema. */
export const FAILED = Symbol('failed');

/** Gives what a hook returns within its time. Whatever it returns later is not looked at. */
export async function askHook<Schema extends z.ZodType>(
  { name, timeout_ms: limitMs }: Hook,
  call: () => unknown,
  schema: Schema,
  {
    clock,
    logger,
    hide,
    onFailed,
  }: Pick<HookDeps, 'clock' | 'logger'> & {
    /** Takes out of the log what is secret of the call. */
    hide(text: string): string;
    onFailed(error: unknown): void;
  },
): Promise<z.output<Schema> | typeof FAILED> {
  const tooLate = Promise.withResolvers<never>();
  const cancel = clock.schedule(limitMs, () =>
    tooLate.reject(new Error(`It took longer than ${limitMs} ms`)),
  );
  try {
    const answer: unknown = await Promise.race([(async () => call())(), tooLate.promise]);
    return schema.parse(withoutUndefined(answer));
  } catch (error) {
    logger.error(error, `The hook ${name} failed`, hide);
    onFailed(error);
    return FAILED;
  } finally {
    cancel();
  }
}

/**
 * A value as JSON text has it: keys of plain objects that hold `undefined` are left out. All else stays
 * as it is, so that what is no JSON is still seen as such.
 */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isPlain(value)) return value;
  const given = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(given.map(([key, one]) => [key, withoutUndefined(one)]));
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
