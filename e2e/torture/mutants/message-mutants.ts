import type { Mutant } from './mutant.ts';

const MACHINE = 'lib/call/call-machine.ts';
const CLIENT_CALLS = 'server/calls/client-calls.ts';
const RUNNER = 'lib/client/call-runner.ts';
const HUB = 'server/events/watch-hub.ts';

const clientNotAsked = [
  {
    file: CLIENT_CALLS,
    find: 'if (call.provider?.clientId !== from.clientId) {',
    replace: 'if (call.provider?.clientId === "nobody") {',
  },
  {
    file: MACHINE,
    find: "if (!provider || provider.clientId !== from.clientId) return 'not_your_call';",
    replace: "if (!provider) return 'not_your_call';",
  },
  {
    file: MACHINE,
    find: "if (provider.instanceId !== from.instanceId) return 'not_your_call';",
    replace: '',
  },
];
const attempt = {
  file: MACHINE,
  find: "if (from.attempt !== undefined && from.attempt !== provider.attempt) return 'stale_attempt';",
  replace: '',
};
const notGranted = {
  file: MACHINE,
  find: "return state.granted ? null : 'not_granted';",
  replace: 'return null;',
};

const notTerminal = [
  {
    file: MACHINE,
    find: "if (isFinalStatus(state.status)) return refuse('already_final'); // CS1",
    replace: '',
  },
  {
    file: CLIENT_CALLS,
    find: 'if (isFinalStatus(call.status)) return this.#answerLate(call, from, measured);',
    replace: '',
  },
];

/** Guards of what is said: who may answer, which attempt, how often, and what is too much. */
export const MESSAGE_MUTANTS: readonly Mutant[] = [
  {
    name: 'answers matched by the id alone',
    scenario: 'I11',
    breaks: 'I11',
    inShort: true,
    patches: [...clientNotAsked, attempt, notGranted],
  },
  { name: 'any client may answer', scenario: 'I11', breaks: 'I11', patches: clientNotAsked },
  { name: 'the attempt is not checked', scenario: 'I11', breaks: 'I11', patches: [attempt] },
  { name: 'answers before the grant count', scenario: 'I11', breaks: 'I11', patches: [notGranted] },
  {
    name: 'an older connection of a client is not superseded',
    scenario: 'I11',
    breaks: 'I11',
    patches: [
      {
        file: 'server/connections/client-session.ts',
        find: 'deps.live.get(instanceId)?.supersede();',
        replace: '',
      },
    ],
  },
  {
    name: 'a different second answer passes for a duplicate',
    scenario: 'I11',
    breaks: 'I2',
    inShort: true,
    patches: [
      {
        file: CLIENT_CALLS,
        find: 'if (call.resultHash === resultHash || sameJson(accepted(call), toAccepted(answer))) {',
        replace: 'if (call.resultHash !== null) {',
      },
    ],
  },
  {
    name: 'a granted call with effects is offered again',
    scenario: 'I11',
    breaks: 'I5',
    inShort: true,
    patches: [
      {
        file: MACHINE,
        find: 'return !hasStarted || (state.rerunnable && rerunnable);',
        replace: 'return hasStarted !== undefined;',
      },
    ],
  },
  {
    name: 'an attempt that was given up is granted',
    scenario: 'I11',
    breaks: 'I5',
    patches: [
      {
        file: CLIENT_CALLS,
        find: "if (this.#reoffers.hasGivenUp(from.instanceId, id, attempt)) return refuse('stale_attempt');",
        replace: '',
      },
    ],
  },
  {
    name: 'what is over can end once more',
    scenario: 'I11',
    breaks: 'I2',
    inShort: true,
    patches: notTerminal,
  },
  {
    name: 'of a result, a cancel and a timeout each may be the end',
    scenario: 'F36',
    breaks: 'I2',
    patches: notTerminal,
  },
  {
    name: 'the list keeps the tools of closed sockets',
    scenario: 'F25',
    breaks: 'I14',
    patches: [
      {
        file: 'server/connections/presence.ts',
        find: 'this.#deps.registry.drop(instanceId);',
        replace: '',
      },
    ],
  },
  {
    name: 'coming back without sending again what was not acknowledged',
    scenario: 'F14',
    breaks: 'I6',
    inShort: true,
    patches: [
      {
        file: RUNNER,
        find: 'this.#answers.sendAllAgain();',
        replace: '',
      },
    ],
  },
  {
    name: 'a refused answer stays in the outbox',
    scenario: 'F15',
    breaks: 'I2',
    patches: [{ file: RUNNER, find: "case 'result_rejected':", replace: '' }],
  },
  {
    name: 'who a client is, is not kept over a restart',
    scenario: 'F26',
    breaks: 'I14',
    patches: [
      {
        file: 'server/connections/resume-session.ts',
        find: "await deps.store.write([{ type: 'put_client', client }]).catch(",
        replace: 'await Promise.resolve().catch(',
      },
      {
        // Each of the two keeps it: at the hello, and once the client has spoken.
        file: 'server/connections/resume-session.ts',
        find: "? [{ type: 'put_client', client: { ...client, resumeTokenHash: confirmedHash(resumeToken) } }]",
        replace: '? []',
      },
    ],
  },
  {
    name: 'no limit on what waits for a watcher',
    scenario: 'F21',
    breaks: 'I13',
    patches: [
      {
        file: HUB,
        find: '|| watcher.channel.bufferedBytes > limits.mergeAboveBytes) {',
        replace: ') {',
      },
    ],
  },
  {
    name: 'what a slow watcher missed is forgotten',
    scenario: 'F21',
    breaks: 'I9',
    patches: [
      {
        file: HUB,
        find: 'if (concerns(event, watcher.runId)) watcher.missed.add(event);',
        replace: ';',
      },
    ],
  },
  {
    name: 'nobody listens for the errors of a socket',
    scenario: 'F27',
    breaks: 'HEALTH',
    inShort: true,
    patches: [
      { file: 'server/http/upgrade-gate.ts', find: "ws.on('error', () => {});", replace: '' },
    ],
  },
];
