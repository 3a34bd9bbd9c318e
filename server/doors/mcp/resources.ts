import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { wholeTextOf } from '#lib/call/model-output';
import type { Agent } from '../../auth/room.ts';
import type { CallService } from '../../calls/room.ts';
import { type SeenBlobs, seenBlob, seenCall } from '../room.ts';

export interface ResourceDeps extends SeenBlobs {
  readonly calls: Pick<CallService, 'get' | 'storedBytes'>;
  /** Resolves when an answer with so many bytes may be made. */
  readonly makeRoom: (bytes: number) => Promise<void>;
}

type ResourceContents = ReadResourceResult['contents'][number];

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
  const [, kind, id = ''] = OUR_URI.exec(uri) ?? [];
  if (kind === undefined) return undefined;
  return kind === 'blob' ? readBlob(deps, agent, uri, id) : readCall(deps, agent, uri, id);
}

async function readBlob(
  deps: ResourceDeps,
  agent: Agent,
  uri: string,
  id: string,
): Promise<ResourceContents | undefined> {
  const blob = await seenBlob(deps, agent, id, (size) => deps.makeRoom(base64Length(size)));
  if (!blob) return undefined;
  const data = Buffer.from(blob.bytes).toString('base64');
  return { uri, mimeType: blob.attachment.media_type, blob: data };
}

async function readCall(
  deps: ResourceDeps,
  agent: Agent,
  uri: string,
  id: string,
): Promise<ResourceContents | undefined> {
  const call = await seenCall(deps, agent, id, deps.makeRoom);
  const text = call && wholeTextOf(call);
  if (call === undefined || text === undefined) return undefined;
  const mimeType = typeof call.result === 'string' ? 'text/plain' : 'application/json';
  return { uri, mimeType, text };
}

const OUR_URI = /^callboard:\/\/(blob|call)\/([A-Za-z0-9_-]{1,80})$/;
const BLOB = 'callboard://blob/';
const CALL = 'callboard://call/';

/** The bytes of an attachment. */
export const blobUri = (blobId: string): string => `${BLOB}${blobId}`;

/** The whole text of a call's result. */
export const callUri = (callId: string): string => `${CALL}${callId}`;
