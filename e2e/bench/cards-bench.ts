import { chromium } from '@playwright/test';
import { invoke } from '../contract/kit/calls.ts';
import { connectClient, spec } from '../contract/kit/tool-client.ts';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { atMost, type Ratio, round, summarise } from './stats.ts';

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
        atMost('Cards: longest task', 'ms', busy.longestTask, idle.longestTask, 50),
      ],
      detail: { busy, idle, domNodes: nodes },
    };
  } finally {
    await client.close();
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
async function openCalls(board: Callboard) {
  const client = await connectClient(board, { tools: [spec('endless', { timeout_ms: 600_000 })] });
  const ids: string[] = [];
  for (let n = 0; n < CALLS; n += 50) {
    const some = Array.from({ length: 50 }, (_, more) =>
      invoke(board, 'endless', { n: n + more, city: 'Berlin' }, { run_id: 'run_bench' }),
    );
    ids.push(...(await Promise.all(some)));
  }
  return {
    keepUpdating() {
      let done = 0;
      const timer = setInterval(() => {
        for (let n = 0; n < UPDATES_PER_SECOND / 50; n++) {
          done += 1;
          const id = ids[(done * 7_919) % ids.length];
          const progress = { done, total: 100_000 };
          client.send({ type: 'tool_status', id, tip: `Step ${done}`, progress });
        }
      }, 20);
      return () => clearInterval(timer);
    },
    close: () => client.vanish(),
  };
}
