import type { RejectedTool } from '#lib/protocol/tool-spec';
import { createEmitter } from '#lib/util/emitter';
import type { Logger } from '../base/logger.ts';
import type {
  CheckedSpec,
  CheckedTool,
  Registration,
  ToolOffers,
  ToolRegistry,
} from '../tools/room.ts';
import type { DeviceList } from './device-list.ts';
import { type Admission, type DeviceRecord, toDeviceTool } from './device-record.ts';

type Client = Parameters<ToolRegistry['register']>[0];

/** A tool as a connection offers it, and the admission that the connection knows of. */
interface Offer {
  readonly tool: CheckedTool;
  readonly hash: string;
  readonly admission: Exclude<Admission, 'too_many'>;
}

/** A connection of a device offers these, whether they are allowed or not. */
interface Offers {
  readonly client: Client;
  readonly tools: Map<string, Offer>;
}

/** A decision of a person changed this for one connection: `registered`, or `rejected` from now on. */
export interface DecidedTools {
  readonly instanceId: string;
  readonly decided: string[];
  readonly registered: number;
  readonly rejected: RejectedTool[];
}

export interface ToolAdmissionDeps {
  readonly registry: ToolOffers & Pick<ToolRegistry, 'namesOf'>;
  readonly devices: Pick<DeviceList, 'offer' | 'ofClient' | 'onChange'>;
  /** The calls, for which other tools are there now. */
  readonly instances: { toolsChanged(instanceId: string, withdrawn?: readonly string[]): void };
  readonly logger: Pick<Logger, 'error'>;
}

/** The registry as clients see it: of a device it takes what a person allowed, of others all. */
export class ToolAdmission implements ToolOffers {
  readonly #deps: ToolAdmissionDeps;
  /** By instance. */
  readonly #offers = new Map<string, Offers>();
  readonly #decisions;
  readonly check: ToolOffers['check'];

  constructor(deps: ToolAdmissionDeps) {
    this.#deps = deps;
    this.#decisions = createEmitter<DecidedTools>(deps.logger.error);
    this.check = (specs) => deps.registry.check(specs);
    deps.devices.onChange(({ clientId }) => this.#follow(clientId));
  }

  register(client: Client, checked: readonly CheckedSpec[]): Registration {
    const { devices, registry } = this.#deps;
    const offered = checked.flatMap((one) => (one.ok ? [toDeviceTool(one.tool)] : []));
    const admissions = devices.offer(client.clientId, offered);
    if (!admissions) return registry.register(client, checked);
    const { tools } = this.#offersOf(client);
    /** The last form of a name that comes twice counts (DV37). */
    const last = new Map<string, Admission>();
    for (const one of checked) {
      if (!one.ok) continue;
      const { tool } = one;
      const { hash } = toDeviceTool(tool);
      const admission = admissions.get(hash) ?? 'denied';
      last.set(tool.name, admission);
      if (admission === 'too_many') tools.delete(tool.name);
      else tools.set(tool.name, { tool, hash, admission });
    }
    const refused = [...last].flatMap(([name, admission]) => refusalOf(name, admission));
    const rejections = new Map(refused.map((one) => [one.name, one]));
    const admitted = checked.map((one): CheckedSpec => {
      const rejected = one.ok ? rejections.get(one.tool.name) : undefined;
      return rejected ? { ok: false, rejected } : one;
    });
    this.#withdraw(client.instanceId, refused);
    return registry.register(client, admitted);
  }

  /** Called for each connection for which a person's decision changed something. Returns a function that unsubscribes. */
  onDecided(listener: (decided: DecidedTools) => void): () => void {
    return this.#decisions.subscribe(listener);
  }

  unregister(instanceId: string, names: readonly string[]): void {
    const offers = this.#offers.get(instanceId);
    for (const name of names) offers?.tools.delete(name);
    this.#deps.registry.unregister(instanceId, names);
  }

  drop(instanceId: string): void {
    this.#offers.delete(instanceId);
    this.#deps.registry.drop(instanceId);
  }

  dropClient(clientId: string): void {
    for (const { client } of this.#of(clientId)) this.drop(client.instanceId);
  }

  /** A person's decision holds at once for what is offered. */
  #follow(clientId: string): void {
    const device = this.#deps.devices.ofClient(clientId);
    if (device) for (const offers of this.#of(clientId)) this.#followOne(offers, device);
  }

  #followOne({ client, tools }: Offers, device: DeviceRecord): void {
    const { registry, instances } = this.#deps;
    const { instanceId } = client;
    const before = [...tools.values()];
    const decided = before.flatMap((offer) => {
      const admission = admissionNow(offer, device);
      return admission === offer.admission ? [] : [{ ...offer, admission }];
    });
    if (decided.length === 0) return;
    for (const offer of decided) tools.set(offer.tool.name, offer);
    const refused = decided.flatMap(({ tool, admission }) => refusalOf(tool.name, admission));
    this.#withdraw(instanceId, refused);
    const allowed = decided.filter(({ admission }) => admission === 'allowed');
    const { registered, rejected } = registry.register(
      client,
      allowed.map(({ tool }) => ({ ok: true, tool })),
    );
    if (allowed.length > 0) instances.toolsChanged(instanceId);
    this.#decisions.emit({
      instanceId,
      decided: decided.map(({ tool }) => tool.name),
      registered,
      rejected: [...refused, ...rejected],
    });
  }

  #withdraw(instanceId: string, refused: readonly RejectedTool[]): void {
    const { registry, instances } = this.#deps;
    const listed = new Set(registry.namesOf(instanceId));
    const withdrawn = refused.flatMap(({ name }) => (listed.has(name) ? [name] : []));
    if (withdrawn.length === 0) return;
    registry.unregister(instanceId, withdrawn);
    instances.toolsChanged(instanceId, withdrawn);
  }

  #offersOf(client: Client): Offers {
    const known = this.#offers.get(client.instanceId);
    if (known) return known;
    const { clientId, instanceId } = client;
    const offers = { client: { clientId, instanceId }, tools: new Map() };
    this.#offers.set(instanceId, offers);
    return offers;
  }

  #of(clientId: string): Offers[] {
    return [...this.#offers.values()].filter(({ client }) => client.clientId === clientId);
  }
}

/** In no list any more is what was allowed until another form took its place, or what waited until one did. */
function admissionNow({ hash, admission }: Offer, device: DeviceRecord): Offer['admission'] {
  const isOf = (list: readonly { readonly hash: string }[]) =>
    list.some((one) => one.hash === hash);
  if (device.revokedAt !== null) return 'denied';
  if (isOf(device.tools)) return 'allowed';
  if (isOf(device.waiting.map(({ tool }) => tool))) return 'waiting';
  return admission === 'allowed' || isOf(device.denied) ? 'denied' : admission;
}

const refusalOf = (name: string, admission: Admission): RejectedTool[] =>
  admission === 'allowed' ? [] : [{ name, ...REFUSALS[admission] }];

const REFUSALS: Record<Exclude<Admission, 'allowed'>, { code: string; message: string }> = {
  waiting: {
    code: 'waiting_for_approval',
    message: 'A person has to allow this tool in this form; it is registered by itself then.',
  },
  denied: {
    code: 'not_allowed',
    message: 'A person did not allow this tool in this form.',
  },
  too_many: {
    code: 'too_many_tools',
    message: 'Too many tools of this device wait for a person already.',
  },
};
