import type { Call } from '#lib/call/call';
import { wholeTextOf } from '#lib/call/model-output';
import { LIMITS } from '#lib/protocol/limits';
import type { Agent } from '../../auth/room.ts';
import type { BlobStore } from '../../blobs/room.ts';
import type { CallService } from '../../calls/room.ts';
import type { History } from '../../store/room.ts';

export interface ResourceDeps {
  readonly blobs: Pick<BlobStore, 'find' | 'read'>;
  readonly history: Pick<History, 'isBlobOf'>;
  /** How many bytes the call has in the store. */
  readonly calls: Pick<CallService, 'storedBytes'>;
  /** Resolves when an answer with so many bytes may be made. */
  readonly makeRoom: (bytes: number) => Promise<void>;
  /** The agent's own call; undefined for every other. */
  readonly findCall: (agent: Agent, callId: string) => Promise<Call | undefined>;
}

interface Described {
  uri: string;
  mimeType: string;
}

/** `blob` is base64. */
type ResourceContents = (Described & { text: string }) | (Described & { blob: string });

/** A call may give these, so that a host knows which addresses there are. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'callboard://blob/{id}',
    name: 'Attachment',
    description: 'The bytes of an attachment of one of your calls.',
  },
  {
    uriTemplate: 'callboard://call/{id}',
    name: 'Result',
    description: 'The whole text of the result of one of your calls.',
  },
];

export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** Undefined where there is none, or it is of another's call: the two look alike. */
export async function readResource(
  deps: ResourceDeps,
  agent: Agent,
  uri: string,
): Promise<ResourceContents | undefined> {
  const parsed = parseResourceUri(uri);
  if (!parsed) return undefined;
  return parsed.kind === 'blob'
    ? readBlob(deps, agent, uri, parsed.id)
    : readCall(deps, agent, uri, parsed.id);
}

async function readBlob(
  { blobs, history, makeRoom }: ResourceDeps,
  agent: Agent,
  uri: string,
  id: string,
): Promise<ResourceContents | undefined> {
  if (!(await history.isBlobOf(agent.tokenId, id))) return undefined;
  const found = await blobs.find(id);
  if (!found || found.size > LIMITS.blobBytes) return undefined;
  // A large one waits for its turn before it is in memory.
  await makeRoom(base64Length(found.size));
  const blob = await blobs.read(id);
  if (!blob) return undefined;
  const data = Buffer.from(blob.bytes).toString('base64');
  return { uri, mimeType: blob.attachment.media_type, blob: data };
}

async function readCall(
  { calls, findCall, makeRoom }: ResourceDeps,
  agent: Agent,
  uri: string,
  id: string,
): Promise<ResourceContents | undefined> {
  await makeRoom(await calls.storedBytes(id));
  const call = await findCall(agent, id);
  const text = call && wholeTextOf(call);
  if (call === undefined || text === undefined) return undefined;
  const mimeType = typeof call.result === 'string' ? 'text/plain' : 'application/json';
  return { uri, mimeType, text };
}

const BLOB = 'callboard://blob/';
const CALL = 'callboard://call/';

/** The bytes of an attachment. */
export const blobUri = (blobId: string): string => `${BLOB}${blobId}`;

/** The whole text of a call's result. */
export const callUri = (callId: string): string => `${CALL}${callId}`;

type ResourceUri =
  | { readonly kind: 'blob'; readonly id: string }
  | { readonly kind: 'call'; readonly id: string };

/** Undefined for what is none of ours. */
function parseResourceUri(uri: string): ResourceUri | undefined {
  const form = /^callboard:\/\/(blob|call)\/([A-Za-z0-9_-]{1,80})$/.exec(uri);
  if (!form) return undefined;
  const [, kind, id = ''] = form;
  return { kind: kind === 'blob' ? 'blob' : 'call', id };
}
