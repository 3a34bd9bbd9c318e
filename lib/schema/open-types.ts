import type { AllowedValues, SchemaNode, TypeWord } from './schema-node.ts';

/** What each node leaves open; kept, since a long list asks the same node for each item. */
const knownTypes = new WeakMap<SchemaNode, ReadonlySet<TypeWord> | null>();

/** Types that the schema leaves open for the value; null when it leaves all of them open. */
export function openTypes(node: SchemaNode): ReadonlySet<TypeWord> | null {
  const known = knownTypes.get(node);
  if (known !== undefined) return known;
  let types = node.types ? widen(node.types) : null;
  const narrow = (other: ReadonlySet<TypeWord> | null) => {
    if (other) types = types ? new Set([...types].filter((one) => other.has(one))) : other;
  };
  if (node.allowed) narrow(typesOfValues(node.allowed));
  if (node.ref) narrow(openTypes(node.ref));
  for (const one of node.allOf ?? []) narrow(openTypes(one));
  for (const branches of [node.anyOf, node.oneOf]) {
    const open = branches?.map(openTypes) ?? [null];
    // One branch that takes anything leaves everything open.
    if (!open.includes(null)) narrow(new Set(open.flatMap((one) => [...(one ?? [])])));
  }
  knownTypes.set(node, types);
  return types;
}

/** A number may be whole, so `number` and `integer` together mean `integer`. */
function widen(types: readonly TypeWord[]): ReadonlySet<TypeWord> {
  return new Set(types.includes('number') ? [...types, 'integer' as const] : types);
}

/** By the first character of each value's JSON. */
function typesOfValues({ keys }: AllowedValues): ReadonlySet<TypeWord> {
  const types = [...keys].flatMap((key): readonly TypeWord[] => {
    switch (key[0]) {
      case '"':
        return ['string'];
      case '{':
        return ['object'];
      case '[':
        return ['array'];
      case 'n':
        return ['null'];
      case 't':
      case 'f':
        return ['boolean'];
      default:
        return ['number', 'integer'];
    }
  });
  return new Set(types);
}
