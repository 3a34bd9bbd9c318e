import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRecord } from '../../json/is-record.ts';
import { errorMessage } from '../../util/error-message.ts';
import { given } from '../../util/given.ts';
import { isMissing } from '../../util/is-missing.ts';
import type { ClientIdentity } from '../client-identity.ts';
import type { InstanceId } from '../instance-id.ts';

interface Stored {
  /** It names the journal's file, too. */
  readonly instance_id: string;
  readonly client_id?: string;
  readonly resume_token?: string;
}

const INSTANCE_ID = /^[\w-]{1,128}$/;

/**
 * The identity of a program as a client, kept from one start to the next: client id, resume token
 * and instance id in one file that its owner alone can read (CL26). A file that cannot be read makes this a new client,
 * whose journal is a new one, too.
 */
export function createFileIdentity({
  path,
  newId,
  onProblem,
}: {
  path: string;
  newId(): string;
  onProblem(message: string): void;
}): { readonly identity: ClientIdentity; readonly instanceId: InstanceId } {
  let now: Stored = read(path, onProblem) ?? { instance_id: newId() };

  function save(next: Stored): void {
    now = next;
    const beside = `${path}.new`;
    writeFileSync(beside, JSON.stringify(next), { mode: 0o600, flush: true });
    renameSync(beside, path);
    // After a power loss the token before would be void.
    syncDir(dirname(path));
  }

  return {
    identity: {
      clientId: () => now.client_id,
      resumeToken: () => now.resume_token,
      save: ({ clientId, resumeToken }) =>
        save({ ...now, client_id: clientId, resume_token: resumeToken }),
    },
    instanceId: {
      async take() {
        save(now);
        return now.instance_id;
      },
      async renew() {
        save({ ...now, instance_id: newId() });
        return now.instance_id;
      },
      release() {},
    },
  };
}

function syncDir(dir: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(dir, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function read(path: string, onProblem: (message: string) => void): Stored | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return toStored(JSON.parse(text));
  } catch (error) {
    onProblem(`${path} cannot be read, this is a new client: ${errorMessage(error)}`);
    return undefined;
  }
}

/** Throws what is wrong with it. */
function toStored(value: unknown): Stored {
  if (!isRecord(value)) throw new Error('it is not a JSON object');
  const { instance_id, client_id, resume_token } = value;
  if (typeof instance_id !== 'string' || !INSTANCE_ID.test(instance_id)) {
    throw new Error('instance_id must be 1 to 128 letters, digits, _ or -');
  }
  if (!isOptionalText(client_id)) throw new Error('client_id must be a text');
  if (!isOptionalText(resume_token)) throw new Error('resume_token must be a text');
  return {
    instance_id,
    ...given({ client_id, resume_token }),
  };
}

const isOptionalText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';
