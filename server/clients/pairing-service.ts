import type { z } from 'zod';
import { personName } from '#lib/format/person-name';
import { browserName } from '#lib/format/read-user-agent';
import { Counts } from '#lib/limits/counts';
import { isLoopback } from '#lib/net/hosts';
import type { AuditedActName } from '#lib/protocol/audited-acts';
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
import { given } from '#lib/util/given';
import {
  type Audit,
  byCaller,
  type FailedAttempts,
  hashSecret,
  principalName,
  tooManyAttempts,
} from '../auth/room.ts';
import { type Clock, waitFor } from '../base/clock.ts';
import type { ToolRegistry } from '../tools/room.ts';
import type { By, DeviceList } from './device-list.ts';
import { shownName, toDeviceTools } from './device-record.ts';
import {
  type BlockedOrigins,
  PAIRING_MS,
  type Pairing,
  type PairingRequest,
  type Pairings,
} from './pairings.ts';

/** Requests of one token that are held at a time; of tokens that wait there are as many as may ask. */
const MOST_HELD = 2;

export interface PairingServiceDeps {
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
  readonly clock: Clock;
  /** The server stops: what is held is answered with what there is. */
  readonly closing: AbortSignal;
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
type Asking = Pairing & { readonly request: PairingRequest };

/** How devices get in. What is refused is thrown as `HttpError`. */
export class DevicePairing {
  readonly #deps: PairingServiceDeps;
  /** Requests for an outcome, by token. */
  readonly #held = new Counts();
  /** Pairings whose decision is being written. */
  readonly #deciding = new Set<string>();

  constructor(deps: PairingServiceDeps) {
    this.#deps = deps;
  }

  async look(code: string, address: string) {
    const { expires_at } = await this.#openPairing(code, address);
    return { workbench: this.#deps.workbench, expires_at };
  }

  async join(body: JoinBody, requester: Requester): Promise<Joined> {
    const { pairings, devices, registry, clock } = this.#deps;
    const { token_hash: tokenHash, name, kind } = body;
    const { address, userAgent, foreignOrigin: origin } = requester;
    const before = pairings.ofToken(tokenHash);
    // Its first answer was lost on the way.
    if (before?.state === 'asking') return this.#joined(before);
    if (before || devices.ofTokenHash(tokenHash)) throw tokenInUse();
    const open = await this.#admit(body.code, requester);
    const checked = await registry.check(body.tools);
    const request = {
      name: shownName(name),
      kind,
      browser: browserName(userAgent),
      address,
      origin,
      tools: toDeviceTools(checked),
      asked_at: clock.now() / 1_000,
    };
    const rejected = checked.flatMap((one) => (one.ok ? [] : [one.rejected]));
    // Others were served while the tools were checked.
    if (pairings.ofToken(tokenHash)) throw tokenInUse();
    if (!open) this.#refuseKnock(requester);
    else if (!pairings.hasRoom()) throw tooManyAsk();
    const pairing = pairings.ask({ tokenHash, request, rejected }, open);
    if (!pairing) throw noSuchCode();
    await this.#audit({ address }, 'device_asked', pairing.pairing_id, {
      name: request.name,
      origin,
      tools: namesOf(request.tools),
    });
    return this.#joined(pairing);
  }

  /** Held while it waits, until `signal`. It is found long after, too, and after a restart. */
  async outcome(
    token: string,
    waitMs: number,
    address: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const tokenHash = hashSecret(token);
    const isWaiting = this.#outcomeOf(tokenHash).state === 'waiting';
    if (isWaiting && waitMs > 0) await this.#hold(tokenHash, waitMs, signal);
    const outcome = this.#outcomeOf(tokenHash);
    if (outcome.state !== 'unknown') return outcome;
    const retryAfter = await this.#deps.failedAttempts.count(address);
    if (retryAfter !== undefined) throw tooManyAttempts(retryAfter);
    return outcome;
  }

