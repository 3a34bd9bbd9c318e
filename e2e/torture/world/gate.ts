import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { becomes, first, type Patch } from '../patch.ts';
import { must } from './until.ts';

/**
 * Holds a server at a named place for as long as the harness wants, so that what
 * happens meanwhile, and in which order, is no matter of time. The server is a
 * build with `gatePatches`, started with `env`.
 */
export interface Gate {
  readonly env: Readonly<Record<string, string>>;
  /** The disk takes no write that has this text in it; with '' none at all. */
  holdWrites(text: string): void;
  /** The next write that has this text in it fails, as on a broken disk. */
  failWrites(text: string): void;
  /** It holds as `holdWrites` does, when a first part of the write is made, and others are to come. */
  holdHalf(text: string): void;
  /** The gate holds what follows from the log of calls before it is made. */
  holdIndexing(): void;
  /** The next decision about a call of this tool comes after another writer's, which has appended first. */
  overtake(tool: string): void;
  /** The event loop stops after it has read its sockets, and before it looks at its timers. */
  stall(): void;
  /** Resolves once the server stands at what was closed last. */
  reached(): Promise<void>;
  /** The server closes its record, as the last thing of a stop. */
  readonly isClosing: boolean;
  open(): void;
}

const PLACES = ['hold', 'fail', 'half', 'index', 'overtake', 'stall'] as const;
type Place = (typeof PLACES)[number];

/** Runs in the server; `gate` and `fs` are there. */
const AT_GATE = `const gate = process.env.TORTURE_GATE ?? ''; const fs = process.getBuiltinModule('node:fs');
  const isClosed = (place, text) => { try { return text.includes(fs.readFileSync(gate + '.' + place, 'utf8')); } catch { return false; } };
  const stand = (place) => { fs.writeFileSync(gate + '.reached', ''); while (fs.existsSync(gate + '.' + place)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5); };`;

/** The time that a stop may take would run on while it is held. */
export const noHurry: Patch = becomes(
  'stop-limit',
  'setTimeout(() => process.exit(1), 60_000).unref();',
);

export const gatePatches = (): Patch[] => [
  first(
    'commit-asked',
    `{
      ${AT_GATE}
      const written = request.text + request.longTexts.join('');
      if (isClosed('hold', written)) stand('hold');
      if (globalThis.hasFailed || isClosed('fail', written)) {
        globalThis.hasFailed = true;
        fs.writeFileSync(gate + '.reached', '');
        parentPort?.postMessage({ ok: false, message: 'disk I/O error' });
        return;
      }
    }`,
  ),
  first(
    'before-step',
    `{
      const made = (globalThis.stepsMade ??= new WeakMap()).get(group) ?? 0;
      globalThis.stepsMade.set(group, made + 1);
      if (made === 1) { ${AT_GATE} if (isClosed('half', group.text + group.longTexts.join(''))) stand('half'); }
    }`,
  ),
  first('indexing', `{ ${AT_GATE} if (isClosed('index', '')) stand('index'); }`),
  first(
    'decided',
    `if (previous) {
      ${AT_GATE}
      if (isClosed('overtake', record.toolName + ' ')) {
        fs.rmSync(gate + '.overtake');
        const version = previous.version + 1;
        const event = { version, type: 'status', at: 0, actor: 'server', patch: {} };
        void this.#deps.store.write([{ type: 'append_call', call: { ...previous, version }, event }]);
        fs.writeFileSync(gate + '.reached', '');
      }
    }`,
  ),
  first(
    'start',
    `setInterval(() => setImmediate(() => { ${AT_GATE} if (isClosed('stall', '')) stand('stall'); }), 10).unref();`,
  ),
  first('pages-closed', `{ ${AT_GATE} fs.writeFileSync(gate + '.closing', ''); }`),
  noHurry,
];

export function createGate(dir: string): Gate {
  const file = join(dir, 'gate');

  function close(place: Place, text: string): void {
    rmSync(`${file}.reached`, { force: true });
    // Whole or not at all: half a text would hold something else.
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, `${file}.${place}`);
  }

  return {
    env: { TORTURE_GATE: file },
    holdWrites: (text) => close('hold', text),
    failWrites: (text) => close('fail', text),
    holdHalf: (text) => close('half', text),
    holdIndexing: () => close('index', ''),
    overtake: (tool) => close('overtake', `${tool} `),
    stall: () => close('stall', ''),
    async reached() {
      await must('the server stands at the gate', () => existsSync(`${file}.reached`));
    },
    get isClosing() {
      return existsSync(`${file}.closing`);
    },
    open() {
      for (const place of [...PLACES, 'closing']) rmSync(`${file}.${place}`, { force: true });
    },
  };
}
