import { type Guard, guard } from './guard.ts';

/** Guards of tools that clients offer. */
export const REGISTRY_GUARDS: readonly Guard[] = [
  guard('T37', 'server/tools/tool-registry.ts', {
    'if (holder && !(holder instanceof ToolPool)) {': 'if (name === undefined) {',
  }),
  guard('T38', 'server/tools/tool-registry.ts', {
    'if (holder && holder.name !== name) {': 'if (name === undefined) {',
  }),
  guard('T39', 'lib/protocol/tool-name.ts', { ' && !OBJECT_NAMES.has(name);': ';' }),
  guard('T40', 'server/calls/route-call.ts', {
    'possible({ ...only, schemaHash });': 'possible({ ...only });',
  }),
  guard('T41', 'server/calls/route-call.ts', {
    'own().filter(({ tool }) => sameJson(scopeOf(tool), approval));': 'own();',
  }),
  guard('T42', 'server/calls/route-call.ts', {
    "? unrepaired(call, checkAgain(call, route.tool, 'executor'))\n    : route;":
      '? route\n    : route;',
  }),
  guard('T43', 'lib/policy/decide-policy.ts', {
    "looks && access === 'write' ? 'ask' : 'allow'":
      "looks && access === 'write' ? 'allow' : 'allow'",
  }),
  guard('T44', 'server/runs/agent/build-model-history.ts', {
    "const text = forModel([...texts, described].filter(Boolean).join('\\n') + note + unshown);":
      "const text = [...texts, described].filter(Boolean).join('\\n') + note + unshown;",
  }),
  guard('T45', 'lib/schema/compile-pattern.ts', {
    'const program = held?.deref() ?? toProgram(source);':
      "const program = held?.deref() ?? Object(new RegExp(source, 'u'));",
  }),
  guard('T46', 'lib/schema/compile-tool-schema.ts', {
    'if (expansion > MAX_EXPANSION || open.size >= MAX_CHAIN) {':
      'if (open.size >= 10 * MAX_CHAIN) {',
  }),
  guard('T47', 'server/tools/tool-registry.ts', {
    ' >= LIMITS.toolsPerClient)': ' > LIMITS.toolsPerClient)',
  }),
  guard('T48', 'server/tools/tool-table.ts', {
    '    pool?.remove(instanceId);\n': '',
  }),
  guard('T49', 'server/tools/tool-registry.ts', {
    'const registered = names.length;': 'const registered = checked.length;',
  }),
  guard('T50', 'server/tools/list-tools.ts', { 'source: origin.source,': "source: 'server'," }),
];