  #outcomeOf(tokenHash: string): Outcome {
    const { workbench, devices, pairings } = this.#deps;
    // First the record that is on disk: it holds whatever became of the pairing's.
    const device = devices.ofTokenHash(tokenHash);
    if (device) {
      const { deviceId, clientId, name, revokedAt } = device;
      if (revokedAt !== null) return { state: 'revoked', workbench };
      const known = { device_id: deviceId, client_id: clientId, name };
      return { state: 'approved', workbench, device: known };
    }
    const pairing = pairings.ofToken(tokenHash);
    const state = pairing ? OUTCOMES[pairing.state] : 'unknown';
    const { expires_at } = pairing && state === 'waiting' ? pairing : {};
    return { state, workbench, ...given({ expires_at }) };
  }

  async #hold(tokenHash: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const release = this.#held.enter(tokenHash, MOST_HELD);
    if (!release) {
      const message = 'Requests for the outcome with this token are held already; ask again later.';
      throw new HttpError('rate_limited', message, { retryAfter: 5 });
    }
    const { clock, closing, pairings } = this.#deps;
    await waitFor(clock, waitMs, [signal, closing], (end) =>
      pairings.onChange((pairing) => {
        if (pairing.tokenHash === tokenHash) end();
      }),
    );
    release();
  }

  /** `origin`: under which the request reached the server. */
  async open(by: By, origin: string | undefined): Promise<OpenedPairing> {
    const { pairings, workbench } = this.#deps;
    const { pairing, code } = pairings.open(principalName(by.caller));
    await this.#audit(by, 'pairing_opened', pairing.pairing_id);
    const links = this.#addresses(origin).map((address) => `${address}/pair/${code}`);
    return { ...toWire(pairing), code, links, workbench };
  }

  list(): WirePairing[] {
    return this.#deps.pairings.list().map(toWire);
  }

  async decide(pairingId: string, decision: Decision, by: By): Promise<WirePairing> {
    const pairing = this.#find(pairingId);
    const { request } = pairing;
    if (pairing.state !== 'asking' || !request || this.#deciding.has(pairingId))
      throw notAsking(pairing);
    this.#deciding.add(pairingId);
    try {
      const asking = { ...pairing, request };
      if (decision.decision === 'deny') return await this.#deny(asking, decision, by);
      return await this.#approve(asking, decision, by);
    } finally {
      this.#deciding.delete(pairingId);
    }
  }

  async withdraw(pairingId: string, by: By): Promise<WirePairing> {
    const pairing = this.#find(pairingId);
    const isOver = pairing.state !== 'open' && pairing.state !== 'asking';
    if (isOver || this.#deciding.has(pairingId)) throw notAsking(pairing);
    const decided_by = principalName(by.caller);
    const ended = this.#deps.pairings.end(pairing, { state: 'withdrawn', decided_by });
    await this.#audit(by, 'pairing_withdrawn', pairingId);
    return toWire(ended);
  }

  readonly blocked = {
    list: () => this.#deps.blocked.list(),
    lift: async (origin: string, by: By): Promise<void> => {
      if (!(await this.#deps.blocked.lift(origin))) {
        throw new HttpError('not_found', `Pages of ${JSON.stringify(origin)} are not blocked.`);
      }
      await this.#audit(by, 'origin_unblocked', origin);
    },
  };

  async #approve(pairing: Asking, { name, tools: names }: Decision, by: By): Promise<WirePairing> {
    const { pairing_id, tokenHash, request } = pairing;
    const { kind, browser, origin, tools, address: from } = request;
    const unknown = names?.find((one) => !tools.some((tool) => tool.name === one));
    if (unknown !== undefined) {
      const shown = JSON.stringify(unknown.slice(0, 128));
      throw new HttpError('bad_request', `The device did not ask for a tool ${shown}.`);
    }
    // An empty list is none, not all.
    const isAllowed = (tool: { readonly name: string }) => names?.includes(tool.name) ?? true;
    const decided_by = principalName(by.caller);
    const device = await this.#deps.devices.create({
      tokenHash: tokenHash ?? '',
      kind,
      browser,
      origin,
      pairedBy: decided_by,
      name: name === undefined ? request.name : shownName(name),
      tools: tools.filter(isAllowed),
      denied: tools.filter((tool) => !isAllowed(tool)),
    });
    const { deviceId: device_id } = device;
    const approved = { state: 'approved', decided_by, device_id } as const;
    const decided = this.#deps.pairings.end(pairing, approved);
    const allowed = { name: device.name, tools: namesOf(device.tools) };
    await this.#audit(by, 'device_paired', device_id, { pairing_id, origin, from, ...allowed });
    return toWire(decided);
  }

  async #deny(pairing: Asking, { block = false }: Decision, by: By): Promise<WirePairing> {
    const { name, origin, address: from } = pairing.request;
    const decided_by = principalName(by.caller);
    if (block) {
      if (origin === null) {
        throw new HttpError('bad_request', 'This device is no page of another origin to block.');
      }
      await this.#deps.blocked.add(origin, decided_by);
      await this.#audit(by, 'origin_blocked', origin);
    }
    const decided = this.#deps.pairings.end(pairing, { state: 'denied', decided_by });
    await this.#audit(by, 'device_denied', pairing.pairing_id, { name, origin, from });
    return toWire(decided);
  }

  #find(pairingId: string): Pairing {
    const pairing = this.#deps.pairings.get(pairingId);
    if (pairing) return pairing;
    const shown = JSON.stringify(pairingId.slice(0, 128));
    throw new HttpError('not_found', `There is no pairing ${shown}; GET /v1/pairings lists them.`);
  }

  /** The open pairing of the code; undefined for a page that may ask without one. */
  async #admit(code: string | undefined, requester: Requester): Promise<Pairing | undefined> {
    const { address, foreignOrigin } = requester;
    if (code === undefined) {
      const { ofOrigin, ofAddress } = this.#deps.knocks;
      const retryAfter =
        (await ofOrigin.count(address, foreignOrigin ?? '')) ?? (await ofAddress.count(address));
      if (retryAfter !== undefined) throw tooManyAttempts(retryAfter);
      this.#refuseKnock(requester);
      return undefined;
    }
    // Any page that a person of this machine opens could use up the tries.
    if (foreignOrigin !== null) {
      const message = 'A page of another origin asks without a code.';
      throw new HttpError('origin_not_allowed', message);
    }
    return this.#openPairing(code, address);
  }

  #refuseKnock({ foreignOrigin, address }: Requester): void {
    const { blocked, pairings, clock } = this.#deps;
    if (foreignOrigin === null) {
      const message = 'A code is missing: without one a page of another origin alone may ask.';
      throw new HttpError('bad_request', message);
    }
    if (blocked.has(foreignOrigin)) {
      const message = 'Pages of this origin may not ask here: a person blocked it.';
      throw new HttpError('origin_not_allowed', message);
    }
    const last = pairings.list().find(({ request }) => request?.origin === foreignOrigin);
    if (last?.state === 'asking') {
      const message = 'A page of this origin asks already: wait until a person decides.';
      throw new HttpError('rate_limited', message, { retryAfter: 10 });
    }
    if (last?.state === 'denied' || last?.state === 'withdrawn') {
      const message = 'A person refused a page of this origin some minutes ago.';
      const passed = clock.now() - (last.decided_at ?? 0) * 1_000;
      const retryAfter = Math.ceil((PAIRING_MS - passed) / 1_000);
      throw new HttpError('rate_limited', message, { retryAfter });
    }
    if (!pairings.hasRoom(address)) throw tooManyAsk();
  }

  /** A wrong, used, expired or burned code gets one answer. */
  async #openPairing(typed: string, address: string): Promise<Pairing> {
    const code = readPairingCode(typed);
    const { pairing, burned } = code === null ? NO_CODE : this.#deps.pairings.tryCode(code);
    if (pairing) return pairing;
    if (burned > 0) {
      const detail = { burned, reason: 'too many wrong codes' };
      await this.#audit({ address }, 'pairing_bruteforce', null, detail);
    }
    const retryAfter = await this.#deps.failedAttempts.count(address);
    throw retryAfter === undefined ? noSuchCode() : tooManyAttempts(retryAfter);
  }

  #joined({ pairing_id, expires_at, rejected }: Pairing): Joined {
    const { workbench } = this.#deps;
    return { pairing_id, expires_at, workbench, rejected: [...rejected] };
  }

  /** The origin of the request leads here; one of loopback is last, since it leads here from this machine alone. */
  #addresses(origin: string | undefined): string[] {
    const own = origin === undefined ? [] : [origin];
    const all = [...new Set([...own, ...this.#deps.addresses()])];
    return [...all.filter((one) => !isOfThisMachine(one)), ...all.filter(isOfThisMachine)];
  }

  #audit(
    { caller, address }: Partial<By> & Pick<By, 'address'>,
    act: AuditedActName,
    target: string | null,
    detail: Record<string, unknown> = {},
  ): Promise<void> {
    return this.#deps.audit.record(byCaller(caller, address, { act, target, detail }));
  }
}

const NO_CODE = { pairing: undefined, burned: 0 } as const;

/** One that was approved has its device on disk before; it is unknown once that was forgotten. */
const OUTCOMES: Record<Pairing['state'], Outcome['state']> = {
  open: 'waiting',
  asking: 'waiting',
  denied: 'denied',
  withdrawn: 'denied',
  approved: 'unknown',
  burned: 'expired',
  expired: 'expired',
};

const toWire = ({ codeHash: _, tokenHash: __, rejected: ___, ...shown }: Pairing): WirePairing =>
  shown;

const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

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
function notAsking({ state, decided_by }: Pairing): HttpError {
  const isDecided = decided_by !== null && (state === 'approved' || state === 'denied');
  const by = isDecided ? { by: decided_by, decision: state === 'approved' ? 'yes' : 'no' } : {};
  const message = isDecided
    ? `${personName(decided_by)} decided before: the pairing is ${state}.`
    : `No device waits for a decision here: the pairing is ${state}.`;
  return new HttpError('already_final', message, { params: { state, ...by } });
}
