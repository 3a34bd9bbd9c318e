import type { Mutant } from './mutant.ts';

const HUB = 'server/events/watch-hub.ts';

/** Guards against load, nonsense and races, beside those of messages. */
export const LOAD_MUTANTS: readonly Mutant[] = [
  {
    name: 'a watcher that never reads is never cut off',
    scenario: 'F21',
    breaks: 'I13',
    patches: [
      {
        file: HUB,
        find: 'if (clock.now() - watcher.slowSince > limits.patienceMs) cutOff(watcher);',
        replace: '',
      },
    ],
  },
  {
    name: 'now and then watchers are not told',
    scenario: 'F21',
    breaks: 'I9',
    patches: [
      {
        file: HUB,
        find: 'watcher.channel.send(shared);',
        replace: 'if (lastSeq(events) % 97 !== 0) watcher.channel.send(shared);',
      },
    ],
  },
  {
    name: 'whoever was cut off comes back at the same moment',
    scenario: 'F26',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'lib/net/backoff.ts',
        find: 'Math.floor(random * reconnectCap(attempt))',
        replace: 'Math.floor(reconnectCap(attempt) + random)',
      },
    ],
  },
  {
    name: 'how deep a text goes is not looked at',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'lib/json/parse-json.ts',
        find: 'if (!check.ok) {',
        replace: "if (!check.ok && text === '') {",
      },
    ],
  },
  {
    name: 'messages are not checked against their schema',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'server/connections/parse-client-frame.ts',
        find: 'clientMessageSchema.safeParse(parsed.value);',
        replace: '{ success: true, data: parsed.value };',
      },
    ],
  },
  {
    name: 'a client may send as much as it likes',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'server/connections/client-socket.ts',
        find: 'if (!this.#bucket.take())',
        replace: 'if (!this.#bucket)',
      },
    ],
  },
  {
    name: 'a watcher may send as much as it likes',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'server/events/watch-socket.ts',
        find: 'if (!guard.take())',
        replace: 'if (!guard)',
      },
    ],
  },
  {
    name: 'now and then a message keeps the server for 400 ms',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'server/connections/parse-client-frame.ts',
        find: 'const checked = clientMessageSchema',
        replace:
          "for (const from = process.cpuUsage(); text.includes('image/png') && text.length % 20 === 0 && process.cpuUsage(from).user < 400_000; );\n  const checked = clientMessageSchema",
      },
    ],
  },
  {
    name: 'a frame may be of any length',
    scenario: 'F27',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'server/http/upgrade-gate.ts',
        find: 'maxPayload: LIMITS.frameBytes,',
        replace: 'maxPayload: 0,',
      },
    ],
  },
  {
    name: 'a call without an end has no result for the model',
    scenario: 'F31',
    breaks: 'I8',
    inShort: true,
    patches: [
      {
        file: 'server/runs/agent/build-model-history.ts',
        find: 'results.push(told.result);',
        replace:
          "if (input.calls.get(part.tool_call_id)?.status === 'SUCCEEDED') results.push(told.result);",
      },
    ],
  },
  {
    name: 'a stop does not wait for what is being written',
    scenario: 'F01b',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'server/main.ts',
        find: 'await core.store.close();',
        replace: 'void core.store.close();',
      },
    ],
  },
  {
    name: 'a stop does not answer those who wait',
    scenario: 'F32',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'server/main.ts',
        find: 'await doors.answered(LAST_ANSWERS_MS);',
        replace: 'doors.server.closeAllConnections();',
      },
    ],
  },
  {
    name: 'a cancel does not take back a grant that has not left',
    scenario: 'F01b',
    breaks: 'I7',
    patches: [
      {
        file: 'server/calls/operator-actions.ts',
        find: 'const isUnsent = engine.hasUnsentGrant(id);',
        replace: 'const isUnsent = false;',
      },
    ],
  },
  {
    name: 'an answer that comes late becomes the result',
    scenario: 'I11',
    breaks: 'I3',
    patches: [
      {
        file: 'lib/call/decide.ts',
        find: 'record: { ...call, lateResult, card }',
        replace:
          "record: { ...call, status: 'SUCCEEDED', error: null, result: lateResult, lateResult, card }",
      },
    ],
  },
];
