import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { runIn, Semaphore } from '#lib/limits/semaphore';
import { CLOCKS, LIMITS } from '#lib/protocol/limits';
import { isToolName } from '#lib/protocol/tool-name';
import { type RejectedTool, type ToolSpec, toolSpecSchema } from '#lib/protocol/tool-spec';
import { compileToolSchema, findSchemaFault } from '#lib/schema/compile-tool-schema';
import { stripInvisible, stripInvisibleDeep } from '#lib/text/invisible';
import { mapTexts } from '#lib/text/redact';
import { given } from '#lib/util/given';
import { type CheckedSpec, type CheckedTool, hashesOf } from './tool-provider.ts';

/** It takes so much of each turn of the event loop. A single tool takes up to some 60 ms, for its patterns. */
const MS_PER_TURN = 8;

/**
 * Checks the tools of registrations in slices, between which everything else is
 * served (TR18). Of several registrations one tool each in turn, so that a
 * small one does not wait for a large one. A tool that is offered already is not compiled again.
 */
export function createToolChecks(
  deps: Omit<SpecDeps, 'room'>,
): (specs: readonly unknown[]) => Promise<readonly CheckedSpec[]> {
  const turns = new Semaphore({ atOnce: 1 });
  let sliceEnd = 0;

  async function checkOne(spec: unknown, room: number): Promise<CheckedSpec> {
    if (performance.now() >= sliceEnd) {
      await setImmediate();
      sliceEnd = performance.now() + MS_PER_TURN;
    }
    return validateToolSpec(spec, { ...deps, room });
  }

  return async (specs) => {
    const checked: CheckedSpec[] = [];
    let room: number = LIMITS.toolBytesPerClient;
    // Each waits with one tool, behind those of the others.
    for (const spec of specs) {
      const one = await runIn(turns, () => checkOne(spec, room));
      if (one.ok) room -= one.tool.bytes;
      checked.push(one);
    }
    return checked;
  };
}

interface SpecDeps {
  /** The tool that is offered already under a key. */
  alike(key: string): CheckedTool | undefined;
  /** Takes out of a text what is secret. */
  hide(text: string): string;
  /** How many bytes the tool may have. */
  readonly room: number;
}

/** Checks one tool as a client sent it, by itself: whether its name is free is for the registry. */
export function validateToolSpec(spec: unknown, { alike, hide, room }: SpecDeps): CheckedSpec {
  const name = nameOf(spec);
  const reject = (code: string, message: string): CheckedSpec => ({
    ok: false,
    rejected: { name, code, message },
  });
  if (!isToolName(name)) {
    return reject(
      'bad_name',
      'A name is an ASCII letter, followed by at most 63 letters, digits, "_", "." or "-".',
    );
  }
  const parsed = toolSpecSchema.safeParse(spec);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return reject(
      'bad_tool',
      `"${issue?.path.join('.') ?? ''}" is wrong: ${issue?.message ?? ''}.`,
    );
  }
  const problem = describeProblem(parsed.data);
  if (problem) return reject(...problem);
  // Before the copy, which must not be asked to walk what is too deep or too large.
  const fault = findSchemaFault(parsed.data.parameters);
  if (fault) return reject(fault.code, fault.message);
  const described = mapTexts(shownOf(parsed.data), hide);
  const text = JSON.stringify(described);
  const sizes = { key: hash('sha256', text, 'base64url'), bytes: Buffer.byteLength(text) };
  if (sizes.bytes > room) return { ok: false, rejected: tooLarge(name) };
  const timeoutMs = parsed.data.timeout_ms ?? CLOCKS.executeMs;
  const known = alike(sizes.key);
  if (known) return { ok: true, tool: { ...known, timeoutMs } };
  const compiled = compileToolSchema(described.schema);
  if (!compiled.ok) return reject(compiled.code, compiled.message);
  const { check, withhold } = compiled;
  const unchecked = compiled.unchecked.length > 0 ? compiled.unchecked : undefined;
  const checks = { check, unchecked, ...given({ withhold }) };
  return {
    ok: true,
    tool: { ...described, ...hashesOf(described), ...sizes, timeoutMs, ...checks },
  };
}

function nameOf(spec: unknown): string {
  if (typeof spec !== 'object' || spec === null || !('name' in spec)) return '';
  const { name } = spec;
  if (typeof name === 'string') return name.slice(0, 128);
  return typeof name === 'number' || typeof name === 'boolean' ? String(name) : '';
}

function describeProblem(spec: ToolSpec): [code: string, message: string] | undefined {
  const { descriptionChars, minTimeoutMs, maxTimeoutMs } = LIMITS;
  if (stripInvisible(spec.description).trim() === '') {
    return ['bad_description', 'The description must not be empty: models choose tools by it.'];
  }
  if (spec.description.length > descriptionChars) {
    return ['bad_description', `The description must have at most ${descriptionChars} characters.`];
  }
  const timeout = spec.timeout_ms;
  if (timeout !== undefined && !(timeout >= minTimeoutMs && timeout <= maxTimeoutMs)) {
    return [
      'bad_timeout',
      `timeout_ms must be from ${minTimeoutMs} to ${maxTimeoutMs}, was ${timeout}.`,
    ];
  }
}

/** The parts of it that models and people read. */
function shownOf(spec: ToolSpec) {
  const { title, ...hints } = spec.annotations ?? {};
  const shown = stripInvisible(spec.display_name ?? title ?? '').trim();
  return {
    name: spec.name,
    description: stripInvisible(spec.description),
    schema: asSchema(stripInvisibleDeep(spec.parameters)),
    displayName: shown || undefined,
    annotations: title === undefined ? hints : { ...hints, title: stripInvisible(title) },
  };
}

/** Parsed as an object, and a copy of one. */
const asSchema = (schema: unknown): Record<string, unknown> => ({ ...Object(schema) });

/** The refusal of a tool with which its client's would be larger than they may be. */
export const tooLarge = (name: string): RejectedTool => ({
  name,
  code: 'too_many_tools',
  message: `The tools of a client may have ${LIMITS.toolBytesPerClient} bytes of JSON together; make them smaller or unregister some first.`,
});
