import { once } from 'node:events';
import { chromium } from '@playwright/test';
import { WebSocket } from 'ws';
import { startCallboard } from '../start-callboard.ts';
import { type Ratio, round, summarise } from './stats.ts';

const CALLS = 5_000;
const UPDATES_PER_SECOND = 500;
const SECONDS = 10;

/** 500 updates a second on 5,000 open calls, drawn by a real Chromium from the real server. */
export async function benchCards(
  chromiumPath: string,
): Promise<{ ratios: Ratio[]; detail: object }> {
  const callboard = await startCallboard();
  const client = await openCalls(callboard);
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(callboard.signInUrl);
    await page.getByTestId('tool-card').first().waitFor();
    // The baseline is what an idle page does in the same Chromium.
    const idle = await measureFrames(page);
    const stop = client.keepUpdating();
    const busy = await measureFrames(page);
    stop();
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
    return {
      ratios: [
        {
          name: `Cards: frames a second, ${UPDATES_PER_SECOND} updates/s on ${CALLS} calls`,
          ours: busy.fps,
          raw: idle.fps,
          unit: 'fps',
          ratio: round(busy.fps / idle.fps),
          target: '60 fps',
          met: busy.fps >= 59,
        },
        {
          name: 'Cards: longest task',
          ours: busy.longestTask,
          raw: idle.longestTask,
          unit: 'ms',
          ratio: round(busy.longestTask / Math.max(1, idle.longestTask)),
          target: '≤ 50 ms',
          met: busy.longestTask <= 50,
        },
      ],
      detail: { busy, idle, domNodes: nodes },
    };
  } finally {
    client.close();
    await browser.close();
    await callboard.remove();
  }
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof chromium.launch>>['newPage']>>;

/** Frame times and long tasks over some seconds, measured in the page. */
async function measureFrames(page: Page) {
  const { frames, tasks } = await page.evaluate(
    (ms) =>
      new Promise<{ frames: number[]; tasks: number[] }>((resolve) => {
        const tasks: number[] = [];
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) tasks.push(entry.duration);
        });
        observer.observe({ type: 'longtask' });
        const frames: number[] = [];
        const begin = performance.now();
        let last = begin;
        const frame = (now: number) => {
          frames.push(now - last);
          last = now;
          if (now - begin < ms) requestAnimationFrame(frame);
          else {
            observer.disconnect();
            resolve({ frames: frames.slice(1), tasks });
          }
        };
        requestAnimationFrame(frame);
      }),
    SECONDS * 1_000,
  );
  const { p50, p99 } = summarise(frames);
  const total = frames.reduce((sum, one) => sum + one, 0);
  return {
    fps: round((frames.length / total) * 1_000, 1),
    frameP50: p50,
    frameP99: p99,
    longTasks: tasks.length,
    longestTask: round(Math.max(0, ...tasks), 1),
  };
}

/** A client that takes every call and answers none, and tells of progress without end. */
async function openCalls(callboard: Awaited<ReturnType<typeof startCallboard>>) {
  const socket = new WebSocket(`${callboard.url.replace('http', 'ws')}/ws/client`, {
    headers: { authorization: `Bearer ${callboard.token}` },
  });
  await once(socket, 'open');
  const ids: string[] = [];
  const taken = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'tool_call_request' && ids.push(message.id) === CALLS) resolve();
    });
  });
  const tool = {
    name: 'endless',
    description: 'Works for a very long time',
    parameters: { type: 'object' },
    timeout_ms: 600_000,
  };
  socket.send(JSON.stringify({ type: 'register_tools', tools: [tool] }));
  const invoke = async (n: number) => {
    const answer = await callboard.http('POST', '/v1/tools/endless/invoke', {
      run_id: 'run_bench',
      args: { n, city: 'Berlin' },
    });
    if (answer.status === 404) return setTimeout(() => void invoke(n), 20);
    if (answer.status !== 202) throw new Error(`invoke said ${answer.status}`);
    return undefined;
  };
  for (let n = 0; n < CALLS; n += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, more) => invoke(n + more)));
  }
  await taken;
  return {
    keepUpdating() {
      let done = 0;
      const timer = setInterval(() => {
        for (let n = 0; n < UPDATES_PER_SECOND / 50; n++) {
          done += 1;
          const id = ids[(done * 7_919) % ids.length];
          const status = {
            type: 'tool_status',
            id,
            tip: `Step ${done}`,
            progress: { done, total: 100_000 },
          };
          socket.send(JSON.stringify(status));
        }
      }, 20);
      return () => clearInterval(timer);
    },
    close: () => socket.terminate(),
  };
}
