import type { ServerMessage } from '#lib/protocol/server-messages';
import { connectClient, type ToolClient } from '../../contract/kit/tool-client.ts';
import { PATIENCE_MS } from '../world/until.ts';
import type { Rig } from './rig.ts';

export const CAPS = ['claim', 'cancel', 'probe'];

/** A client that says exactly what it is made to, of one tool that has effects, by the name of both. */
export interface RawWorker extends ToolClient {
  readonly tool: string;
  /** The message of this type for the call, if it has come. */
  got(type: ServerMessage['type'], id: string): ServerMessage | undefined;
  /** Does the effect, as after a grant. */
  act(id: string): void;
  answer(id: string, attempt: number): void;
  /** From now on, and of what came before: claims what it is asked, acts when it may, answers. */
  serve(): void;
}

export interface WorkerHello {
  /** Default: it says which tool it has at once. */
  readonly registers?: boolean;
  /** Fields of its `hello`. */
  readonly [field: string]: unknown;
}

export async function openWorker(
  rig: Rig,
  tool: string,
  { registers = true, ...hello }: WorkerHello = {},
): Promise<RawWorker> {
  const said = { name: tool, instance_id: `${tool}-i`, journal_epoch: tool, caps: CAPS };
  const client = await connectClient(rig.board, {
    hello: { ...said, ...hello },
    tools: registers ? [tool] : [],
    patienceMs: PATIENCE_MS,
  });

  const act = (id: string) =>
    void rig.effects.set(id, [...(rig.effects.get(id) ?? []), Date.now()]);
  const answer = (id: string, attempt: number) =>
    client.succeed(id, { call: id, by: tool }, { attempt });

  function take(message: ServerMessage): void {
    if (message.type === 'tool_call_request') {
      client.send({ type: 'tool_call_claim', id: message.id, attempt: message.attempt });
    } else if (message.type === 'tool_call_granted') {
      act(message.id);
      answer(message.id, message.attempt);
    }
  }

  return {
    ...client,
    // A getter does not survive being spread.
    welcome: client.welcome,
    tool,
    got: (type, id) =>
      client.inbox.find((one) => one.type === type && 'id' in one && one.id === id),
    act,
    answer,
    serve() {
      for (const message of client.inbox) take(message);
      let seen = client.inbox.length;
      client.ws.on('message', () => {
        for (const message of client.inbox.slice(seen)) take(message);
        seen = client.inbox.length;
      });
    },
  };
}

/** The same again after its connection was lost; `hello` says what it still has of its journal. */
export const reopenWorker = (
  rig: Rig,
  before: RawWorker,
  hello: WorkerHello,
): Promise<RawWorker> => {
  const { client_id, resume_token } = before.welcome;
  return openWorker(rig, before.tool, { client_id, resume_token, ...hello });
};
