import { z } from 'zod';
import type { BoundOperand } from '#lib/call/call';
import type { Progress } from '#lib/call/merge-card';
import { QueueFullError, runIn, Semaphore } from '#lib/limits/semaphore';
import type { Attachment } from '#lib/protocol/attachment';
import type { CardUpdate } from '#lib/protocol/card';
import type { Question } from '#lib/protocol/question';
import type { ToolAnnotations } from '#lib/protocol/tool-spec';
import { followPointer } from '#lib/schema/read-schema';
import type { Principal } from '../auth/room.ts';
import type { BlobUpload } from '../blobs/room.ts';
import { createReading, type Readable } from './reading.ts';
import { refusal, StoppedError, ToolError } from './tool-error.ts';

export { refusal, StoppedError, ToolError };

/** A running server tool may do this besides returning: it has neither the socket nor the store. */
export interface ToolContext {
  readonly callId: string;
  readonly runId: string;
  /** The call was made by an operator, an agent, or a run with its owner. */
  readonly principal: Principal;
  /** The token for whose holder the call is made; null: the operator of the first run. */
  readonly ownerToken: string | null;
  /** Aborted on timeout, on cancel and when the server stops. */
  readonly signal: AbortSignal;
  /** Shows people what is going on. The model never sees it. */
  status(update: { tip?: string; progress?: Progress; preview?: unknown }): void;
  /** It is at work: its time begins anew, until it has run for `mostMs` in all. Not where the caller set the time. */
  prolong?(mostMs: number): void;
  /**
   * Keeps a picture or file, which becomes an attachment of the result: people see it on the card,
   * a model that takes images gets those. At most eight. Rejects with `ToolError` when the bytes are
   * not of the media type, too many, or none.
   */
  attach(file: BlobUpload): Promise<Attachment>;
  /** The yes of a person is for these, too, besides the arguments. `defineTool` refuses the call when it has changed. */
  readonly operands?: readonly BoundOperand[] | undefined;
  /** The span of the call, as the header `traceparent` of what the tool asks of others; undefined where there is none. */
  readonly traceparent?: string | undefined;
}

/** The context while the arguments are still being written: nothing was decided, nothing may be done. */
export interface PartialContext {
  readonly callId: string;
  readonly runId: string;
  /** Shows people what it comes to so far. Nothing of it is kept before the arguments are whole. */
  status(update: Pick<CardUpdate, 'tip' | 'preview'>): void;
}

export interface ToolAnswer {
  /** For the model; any JSON. */
  readonly output: unknown;
  /** For people, where that should differ. */
  readonly display?: unknown;
}

/** One for each call; disposed once, however the call ends. */
export interface ToolInstance<Args> {
  /** Throws `ToolError` with the reason for the model; anything else thrown is our defect and reported as one. */
  run(args: Args, context: ToolContext): Promise<ToolAnswer>;
  /** Called when `run` has ended, or a second after it was aborted and goes on all the same. When it throws, the call has failed. */
  dispose?(): void | Promise<void>;
}

interface ToolDefinition<Args extends z.ZodObject> {
  /** Models and people write it so, e.g. `mail.send`. */
  readonly name: string;
  readonly displayName: string;
  /**
   * For the model. A function is called whenever tools are listed, so also when a turn begins, and
   * when `onChange` says so. A promise is waited for at the start; later ones count from when they
   * are settled.
   */
  readonly description: Readable<string>;
  readonly args: Readable<Args>;
  /** Called once with what makes the description and the arguments be read again. */
  onChange?(changed: () => void): void;
  /** The `output` of an answer must fit it, else the call has failed (`result_invalid`). */
  readonly output?: z.ZodType;
  /** `read` may be run again after a crash; `write` ends `outcome_unknown` instead. */
  readonly effect: 'read' | 'write';
  /** Besides what follows from `effect`. An idempotent tool may be run again after a crash. */
  readonly annotations?: Pick<
    ToolAnnotations,
    'destructiveHint' | 'idempotentHint' | 'openWorldHint'
  >;
  /** Its arguments are programs or addresses of any kind: a yes to one call is none to the next, so "always" is not offered. */
  readonly neverAlways?: boolean;
  /**
   * Gives what the arguments refer to, such as files, as it is now. When a person is asked about a call, the
   * yes is for that, too: when it is otherwise by the time of the run, the call is refused. It must
   * have no effects: nothing is allowed yet. Throws `ToolError` where it cannot be looked at.
   */
  operands?(args: z.output<Args>, signal: AbortSignal): Promise<readonly Operand[]>;
  /**
   * A call of it that succeeds is the last of its turn, which ends with what the call shows people
   * (`display`, a text). It runs only where a step makes no other call.
   */
  readonly endsTurn?: boolean;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** How many calls run at once; 32 more wait in their order, within their own time and that of the tool. No limit when not given. */
  readonly concurrency?: number;
  /**
   * Looks at arguments as far as they are written: the last value is there in part, the others whole.
   * One look at a time, at most 20 a second; above 4 kB one for each quarter that is added. It must
   * have no effects: the call is not allowed yet.
   */
  onPartial?(
    args: Readonly<Record<string, unknown>>,
    context: PartialContext,
  ): void | Promise<void>;
}

