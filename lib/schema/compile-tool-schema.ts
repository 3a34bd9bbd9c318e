import { isRecord } from '../json/is-record.ts';
import { type JsonFault, measureJson } from '../json/measure-json.ts';
import type { ErrorDetail } from '../protocol/http-error.ts';
import { LIMITS } from '../protocol/limits.ts';
import { CheckRun, describeValue, pathText } from './check-run.ts';
import { evaluate } from './evaluate.ts';
import { readSchema } from './read-schema.ts';
import { readJsonText, repairArgs } from './repair-args.ts';
import { inPlaceNodes, partNodes, type SchemaNode } from './schema-node.ts';
import { readSensitive, type WithholdArgs } from './withhold-args.ts';

/** A schema that is a danger to who checks it. */
export interface SchemaRefusal {
  readonly code: string;
  readonly message: string;
}

/** So many nodes may check values in all, when every reference is written out. */
const MAX_EXPANSION = 10_000;
/** References, `allOf` and the like one inside the other, for one value: each costs stack. */
const MAX_CHAIN = 64;

/**
 * Refuses schemas that never end or blow up: a cycle of references that passes
 * no property or item asks the same question of the same value for ever, and
 * references that double at each level cost 2^n per value. Cycles that pass a
 * property or an item end with the value and are fine.
 */
function checkExpansion(root: SchemaNode): SchemaRefusal | undefined {
  const entries = new Set([root]);
  /** The nodes whose parts are among the entries: a thousand references may lead to one that has as many. */
  const listed = new Set<SchemaNode>();
  const open = new Set<SchemaNode>();
  let expansion = 0;

  const expand = (node: SchemaNode): SchemaRefusal | undefined => {
    if (open.has(node)) {
      return {
        code: 'schema_ref_cycle',
        message: 'A "$ref" leads back to itself; a cycle must pass a property or an item.',
      };
    }
    expansion += 1;
    if (expansion > MAX_EXPANSION || open.size >= MAX_CHAIN) {
      return {
        code: 'schema_too_large',
        message: `The schema grows too large when its references are followed; at most ${MAX_EXPANSION} parts, ${MAX_CHAIN} one in the other.`,
      };
    }
    if (!listed.has(node)) for (const part of partNodes(node)) entries.add(part);
    listed.add(node);
    open.add(node);
    for (const next of inPlaceNodes(node)) {
      const refusal = expand(next);
      if (refusal) return refusal;
    }
    open.delete(node);
  };

  for (const entry of entries) {
    const refusal = expand(entry);
    if (refusal) return refusal;
  }
}

/** Arguments after the check: repaired where the schema asks for it, or the reasons why not. */
export type ArgsCheck =
  | {
      readonly ok: true;
      readonly args: Record<string, unknown>;
      readonly repairs: readonly string[];
    }
  | { readonly ok: false; readonly details: readonly ErrorDetail[] };

export type CompiledToolSchema =
  | {
      readonly ok: true;
      readonly check: (args: unknown) => ArgsCheck;
      /** Undefined where no argument is marked as sensitive. */
      readonly withhold: WithholdArgs | undefined;
      /** JSON pointers of what is not checked: arguments that break it are accepted. */
      readonly unchecked: readonly string[];
    }
  | ({ readonly ok: false } & SchemaRefusal);

const SCHEMA_LIMITS = { maxBytes: LIMITS.schemaBytes, maxDepth: 64, maxNodes: 10_000 };
const ARGS_LIMITS = {
  maxBytes: LIMITS.argsBytes,
  maxDepth: LIMITS.jsonDepth,
  maxNodes: LIMITS.jsonNodes,
};

const SCHEMA_CODES: Record<JsonFault, string> = {
  bytes: 'schema_too_large',
  depth: 'schema_too_deep',
  nodes: 'schema_too_large',
  proto: 'schema_invalid',
  not_json: 'schema_invalid',
};

