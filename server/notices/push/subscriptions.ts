import { HttpError } from '#lib/protocol/http-error';
import { MOST_PUSH_SUBSCRIPTIONS, type PushSubscriptionBody } from '#lib/protocol/push';
import {
  type Caller,
  mayDecide,
  principalKey,
  type Sessions,
  type Tokens,
} from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { KeptArea, type Store } from '../../store/room.ts';
import { areReceiverKeys } from './encrypt-push.ts';
import type { PushHosts } from './push-hosts.ts';
import { endOf, type LastPush, type PushRecord, pushRecordSchema } from './push-record.ts';

export interface SubscriptionsDeps {
  readonly store: Pick<Store, 'write' | 'listKept' | 'findSession'>;
  readonly tokens: Pick<Tokens, 'isLive' | 'onRevoked'>;
  readonly sessions: Pick<Sessions, 'onEnd'>;
  readonly hosts: PushHosts;
  readonly clock: Clock;
  readonly newId: (prefix: 'push') => string;
  readonly logger: Logger;
}

/** A person or a device subscribes with a browser. */
export interface Subscriber {
  readonly caller: Caller;
  readonly browser: string;
}

/** A subscription that is on its way to the disk; what it is bound to may end meanwhile. */
interface Arriving {
  readonly record: PushRecord;
  isOver: boolean;
}

const OVER =
  'What the subscription belongs to has ended: sign in, or pair the device, and subscribe again.';

/** An address has many spellings, and a browser one subscription. */
const spell = (endpoint: string): string => new URL(endpoint).href;

const ENDPOINT_PROBLEMS = {
  not_https: 'The endpoint must be an https address, as a browser gives it.',
  not_plain: 'The endpoint must have no port, no user and no fragment.',
  unknown_host:
    'The endpoint is of no push service that this server sends to; GET /v1/push lists them, and push.hosts in the configuration adds others.',
} as const;

/**
 * The browsers that are sent notes. All of them are in memory, and each is on disk. One ends with
 * what it is bound to: a sign-in, a token, a pairing.
 */
export class Subscriptions {
  readonly #deps: SubscriptionsDeps;
  readonly #area;
  /** By id, oldest first. */
  readonly #all = new Map<string, PushRecord>();
  readonly #last = new Map<string, LastPush>();
  /** On their way to the disk. */
  readonly #arriving = new Set<Arriving>();
  /** One after the other: two of one endpoint are one subscription. */
  #turn: Promise<unknown> = Promise.resolve();
  /** The same until one comes, ends or may have ended: the list is read for each call. */
  #listed: { readonly records: PushRecord[]; readonly until: number } | undefined;

