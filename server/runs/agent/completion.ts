import type { CallRecord } from '#lib/call/call-record';
import type { Message } from '#lib/protocol/run';
import type { ToolRegistry } from '../../tools/tool-registry.ts';
import { messagesRead, type Turn } from './turn.ts';
import { hasCalls, namedCalls } from './turn-messages.ts';

/** Whether a call of the tool, where it succeeds, is the last one of its turn. */
export function endsTurn(registry: Pick<ToolRegistry, 'find'>, toolName: string): boolean {
  const tool = registry.find(toolName)?.best;
  return tool?.clientId === null && tool.endsTurn === true;
}

/** With what words the newest call has ended the turn (AL160); undefined where none has. */
export function completedWith(turn: Turn, records: readonly CallRecord[]): string | undefined {
  const messages = messagesRead(turn);
  const last = messages.findLast((message) => !isNoticeAlone(message));
  if (!last || !hasCalls(last)) return undefined;
  const [id, ...others] = namedCalls([last]);
  const call = others.length === 0 ? records.find((record) => record.id === id) : undefined;
  if (call?.status !== 'SUCCEEDED' || call.source !== 'server') return undefined;
  if (!endsTurn(turn.deps.registry, call.toolName)) return undefined;
  return typeof call.display === 'string' ? call.display : '';
}

/** As a restart writes one between the call and what follows it. */
const isNoticeAlone = ({ role, parts }: Message): boolean =>
  role === 'assistant' && parts.every(({ type }) => type === 'notice');
