import type { DeviceTool } from '#lib/protocol/device';
import type { RejectedTool } from '#lib/protocol/tool-spec';
import type { CheckedSpec, CheckedTool, ProvidedTool } from '../tools/room.ts';
import {
  foreignNameOf,
  LONGEST_FOREIGN_NAME,
  MOST_TOOLS,
  namesOf,
  toSpec,
} from './foreign-tools.ts';
import { configuredEffectOf, type McpServerSettings } from './mcp-servers-config.ts';
import { isSameTool, type Pin, type Pins, toPinnedTool } from './pins.ts';

/** Tools that are not offered any more are among them: one that comes back changed is known. */
const MOST_PINS = 1_000;
/** The pins of one server have so much as JSON. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Most refusals that are kept with their reasons. */
const MOST_REFUSED = 64;

/** A tool of the server that may be called, or might be. */
export interface Offered {
  readonly foreign: string;
  /** The tool as it was accepted. */
  readonly tool: CheckedTool;
  /** The tool as the server has it now, where that is otherwise. */
  readonly changed?: CheckedTool;
}

/** One reading of the list made them; they are not on disk yet. */
interface NewPins {
  readonly pins: Pin[];
  bytes: number;
}

export interface OfferedToolsDeps {
  readonly id: string;
  readonly settings: Pick<McpServerSettings, 'tools' | 'trust' | 'timeout_s'>;
  readonly pins: Pick<Pins, 'put'>;
  readonly check: (specs: readonly unknown[]) => Promise<readonly CheckedSpec[]>;
  readonly isReserved: (name: string) => boolean;
}

/** Why a withheld tool is not called. */
export const CHANGED =
  'Its server changed the tool; a person has to accept the change under Settings, MCP servers.';

/** The tools of one server: each as it was seen first or accepted last, and not as it is now (rules MC10 to MC19). */
export class OfferedTools {
  readonly #deps: OfferedToolsDeps;
  /** By the server's name of it. */
  readonly #pins = new Map<string, Pin>();
  #pinBytes = 0;
  #tools: readonly Offered[] = [];
  #refused: readonly RejectedTool[] = [];
  #refusedCount = 0;
  #listed: readonly ProvidedTool[] = [];
  /** Why none can be called now. */
  #unavailable: string | undefined;

  constructor(deps: OfferedToolsDeps) {
    this.#deps = deps;
  }

  /** Offers what was there before, until the server says what there is. */
  async restore(pins: readonly Pin[], unavailable: string): Promise<void> {
    for (const pin of pins) this.#keep(pin);
    const checked = await this.#deps.check(pins.map(({ tool }) => tool));
    this.#unavailable = unavailable;
    this.#tools = checked.flatMap((one, at) => {
      const foreign = pins[at]?.foreign;
      return one.ok && foreign !== undefined ? [{ foreign, tool: this.#timed(one.tool) }] : [];
    });
    this.#build();
  }