  constructor(deps: SubscriptionsDeps) {
    this.#deps = deps;
    const { store, clock, tokens, sessions } = deps;
    const schema = pushRecordSchema;
    this.#area = new KeptArea({ store, area: 'push_subscription', schema, now: clock.now });
    tokens.onRevoked((id) => this.#end(({ owner }) => owner.tokenId === id));
    sessions.onEnd((id) =>
      this.#end(({ owner }) => owner.kind === 'person' && owner.sessionId === id),
    );
  }

  /** Takes up what an earlier server kept, but for what ended meanwhile. Once, behind the tokens. */
  async load(): Promise<void> {
    const ended: string[] = [];
    for (const { key, value } of await this.#area.load()) {
      if (await this.#isOver(value)) ended.push(key);
      else this.#put(value);
    }
    if (ended.length > 0) await this.#area.change(ended.map((key) => ({ key })));
  }

  /** Lists those that are sent notes now, oldest first; the same array while nothing changes. */
  list(): readonly PushRecord[] {
    const now = this.#deps.clock.now();
    if (this.#listed && now < this.#listed.until) return this.#listed.records;
    this.#end((record) => endOf(record) <= now);
    const records = [...this.#all.values()];
    this.#listed = { records, until: Math.min(...records.map(endOf)) };
    return records;
  }

  ownOf(caller: Caller): PushRecord[] {
    const key = principalKey(caller);
    return this.list().filter(({ ownerKey }) => ownerKey === key);
  }

  /** The same refusal whether there is none or it is another's. */
  findOwn(pushId: string, caller: Caller): PushRecord {
    const found = this.ownOf(caller).find((one) => one.pushId === pushId);
    if (found) return found;
    const shown = JSON.stringify(pushId.slice(0, 128));
    throw new HttpError(
      'not_found',
      `You have no push subscription ${shown}; GET /v1/push lists them.`,
    );
  }

  lastOf(pushId: string): LastPush | null {
    return this.#last.get(pushId) ?? null;
  }

  attempted(pushId: string, last: LastPush): void {
    if (this.#all.has(pushId)) this.#last.set(pushId, last);
  }

  /** Resolves when it is on disk. The same browser again replaces what it chose before. */
  add(body: PushSubscriptionBody, subscriber: Subscriber): Promise<PushRecord> {
    const added = this.#turn.then(() => this.#addNow(body, subscriber));
    this.#turn = added.catch(() => undefined);
    return added;
  }

  /** First to the disk: what is not there is not used, and a write that fails changes nothing. */
  async #addNow(body: PushSubscriptionBody, subscriber: Subscriber): Promise<PushRecord> {
    const record = this.#recordOf(body, subscriber);
    const arriving: Arriving = { record, isOver: false };
    this.#arriving.add(arriving);
    try {
      await this.#area.change([{ key: record.pushId, value: record }]);
      // The sign-in may have ended before it was on its way, or since.
      if ((await this.#isOver(record)) || arriving.isOver) {
        await this.#area.change([{ key: record.pushId }]);
        this.#forget(record.pushId);
        throw new HttpError('unauthenticated', OVER);
      }
    } finally {
      this.#arriving.delete(arriving);
    }
    this.#put(record);
    return record;
  }

  #recordOf(body: PushSubscriptionBody, { caller, browser }: Subscriber): PushRecord {
    const owner = ownerOf(caller);
    const { p256dh, auth } = checkKeys(body);
    const problem = this.#deps.hosts.problemOf(body.endpoint);
    if (problem) throw new HttpError('bad_request', ENDPOINT_PROBLEMS[problem]);
    const endpoint = spell(body.endpoint);
    const known = this.#known(endpoint, auth);
    const ownerKey = principalKey(caller);
    if (known?.ownerKey !== ownerKey) this.#checkRoom(ownerKey, known);
    const now = this.#deps.clock.now();
    return {
      pushId: known?.pushId ?? this.#deps.newId('push'),
      endpoint,
      p256dh,
      auth,
      locale: body.locale,
      kinds: [...new Set(body.kinds)],
      details: body.details && owner.kind === 'person',
      browser,
      ownerKey,
      owner,
      createdAt: known?.createdAt ?? now,
      confirmedAt: now,
    };
  }

  /** Resolves when it is off the disk. */
  async remove(pushId: string): Promise<void> {
    for (const one of this.#arriving) if (one.record.pushId === pushId) one.isOver = true;
    if (this.#forget(pushId)) await this.#area.change([{ key: pushId }]);
  }

  #forget(pushId: string): boolean {
    this.#last.delete(pushId);
    this.#listed = undefined;
    return this.#all.delete(pushId);
  }

  #put(record: PushRecord): void {
    this.#all.set(record.pushId, record);
    this.#listed = undefined;
  }

  /** That of the endpoint. Another browser cannot take it over: it has not the secret. */
  #known(endpoint: string, auth: string): PushRecord | undefined {
    const known = this.#all.values().find((one) => one.endpoint === endpoint);
    if (!known || known.auth === auth) return known;
    throw new HttpError('conflict', 'This endpoint is known with other keys: subscribe anew.');
  }

  #checkRoom(ownerKey: string, known: PushRecord | undefined): void {
    const all = this.list();
    const { own: mostOwn, all: mostAll } = MOST_PUSH_SUBSCRIPTIONS;
    const own = all.filter((one) => one.ownerKey === ownerKey).length;
    if (own >= mostOwn) {
      throw new HttpError(
        'conflict',
        `There are ${mostOwn} push subscriptions of yours: remove one first.`,
      );
    }
    if (known || all.length < mostAll) return;
    throw new HttpError('conflict', `There are ${mostAll} push subscriptions: remove one first.`);
  }

  async #isOver(record: PushRecord): Promise<boolean> {
    const { tokens, store, hosts, clock } = this.#deps;
    const { owner, endpoint } = record;
    if (endOf(record) <= clock.now() || hosts.problemOf(endpoint)) return true;
    if (owner.tokenId !== null && !tokens.isLive(owner.tokenId)) return true;
    if (owner.kind === 'device') return false;
    // One that idled too long is still there; signing out deletes it.
    const { sessionId } = owner;
    const session = await store.findSession(sessionId.slice(0, sessionId.indexOf(':')));
    return session?.idHash !== sessionId;
  }

  #end(isOver: (record: PushRecord) => boolean): void {
    for (const one of this.#arriving) if (isOver(one.record)) one.isOver = true;
    for (const record of [...this.#all.values()].filter(isOver)) {
      this.remove(record.pushId).catch(this.#deps.logger.error);
    }
  }
}

/** The subscription is bound to this. Bearer tokens of people and programs are bound to no browser. */
function ownerOf(caller: Caller): PushRecord['owner'] {
  const { tokenId } = caller;
  if (caller.kind === 'device' && tokenId !== null) {
    return { kind: 'device', tokenId, clientId: caller.clientId };
  }
  if (caller.kind === 'operator' && caller.sessionId !== null && mayDecide(caller)) {
    return { kind: 'person', tokenId, sessionId: caller.sessionId };
  }
  throw new HttpError(
    'permission_denied',
    'A push subscription belongs to the browser of a person who signed in with the role operator or admin, or to a paired device.',
  );
}

/** In the spelling that is stored. */
function checkKeys({ keys }: PushSubscriptionBody): { p256dh: string; auth: string } {
  const [p256dh, auth] = [keys.p256dh, keys.auth].map((text) => Buffer.from(text, 'base64url'));
  if (p256dh && auth && areReceiverKeys({ p256dh, auth })) {
    return { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') };
  }
  throw new HttpError(
    'bad_request',
    'The keys must be those of PushSubscription.toJSON(): p256dh a point of P-256 (65 bytes), auth 16 bytes, both as base64url.',
  );
}
