import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** One page of a browser that Playwright does not drive as its makers ship it. */
export interface OtherPage {
  goto(url: string): Promise<void>;
  /** The value of an expression in the page, once its promise has resolved. */
  evaluate(expression: string): Promise<unknown>;
  /** A person's click on the element that the expression gives. */
  click(element: string): Promise<void>;
  close(): Promise<void>;
}

const starts = (command: string, args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** By name: how a page is opened, or null where this machine lacks the browser. */
export const OTHER_BROWSERS: Readonly<Record<string, (() => Promise<OtherPage>) | null>> = {
  WebKit:
    starts('WebKitWebDriver', ['--help']) && starts('xvfb-run', ['--help']) ? openWebKit : null,
  Firefox: firefoxName() === undefined ? null : openFirefox,
};

function firefoxName(): string | undefined {
  return ['firefox-esr', 'firefox'].find((name) => starts(name, ['--version']));
}

/** It ends with the processes that it starts itself, which are in a group of its own. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

/** By W3C WebDriver, over HTTP: WebKitGTK's own driver, on a screen that nobody sees. */
async function openWebKit(): Promise<OtherPage> {
  const port = await freePort();
  const command = ['-a', 'WebKitWebDriver', `--port=${port}`];
  const driver = spawn('xvfb-run', command, { detached: true, stdio: 'ignore' });
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...text });
    const { value } = (await answer.json()) as { value: unknown };
    if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(value)}`);
    return value;
  };
  while ((await ask('GET', '/status').catch(() => undefined)) === undefined) {
    if (driver.exitCode !== null) throw new Error(`WebKitWebDriver ended: ${driver.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const session = (await ask('POST', '/session', { capabilities: {} })) as { sessionId: string };
  const at = `/session/${session.sessionId}`;
  const evaluate = (expression: string) =>
    ask('POST', `${at}/execute/sync`, { script: `return (${expression})`, args: [] });
  return {
    goto: async (url) => void (await ask('POST', `${at}/url`, { url })),
    evaluate,
    async click(element) {
      const [id] = Object.values((await evaluate(element)) as Record<string, string>);
      await ask('POST', `${at}/element/${id}/click`, {});
    },
    async close() {
      await ask('DELETE', at).catch(() => {});
      await end(driver);
    },
  };
}

interface Reply {
  readonly id?: number;
  readonly type: string;
  readonly message?: string;
  readonly result?: unknown;
}

/** By WebDriver BiDi, which Firefox speaks itself. */
async function openFirefox(): Promise<OtherPage> {
  const profile = await mkdtemp(join(tmpdir(), 'callboard-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'];
  const browser = spawn(firefoxName() ?? '', args, {
    ...{ detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  });
  const url = await addressOf(browser);
  const socket = new WebSocket(`${url}/session`);
  await once(socket, 'open');
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    waiting.get(reply.id ?? 0)?.(reply);
  });
  let last = 0;
  const ask = async <T>(method: string, params: object): Promise<T> => {
    last += 1;
    const id = last;
    const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { type, message, result } = await replied;
    if (type === 'error') throw new Error(`${method}: ${message}`);
    return result as T;
  };
  await ask('session.new', { capabilities: {} });
  const { contexts } = await ask<{ contexts: { context: string }[] }>(
    'browsingContext.getTree',
    {},
  );
  const context = contexts[0]?.context ?? '';
  const run = (expression: string) =>
    ask<{ result?: Remote; exceptionDetails?: { text: string } }>('script.evaluate', {
      ...{ expression, target: { context }, awaitPromise: true },
    });
  return {
    goto: (url) => ask('browsingContext.navigate', { context, url, wait: 'complete' }),
    async evaluate(expression) {
      const json = `Promise.resolve(${expression}).then((value) => JSON.stringify(value))`;
      const { result, exceptionDetails } = await run(json);
      if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.text}`);
      return result?.value === undefined ? undefined : JSON.parse(result.value);
    },
    async click(element) {
      const { result } = await run(element);
      const origin = { type: 'element', element: { sharedId: result?.sharedId } };
      const actions = [
        { type: 'pointerMove', x: 0, y: 0, origin },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      const mouse = { type: 'pointer', id: 'mouse', actions };
      await ask('input.performActions', { context, actions: [mouse] });
    },
    async close() {
      socket.close();
      await end(browser);
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Remote {
  readonly value?: string;
  readonly sharedId?: string;
}

async function addressOf({ stderr }: ChildProcess): Promise<string> {
  let told = '';
  for await (const chunk of stderr ?? []) {
    told += String(chunk);
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(told)?.[1];
    if (address) return address;
  }
  throw new Error(`Firefox ended: ${told}`);
}
