import { type Guard, guard } from './guard.ts';

/** Guards of what tools reach. */
export const TOOL_GUARDS: readonly Guard[] = [
  guard('T97', 'lib/call/model-output.ts', {
    '  result: record?.result,': '  result: record?.display ?? record?.result,',
  }),
  guard('T98', 'server/policy/live-policy.ts', {
    'return isAsked ? this.#readBy(principal, runId) : NO_TAINT;': 'return NO_TAINT;',
  }),
  guard('T99', 'server/policy/live-policy.ts', {
    '(isWayOut || isUntrusted);': 'isWayOut && !isUntrusted;',
  }),
  guard('T100', 'lib/call/model-output.ts', {
    'call.attachments.filter(isShowable)':
      '[...call.attachments, ...[call.result].flat()].filter(isShowable)',
  }),
  guard('T101', 'server/tools/workspace/open-folder.ts', {
    "    segments.includes('..') ||\n": '',
  }),
  guard('T102', 'server/tools/workspace/open-folder.ts', {
    ' | constants.O_DIRECTORY | constants.O_NOFOLLOW;': ' | constants.O_DIRECTORY;',
  }),
  guard('T103', 'server/tools/workspace/file-tools.ts', {
    'const MOST_READ = 256 * 1024;': 'const MOST_READ = 512 * 1024;',
  }),
  guard('T104', 'server/tools/open-tools.ts', {
    'if (isolation) return createShell({ ...settings, isolation });':
      'if (isolation) return createShell(settings);',
  }),
  guard('T104', 'server/tools/workspace/run-program.ts', {
    '...GROUP,\n    cwd,': '...GROUP,\n    cwd,\n    env: { ...process.env, ...env },',
  }),
  guard('T105', 'server/tools/workspace/run-program.ts', { 'shell: false': 'shell: true' }),
  guard('T106', 'server/tools/workspace/run-program.ts', {
    "process.kill(-child.pid, 'SIGKILL');": "child.kill('SIGKILL');",
  }),
  guard('T107', 'server/tools/builtin/http-targets.ts', { "  '127.0.0.0/8',\n": '' }),
  guard('T108', 'server/tools/builtin/http-request.ts', {
    'if (all || !first) callback(null, [...addresses]);':
      "if (all || !first) callback(null, [{ address: '127.0.0.9', family: 4 }]);",
  }),
  guard('T109', 'server/tools/builtin/http-request.ts', { '      via: TOOL_VIA,\n': '' }),
  guard('T110', 'server/tools/builtin/http-request.ts', {
    '    if (room < 0) break;': '    if (room < -1e12) break;',
  }),
  guard('T111', 'server/tools/builtin/database-worker.ts', {
    'if (!isBlank(request.sql.slice(statement.sourceSQL.length))) {': "if (isBlank('x')) {",
  }),
  guard('T112', 'server/tools/builtin/database-worker.ts', {
    'if (isReadable(table, database, within)) return constants.SQLITE_OK;':
      'return constants.SQLITE_OK;',
  }),
  guard('T113', 'server/tools/builtin/database-query.ts', {
    "  signal.addEventListener('abort', kill, { once: true });\n": '',
  }),
  guard('T114', 'server/tools/builtin/calculate.ts', {
    '  if (!operator) {\n    throw': '  if (!operator) return 0;\n  if (!operator) {\n    throw',
  }),
  guard('T115', 'server/tools/builtin/calculate.ts', {
    'if (deepestBracket(expression) > MAX_DEPTH) throw tooDeep();': '',
  }),
  guard('T116', 'server/tools/workspace/run-program.ts', {
    '  const end = () => endGroup(child);': '  const end = () => undefined;',
  }),
  guard('T117', 'server/runs/agent/turn-ending.ts', {
    '  if (!spent) return undefined;': '  return undefined;',
  }),
];
