import { FairMap } from '#lib/limits/fair-map';
import type { ServerMessage, ServerMessageOf } from '#lib/protocol/server-messages';
import { given } from '#lib/util/given';
import type { ClientSession, Received } from '../../clients/room.ts';
import type { ToolRegistry } from '../../tools/room.ts';
import { errorFrame, type ServerFrame, type ToolSpecFrame } from './chat-frames.ts';

export interface ChatToolsDeps {
  readonly session: ClientSession;
  readonly registry: Pick<ToolRegistry, 'namesOf' | 'find'>;
  send(frame: ServerFrame): void;
  /** A request of this call need not be sent any more. */
  dropRequest(callId: string): void;
}

/** How the app announced itself. */
export interface Introduction {
  readonly name: string;
  readonly capabilities: readonly string[];
}

/**
 * The tools of a ClawSeed app: it is a client like any other, which begins with
 * a hello that this makes for it. The server's messages become ClawSeed's.
 */
export class ChatTools {
  readonly #deps: ChatToolsDeps;
  #entered: Promise<void> | undefined;
  #takesCancel = false;
  #identity: KeptIdentity | undefined;

  constructor(deps: ChatToolsDeps) {
    this.#deps = deps;
  }

  /** `before`: as whom it comes back. */
  enter({ name, capabilities }: Introduction, before: KeptIdentity | undefined): void {
    this.#takesCancel = capabilities.includes('cancel');
    const caps = this.#takesCancel ? ['cancel'] : [];
    const hello = { type: 'hello', kind: 'phone', name, caps, ...before } as const;
    this.#entered = this.#deps.session.receive(hello) ?? Promise.resolve();
  }

  get hasEntered(): boolean {
    return this.#entered !== undefined;
  }

  receive(message: Received): Promise<void> | undefined {
    return this.#deps.session.receive(message);
  }

  /** By which calls of the turn find back to this app. */
  async clientId(): Promise<string | undefined> {
    await this.#entered;
    return this.#identity?.client_id;
  }

  /** By which it is the same client when it comes back. */
  get identity(): KeptIdentity | undefined {
    return this.#identity;
  }

  async listTools(): Promise<void> {
    await this.#entered;
    this.#deps.send({ type: 'registered_tools', tools: this.#own() });
  }

  /** A message of the server to this client. */
  take(message: ServerMessage): void {
    if (message.type === 'welcome') return this.#welcome(message);
    const frame = this.#toFrame(message);
    if (frame) this.#deps.send(frame);
  }

  #welcome({ client_id, resume_token }: ServerMessageOf<'welcome'>): void {
    const instance_id = this.#deps.session.instanceId ?? undefined;
    this.#identity = { client_id, resume_token, ...given({ instance_id }) };
  }

  #toFrame(message: ServerMessage): ServerFrame | undefined {
    switch (message.type) {
      case 'tools_registered':
        // An app counts on one for each of its own.
        if (message.decided) return undefined;
        return {
          type: 'tools_registered',
          count: message.count,
          registered: this.#names().length,
          rejected: message.rejected,
        };
      case 'tool_call_request':
      case 'result_acknowledged':
        return message;
      case 'result_rejected': {
        // An app counts on one acknowledgement for each answer.
        const { id, code, message: why } = message;
        const disposition = 'rejected';
        return { type: 'result_acknowledged', id, disposition, code, message: why };
      }
      case 'tool_call_cancel':
        if (this.#takesCancel) return message;
        this.#deps.dropRequest(message.id);
        return undefined;
      case 'error':
        return errorFrame('INVALID_MESSAGE', message.message);
      default:
        return undefined;
    }
  }

  #names(): string[] {
    const { session, registry } = this.#deps;
    return session.instanceId === null ? [] : registry.namesOf(session.instanceId);
  }

  #own(): ToolSpecFrame[] {
    const { session, registry } = this.#deps;
    const client = this.#identity?.client_id ?? '';
    return this.#names().flatMap((name) => {
      const candidates = [...(registry.find(`${name}@${client}`)?.candidates ?? [])];
      const own = candidates.find(({ instanceId }) => instanceId === session.instanceId);
      if (!own || !('schema' in own)) return [];
      return [{ name, description: own.description, parameters: { ...own.schema } }];
    });
  }
}

/** A hello proves with it that it is the same client. */
interface KeptIdentity {
  readonly client_id: string;
  readonly instance_id?: string;
  readonly resume_token: string;
}

const MOST = 1_000;

export type KeptIdentities = ReturnType<typeof createKeptIdentities>;

/**
 * A ClawSeed app has no resume token: for one that comes back with its session
 * and its token the server keeps it, so that the app's open calls are still its
 * own (rule CLS10). In memory: a restart makes it a new client.
 */
export function createKeptIdentities(most = MOST) {
  const kept = new FairMap<KeptIdentity>(most);
  return {
    keep(owner: string, key: string, identity: KeptIdentity): void {
      kept.put(owner, key, identity);
    },
    /** Given to one connection. */
    take(key: string): KeptIdentity | undefined {
      const identity = kept.get(key);
      kept.delete(key);
      return identity;
    },
  };
}
