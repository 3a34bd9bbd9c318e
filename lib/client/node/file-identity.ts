import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { errorMessage } from '../../util/error-message.ts';
import { isMissing } from '../../util/is-missing.ts';
import type { ClientIdentity } from '../client-identity.ts';
import type { InstanceId } from '../instance-id.ts';

const storedSchema = z.object({
  /** It names the journal's file, too. */
  instance_id: z.string().regex(/^[\w-]{1,128}$/),
  client_id: z.string().optional(),
  resume_token: z.string().optional(),
});
type Stored = z.infer<typeof storedSchema>;

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
    return storedSchema.parse(JSON.parse(text));
  } catch (error) {
    onProblem(`${path} cannot be read, this is a new client: ${errorMessage(error)}`);
    return undefined;
  }
}
