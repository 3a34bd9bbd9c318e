/** The seven words JSON Schema knows for `type`. */
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
  /** For people, cut short. */
  readonly text: string;
}

/**
 * One schema, read and checked. `$ref`s are edges to other nodes, so a recursive
 * schema is a graph with a cycle. Mutable only while it is read.
 */
export interface SchemaNode {
  /** Set for `true` and `false`; nothing else then counts. */
  always?: boolean;
  types?: readonly TypeWord[];
  allowed?: AllowedValues;
  ref?: SchemaNode;
  allOf?: readonly SchemaNode[];
  anyOf?: readonly SchemaNode[];
  oneOf?: readonly SchemaNode[];
  not?: SchemaNode;
  if?: SchemaNode;
  then?: SchemaNode;
  else?: SchemaNode;
  properties?: ReadonlyMap<string, SchemaNode>;
  patternProperties?: readonly { readonly pattern: SafePattern; readonly node: SchemaNode }[];
  additionalProperties?: SchemaNode;
  unevaluatedProperties?: SchemaNode;
  propertyNames?: SchemaNode;
  required?: readonly string[];
  dependentRequired?: ReadonlyMap<string, readonly string[]>;
  dependentSchemas?: ReadonlyMap<string, SchemaNode>;
  minProperties?: number;
  maxProperties?: number;
  prefixItems?: readonly SchemaNode[];
  items?: SchemaNode;
  unevaluatedItems?: SchemaNode;
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
}

/** Nodes that judge the same value as `node` does. */
export function inPlaceNodes(node: SchemaNode): SchemaNode[] {
  const found: SchemaNode[] = [];
  if (node.ref) found.push(node.ref);
  for (const list of [node.allOf, node.anyOf, node.oneOf]) if (list) found.push(...list);
  for (const one of [node.not, node.if, node.then, node.else]) if (one) found.push(one);
  if (node.dependentSchemas) found.push(...node.dependentSchemas.values());
  return found;
}

/** Nodes that judge a part of the value: a property, its name, an item. */
export function partNodes(node: SchemaNode): SchemaNode[] {
  const found: SchemaNode[] = [];
  if (node.properties) found.push(...node.properties.values());
  for (const { node: one } of node.patternProperties ?? []) found.push(one);
  if (node.prefixItems) found.push(...node.prefixItems);
  for (const one of [
    node.additionalProperties,
    node.unevaluatedProperties,
    node.propertyNames,
    node.items,
    node.unevaluatedItems,
    node.contains,
  ]) {
    if (one) found.push(one);
  }
  return found;
}
