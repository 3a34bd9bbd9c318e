import { brokenDesigns, realDesign } from './design.ts';
import { type Exploration, explore } from './explore.ts';
import type { Bounds } from './world.ts';

export interface ModelCheck {
  /** Over all kinds of tools and clients. */
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  /** Violations of the real rules, each with its bounds and the way to it. */
  readonly violations: readonly string[];
  readonly broken: readonly {
    readonly name: string;
    /** Null: the model does not see what this guard is for. */
    readonly counterExample: string | null;
    readonly states: number;
  }[];
}

/** How far the worlds go: offers of the call, instances of its client, faults in all. */
export interface ModelBounds {
  readonly attempts: number;
  readonly instances: 1 | 2;
  readonly faults: number;
}

type Kind = Pick<Bounds, 'rerunnable' | 'claims' | 'isMixed' | 'isServer' | 'isAsked'>;

/** Tools with effects and rerunnable ones; clients that claim, and those of the plain protocol. */
const OF_CLIENTS: readonly Kind[] = [
  { rerunnable: false, claims: true },
  { rerunnable: true, claims: true },
  { rerunnable: false, claims: false },
  { rerunnable: true, claims: false },
];
const OF_THE_SERVER: readonly Kind[] = [
  { rerunnable: false, claims: false, isServer: true },
  { rerunnable: true, claims: false, isServer: true },
];
const KINDS = [...OF_CLIENTS, ...OF_THE_SERVER].flatMap((kind) => [
  kind,
  { ...kind, isAsked: true },
]);
/** One instance says that the tool reads, the other that it has effects. */
const MIXED: Kind = { rerunnable: true, isMixed: true, claims: true };

/** A tool with effects, a client that claims, one instance and one fault show most; these need more. */
const SMALL: Bounds = { attempts: 2, instances: 1, faults: 1, rerunnable: false, claims: true };
const NEEDS: Readonly<Record<string, Partial<Bounds>>> = {
  'matches claims and answers by id alone': { instances: 2, faults: 0 },
  'has a client forget an end that is not on disk': { faults: 2 },
  'offers again without proof': { instances: 2 },
  'the first client’s word counts for all': { instances: 2, isMixed: true },
  'a proof outlives its attempt': { attempts: 3, instances: 2 },
  'runs again what it ran already': { faults: 2 },
  'a start whose event was refused forgets it': { attempts: 1, faults: 2 },
  'offers early to any client': { claims: false },
  'starts the server’s tool before that is on disk': { isServer: true },
  'starts what ended while its start waited': { isServer: true },
  'effects of an append that was refused happen': { isServer: true, isAsked: true },
  'what may be repeated is asked for again before that is on disk': {
    claims: false,
    rerunnable: true,
  },
};

/** They take half a minute to show, so that they are left out with one instance. */
const SLOW: ReadonlySet<string> = new Set([
  'a proof outlives its attempt',
  'the first client’s word counts for all',
]);

/** All interleavings within the bounds, by the real rules; then the broken designs. */
export function runModelCheck(bounds: ModelBounds): ModelCheck {
  const kinds = bounds.instances === 2 ? [...KINDS, MIXED] : KINDS;
  const found = kinds.map((kind) => ({
    kind,
    result: explore(realDesign, { ...bounds, ...kind }),
  }));
  const bad = found.filter(({ result }) => result.violation !== '');
  return {
    states: found.reduce((sum, { result }) => sum + result.states, 0),
    transitions: found.reduce((sum, { result }) => sum + result.transitions, 0),
    depth: Math.max(...found.map(({ result }) => result.depth)),
    violations: bad.map(({ kind, result }) => toText(result, { ...bounds, ...kind })),
    broken: Object.entries(brokenDesigns)
      .filter(([name]) => bounds.instances === 2 || !SLOW.has(name))
      .map(([name, broken]) => {
        const small = { ...SMALL, ...NEEDS[name] };
        const result = explore({ ...realDesign, ...broken }, small);
        const counterExample = result.violation === '' ? null : toText(result, small);
        return { name, counterExample, states: result.states };
      }),
  };
}

/** The broken promise, and the shortest way to it. */
function toText({ violation, trace }: Exploration, kind: Bounds): string {
  const steps = trace.map((label, index) => `  ${String(index + 1).padStart(2)}. ${label}`);
  return [`${violation} (${ofKind(kind)})`, ...steps].join('\n');
}

function ofKind({ rerunnable, claims, isServer, isAsked }: Bounds): string {
  const tool = rerunnable ? 'a rerunnable tool' : 'a tool with effects';
  const client = claims ? 'a client that claims' : 'a client of the plain protocol';
  return `${tool}, ${isServer ? 'of the server' : client}${isAsked ? ', to be allowed' : ''}`;
}
