import { z } from 'zod';
import { compileToolSchema } from '#lib/schema/compile-tool-schema';
import { createEmitter } from '#lib/util/emitter';
import type { AnyServerTool, ToolContext } from './define-tool.ts';
import { hashesOf, OF_SERVER, type ProvidedTool, type ToolProvider } from './tool-provider.ts';

/** Tools of the server itself. What may change of one is looked at whenever they are listed. */
export class OwnTools implements ToolProvider {
  readonly origin = OF_SERVER;
  readonly #tools: ReadonlyMap<string, AnyServerTool>;
  readonly #changes = createEmitter<void>();
  #listed: readonly ProvidedTool[];

  constructor(tools: readonly AnyServerTool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#listed = [...this.#tools.values()].map(toProvidedTool);
    for (const tool of tools) tool.watch(() => this.#changes.emit());
  }

  list(): readonly ProvidedTool[] {
    const now = this.#listed.map((was) => lookAgain(this.#tool(was.name), was));
    if (now.some((one, at) => one !== this.#listed[at])) this.#listed = now;
    return this.#listed;
  }

  /** None comes or goes, but what describes one may. */
  onChange(listener: () => void): () => void {
    return this.#changes.subscribe(listener);
  }

  execute(name: string, args: Readonly<Record<string, unknown>>, context: ToolContext) {
    return this.#tool(name).run({ ...args }, context);
  }

  partialOf(name: string): AnyServerTool['onPartial'] {
    const tool = this.#tool(name);
    return tool.onPartial && ((args, context) => tool.onPartial?.(args, context));
  }

  #tool(name: string): AnyServerTool {
    const tool = this.#tools.get(name);
    if (!tool) throw new Error(`The server has no tool ${name}`);
    return tool;
  }
}

/** The same object where it is as it was. */
function lookAgain(tool: AnyServerTool, was: ProvidedTool): ProvidedTool {
  if (!tool.mayChange) return was;
  try {
    const now = toProvidedTool(tool);
    return now.toolHash === was.toolHash && was.unavailable === undefined ? was : now;
  } catch (error) {
    const unavailable = `It cannot be described now: ${String(error)}`;
    return unavailable === was.unavailable ? was : { ...was, unavailable };
  }
}

/**
 * Turns a server tool's zod schema into the JSON Schema that is listed, and its
 * check out of that one, so that arguments are repaired as a client tool's are.
 * Throws when the schema cannot be listed: that is a defect of ours.
 */
export function toProvidedTool(tool: AnyServerTool): ProvidedTool {
  // `input`: what has a default need not be given.
  const { $schema: _, ...schema } = z.toJSONSchema(tool.args, {
    io: 'input',
    unrepresentable: coercedDate,
  });
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(`The schema of ${tool.name} is wrong: ${compiled.message}`);
  const [left] = compiled.unchecked;
  // Our own tools have no excuse: a part that is not checked would be a hole that we dug.
  if (left !== undefined)
    throw new Error(`The schema of ${tool.name} cannot be checked at ${left}`);
  const { name, timeoutMs, displayName, description, neverAlways, question, operands, endsTurn } =
    tool;
  const annotations = { readOnlyHint: tool.effect === 'read', ...tool.annotations };
  const shown = { name, displayName, description, schema, annotations };
  return {
    ...shown,
    ...hashesOf(shown),
    timeoutMs,
    neverAlways,
    question,
    operands,
    endsTurn,
    check: compiled.check,
    // One with a part that is not checked does not come this far.
    unchecked: undefined,
    withhold: compiled.withhold,
  };
}

type Unrepresentable = Extract<
  NonNullable<z.core.ToJSONSchemaParams['unrepresentable']>,
  (...given: never[]) => unknown
>;

/** A date that is coerced comes as text. What else JSON cannot hold would never be valid. */
const coercedDate: Unrepresentable = ({ zodSchema: { _zod } }) =>
  _zod.def.type === 'date' && 'coerce' in _zod.def && _zod.def.coerce === true
    ? { type: 'string', format: 'date-time' }
    : 'throw';
