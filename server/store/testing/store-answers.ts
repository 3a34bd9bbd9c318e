import type { Call } from '#lib/call/call';
import { callStatusSchema } from '#lib/protocol/call-status';
import { blobIdsIn } from '../blob-ids.ts';
import type { Store } from '../sqlite-store.ts';
import type { CallQuery } from '../store.ts';

/** The answers of a store, by what it was asked; cursors apart, which are of the store alone. */
export type StoreAnswers = ReadonlyMap<string, string>;

const ALL = 200;
const MOST_WORDS = 40;
const MOST_VALUES = 20;

/** Everything that a reader can ask of calls, and of what follows from them. */
export async function answersOf(store: Store): Promise<StoreAnswers> {
  const answers = new Map<string, string>();
  const note = (asked: string, answer: unknown) =>
    void answers.set(asked, JSON.stringify(answer) ?? 'nothing');
  const calls = await listAll(store, {});
  note('list of all', calls);
  await noteCalls(store, calls, note);
  await noteLists(store, calls, note);
  await noteHistory(store, calls, note);
  await noteDocuments(store, note);
  return answers;
}

/** The questions whose answers differ. */
export const differencesOf = (before: StoreAnswers, after: StoreAnswers): string[] =>
  [...new Set([...before.keys(), ...after.keys()])]
    .filter((asked) => before.get(asked) !== after.get(asked))
    .map((asked) => `${asked}: ${before.get(asked)} and then ${after.get(asked)}`);

type Note = (asked: string, answer: unknown) => void;

async function listAll(store: Store, query: Partial<CallQuery>): Promise<Call[]> {
  const calls: Call[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listCalls({ ...query, limit: ALL, ...(cursor && { cursor }) });
    calls.push(...page.calls);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return calls;
}

async function noteCalls(store: Store, calls: readonly Call[], note: Note): Promise<void> {
  for (const { id, version } of calls) {
    note(`the call ${id}`, await store.getCall(id));
    note(`the bytes of ${id}`, await store.callBytes(id));
    const events = [];
    for (let after = 0; after < version; ) {
      const page = await store.callEvents(id, { after, limit: ALL });
      events.push(...page);
      after = page.at(-1)?.version ?? version;
    }
    note(`the events of ${id}`, events);
  }
  note('the open calls', await store.openCalls());
}

async function noteLists(store: Store, calls: readonly Call[], note: Note): Promise<void> {
  const some = <Value>(values: Iterable<Value | null | undefined>): Value[] =>
    [...new Set(values)].filter((value) => value != null).slice(0, MOST_VALUES) as Value[];
  const runs = some(calls.map(({ runId }) => runId));
  const tools = some(calls.map(({ toolName }) => toolName));
  const owners = some(calls.map(({ ownerToken }) => ownerToken));
  const clients = some(
    calls.flatMap(({ provider, wantedClientId, card }) => [
      ...[provider?.clientId, wantedClientId, card.client_name],
    ]),
  );
  const words = some(calls.flatMap(wordsOf)).slice(0, MOST_WORDS);
  const one: Partial<CallQuery>[] = [
    ...runs.map((runId) => ({ runId })),
    ...tools.map((tool) => ({ tool })),
    ...owners.map((ownerToken) => ({ ownerToken })),
    ...clients.map((client) => ({ client })),
    ...callStatusSchema.options.map((status) => ({ status })),
    ...words.map((text) => ({ text })),
  ];
  const two = one.flatMap((query, place) => {
    const other = one[(place * 7 + 3) % one.length];
    return other ? [{ ...other, ...query }] : [];
  });
  for (const query of [...one, ...two]) {
    const found = await listAll(store, query);
    note(
      `the list of ${JSON.stringify(query)}`,
      found.map(({ id, version }) => [id, version]),
    );
  }
  for (const ownerToken of [undefined, ...owners]) {
    const query = { limit: 1_000, ...(ownerToken !== undefined && { ownerToken }) };
    note(`the uses of tools of ${ownerToken}`, await store.toolUse.recent(query));
  }
}

const wordsOf = ({ args, result, error, card }: Call): string[] => {
  const text = JSON.stringify([args, result, error?.message, card.client_name]);
  return (text.match(/\p{L}{3,12}/gu) ?? []).slice(0, 3);
};

async function noteHistory(store: Store, calls: readonly Call[], note: Note): Promise<void> {
  const { history } = store;
  const endedBefore = Number.MAX_SAFE_INTEGER;
  note('how many calls', await history.countCalls());
  note('the oldest calls', await history.oldestCalls({ endedBefore, limit: ALL }));
  const looked = { changedBefore: endedBefore, after: null, limit: ALL };
  note('runs without calls', (await history.emptyRuns(looked)).runs);
  note('deleted up to', history.deletedUpTo());
  const { runs } = await store.listRuns({ limit: ALL });
  const pages = runs.map(({ run_id: runId }) => store.listMessages({ runId, maxChars: 1e7 }));
  const blobs = blobIdsIn([JSON.stringify([calls, await Promise.all(pages)])]);
  note('blobs that nothing uses', await history.unusedBlobs([...blobs, `blob_${'0'.repeat(40)}`]));
  for (const { id, ownerToken } of calls) {
    const used = await history.blobsOf([id]);
    note(`the blobs of ${id}`, used.toSorted());
    for (const blob of ownerToken === null ? [] : used) {
      note(`${blob} of ${ownerToken}`, await history.isBlobOf(ownerToken ?? '', blob));
    }
  }
}

async function noteDocuments(store: Store, note: Note): Promise<void> {
  const { runs } = await store.listRuns({ limit: ALL });
  note('the runs', runs);
  for (const { run_id: runId } of runs) {
    note(`the messages of ${runId}`, await store.listMessages({ runId, maxChars: 1e7 }));
    const turns = await store.listModelTurns({ runId, after: 0, limit: ALL });
    note(`the requests of ${runId}`, turns);
    note(`the tokens of ${runId}`, await store.runTokens(runId));
  }
  note('the audit', await store.listAudit({ limit: ALL }));
  note('the tokens', await store.listTokens());
  note('the deliveries', await store.deliveries.list({ limit: ALL }));
  note('the notes', await store.memories.find({ ownerToken: null, limit: ALL }));
  note('what is allowed for good', await store.listKept('always'));
}
