import type { z } from 'zod';
import { personName } from '#lib/format/person-name';
import { browserName } from '#lib/format/read-user-agent';
import { isLoopback } from '#lib/net/hosts';
import {
  type JoinBody,
  type joinedSchema,
  type OpenedPairing,
  type Outcome,
  type pairingDecisionBodySchema,
  readPairingCode,
  type WirePairing,
  type Workbench,
} from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import {
  type Audit,
  byCaller,
  type FailedAttempts,
  principalName,
  tooManyAttempts,
} from '../auth/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
import type { DeviceList } from './device-list.ts';
import { shownName, toDeviceTools } from './device-record.ts';
import { Outcomes, type OutcomesDeps, toWirePairing } from './outcomes.ts';
import type { By } from './paired-devices.ts';
import {
  type BlockedOrigins,
  PAIRING_MS,
  type Pairing,
  type PairingRequest,
  type Pairings,
} from './pairings.ts';

export interface PairingServiceDeps extends OutcomesDeps {
  readonly pairings: Pairings;
  readonly devices: DeviceList;
  readonly blocked: BlockedOrigins;
  readonly audit: Pick<Audit, 'record'>;
  /** They count wrong codes and unknown tokens. */
  readonly failedAttempts: FailedAttempts;
  /** They count pages that ask without a code, right or wrong: those of one origin, and then all of one address. */
  readonly knocks: { readonly ofOrigin: FailedAttempts; readonly ofAddress: FailedAttempts };
  readonly registry: Pick<ToolRegistry, 'check'>;
  readonly workbench: Workbench;
  /** Under which a phone may reach this server, such as `https://192.168.1.5:4173`, best first. */
  readonly addresses: () => readonly string[];
}

/** The one who asks without a credential. */
export interface Requester {
  readonly address: string;
  readonly userAgent: string | undefined;
  /** A page that is none of ours has one. */
  readonly foreignOrigin: string | null;
}

type Joined = z.infer<typeof joinedSchema>;
type Decision = z.output<typeof pairingDecisionBodySchema>;

export type PairingService = Pick<DevicePairing, keyof DevicePairing>;

/** How devices get in. What is refused is thrown as `HttpError`. */
export class DevicePairing {
  readonly #deps: PairingServiceDeps;
  readonly #outcomes: Outcomes;
  /** Pairings whose decision is being written. */
  readonly #deciding = new Set<string>();

  constructor(deps: PairingServiceDeps) {
    this.#deps = deps;
    this.#outcomes = new Outcomes(deps);
  }