/** Its calls wait for a person, who answers in place of a tool. */
interface PersonAsked<Args> {
  /** Gives what that person is shown. Throws `ToolError` where the arguments make no question. */
  question(args: Args): Question;
}

/** A tool with state has `create` in place of `run`, one that a person answers `question`. */
export type ServerTool<Args extends z.ZodObject = z.ZodObject> = ToolDefinition<Args> &
  (
    | Pick<ToolInstance<z.output<Args>>, 'run'>
    | PersonAsked<z.output<Args>>
    | {
        create(
          context: ToolContext,
        ): ToolInstance<z.output<Args>> | Promise<ToolInstance<z.output<Args>>>;
      }
  );

/** A server tool with its argument type forgotten, as the registry holds it. */
export interface AnyServerTool
  extends Omit<ToolDefinition<z.ZodObject>, 'description' | 'args' | 'onChange'> {
  /** It is read anew at each look. */
  readonly description: string;
  readonly args: z.ZodObject;
  /** The two may be others at the next look. */
  readonly mayChange: boolean;
  /** Settles when both can be read. Rejects when they cannot. */
  ready(): Promise<void>;
  /** `changed` is called when they are read anew, and when the tool says that they have changed. */
  watch(changed: () => void): void;
  readonly question?: PersonAsked<Record<string, unknown>>['question'];
  run(args: Record<string, unknown>, context: ToolContext): Promise<ToolAnswer>;
}

const DISPOSE_AFTER_ABORT_MS = 1_000;

/** Types `run` by `args`; parses the arguments once more, so that defaults of the schema hold. */
export function defineTool<Args extends z.ZodObject>(tool: ServerTool<Args>): AnyServerTool {
  refuseWithoutFunctions(tool);
  const { description, args, operands, onChange, ...rest } = tool;
  const within = limitOf(tool);
  let changed = () => {};
  const text = createReading(description, () => changed());
  const shape = createReading(args, () => changed());
  const argsNow = shape.last;
  const asked = 'question' in tool ? tool.question : undefined;
  const defined: AnyServerTool = {
    ...rest,
    get description() {
      return text.look();
    },
    get args() {
      return shape.look();
    },
    ...(asked && { question: (given) => asked(argsNow().parse(given)) }),
    ...(operands && { operands: (given, signal) => operands(argsNow().parse(given), signal) }),
    mayChange: text.mayChange || shape.mayChange,
    async ready() {
      await Promise.all([text.ready(), shape.ready()]);
    },
    watch(listener) {
      changed = listener;
      onChange?.(() => {
        text.outdate();
        shape.outdate();
        listener();
      });
    },
    async run(given, context) {
      const parsed = argsNow().safeParse(given);
      if (!parsed.success) {
        const problem = z.prettifyError(parsed.error);
        throw refusal(`The arguments do not fit ${tool.name}: ${problem}`);
      }
      const answer = await within(context, async () => {
        const { operands: bound, signal } = context;
        // It is not looked at before its turn: what is looked at here is what runs next.
        const found = bound && operands ? await operands(parsed.data, signal) : [];
        if (bound) refuseChanged(bound, found, parsed.data);
        return runOnce(tool, parsed.data, context);
      });
      return { ...answer, output: checkedOutput(tool, answer.output) };
    },
  };
  made.add(defined);
  return defined;
}

/** A module is not type-checked: what is no function there would fail at each call. */
function refuseWithoutFunctions(tool: object): void {
  const of = (key: string): unknown => Reflect.get(tool, key);
  const runs = ['run', 'create', 'question'].map(of).filter((one) => one !== undefined);
  if (runs.length !== 1 || typeof runs[0] !== 'function') {
    throw new TypeError('run: it must have a function run, create or question, and no two of them');
  }
  for (const key of ['operands', 'onPartial', 'onChange']) {
    if (of(key) === undefined || typeof of(key) === 'function') continue;
    throw new TypeError(`${key}: it must be a function`);
  }
}

