import type { AwaitExpression, ConditionalExpression, IfStatement, Node } from 'oxc-parser';
import { childrenOf, type Marker } from './markers.ts';

/** A change of the sources at a place that has a name: of the statement that begins there. */
export interface Patch {
  readonly at: string;
  readonly change: (place: Marker) => Edit;
}

/** `text` instead of what is between two offsets. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A new text, or one made of the old. */
type Text = string | ((old: string) => string);

/** It is not there. */
export const drop = (at: string): Patch => ({
  at,
  change: (place) => {
    const { start, end } = nodeAt(place);
    return { start, end, text: '' };
  },
});

/** Its condition is never met: that of an `if`, or of `a ? b : c` in it. */
export const never = (at: string): Patch => condition(at, 'false');

/** Its condition is always met. */
export const always = (at: string): Patch => condition(at, 'true');

/** The statement does not wait for what it awaits. */
export const notAwaited = (at: string): Patch => ({
  at,
  change: (place) => {
    const found = find(place, (node): node is AwaitExpression => node.type === 'AwaitExpression');
    return { start: found.start, end: found.start + 'await'.length, text: 'void' };
  },
});

/** It returns, assigns or is another value. */
export const gives = (at: string, value: Text): Patch => ({
  at,
  change: (place) => edit(place, valueAt(place), value),
});

/** All of it is another text. */
export const becomes = (at: string, text: Text): Patch => ({
  at,
  change: (place) => edit(place, nodeAt(place), text),
});

/** Something happens before it. */
export const first = (at: string, text: string): Patch => ({
  at,
  change: ({ end }) => ({ start: end, end, text: `\n${text}` }),
});

const condition = (at: string, text: string): Patch => ({
  at,
  change: (place) => {
    const found = find(
      place,
      (node): node is IfStatement | ConditionalExpression =>
        node.type === 'IfStatement' || node.type === 'ConditionalExpression',
    );
    return edit(place, found.test, text);
  },
});

const edit = ({ source }: Marker, { start, end }: Node, text: Text): Edit => ({
  start,
  end,
  text: typeof text === 'string' ? text : text(source.slice(start, end)),
});

function nodeAt(place: Marker): Node {
  if (!place.node) throw missing(place, 'code');
  return place.node;
}

function valueAt(place: Marker): Node {
  const node = nodeAt(place);
  const { declaration } = node.type === 'ExportNamedDeclaration' ? node : { declaration: null };
  const value = valueOfNode(declaration ?? node);
  if (!value) throw missing(place, 'value');
  return value;
}

function valueOfNode(node: Node | null | undefined): Node | null | undefined {
  switch (node?.type) {
    case 'ReturnStatement':
      return node.argument;
    case 'VariableDeclaration':
      return valueOfNode(node.declarations[0]?.init);
    case 'ArrowFunctionExpression':
      return node.expression ? node.body : undefined;
    default:
      return isExpression(node) ? node : undefined;
  }
}

const isExpression = (node: Node | null | undefined): boolean =>
  node !== null && node !== undefined && /(Expression|Literal|Identifier)$/.test(node.type);

/** The first one that fits, from outside to inside. */
function find<T extends Node>(place: Marker, fits: (node: Node) => node is T): T {
  const queue = [nodeAt(place)];
  for (let node = queue.shift(); node; node = queue.shift()) {
    if (fits(node)) return node;
    queue.push(...childrenOf(node));
  }
  throw missing(place, 'such code');
}

const missing = ({ file, kind, name }: Marker, what: string) =>
  new Error(`${file}: no ${what} begins behind "// ${kind}: ${name}"`);
