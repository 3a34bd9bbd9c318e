import { createStore, type StoreApi } from 'zustand/vanilla';
import type { DevicePrompts } from '../browser-tools/device-prompts.ts';

/** A question to the person at this device, asked by a tool that this tab runs. */
export interface DevicePrompt {
  readonly id: number;
  readonly callId: string;
  readonly tool: string;
  /** The tool's own words, in English. */
  readonly message: string;
}

export interface DevicePromptsState extends DevicePrompts {
  /** Oldest first; the first one is shown. */
  readonly waiting: readonly DevicePrompt[];
  decide(id: number, answer: 'allowed' | 'denied'): void;
}

export type DevicePromptsStore = StoreApi<DevicePromptsState>;

/** Questions to the person, one after the other, each answered exactly once (SP1, SP2). */
export function createDevicePromptsStore(): DevicePromptsStore {
  const answers = new Map<number, (answer: 'allowed' | 'denied') => void>();
  let lastId = 0;
  return createStore((set) => ({
    waiting: [],
    ask: ({ callId, tool, message, signal }) => {
      if (signal.aborted) return Promise.resolve('denied');
      lastId += 1;
      const id = lastId;
      set((state) => ({ waiting: [...state.waiting, { id, callId, tool, message }] }));
      return new Promise((resolve) => {
        const abandon = () => settle('denied');
        const settle = (answer: 'allowed' | 'denied') => {
          answers.delete(id);
          signal.removeEventListener('abort', abandon);
          set((state) => ({ waiting: state.waiting.filter((one) => one.id !== id) }));
          resolve(answer);
        };
        answers.set(id, settle);
        signal.addEventListener('abort', abandon);
      });
    },
    decide: (id, answer) => answers.get(id)?.(answer),
  }));
}