  /** Takes what the server lists now. Resolves when it is offered, with what is new of it on disk. */
  async take(listed: readonly unknown[], leftOut: number): Promise<void> {
    const refused: RejectedTool[] = [];
    const named = namedOnce(listed.slice(0, MOST_TOOLS), refused);
    const known = new Map([...this.#pins].map(([foreign, { tool }]) => [foreign, tool.name]));
    const foreigns = named.map(({ foreign }) => foreign);
    const names = namesOf(foreigns, { ...this.#deps, known });
    const specs = named.map(({ tool, foreign }, at) =>
      toSpec(tool, { foreign, name: names[at] ?? '' }, this.#deps.settings),
    );
    const checked = await this.#deps.check(specs);
    const pinned: NewPins = { pins: [], bytes: 0 };
    const tools = checked.flatMap((one, at) => {
      const foreign = named[at]?.foreign;
      if (foreign === undefined) return [];
      const taken = one.ok ? this.#offer(foreign, this.#timed(one.tool), pinned) : one.rejected;
      if ('code' in taken) refused.push({ ...taken, name: foreign });
      return 'code' in taken ? [] : [taken];
    });
    // On disk first: what could not be written is not known, and is seen first once more.
    if (pinned.pins.length > 0) await this.#deps.pins.put(pinned.pins);
    for (const pin of pinned.pins) this.#keep(pin);
    const more = leftOut + Math.max(0, listed.length - MOST_TOOLS);
    if (more > 0) refused.push(tooMany(more));
    // Meanwhile a person may have accepted a change.
    this.#tools = tools.map((one) => this.#compared(one));
    this.#refused = refused.slice(0, MOST_REFUSED);
    this.#refusedCount = refused.length - (more > 0 ? 1 : 0) + more;
    this.#build();
  }

  /** `undefined`: they can be called again. */
  setUnavailable(reason: string | undefined): void {
    if (reason === this.#unavailable) return;
    this.#unavailable = reason;
    this.#build();
  }

  list(): readonly ProvidedTool[] {
    return this.#listed;
  }

  find(name: string): Offered | undefined {
    return this.#tools.find(({ tool }) => tool.name === name);
  }

  get all(): readonly Offered[] {
    return this.#tools;
  }

  get refusals(): { readonly refused: readonly RejectedTool[]; readonly count: number } {
    return { refused: this.#refused, count: this.#refusedCount };
  }

  /** Takes the changes with these hashes over; undefined where one of them is of none that waits. */
  async accept(hashes: readonly string[]): Promise<readonly DeviceTool[] | undefined> {
    const wanted = new Set(hashes);
    const waiting = this.#tools.flatMap(({ foreign, changed }) =>
      changed && wanted.has(changed.toolHash) ? [{ foreign, tool: changed }] : [],
    );
    if (waiting.length !== wanted.size) return undefined;
    const { id: server, pins } = this.#deps;
    const accepted = waiting.map(({ foreign, tool }) => ({
      server,
      foreign,
      tool: toPinnedTool(tool),
    }));
    await pins.put(accepted);
    for (const pin of accepted) this.#keep(pin);
    // Meanwhile the server may have changed it again.
    this.#tools = this.#tools.map((one) => this.#compared(one));
    this.#build();
    return accepted.map(({ tool }) => tool);
  }

  #compared(one: Offered): Offered {
    const now = one.changed ?? one.tool;
    const { foreign } = one;
    return this.#pins.get(foreign)?.tool.hash === now.toolHash ? { foreign, tool: now } : one;
  }

  /** Pins what is seen first; what is otherwise than it was pinned is not what is called. */
  #offer(foreign: string, tool: CheckedTool, pinned: NewPins): Offered | RejectedTool {
    const pin = this.#pins.get(foreign);
    if (pin?.tool.hash === tool.toolHash) return { foreign, tool };
    if (pin && isSameTool(toPinnedTool(tool), pin.tool)) return { foreign, tool };
    if (pin) {
      const before = this.#tools.find((one) => one.foreign === foreign)?.tool;
      return { foreign, tool: before ?? shownAs(pin, tool), changed: tool };
    }
    const count = this.#pins.size + pinned.pins.length;
    if (count >= MOST_PINS || this.#pinBytes + pinned.bytes + tool.bytes > MOST_BYTES) {
      return { name: foreign, code: 'too_many_tools', message: PINS_FULL };
    }
    const { id: server } = this.#deps;
    const made = { server, foreign, tool: toPinnedTool(tool) };
    pinned.bytes += bytesOf(made);
    pinned.pins.push(made);
    return { foreign, tool };
  }

  #keep(pin: Pin): void {
    const before = this.#pins.get(pin.foreign);
    this.#pinBytes += bytesOf(pin) - (before ? bytesOf(before) : 0);
    this.#pins.set(pin.foreign, pin);
  }

  #timed(tool: CheckedTool): CheckedTool {
    const { timeout_s } = this.#deps.settings;
    return timeout_s === undefined ? tool : { ...tool, timeoutMs: timeout_s * 1_000 };
  }

  /** A tool that is as it was stays the same object. */
  #build(): void {
    const before = new Map(this.#listed.map((one) => [one.name, one]));
    const now = this.#tools.map(({ foreign, tool, changed }) => {
      const unavailable = changed ? CHANGED : this.#unavailable;
      const was = before.get(tool.name);
      if (was?.toolHash === tool.toolHash && was.unavailable === unavailable) return was;
      const configured = configuredEffectOf(this.#deps.settings.tools, foreign);
      return { ...tool, unavailable, configured };
    });
    const isSame =
      now.length === this.#listed.length && now.every((one, at) => one === this.#listed[at]);
    if (!isSame) this.#listed = now;
  }
}

const PINS_FULL = `At most ${MOST_PINS} tools of a server, of ${MOST_BYTES} bytes of JSON, are remembered, those of before among them; take the server out of the configuration for one start to forget them.`;

const bytesOf = ({ tool }: Pin): number => Buffer.byteLength(JSON.stringify(tool));

const tooMany = (count: number): RejectedTool => ({
  name: '',
  code: 'too_many_tools',
  message: `The server lists ${count} more; of one server ${MOST_TOOLS} tools are offered.`,
});

/** Shows the pinned form while its check is not made; it is not called. */
const shownAs = ({ tool }: Pin, now: CheckedTool): CheckedTool => ({
  ...now,
  name: tool.name,
  description: tool.description,
  displayName: tool.display_name,
  schema: tool.parameters,
  annotations: tool.annotations ?? {},
  toolHash: tool.hash,
});

/** Gives those with a name, each name once. */
function namedOnce(listed: readonly unknown[], refused: RejectedTool[]) {
  const seen = new Set<string>();
  return listed.flatMap((tool) => {
    const foreign = foreignNameOf(tool);
    if (foreign === undefined) {
      const message = `A tool has a name of 1 to ${LONGEST_FOREIGN_NAME} characters.`;
      refused.push({ name: '', code: 'bad_name', message });
      return [];
    }
    if (seen.has(foreign)) {
      const message = 'The server lists the name twice; the first one counts.';
      refused.push({ name: foreign, code: 'name_collides', message });
      return [];
    }
    seen.add(foreign);
    return [{ foreign, tool }];
  });
}
