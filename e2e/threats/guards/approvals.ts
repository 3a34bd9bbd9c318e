import { type Guard, guard } from './guard.ts';

/** Guards of policy and approval. */
export const APPROVAL_GUARDS: readonly Guard[] = [
  guard('T69', 'lib/policy/match.ts', {
    'return (value, { steps }) => {\n    if (!isObject(value)) return simple.has(value);':
      'return (value, { steps }) => {\n    if (!isObject(value)) return true;',
  }),
  guard('T71', 'server/policy/live-policy.ts', {
    'const now = { ...question, args };': 'const now = question;',
  }),
  guard('T72', 'lib/call/enter.ts', {
    'const deadlines = { approval: steady + approvalMs(head) };':
      'const deadlines = { approval: steady + 2 * approvalMs(head) };',
  }),
  guard('T73', 'components/tool-call/use-seen-to-end.ts', {
    '      if (clientHeight === 0) return;\n': '',
  }),
  guard('T74', 'server/approvals/always-allowed.ts', {
    'if (neverAlways || isNeverAlways(toolName)) return null;': '',
  }),
  guard('T74', 'server/approvals/always-allowed.ts', {
    'rule.used + taken < rule.uses': 'rule.used < rule.uses',
  }),
  guard('T74', 'lib/approval/bound-arguments.ts', {
    "if (bound.other_arguments === 'none' && looking.names > countNames(bound)) return false;": '',
  }),
  guard('T75', 'lib/policy/match.ts', {
    '    if (!isObject(value)) return simple.has(value);':
      '    if (!isObject(value)) return [...simple].some((one) => String(value).includes(String(one)));',
  }),
  guard('T76', 'server/auth/principal.ts', {
    "principal.kind === 'operator' && hasRole(principal.role, 'operator');":
      "principal.kind !== 'operator' || hasRole(principal.role, 'operator');",
  }),
  guard('T77', 'server/tools/define-tool.ts', {
    '  if (bound) refuseChanged(bound,': '  if (!bound) refuseChanged([],',
  }),
  guard('T78', 'lib/call/decide.ts', {
    'const asMoved = () => (call === stored ? NOT_NOW : change(stored, call, now));':
      "const asMoved = () => change(stored, { ...call, phase: 'queued' }, now);",
  }),
  guard('T79', 'lib/call/decide.ts', {
    'const asMoved = () => (call === stored ? NOT_NOW : change(stored, call, now));':
      "const asMoved = () => step(call, { type: 'interrupted', message: 'lost' }, {}, now);",
  }),
  guard('T80', 'server/approvals/open-approvals.ts', {
    'ofRun: this.#sizeOf(scopes.run),': 'ofRun: 0,',
  }),
  guard('T81', 'components/tool-call/arguments-to-read.tsx', {
    '<MarkedText text={argumentsText(args.params)} keepLayout />':
      '<span dangerouslySetInnerHTML={{ __html: argumentsText(args.params) }} />',
  }),
  guard('T82', 'server/approvals/decisions.ts', {
    '    if (refused) return this.#refused(call, refused);\n':
      '    if (refused) return this.#done(call.id);\n',
  }),
  guard('T83', 'lib/protocol/closed-object.ts', { 'z.strictObject(shape,': 'z.object(shape,' }),
  guard('T84', 'server/tools/open-tools.ts', {
    '  if (held) throw refuse(': "  if (held === '') throw refuse(",
  }),
  guard('T85', 'server/runs/delegate/delegation.ts', {
    'if (depth >= this.#maxDepth) {': 'if (depth > this.#maxDepth) {',
  }),
];
