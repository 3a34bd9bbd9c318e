import { isRecord } from '../json/is-record.ts';
import { inPlaceNodes, partNodes, type SchemaNode } from './schema-node.ts';

/** Arguments without those that the schema marks with `x-sensitive`. */
export interface WithheldArgs {
  /** They have `mark` in place of each of those. */
  readonly args: Record<string, unknown>;
  /** The texts in them. */
  readonly texts: readonly string[];
}

/** Undefined when they hold none. */
export type WithholdArgs = (
  args: Readonly<Record<string, unknown>>,
  mark: string,
) => WithheldArgs | undefined;

/** Pairs of a schema and a value that are looked at; real arguments have under 1,000. */
const MOST_STEPS = 200_000;

interface Run {
  readonly mark: string;
  readonly texts: string[];
  isAny: boolean;
  stepsLeft: number;
}

/** Undefined for a schema that marks nothing, as most do. */
export function readSensitive(root: SchemaNode): WithholdArgs | undefined {
  if (!marksAny(root)) return undefined;
  return (args, mark) => {
    const run: Run = { mark, texts: [], isAny: false, stepsLeft: MOST_STEPS };
    const kept = walk([root], args, run);
    // A value that was not looked at to its end may hold anything.
    const isWhole = run.stepsLeft > 0 && isRecord(kept);
    if (isWhole && !run.isAny) return undefined;
    return {
      args: isWhole ? kept : Object.fromEntries(Object.keys(args).map((key) => [key, mark])),
      texts: isWhole ? run.texts : textsIn(args),
    };
  };
}

function marksAny(root: SchemaNode): boolean {
  const seen = new Set([root]);
  for (const node of seen) {
    if (node.sensitive) return true;
    for (const next of [...inPlaceNodes(node), ...partNodes(node)]) seen.add(next);
    for (const next of [node.aside, node.partsAside].flat()) if (next) seen.add(next);
  }
  return false;
}

/** `nodes` are for the same value. Of several forms each counts, whichever the value has. */
function walk(nodes: readonly SchemaNode[], value: unknown, run: Run): unknown {
  const here = new Set(nodes);
  for (const node of here) {
    for (const next of inPlaceNodes(node)) here.add(next);
    for (const next of node.aside ?? []) here.add(next);
  }
  run.stepsLeft -= here.size;
  if (run.stepsLeft <= 0) return run.mark;
  const all = [...here];
  if (all.some(({ sensitive }) => sensitive)) {
    run.isAny = true;
    run.texts.push(...textsIn(value));
    return run.mark;
  }
  if (Array.isArray(value)) {
    return value.map((item, at) => walkPart(all, (node) => ofItem(node, at), item, run));
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    walkPart(all, (node) => ofProperty(node, key), one, run),
  ]);
  return Object.fromEntries(entries);
}

/** To ask each node for each part is work as well, though there may be none for it. */
function walkPart(
  all: readonly SchemaNode[],
  partOf: (node: SchemaNode) => SchemaNode[],
  value: unknown,
  run: Run,
): unknown {
  run.stepsLeft -= all.length;
  if (run.stepsLeft <= 0) return run.mark;
  const nodes = all.flatMap(partOf);
  return nodes.length === 0 ? value : walk(nodes, value, run);
}

/** Which items are those that `contains` asks for is not looked at: each may be one. */
const ofItem = (
  { prefixItems, items, contains, partsAside = [] }: SchemaNode,
  at: number,
): SchemaNode[] =>
  [prefixItems?.[at] ?? items, contains, ...partsAside].filter((one) => one !== undefined);

/** A pattern counts for each name: what is withheld too much does no harm. */
const ofProperty = (node: SchemaNode, key: string): SchemaNode[] =>
  [
    node.properties?.get(key),
    ...(node.patternProperties ?? []).map((one) => one.node),
    node.properties?.has(key) ? undefined : node.additionalProperties,
    ...(node.partsAside ?? []),
  ].filter((one) => one !== undefined);

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isRecord(value) ? Object.values(value).flatMap(textsIn) : [];
}