  async look(code: string, address: string) {
    const { expiresAt } = await this.#openPairing(code, address);
    return { workbench: this.#deps.workbench, expires_at: expiresAt / 1_000 };
  }

  async join(body: JoinBody, requester: Requester): Promise<Joined> {
    const { pairings, devices, registry } = this.#deps;
    const before = pairings.ofToken(body.token_hash);
    // Its first answer was lost on the way.
    if (before?.state === 'asking') return this.#joined(before);
    if (before || devices.ofTokenHash(body.token_hash)) throw tokenInUse();
    const open = await this.#admit(body.code, requester);
    const checked = await registry.check(body.tools);
    const request: PairingRequest = {
      tokenHash: body.token_hash,
      name: shownName(body.name),
      kind: body.kind,
      browser: browserName(requester.userAgent),
      address: requester.address,
      origin: requester.foreignOrigin,
      tools: toDeviceTools(checked),
      rejected: checked.flatMap((one) => (one.ok ? [] : [one.rejected])),
      askedAt: this.#deps.clock.now(),
    };
    // Others were served while the tools were checked.
    if (pairings.ofToken(body.token_hash)) throw tokenInUse();
    if (!open) this.#refuseKnock(requester);
    else if (!pairings.hasRoom()) throw tooManyAsk();
    const pairing = open ? pairings.ask(open.id, request) : pairings.knock(request);
    if (!pairing) throw noSuchCode();
    await this.#auditUnknown(requester.address, 'device_asked', pairing.id, {
      name: request.name,
      origin: request.origin,
      tools: request.tools.map(({ name }) => name),
    });
    return this.#joined(pairing);
  }

  /** Held while it waits, until `signal`. */
  async outcome(
    token: string,
    waitMs: number,
    address: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const outcome = await this.#outcomes.of(token, waitMs, signal);
    if (outcome.state !== 'unknown') return outcome;
    const retryAfter = await this.#deps.failedAttempts.count(address);
    if (retryAfter !== undefined) throw tooManyAttempts(retryAfter);
    return outcome;
  }

  /** `origin`: under which the request reached the server. */
  async open(by: By, origin: string | undefined): Promise<OpenedPairing> {
    const opened = this.#deps.pairings.open(principalName(by.caller));
    if (!opened) {
      throw new HttpError('conflict', 'As many codes are open as may be: withdraw one first.');
    }
    const { pairing, code } = opened;
    await this.#audit(by, 'pairing_opened', pairing.id);
    const links = this.#addresses(origin).map((address) => `${address}/pair/${code}`);
    return { ...toWirePairing(pairing), code, links, workbench: this.#deps.workbench };
  }

  list(): WirePairing[] {
    return this.#deps.pairings.current().map(toWirePairing);
  }

  async decide(pairingId: string, decision: Decision, by: By): Promise<WirePairing> {
    const { id, state, request } = this.#find(pairingId);
    if (state !== 'asking' || !request || this.#deciding.has(id))
      throw notAsking(this.#find(pairingId));
    this.#deciding.add(id);
    try {
      const pairing = { ...this.#find(id), request };
      if (decision.decision === 'deny') return await this.#deny(pairing, decision, by);
      return await this.#approve(pairing, decision, by);
    } finally {
      this.#deciding.delete(id);
    }
  }

  async withdraw(pairingId: string, by: By): Promise<WirePairing> {
    const pairing = this.#find(pairingId);
    const { id, state } = pairing;
    const isOver = state !== 'open' && state !== 'asking';
    if (isOver || this.#deciding.has(id)) throw notAsking(pairing);
    const decidedBy = principalName(by.caller);
    const over = { state: 'withdrawn', decidedBy, deviceId: null } as const;
    const ended = this.#deps.pairings.settle(pairing, over);
    await this.#audit(by, 'pairing_withdrawn', id);
    return toWirePairing(ended);
  }

  readonly blocked = {
    list: () =>
      this.#deps.blocked.list().map(({ origin, blockedAt, blockedBy }) => ({
        origin,
        blocked_at: blockedAt / 1_000,
        blocked_by: blockedBy,
      })),
    lift: async (origin: string, by: By): Promise<void> => {
      if (!(await this.#deps.blocked.lift(origin))) {
        throw new HttpError('not_found', `Pages of ${JSON.stringify(origin)} are not blocked.`);
      }
      await this.#audit(by, 'origin_unblocked', origin);
    },
  };

  async #approve(
    pairing: Pairing & { request: PairingRequest },
    { name, tools: names }: Decision,
    by: By,
  ): Promise<WirePairing> {
    const { tokenHash, kind, browser, origin, tools, name: ownName } = pairing.request;
    const unknown = names?.find((one) => !tools.some((tool) => tool.name === one));
    if (unknown !== undefined) {
      const shown = JSON.stringify(unknown.slice(0, 128));
      throw new HttpError('bad_request', `The device did not ask for a tool ${shown}.`);
    }
    // An empty list is none, not all.
    const isAllowed = (tool: { readonly name: string }) => names?.includes(tool.name) ?? true;
    const pairedBy = principalName(by.caller);
    const device = await this.#deps.devices.create({
      tokenHash,
      kind,
      browser,
      origin,
      pairedBy,
      name: name === undefined ? ownName : shownName(name),
      tools: tools.filter(isAllowed),
      denied: tools.filter((tool) => !isAllowed(tool)),
    });
    const { deviceId } = device;
    const approved = { state: 'approved', decidedBy: pairedBy, deviceId } as const;
    const decided = this.#deps.pairings.settle(pairing, approved);
    await this.#audit(by, 'device_paired', deviceId, {
      pairing_id: pairing.id,
      name: device.name,
      origin,
      from: pairing.request.address,
      tools: device.tools.map((tool) => tool.name),
    });
    return toWirePairing(decided);
  }

  async #deny(
    pairing: Pairing & { request: PairingRequest },
    { block = false }: Decision,
    by: By,
  ): Promise<WirePairing> {
    const { name, origin, address: from } = pairing.request;
    const decidedBy = principalName(by.caller);
    if (block && origin === null) {
      throw new HttpError('bad_request', 'This device is no page of another origin to block.');
    }
    if (block && origin !== null) {
      await this.#deps.blocked.add(origin, {
        blockedAt: this.#deps.clock.now(),
        blockedBy: decidedBy,
      });
      await this.#audit(by, 'origin_blocked', origin);
    }
    const denied = { state: 'denied', decidedBy, deviceId: null } as const;
    const decided = this.#deps.pairings.settle(pairing, denied);
    await this.#audit(by, 'device_denied', pairing.id, { name, origin, from });
    return toWirePairing(decided);
  }

  #find(pairingId: string): Pairing {
    const pairing = this.#deps.pairings.get(pairingId);
    if (pairing) return pairing;
    const shown = JSON.stringify(pairingId.slice(0, 128));
    throw new HttpError('not_found', `There is no pairing ${shown}; GET /v1/pairings lists them.`);
  }

  /** The open pairing of the code; undefined for a page that may ask without one. */
  async #admit(code: string | undefined, requester: Requester): Promise<Pairing | undefined> {
    if (code === undefined) {
      const { ofOrigin, ofAddress } = this.#deps.knocks;
      const { address, foreignOrigin } = requester;
      const retryAfter =
        (await ofOrigin.count(address, foreignOrigin ?? '')) ?? (await ofAddress.count(address));
      if (retryAfter !== undefined) throw tooManyAttempts(retryAfter);
      this.#refuseKnock(requester);
      return undefined;
    }
    // Any page that a person of this machine opens could use up the tries.
    if (requester.foreignOrigin !== null) {
      const message = 'A page of another origin asks without a code.';
      throw new HttpError('origin_not_allowed', message);
    }
    return this.#openPairing(code, requester.address);
  }

  #refuseKnock({ foreignOrigin, address }: Requester): void {
    if (foreignOrigin === null) {
      const message = 'A code is missing: without one a page of another origin alone may ask.';
      throw new HttpError('bad_request', message);
    }
    if (this.#deps.blocked.has(foreignOrigin)) {
      const message = 'Pages of this origin may not ask here: a person blocked it.';
      throw new HttpError('origin_not_allowed', message);
    }
    const last = this.#deps.pairings
      .list()
      .find(({ request }) => request?.origin === foreignOrigin);
    if (last?.state === 'asking') {
      const message = 'A page of this origin asks already: wait until a person decides.';
      throw new HttpError('rate_limited', message, { retryAfter: 10 });
    }
    if (last?.state === 'denied' || last?.state === 'withdrawn') {
      const message = 'A person refused a page of this origin some minutes ago.';
      const passed = this.#deps.clock.now() - (last.decidedAt ?? 0);
      throw new HttpError('rate_limited', message, {
        retryAfter: Math.ceil((PAIRING_MS - passed) / 1_000),
      });
    }
    if (!this.#deps.pairings.hasRoom(address)) throw tooManyAsk();
  }

  /** A wrong, used, expired or burned code gets one answer. */
  async #openPairing(typed: string, address: string): Promise<Pairing> {
    const code = readPairingCode(typed);
    const tried = code === null ? NONE : this.#deps.pairings.tryCode(code);
    if (tried.ok) return tried.pairing;
    if (tried.burned > 0) {
      const detail = { burned: tried.burned, reason: 'too many wrong codes' };
      await this.#auditUnknown(address, 'pairing_bruteforce', null, detail);
    }
    const retryAfter = await this.#deps.failedAttempts.count(address);
    throw retryAfter === undefined ? noSuchCode() : tooManyAttempts(retryAfter);
  }

  #joined({ id: pairing_id, expiresAt, request }: Pairing): Joined {
    const { workbench } = this.#deps;
    const rejected = [...(request?.rejected ?? [])];
    return { pairing_id, expires_at: expiresAt / 1_000, workbench, rejected };
  }

  /** The origin of the request leads here; one of loopback is last, since it leads here from this machine alone. */
  #addresses(origin: string | undefined): string[] {
    const own = origin === undefined ? [] : [origin];
    const all = [...new Set([...own, ...this.#deps.addresses()])];
    return [...all.filter((one) => !isOfThisMachine(one)), ...all.filter(isOfThisMachine)];
  }

  #audit(
    { caller, address }: By,
    act: Parameters<Audit['record']>[0]['act'],
    target: string,
    detail: Record<string, unknown> = {},
  ): Promise<void> {
    return this.#deps.audit.record(byCaller(caller, address, { act, target, detail }));
  }

  #auditUnknown(
    address: string,
    act: Parameters<Audit['record']>[0]['act'],
    target: string | null,
    detail: Record<string, unknown>,
  ): Promise<void> {
    const requester = { actor: 'anonymous', tokenId: null, address };
    return this.#deps.audit.record({ ...requester, act, target, detail });
  }
}

const NONE = { ok: false, burned: 0 } as const;

const isOfThisMachine = (address: string): boolean =>
  isLoopback(URL.parse(address)?.hostname ?? '');

const noSuchCode = (): HttpError =>
  new HttpError(
    'not_found',
    'No pairing is open with this code: it is wrong, or was used, or has expired. Codes are made at Devices in the workbench.',
  );

const tokenInUse = (): HttpError =>
  new HttpError('conflict', 'A device asked with this token before: make a new one and ask again.');

const tooManyAsk = (): HttpError =>
  new HttpError('rate_limited', 'Too many devices wait for a person: ask again later.', {
    retryAfter: 30,
  });

/** It names who decided and how, where a person did: several may press at once. */
function notAsking({ state, decidedBy }: Pick<Pairing, 'state' | 'decidedBy'>): HttpError {
  const isDecided = decidedBy !== null && (state === 'approved' || state === 'denied');
  const by = isDecided ? { by: decidedBy, decision: state === 'approved' ? 'yes' : 'no' } : {};
  const message = isDecided
    ? `${personName(decidedBy)} decided before: the pairing is ${state}.`
    : `No device waits for a decision here: the pairing is ${state}.`;
  return new HttpError('already_final', message, { params: { state, ...by } });
}
