import type { Clock } from '../base/clock.ts';
import type { AuditEntry, AuditQuery, Change, Store } from '../store/room.ts';
import { type Caller, principalName } from './principal.ts';

/** One act of a person, as it is written down. `detail` has no secret, and nothing that a tool gave. */
export type AuditedAct = Omit<AuditEntry, 'seq' | 'at'>;

/** It has what people did, in order; nothing in it is changed. */
export type Audit = Awaited<ReturnType<typeof openAudit>>;

/** The act with who did it, by which token and from which address; one without a caller is a stranger's. */
export const byCaller = (
  caller: Caller | undefined,
  address: string,
  act: Pick<AuditedAct, 'act'> & Partial<AuditedAct>,
): AuditedAct => ({
  actor: caller ? principalName(caller) : 'anonymous',
  tokenId: caller?.tokenId ?? null,
  address,
  target: null,
  detail: {},
  ...act,
});

/** Takes up the numbers where an earlier server left them. */
export async function openAudit(deps: { store: Pick<Store, 'write' | 'listAudit'>; clock: Clock }) {
  const { store, clock } = deps;
  const { entries } = await store.listAudit({ limit: 1 });
  let newest = entries[0]?.seq ?? 0;
  const toChange = (act: AuditedAct): Change => {
    newest += 1;
    return { type: 'append_audit', entry: { ...act, seq: newest, at: clock.now() } };
  };
  return {
    /** Resolves when it is on disk. */
    record: (act: AuditedAct) => store.write([toChange(act)]),
    /** It goes into the write of the act itself. */
    entry: toChange,
    /** Newest first. */
    list: (query: AuditQuery) => store.listAudit(query),
  };
}
