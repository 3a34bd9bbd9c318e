import type { WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Bad } from '../scenario.ts';
import type { Api } from './api.ts';

/** I8: in the history of a run stands each of its calls once, with an end. */
export async function checkRuns(
  api: Api,
  runIds: ReadonlySet<string>,
  records: ReadonlyMap<string, WireCallRecord>,
  bad: Bad,
): Promise<void> {
  const say = (detail: string) => bad('I8', detail);
  for (const runId of runIds) {
    const run = await api.run(runId);
    if (!run) {
      bad('I1', `the run ${runId} was accepted and is gone`);
      continue;
    }
    const { messages, status } = run;
    if (status === 'running') say(`${runId} is still running`);
    const told = messages
      .flatMap(({ parts }) => parts)
      .flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : []));
    const own = [...records.values()].filter(({ run_id }) => run_id === runId);
    for (const id of new Set(told)) {
      const times = told.filter((one) => one === id).length;
      const record = records.get(id);
      if (times > 1) say(`${runId}: ${id} stands ${times} times in the history`);
      if (!record || !isFinalStatus(record.status)) say(`${runId}: ${id} has no end`);
    }
    for (const { tool_call_id: id } of own) {
      if (!told.includes(id)) say(`${runId}: ${id} is not in the history`);
    }
  }
}