const made = new WeakSet<object>();

export const isDefinedTool = (value: unknown): value is AnyServerTool =>
  typeof value === 'object' && value !== null && made.has(value);

async function runOnce<Args extends z.ZodObject>(
  tool: ServerTool<Args>,
  args: z.output<Args>,
  context: ToolContext,
): Promise<ToolAnswer> {
  if ('question' in tool) throw refusal('Only a person answers this');
  if (!('create' in tool)) return tool.run(args, context);
  const { signal } = context;
  const instance = await tool.create(context);
  let disposed: Promise<void> | undefined;
  const dispose = () => {
    disposed ??= (async () => instance.dispose?.())();
    return disposed;
  };
  let timer: NodeJS.Timeout | undefined;
  const disposeSoon = () => {
    // Its failure is reported when the run ends.
    timer = setTimeout(() => dispose().catch(() => {}), DISPOSE_AFTER_ABORT_MS);
  };
  signal.addEventListener('abort', disposeSoon, { once: true });
  try {
    signal.throwIfAborted();
    return await instance.run(args, context);
  } finally {
    signal.removeEventListener('abort', disposeSoon);
    clearTimeout(timer);
    await dispose();
  }
}

function checkedOutput(
  { name, output }: Pick<ToolDefinition<z.ZodObject>, 'name' | 'output'>,
  given: unknown,
) {
  if (!output) return given;
  const checked = output.safeParse(given);
  if (checked.success) return checked.data;
  throw new ToolError(`The result of ${name} does not fit: ${z.prettifyError(checked.error)}`, {
    code: 'result_invalid',
  });
}

/** Calls of one tool that may wait; half of them may be for one owner alone. */
const MOST_WAITING = 64;

/**
 * Runs at most `concurrency` calls of a tool at once. Others wait until theirs is aborted, and no
 * longer than the tool's own time, so that nobody holds its places by calls with a longer one.
 */
function limitOf({
  name,
  concurrency: atOnce,
  timeoutMs,
}: Pick<AnyServerTool, 'name' | 'concurrency' | 'timeoutMs'>) {
  if (atOnce === undefined) return <T>(_: ToolContext, run: () => Promise<T>) => run();
  const running = new Semaphore({ atOnce, waiting: MOST_WAITING });
  return async <T>({ signal, ownerToken }: ToolContext, run: () => Promise<T>): Promise<T> => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return run();
    };
    try {
      return await runIn(running, begin, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        principal: ownerToken ?? 'operator',
      });
    } catch (error) {
      if (error instanceof QueueFullError) {
        throw refusal(
          `${atOnce} calls of ${name} run and too many wait; call again when some have ended.`,
        );
      }
      if (hasBegun) throw error;
      throw refusal(
        `The call waited for its turn in vain; ${atOnce} of ${name} run at a time, so make fewer at once.`,
      );
    }
  };
}

/** Something that an argument of a call refers to, such as a file, as it is now. */
export interface Operand extends BoundOperand {
  /** For people; as the argument has it. */
  readonly name: string;
  /** The SHA-256 of its content in hexadecimal; not there where that was not read. */
  readonly contentHash?: string;
}

/** Throws when what was bound to a yes is not what is there now, whichever way it differs (T77). */
function refuseChanged(
  bound: readonly BoundOperand[],
  now: readonly Operand[],
  args: unknown,
): void {
  const paths = new Set([...bound, ...now].map(({ path }) => path));
  const changed = [...paths].find((path) => hashesAt(bound, path) !== hashesAt(now, path));
  if (changed === undefined) return;
  const name = now.find(({ path }) => path === changed)?.name ?? textAt(args, changed);
  throw new ToolError(
    `${JSON.stringify(name)} changed after a person was asked about the call; it was not run. Make the call again, so that it is asked about as it is now.`,
    { executed: 'no', code: 'denied', reason: 'content_changed', params: { name } },
  );
}

const hashesAt = (operands: readonly BoundOperand[], at: string): string =>
  operands.flatMap(({ path, hash }) => (path === at ? [hash] : [])).join(' ');

/** An operand that is there no more has its name in the arguments alone. */
function textAt(args: unknown, pointer: string): string {
  const value = followPointer(args, pointer);
  return typeof value === 'string' ? value : pointer;
}
