import { readFileSync, writeSync } from 'node:fs';
import {
  type CallToolResult,
  ProtocolError,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { TASKS } from '#lib/protocol/mcp-tasks';

/** The tasks of a server, which outlive its connections: the test says what they come to. */
export class FixtureTasks {
  /** What `tasks/get` answers, by id; of another id it knows nothing. */
  readonly states = new Map<string, object>();
  readonly polled: string[] = [];
  readonly cancelled: string[] = [];
  readonly called: string[] = [];
  /** Each cancel fails. */
  isStubborn = false;

  /** One more, as `tools/call` answers it. */
  begin(tool: string): CallToolResult {
    this.called.push(tool);
    const taskId = `task-${this.called.length}`;
    this.states.set(taskId, { status: 'working', statusMessage: 'Reading', pollIntervalMs: 1 });
    const made = { taskId, status: 'working', ttlMs: null, pollIntervalMs: 1 };
    return { ...text(), resultType: 'task', ...made };
  }

  offerOn(server: Server): void {
    const schemas = { params: z.looseObject({ taskId: z.string() }) };
    server.setRequestHandler('tasks/get', schemas, ({ taskId }) => {
      this.polled.push(taskId);
      const state = this.states.get(taskId);
      if (!state) throw new ProtocolError(-32_602, 'Task not found');
      return { taskId, resultType: 'complete', ...state };
    });
    server.setRequestHandler('tasks/cancel', schemas, ({ taskId }) => {
      this.cancelled.push(taskId);
      if (this.isStubborn) throw new ProtocolError(-32_603, 'Not now');
      return {};
    });
  }
}

/** An MCP server as those of others are; what it does is by its tools and by its environment. */
export interface FixtureOptions {
  /** A file with a list of tools, read at each `tools/list`: in the place of its own, or beside them. */
  readonly toolsFile?: string | undefined;
  /** With them `work` is answered with a task, where the request takes one. */
  readonly tasks?: FixtureTasks | undefined;
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const OPEN = { type: 'object' as const, properties: {} };
const COUNT = {
  type: 'object' as const,
  properties: { count: { type: 'integer' } },
  required: ['count'],
};

const OWN: readonly Tool[] = [
  {
    name: 'echo',
    title: 'Echo',
    description: 'Gives the text back',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
  },
  { name: 'steps', description: 'Reports its progress', inputSchema: OPEN },
  { name: 'late', description: 'Reports its progress after its answer', inputSchema: OPEN },
  { name: 'picture', description: 'Gives a picture', inputSchema: OPEN },
  { name: 'figures', description: 'Gives structured content', inputSchema: OPEN },
  { name: 'links', description: 'Names a resource', inputSchema: OPEN },
  { name: 'fail', description: 'Fails', inputSchema: OPEN },
  { name: 'work', description: 'Works for long', inputSchema: OPEN },
  { name: 'hang', description: 'Never answers', inputSchema: OPEN },
  {
    name: 'flaky',
    description: 'Ends its server at the first call',
    inputSchema: { type: 'object', properties: { marker: { type: 'string' } } },
    annotations: { idempotentHint: true },
  },
  { name: 'huge', description: 'Gives so many bytes', inputSchema: COUNT },
  { name: 'announce', description: 'Announces so many changes of its list', inputSchema: COUNT },
];

const text = (...texts: string[]): CallToolResult => ({
  content: texts.map((one) => ({ type: 'text', text: one })),
});

/** What it was asked, for tests to read from its error output. */
const note = (line: string): void => void writeSync(2, `${line}\n`);

const answers: Record<
  string,
  (
    args: Record<string, unknown>,
    context: ServerContext,
  ) => CallToolResult | Promise<CallToolResult>
> = {
  echo: (args) => text(String(args.text)),
  async steps(_args, { mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [1, 2, 3]) {
      if (progressToken === undefined) break;
      const params = { progressToken, progress, total: 3, message: `Step ${progress}` };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    await new Promise((resolve) => setTimeout(resolve, 400));
    return text('stepped');
  },
  picture: () => ({
    content: [
      { type: 'text', text: 'Here it is' },
      { type: 'image', mimeType: 'image/png', data: PIXEL },
    ],
  }),
  figures: () => ({ ...text('{"sum":3}'), structuredContent: { sum: 3 } }),
  links: () => ({
    content: [
      { type: 'text', text: 'See there' },
      { type: 'resource_link', uri: 'file:///etc/passwd', name: 'passwd' },
      { type: 'resource', resource: { uri: 'memo://notes.txt', text: 'a note' } },
    ],
  }),
  fail: () => ({ ...text('No such file'), isError: true }),
  hang(_args, { mcpReq }) {
    note(`hanging ${process.pid}`);
    return new Promise((_, reject) => {
      mcpReq.signal.addEventListener('abort', () => {
        note('cancelled');
        reject(new Error('cancelled'));
      });
    });
  },
  flaky({ marker }) {
    try {
      readFileSync(String(marker));
      return text('at the second time');
    } catch {
      note('leaving');
      process.kill(process.pid, 'SIGKILL');
      return text('gone');
    }
  },
  huge: ({ count }) => text('x'.repeat(Number(count))),
};

const listed = (file: string | undefined): readonly Tool[] =>
  file === undefined ? OWN : JSON.parse(readFileSync(file, 'utf8'));

export function createFixture({ toolsFile, tasks }: FixtureOptions): Server {
  const server = new Server(
    { name: 'fixture', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler('tools/list', () => {
    note('listed');
    return { tools: [...listed(toolsFile)] };
  });
  tasks?.offerOn(server);
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    const isTask = JSON.stringify(context.mcpReq.envelope ?? null).includes(TASKS);
    if (tasks && isTask && name.startsWith('work')) return tasks.begin(name);
    if (name === 'announce') {
      for (let sent = 0; sent < Number(args.count); sent += 1) await server.sendToolListChanged();
      return text('announced');
    }
    if (name === 'late') {
      const sent = { progressToken: context.mcpReq._meta?.progressToken ?? 0, progress: 1 };
      setImmediate(
        () => void server.notification({ method: 'notifications/progress', params: sent }),
      );
      return text('early');
    }
    const answer = Object.hasOwn(answers, name) ? answers[name] : undefined;
    return answer ? answer(args, context) : text(`${name} ran`);
  });
  return server;
}
