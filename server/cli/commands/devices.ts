import { changedFields } from '#lib/format/changed-fields';
import {
  type DeviceTool,
  deviceSchema,
  devicesPageSchema,
  type WireDevice,
} from '#lib/protocol/device';
import type { Command, Context } from '../command.ts';
import { CliError, type ExitName } from '../exit-codes.ts';
import { timeText } from '../output.ts';
import { allOf } from '../reading.ts';

type Action = (context: Context, device: WireDevice, rest: readonly string[]) => Promise<ExitName>;

const ACTIONS: Readonly<Record<string, Action>> = {
  show: async (context, device) => printed(context, device),
  async rename(context, device, [name]) {
    if (name === undefined)
      throw new CliError('usage', 'the new name is missing: devices rename <id> <name>');
    const request = { method: 'PUT', path: pathOf(device), body: { name } } as const;
    return printed(context, await context.server().send(request, deviceSchema));
  },
  async revoke(context, device) {
    const request = { method: 'DELETE', path: pathOf(device) } as const;
    return printed(context, await context.server().send(request, deviceSchema));
  },
  allow: (context, device, tools) => decideTools(context, device, 'allow', tools),
  deny: (context, device, tools) => decideTools(context, device, 'deny', tools),
};

export const devicesCommand: Command = {
  name: 'devices',
  parameters: '[list|show|rename|revoke|allow|deny] [device id] [name or tools]',
  summary: 'List the paired devices; show, rename or revoke one; decide on tools that wait',
  counts: [0, 130],
  options: { all: { type: 'boolean', text: 'of allow and deny: each tool that waits' } },
  async run(context) {
    const [action = 'list', id, ...rest] = context.args;
    if (action === 'list') return list(context);
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (run === undefined || id === undefined) {
      throw new CliError(
        'usage',
        `"devices ${context.args.join(' ')}" is no command or lacks an id; it is "devices list", or "devices" with show, rename, revoke, allow or deny and the id of a device`,
      );
    }
    return run(context, await find(context, id), rest);
  },
};

async function list(context: Context): Promise<ExitName> {
  const devices = await allDevices(context);
  context.out.document({ devices });
  const rows = devices.map((one) => [
    one.device_id,
    one.name,
    one.kind,
    one.revoked_at === null ? timeText(one.last_seen_at) : 'revoked',
    String(one.tools.length),
    String(one.waiting.length),
  ]);
  const head = ['DEVICE', 'NAME', 'KIND', 'LAST SEEN', 'TOOLS', 'WAITING'];
  context.out.table(head, rows, 'No device is paired; "callboard pair" lets one in.');
  return 'ok';
}

const allDevices = (context: Context): Promise<WireDevice[]> =>
  allOf(context, '/v1/devices?limit=100', devicesPageSchema, (page) => page.devices);

/** By its id, or by a name that one device alone has. */
async function find(context: Context, id: string): Promise<WireDevice> {
  const devices = await allDevices(context);
  const named = devices.filter((one) => one.revoked_at === null && one.name === id);
  const found =
    devices.find((one) => one.device_id === id) ?? (named.length === 1 ? named[0] : undefined);
  if (found !== undefined) return found;
  const what =
    named.length > 1 ? `${named.length} devices are named ${id}` : `there is no device ${id}`;
  throw new CliError('notFound', `${what}; "callboard devices" lists their ids`);
}

const pathOf = ({ device_id: id }: WireDevice, more = ''): string =>
  `/v1/devices/${encodeURIComponent(id)}${more}`;

async function decideTools(
  context: Context,
  device: WireDevice,
  decision: 'allow' | 'deny',
  names: readonly string[],
): Promise<ExitName> {
  const waiting = device.waiting.map(({ tool }) => tool);
  const missing = names.find((name) => !waiting.some((tool) => tool.name === name));
  if (missing !== undefined) {
    throw new CliError(
      'notFound',
      `the tool ${missing} of ${device.name} does not wait for a decision`,
    );
  }
  if (names.length === 0 && !context.flag('all')) {
    const those = waiting.map((tool) => tool.name).join(', ') || 'none';
    throw new CliError(
      'usage',
      `${decision} needs the names of tools, or --all; those of ${device.name} that wait: ${those}`,
    );
  }
  const chosen = names.length === 0 ? waiting : waiting.filter(({ name }) => names.includes(name));
  const body = { [decision]: chosen.map(({ hash }) => hash) };
  const changed = await context.server().post(pathOf(device, '/tools'), body, deviceSchema);
  return printed(context, changed);
}

function printed({ out }: Context, device: WireDevice): ExitName {
  out.document(device);
  out.line(`${device.device_id}  ${device.name}  (${device.kind}, ${device.browser})`);
  if (device.revoked_at !== null) out.line(`Revoked ${timeText(device.revoked_at)}.`);
  if (device.origin !== null) out.line(`Page of ${device.origin}`);
  out.line(
    `Paired ${timeText(device.paired_at)} by ${device.paired_by}, last seen ${timeText(device.last_seen_at)}`,
  );
  out.line(`Tools: ${device.tools.map(({ name }) => name).join(', ') || 'none'}`);
  for (const { tool, before } of device.waiting) {
    out.line(`Waits: ${tool.name}${before === null ? ' (new)' : ''}: ${tool.description}`);
    if (before !== null) for (const line of differences(before, tool)) out.line(`  ${line}`);
  }
  return 'ok';
}

/** Both are JSON: each is on one line, and nothing in it controls the terminal. */
const differences = (before: DeviceTool, after: DeviceTool): string[] =>
  changedFields(after, before).flatMap(({ field }) => [
    `${field} was ${JSON.stringify(before[field]) ?? 'not given'}`,
    `${field} is  ${JSON.stringify(after[field]) ?? 'not given'}`,
  ]);
