import { setTimeout as sleep } from 'node:timers/promises';
import encodeQR from 'qr';
import {
  type OpenedPairing,
  openedPairingSchema,
  pairingSchema,
  pairingsSchema,
  type WirePairing,
} from '#lib/protocol/device';
import type { Command, Context } from '../command.ts';
import { CliError, type ExitName } from '../exit-codes.ts';
import { inOneLine, type Output } from '../output.ts';

const LOOK_MS = 500;

export const pairCommand: Command = {
  name: 'pair',
  parameters: '[pairing id]',
  summary: 'Let a phone, page or program in: print a QR code, wait for the device, ask, and decide',
  counts: [0, 1],
  options: {
    yes: {
      type: 'boolean',
      text: 'approve the first device that uses the code, without a question',
    },
    name: { type: 'string', value: 'name', text: 'another name than the device gives itself' },
  },
  notes: ['With the id of a pairing it waits for that one, such as one that "callboard qr" began.'],
  async run(context) {
    if (!context.prompt.isThere && !context.flag('yes')) {
      throw new CliError(
        'usage',
        context.out.isJson
          ? 'pair asks before it lets a device in, and --json has no questions; give --yes to approve the first device, or leave --json out'
          : 'pair asks before it lets a device in, and stdin is not a terminal; run it at a terminal, or give --yes to approve the first device',
      );
    }
    const [named] = context.args;
    const id = named ?? (await invite(context));
    try {
      let asking = await findPairing(context, id);
      while (asking.state === 'open') {
        await sleep(LOOK_MS, undefined, { signal: context.signal });
        asking = await findPairing(context, id);
      }
      return asking.state === 'asking' ? await decide(context, asking) : ended(context, asking);
    } catch (error) {
      // Where nobody waits any more, a code that lets a device ask is not left open.
      if (context.signal.aborted && named === undefined) {
        await context.server().send({ method: 'DELETE', path: pathOf(id) }, pairingSchema);
      }
      throw error;
    }
  },
};

async function invite(context: Context): Promise<string> {
  const opened = await openPairing(context);
  printInvitation(context, opened);
  // Stdout is the outcome alone with `--json`; the link is needed before it.
  if (context.out.isJson) {
    context.out.note(`Link: ${opened.links[0]}`);
    context.out.note(`Code: ${opened.code}`);
  } else context.out.line('Waiting for a device …');
  return opened.pairing_id;
}

async function decide(context: Context, pairing: WirePairing): Promise<ExitName> {
  printRequest(context, pairing);
  const isYes = context.flag('yes') || (await askYes(context));
  const name = context.text('name');
  const body = {
    decision: isYes ? 'approve' : 'deny',
    ...(isYes && name !== undefined ? { name } : {}),
    // It decides on what was shown and nothing else.
    ...(isYes && { tools: pairing.request?.tools.map((tool) => tool.name) ?? [] }),
  };
  const path = pathOf(pairing.pairing_id, '/decision');
  return ended(context, await context.server().post(path, body, pairingSchema));
}

/** By its own word; the policy goes by it. */
const ONLY_READS = 'says of itself that it only reads: it is called without a question to a person';

async function askYes(context: Context): Promise<boolean> {
  const answer = await context.prompt.ask('Let it in? [y/N] ');
  return answer !== null && /^y(es)?$/i.test(answer.trim());
}

function printRequest({ out }: Context, { request }: WirePairing): void {
  if (request === null) return;
  out.line();
  out.line(`${request.name} asks to join (${request.kind}).`);
  out.line(`  Browser: ${request.browser}`);
  out.line(`  Address: ${request.address}`);
  if (request.origin !== null) out.line(`  Page of: ${request.origin}`);
  out.line(`  Tools:   ${request.tools.length === 0 ? 'none yet' : ''}`);
  for (const tool of request.tools) {
    out.line(`    ${tool.name}: ${inOneLine(tool.description, 100)}`);
    if (tool.annotations?.readOnlyHint === true) out.line(`      ${ONLY_READS}`);
  }
}

const OUTCOMES: Readonly<Record<WirePairing['state'], { exit: ExitName; text: string }>> = {
  open: { exit: 'waiting', text: 'No device has used the code yet.' },
  asking: { exit: 'waiting', text: 'The device still waits.' },
  approved: { exit: 'ok', text: 'The device is paired.' },
  denied: { exit: 'failed', text: 'The device was denied.' },
  expired: { exit: 'waiting', text: 'The code has expired; begin a new pairing.' },
  burned: { exit: 'failed', text: 'Too many wrong codes were tried; begin a new pairing.' },
  withdrawn: { exit: 'failed', text: 'The pairing was withdrawn.' },
};

function ended({ out }: Context, pairing: WirePairing): ExitName {
  const { exit, text } = OUTCOMES[pairing.state];
  out.document(pairing);
  if (exit === 'ok') out.line(`${text} Its id: ${pairing.device_id ?? '-'}`);
  else out.note(text);
  return exit;
}

export const qrCommand: Command = {
  name: 'qr',
  parameters: '',
  summary: 'Begin a pairing and print its QR code, for a screen; a person decides elsewhere',
  counts: [0, 0],
  notes: ['"callboard pair <pairing id>" waits for the device and asks; the workbench asks too.'],
  async run(context) {
    const opened = await openPairing(context);
    context.out.document(opened);
    printInvitation(context, opened);
    context.out.line(`Pairing: ${opened.pairing_id}`);
    return 'ok';
  },
};

const openPairing = (context: Context): Promise<OpenedPairing> =>
  context.server().post('/v1/pairings', {}, openedPairingSchema);

const pathOf = (id: string, more = ''): string => `/v1/pairings/${encodeURIComponent(id)}${more}`;

async function findPairing(context: Context, id: string): Promise<WirePairing> {
  const { pairings } = await context.server().get('/v1/pairings', pairingsSchema, context.signal);
  const pairing = pairings.find((one) => one.pairing_id === id);
  if (pairing !== undefined) return pairing;
  throw new CliError('notFound', `the pairing ${id} is not there any more; begin a new one`);
}

/** `ABCDEFGH` as people read it aloud: `ABCD-EFGH`. */
const spelled = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

function printInvitation({ out }: Context, { code, links, expires_at }: OpenedPairing): void {
  const [link, ...others] = links;
  if (link !== undefined) printQr(out, link);
  out.line(`Link: ${link ?? 'none; this server has no address that a phone could open'}`);
  for (const other of others) out.line(`  or: ${other}`);
  out.line(`Code: ${spelled(code)}`);
  out.line(`Until ${new Date(expires_at * 1_000).toLocaleTimeString('en-GB')}, for one device.`);
}

/** At a terminal in its black and white, whatever its colours are; else in blocks. */
export function printQr(out: Output, link: string): void {
  out.picture(encodeQR(link, out.isTerminal ? 'term' : 'ascii', { ecc: 'medium' }));
}