const wordsFor = (fault: JsonFault, { maxBytes, maxDepth, maxNodes }: typeof SCHEMA_LIMITS) =>
  ({
    bytes: `must have at most ${maxBytes} bytes`,
    depth: `must be nested at most ${maxDepth} deep`,
    nodes: `must have at most ${maxNodes} values`,
    proto: 'must not use the key "__proto__"',
    not_json: 'must be plain JSON',
  })[fault];

/**
 * Makes a check out of a tool's `parameters`, which is untrusted: limits first, then no references
 * that never end, and patterns only in linear time. What it cannot check is named, and left out.
 * Both this and the check end within milliseconds and never throw. The schema is read once; later
 * changes to it have no effect.
 */
export function compileToolSchema(schema: unknown): CompiledToolSchema {
  const fault = findSchemaFault(schema);
  if (fault) return { ok: false, ...fault };
  const { node, unchecked } = readSchema(schema);
  if (!isRecord(schema) || (node.types && !node.types.includes('object'))) {
    const was = isRecord(schema) ? `its "type" was ${node.types?.join(' or ')}` : 'it was none';
    return {
      ok: false,
      code: 'schema_not_object',
      message: `The schema must describe an object: {"type": "object", "properties": {…}}; ${was}.`,
    };
  }
  // Where nothing else says that the arguments are an object, it is a mistake and no dialect.
  const keyword = schema.type === undefined ? '$ref' : 'type';
  const lost = unchecked.includes(`#/${keyword}`) ? keyword : undefined;
  if (lost !== undefined) {
    return {
      ok: false,
      code: 'schema_invalid',
      message: `The schema's own "${lost}" must be "object" or lead to a part of the same schema; it was ${describeValue(schema[lost])}.`,
    };
  }
  const endless = checkExpansion(node);
  if (endless) return { ok: false, ...endless };
  const withhold = readSensitive(node);
  const isSecret = withhold !== undefined;
  return { ok: true, check: (args) => checkArgs(node, args, isSecret), withhold, unchecked };
}

/** Says why a schema is not looked into: it is too large, too deep or no JSON. */
export function findSchemaFault(schema: unknown): SchemaRefusal | undefined {
  const fault = measureJson(schema, SCHEMA_LIMITS);
  if (!fault) return undefined;
  return { code: SCHEMA_CODES[fault], message: `The schema ${wordsFor(fault, SCHEMA_LIMITS)}.` };
}

const refuse = (problem: string): ErrorDetail[] => [{ path: '', problem }];

const TOO_MUCH = 'takes too much work to check against the schema of the tool; make it smaller';

function checkArgs(node: SchemaNode, given: unknown, isSecret: boolean): ArgsCheck {
  const args = typeof given === 'string' ? readJsonText(given) : given;
  if (!isRecord(args)) {
    const was = isSecret ? '' : `, was ${describeValue(given)}`;
    return { ok: false, details: refuse(`must be an object${was}`) };
  }
  const repairs = args === given ? [] : [pathText(null)];
  const first = new CheckRun(isSecret);
  const problems = problemsOf(node, args, first);
  if (problems.length === 0) return { ok: true, args, repairs };
  // A value beyond a limit is not looked at again.
  if (problems !== first.problems) return { ok: false, details: problems };
  const repair = first.next();
  const mended = repairArgs(node, args, null, repair);
  if (repair.isExhausted) return { ok: false, details: refuse(TOO_MUCH) };
  if (mended === args || !isRecord(mended)) return { ok: false, details: problems };
  // JSON that was a text counts by its bytes until it is read; then by its depth and its values too.
  const left = problemsOf(node, mended, repair.next());
  if (left.length > 0) return { ok: false, details: left };
  return { ok: true, args: mended, repairs: [...repairs, ...repair.repairs] };
}

/** Returns the problems of the run, or one that says why these do not count. */
function problemsOf(node: SchemaNode, args: Record<string, unknown>, run: CheckRun): ErrorDetail[] {
  const fault = measureJson(args, ARGS_LIMITS);
  if (fault) return refuse(wordsFor(fault, ARGS_LIMITS));
  evaluate(node, args, run);
  return run.isExhausted ? refuse(TOO_MUCH) : run.problems;
}
