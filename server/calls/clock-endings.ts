import type { CallClock } from '#lib/protocol/call-status';
import type { Breaker } from './breaker.ts';
import type { CallIndex } from './call-index.ts';
import type { CallRepository } from './call-repository.ts';
import type { CallEngine } from './engine.ts';
import type { InstanceFacts } from './router.ts';

/** What happens when a clock of a call runs out: its event, with what it needs to know of the client. */
export function createClockEndings(deps: {
  engine: CallEngine;
  repository: CallRepository;
  index: CallIndex;
  breaker: Pick<Breaker, 'failed'>;
  facts(instanceId: string): InstanceFacts | undefined;
}) {
  return (callId: string, clock: CallClock): void => {
    const call = deps.repository.latest(callId);
    if (!call) return;
    const { toolName } = call;
    const instanceId = call.provider?.instanceId ?? '';
    // A client that is busy keeps its turn.
    const isKept = clock === 'start' && deps.index.isRunning(instanceId, toolName);
    // A tool that takes too long is no fault of its client; one that does not even answer is.
    const isSilent = clock === 'execute' && deps.facts(instanceId)?.responsive === false;
    const isFault = isSilent || (clock === 'start' && !isKept);
    if (call.provider && isFault) deps.breaker.failed(instanceId, toolName);
    deps.engine.apply(call, { type: 'clock', clock, isKept }, 'server');
  };
}
