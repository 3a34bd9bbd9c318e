import {
  createBrowserEnvironment,
  createBrowserParts,
  openIndexedDbJournal,
} from '../browser-environment.ts';
import type { Journal, JournalEntry } from '../journal.ts';
import { createToolClient } from '../tool-client.ts';

/** What the tests of the journal and of reloading drive in a real page. */
const journals: Journal[] = [];

function at(index: number): Journal {
  const journal = journals[index];
  if (!journal) throw new Error(`no journal ${index}`);
  return journal;
}

const rig = {
  async openJournal(instanceId: string, maxBytes: number, now = Date.now()) {
    journals.push(
      await openIndexedDbJournal({
        indexedDb: indexedDB,
        instanceId,
        maxBytes,
        now: () => now,
        newId: () => `epoch-${Math.random()}`,
      }),
    );
    return { index: journals.length - 1, epoch: at(journals.length - 1).epoch };
  },
  entries: (index: number) => at(index).entries(),
  put: (index: number, entry: JournalEntry) => at(index).put(entry),
  delete: (index: number, id: string) => at(index).delete(id),
  close: (index: number) => at(index).close(),
  /** How often the page's environment was told of a wake-up by each of these events. */
  wakesBy(events: readonly (readonly ['window' | 'document', string])[]): number[] {
    let wakes = 0;
    const stop = createBrowserEnvironment().onWake(() => {
      wakes += 1;
    });
    const counts = events.map(([target, event]) => {
      wakes = 0;
      ({ window, document })[target].dispatchEvent(new Event(event));
      return wakes;
    });
    stop();
    return counts;
  },
  runs: () => Number(localStorage.getItem('runs') ?? 0),
  async start(url: string) {
    const client = createToolClient({
      url,
      name: 'page',
      kind: 'tab',
      ...createBrowserParts({ onProblem: console.error }),
      tools: [
        {
          name: 'door.open',
          description: 'Opens the door, and never comes back.',
          parameters: { type: 'object' },
          run() {
            localStorage.setItem('runs', `${rig.runs() + 1}`);
            return new Promise(() => {});
          },
        },
      ],
    });
    await client.start();
  },
};

declare global {
  interface Window {
    journalRig: typeof rig;
  }
}
Object.assign(window, { rig, journalRig: rig });
