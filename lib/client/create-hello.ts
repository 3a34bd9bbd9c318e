import type { ClientMessageOf } from '../protocol/client-messages.ts';
import type { ClientIdentity } from './client-identity.ts';
import type { ClientInstance } from './client-instance.ts';

/** The first message of a connection: what this client is, and the calls that it has. */
export function createHello({
  name,
  kind,
  identity,
  instance,
}: {
  readonly name: string;
  readonly kind: 'tab' | 'phone' | 'program';
  readonly identity: ClientIdentity;
  readonly instance: ClientInstance | null;
}): ClientMessageOf<'hello'> {
  const [clientId, token] = [identity.clientId(), identity.resumeToken(instance?.id)];
  const known = instance?.runner.known();
  // guard: resume-token-sent
  return {
    type: 'hello',
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(token === undefined ? {} : { resume_token: token }),
    ...(instance && known && { instance_id: instance.id, known: known.calls }),
    // By the epoch a call that is not listed counts as never started. Where the list is cut that
    // would be wrong, and without an epoch the server draws no such conclusion (CL34).
    ...(instance && known?.isAll && { journal_epoch: instance.journal.epoch }),
    name,
    kind,
    caps: ['claim', 'cancel', 'probe'],
  };
}
