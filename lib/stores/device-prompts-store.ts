import { createStore, type StoreApi } from 'zustand/vanilla';
import type {
  DevicePrompts,
  PersonAnswer,
  PersonPrompt,
  PersonQuestion,
} from '../browser-tools/browser-env.ts';

/** A prompt is shown without the signal of its call. */
type Shown<Prompt> = Omit<Prompt, 'signal'> & { readonly id: number };

/** A question to the person at this device, asked by a tool that this tab runs. */
export type DevicePrompt =
  | (Shown<PersonPrompt> & { readonly kind: 'touch' })
  | (Shown<PersonQuestion> & { readonly kind: 'question' });

export interface DevicePromptsState extends Required<Omit<DevicePrompts, 'isInTap'>> {
  /** Oldest first; the first one is shown. */
  readonly waiting: readonly DevicePrompt[];
  /** Answers a touch. To be called inside the click. */
  decide(id: number, answer: Decision): void;
  /** Answers a question. */
  answer(id: number, answer: PersonAnswer): void;
}

export type DevicePromptsStore = StoreApi<DevicePromptsState>;

type Decision = 'allowed' | 'denied';

interface Ending<Answer> {
  readonly signal: AbortSignal;
  /** The answer when the call ends meanwhile. */
  readonly ended: Answer;
  readonly onAnswer?: (answer: Answer) => void;
}

/** Questions to the person, one after the other, each answered exactly once (SP1, SP2). */
export function createDevicePromptsStore(): DevicePromptsStore {
  const decisions = new Map<number, (answer: Decision) => void>();
  const answers = new Map<number, (answer: PersonAnswer) => void>();
  let lastId = 0;
  return createStore((set) => {
    function wait<Answer>(
      toPrompt: (id: number) => DevicePrompt,
      open: Map<number, (answer: Answer) => void>,
      { signal, ended, onAnswer }: Ending<Answer>,
    ): Promise<Answer> {
      if (signal.aborted) return Promise.resolve(ended);
      lastId += 1;
      const id = lastId;
      set((state) => ({ waiting: [...state.waiting, toPrompt(id)] }));
      return new Promise((resolve) => {
        const abandon = () => settle(ended);
        const settle = (answer: Answer) => {
          open.delete(id);
          signal.removeEventListener('abort', abandon);
          set((state) => ({ waiting: state.waiting.filter((one) => one.id !== id) }));
          resolve(answer);
        };
        open.set(id, (answer) => {
          onAnswer?.(answer);
          settle(answer);
        });
        signal.addEventListener('abort', abandon);
      });
    }

    return {
      waiting: [],
      async ask({ signal, onAllow, ...prompt }) {
        const toPrompt = (id: number): DevicePrompt => ({ ...prompt, id, kind: 'touch' });
        const onAnswer = (answer: Decision) => {
          // First of all: a browser counts what happens inside the click alone (SP60).
          if (answer === 'allowed') onAllow?.();
        };
        return wait(toPrompt, decisions, { signal, ended: 'denied', onAnswer });
      },
      show: ({ signal, ...question }) =>
        wait((id) => ({ ...question, id, kind: 'question' }), answers, { signal, ended: 'closed' }),
      decide: (id, answer) => decisions.get(id)?.(answer),
      answer: (id, answer) => answers.get(id)?.(answer),
    };
  });
}
