import type { CheckRun, Path } from './check-run.ts';

/** The seven words of JSON Schema for `type`. */
export const TYPE_WORDS = [
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'array',
  'object',
] as const;
export type TypeWord = (typeof TYPE_WORDS)[number];

/** A pattern that can be tested in linear time. */
export interface SafePattern {
  readonly source: string;
  /** Instructions of its program: what a test costs per character, at worst. */
  readonly size: number;
  test(text: string): boolean;
}

/** Values of `enum` or `const` by their canonical JSON, so that a look-up is one hash. */
export interface AllowedValues {
  readonly keys: ReadonlySet<string>;
  readonly types: ReadonlySet<TypeWord>;
  /** It is for people, and cut short. */
  readonly text: string;
}

/** Checks a value by some keywords of a schema; the problems are those of the run. */
export type Rule = (node: SchemaNode, value: unknown, path: Path | null, run: CheckRun) => void;

/**
 * One schema, read. `$ref`s are edges to other nodes, so a recursive schema is a graph with a
 * cycle. A node changes only while it is read.
 */
export interface SchemaNode {
  /** Set for `true` and `false`; nothing else then counts. */
  always?: boolean;
  /** The value is a secret (SC32). This checks nothing. */
  sensitive?: boolean;
  /** Schemas for the same value that are not checked, for want of another; their secrets count. */
  aside?: SchemaNode[];
  /** The same for any part of the value. */
  partsAside?: SchemaNode[];
  types?: readonly TypeWord[];
  allowed?: AllowedValues;
  ref?: SchemaNode;
  allOf?: readonly SchemaNode[];
  anyOf?: readonly SchemaNode[];
  oneOf?: readonly SchemaNode[];
  not?: SchemaNode;
  /** `if`, with `then` for values that it accepts, and `else` for all others. */
  condition?: SchemaNode;
  whenMet?: SchemaNode;
  whenNot?: SchemaNode;
  /** The schema that holds for an object which has the property of this name. */
  dependentSchemas?: ReadonlyMap<string, SchemaNode>;
  /** The names that such an object must have, too. */
  dependentRequired?: ReadonlyMap<string, readonly string[]>;
  properties?: ReadonlyMap<string, SchemaNode>;
  patternProperties?: readonly { readonly pattern: SafePattern; readonly node: SchemaNode }[];
  additionalProperties?: SchemaNode;
  propertyNames?: SchemaNode;
  required?: readonly string[];
  minProperties?: number;
  maxProperties?: number;
  prefixItems?: readonly SchemaNode[];
  items?: SchemaNode;
  contains?: SchemaNode;
  minContains?: number;
  maxContains?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: SafePattern;
  format?: string;
  /** The rules for these keywords, once a value was checked by them. */
  rules?: readonly Rule[];
}

/** Leaves them out of the check. A value that they mark is a secret all the same. */
export function setAside(
  node: SchemaNode,
  field: 'aside' | 'partsAside',
  ...schemas: readonly (SchemaNode | undefined)[]
): void {
  node[field] = [...(node[field] ?? []), ...present(...schemas)];
}

const present = (...nodes: readonly (SchemaNode | undefined)[]): SchemaNode[] =>
  nodes.filter((node) => node !== undefined);

/** Nodes that check the same value as `node` does. */
export const inPlaceNodes = (node: SchemaNode): SchemaNode[] =>
  present(
    node.ref,
    node.not,
    node.condition,
    node.whenMet,
    node.whenNot,
    ...(node.dependentSchemas?.values() ?? []),
    ...[node.allOf, node.anyOf, node.oneOf].flatMap((list) => list ?? []),
  );

/** Nodes that check a part of the value: a property, its name, an item. */
export const partNodes = (node: SchemaNode): SchemaNode[] =>
  present(
    ...(node.properties?.values() ?? []),
    ...(node.patternProperties ?? []).map((one) => one.node),
    ...(node.prefixItems ?? []),
    node.additionalProperties,
    node.propertyNames,
    node.items,
    node.contains,
  );
