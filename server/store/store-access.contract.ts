import { expect, test } from 'vitest';
import { sampleCall } from '#lib/call/testing/sample-call';
import type { AuditEntry, TokenRecord } from './store.ts';
import {
  appendCall,
  putMessage,
  putRun,
  type Setup,
  sampleMessage,
  sampleRun,
} from './testing/store-setup.ts';

/** Tokens, owners and what people did, as every `Store` keeps them. */
export function describeAccess(setup: Setup): void {
  test('[ST73] acts come back newest first, by page, actor and act; old ones go, the newest stays', async () => {
    const { store, reopen } = setup();
    const entry = (seq: number): AuditEntry => ({
      ...{ seq, at: seq * 10, actor: seq % 2 ? 'operator' : 'operator:olga', tokenId: null },
      ...{ address: '::1', act: seq % 3 ? 'extended' : 'signed_in', target: null, detail: { seq } },
    });
    for (let seq = 1; seq <= 7; seq += 1) {
      await store.write([{ type: 'append_audit', entry: entry(seq) }]);
    }
    const again = await reopen();
    const seqs = async (query: object) =>
      (await again.listAudit({ limit: 9, ...query })).entries.map(({ seq }) => seq);
    expect(await again.listAudit({ limit: 2 })).toEqual({ entries: [entry(7), entry(6)], next: 6 });
    expect(await again.listAudit({ limit: 2, before: 3 })).toMatchObject({ next: null });
    expect(await seqs({ actor: 'operator' })).toEqual([7, 5, 3, 1]);
    expect(await seqs({ act: 'signed_in' })).toEqual([6, 3]);
    expect(await seqs({ act: 'signed_in', actor: 'operator:olga' })).toEqual([6]);
    expect(await again.history.hasAuditBefore(10)).toBe(false);
    expect(await again.history.hasAuditBefore(11)).toBe(true);
    await again.write([{ type: 'delete_audit', before: 1_000 }]);
    expect(await seqs({})).toEqual([7]);
    expect(await again.history.hasAuditBefore(1_000)).toBe(false);
  });

  test('[ST72] runs, calls and blobs are found by the token of their owner', async () => {
    const { store, reopen } = setup();
    const blob = `blob_${'a'.repeat(40)}`;
    const other = `blob_${'b'.repeat(40)}`;
    const inMessage = `blob_${'c'.repeat(40)}`;
    const owner = { name: 'agent:bot', token_id: 'tok_1' };
    const foreign = { ...owner, token_id: 'tok_2' };
    const final = { status: 'SUCCEEDED', phase: null, completedAt: 5 } as const;
    await store.write([
      putRun(sampleRun({ run_id: 'run_a', owner })),
      putRun(sampleRun({ run_id: 'run_b', owner: foreign })),
      putRun(sampleRun({ run_id: 'run_c' })),
      putMessage(sampleMessage({ run_id: 'run_a', parts: [{ type: 'text', text: inMessage }] }), 0),
      ...[
        { id: 'tc_1', ownerToken: 'tok_1', args: { blob }, createdAt: 1, ...final },
        { id: 'tc_2', ownerToken: 'tok_2', args: { other }, createdAt: 2, ...final },
        { id: 'tc_3', createdAt: 3 },
        { id: 'tc_4', ownerToken: 'tok_1', createdAt: 4 },
      ].map((call) => appendCall(sampleCall(call))),
    ]);
    const again = await reopen();
    const runs = async (ownerToken: string) =>
      (await again.listRuns({ limit: 9, ownerToken })).runs.map(({ run_id }) => run_id);
    const calls = async (query: object) =>
      (await again.listCalls({ limit: 9, ...query })).calls.map(({ id }) => id);
    expect([await runs('tok_1'), await runs('tok_2'), await runs('')]).toEqual([
      ['run_a'],
      ['run_b'],
      [],
    ]);
    expect(await calls({ ownerToken: 'tok_1' })).toEqual(['tc_4', 'tc_1']);
    expect(await calls({ ownerToken: 'tok_1', status: 'SUCCEEDED' })).toEqual(['tc_1']);
    expect(await calls({ ownerToken: 'tok_2', text: 'blob' })).toEqual(['tc_2']);
    expect(await calls({ ownerToken: 'tok_3' })).toEqual([]);
    expect(await calls({})).toHaveLength(4);
    const blobs = (token: string) =>
      Promise.all([blob, other, inMessage].map((id) => again.history.isBlobOf(token, id)));
    expect(await blobs('tok_1')).toEqual([true, false, true]);
    expect(await blobs('tok_2')).toEqual([false, true, false]);
    expect(await blobs('')).toEqual([false, false, false]);
    expect((await again.getRun('run_a'))?.owner).toEqual(owner);
    expect(await again.getRun('run_c')).not.toHaveProperty('owner');
  });

  test('[ST71] a token comes back as it was put last, and its sessions go with a revocation', async () => {
    const { store, reopen } = setup();
    const token: TokenRecord = {
      ...{ id: 'tok_1', hash: 'h1', kind: 'agent', name: 'bot', role: null, tools: ['a', 'b.*'] },
      ...{ clientId: null, createdAt: 1, createdBy: 'operator', lastUsedAt: null, revokedAt: null },
    };
    const person = { ...token, id: 'tok_2', hash: 'h2', kind: 'operator', role: 'admin' } as const;
    const session = { idHash: 's:k', createdAt: 1, expiresAt: 2, tokenId: 'tok_2' };
    const other = { ...session, idHash: 'o:k', tokenId: null };
    await store.write([
      ...[token, { ...person, tools: null }].map(
        (one) => ({ type: 'put_token', token: one }) as const,
      ),
      ...[session, other].map((one) => ({ type: 'put_session', session: one }) as const),
    ]);
    expect(await store.findSession('s')).toEqual(session);
    const revoked = { ...person, tools: null, revokedAt: 5 };
    await store.write([
      { type: 'put_token', token: revoked },
      { type: 'delete_sessions_of', tokenId: 'tok_2' },
    ]);
    const again = await reopen();
    expect(await again.listTokens()).toEqual([token, revoked]);
    expect(await again.findSession('s')).toBeUndefined();
    expect(await again.findSession('o')).toEqual(other);
    await again.write([{ type: 'delete_token', id: 'tok_2' }]);
    expect(await again.listTokens()).toEqual([token]);
  });
}
