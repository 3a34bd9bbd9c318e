import type {
  CheckedSpec,
  CheckedTool,
  Registration,
  ToolOffers,
  ToolRegistry,
} from '../tools/tool-registry.ts';
import type { DeviceList } from './device-list.ts';
import { toDeviceTool } from './device-tool.ts';
import type { Admission } from './device-tools.ts';

type Client = Parameters<ToolRegistry['register']>[0];

/** What a connection of a device offers, whether that is allowed or not. */
interface Offers {
  readonly client: Client;
  readonly tools: Map<string, { readonly tool: CheckedTool; readonly hash: string }>;
}

export interface ToolAdmissionDeps {
  readonly registry: ToolOffers & Pick<ToolRegistry, 'namesOf'>;
  readonly devices: Pick<DeviceList, 'offer' | 'ofClient' | 'onChange'>;
  /** The calls, for which other tools are there now. */
  readonly instances: { toolsChanged(instanceId: string, withdrawn?: readonly string[]): void };
}

/** The registry as clients see it: of a device it takes what a person allowed, of others all. */
export class ToolAdmission implements ToolOffers {
  readonly #deps: ToolAdmissionDeps;
  /** By instance. */
  readonly #offers = new Map<string, Offers>();
  readonly check: ToolOffers['check'];

  constructor(deps: ToolAdmissionDeps) {
    this.#deps = deps;
    this.check = (specs) => deps.registry.check(specs);
    deps.devices.onChange(({ clientId }) => this.#follow(clientId));
  }

  register(client: Client, checked: readonly CheckedSpec[]): Registration {
    const { devices, registry } = this.#deps;
    const offered = checked.flatMap((one) => (one.ok ? [toDeviceTool(one.tool)] : []));
    const admissions = devices.offer(client.clientId, offered);
    if (!admissions) return registry.register(client, checked);
    const offers = this.#offersOf(client);
    const withdrawn: string[] = [];
    const admitted = checked.map((one): CheckedSpec => {
      if (!one.ok) return one;
      const { tool } = one;
      const { hash } = toDeviceTool(tool);
      const admission = admissions.get(hash) ?? 'denied';
      if (admission === 'too_many') offers.tools.delete(tool.name);
      else offers.tools.set(tool.name, { tool, hash });
      if (admission === 'allowed') return one;
      withdrawn.push(tool.name);
      return { ok: false, rejected: { name: tool.name, ...REFUSALS[admission] } };
    });
    this.#withdraw(client.instanceId, withdrawn);
    return registry.register(client, admitted);
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

  /** What a person allowed or withdrew holds at once for what is offered. */
  #follow(clientId: string): void {
    const { devices, registry, instances } = this.#deps;
    const device = devices.ofClient(clientId);
    const allowed = new Set(device?.revokedAt === null ? device.tools.map(({ hash }) => hash) : []);
    for (const { client, tools } of this.#of(clientId)) {
      const { instanceId } = client;
      const names = new Set(registry.namesOf(instanceId));
      const offered = [...tools.values()];
      const isThere = (one: { tool: CheckedTool }) => names.has(one.tool.name);
      const out = offered.filter((one) => isThere(one) && !allowed.has(one.hash));
      this.#withdraw(
        instanceId,
        out.map(({ tool }) => tool.name),
      );
      const more = offered.filter((one) => !isThere(one) && allowed.has(one.hash));
      if (more.length === 0) continue;
      registry.register(
        client,
        more.map(({ tool }) => ({ ok: true, tool })),
      );
      instances.toolsChanged(instanceId);
    }
  }

  #withdraw(instanceId: string, names: readonly string[]): void {
    const { registry, instances } = this.#deps;
    const listed = new Set(registry.namesOf(instanceId));
    const withdrawn = names.filter((name) => listed.has(name));
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
