import { createStore, type StoreApi } from 'zustand/vanilla';
import type { PersonPrompt } from '#lib/browser-tools/browser-env';
import type { BrowserToolGroup } from '#lib/browser-tools/browser-tools';
import { listOf, number, oneOf, optional, recordOf, shape, text } from '#lib/client/guards/guard';
import type { Transport } from '#lib/client/transports';
import { CLOCKS } from '#lib/protocol/limits';
import type { RejectedTool, ToolSpec } from '#lib/protocol/tool-spec';
import type { DeviceMemory } from './device-memory.ts';

/** `ask`: each time. `open`: runs while the page is in front, asks while it is hidden. */
export const RULES = ['off', 'ask', 'open'] as const;
export type Rule = (typeof RULES)[number];

export type Connection =
  | { readonly state: 'starting' | 'connecting' | 'connected' | 'elsewhere' }
  | { readonly state: 'reconnecting'; readonly attempt: number; readonly retryAt: number }
  /** The server does not accept the token any more. */
  | { readonly state: 'revoked' | 'unknown' }
  /** A person at the workbench ended it; the token counts still. */
  | { readonly state: 'disconnected' }
  | { readonly state: 'refused' | 'failed'; readonly reason: string };

/** What a call asks of the person here. */
export interface Question {
  readonly callId: string;
  readonly tool: string;
  readonly requestedBy: string | undefined;
  /** In the tool's own words, where it asks for a tap of its own. */
  readonly message?: string | undefined;
  /** Which of the page's own questions for this tool. */
  readonly variant?: PersonPrompt['variant'];
  /** What it is about, in words of others. */
  readonly detail?: string | undefined;
  /** Called inside the tap that allows: a browser opens some of its windows nowhere else. */
  readonly onAllow?: (() => void) | undefined;
  /** What is shown in place of the question whether a tool may run. */
  readonly shown?: Shown | undefined;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  /** It would have run without asking, had the page been in front. */
  readonly isHiddenRule?: boolean;
  readonly signal: AbortSignal;
}

/** A question of the caller's own; all texts are words of others. */
export interface Shown {
  readonly title: string | undefined;
  readonly text: string | undefined;
  /** An address that this page may load. */
  readonly picture: string | undefined;
  readonly buttons: readonly string[];
  readonly input: boolean;
}

export interface Ask extends Omit<Question, 'signal' | 'onAllow'> {
  readonly id: number;
  /** Milliseconds since the epoch; the server ends the call then. */
  readonly endsAt: number;
}

export interface Decision {
  readonly isAllowed: boolean;
  /** Why not; or what the person wrote. */
  readonly reason: string;
  /** Of a shown question: which of its buttons. */
  readonly button?: number;
}

export interface Use {
  readonly callId: string;
  readonly tool: string;
  readonly requestedBy?: string | undefined;
  readonly at: number;
  readonly ms: number;
  readonly outcome: 'done' | 'declined' | 'failed' | 'cancelled';
}

/** A call that uses this device now. */
export interface Running {
  readonly callId: string;
  readonly tool: string;
  readonly requestedBy: string | undefined;
  /** For the person here. */
  stop(): void;
}

/** What this browser can offer, and where it is listed. */
export interface OwnTool {
  readonly group: BrowserToolGroup;
  readonly spec: ToolSpec;
}

export interface DeviceState {
  readonly connection: Connection;
  readonly transport: Transport | null;
  readonly tools: readonly OwnTool[];
  readonly rules: Readonly<Record<string, Rule>>;
  /** Why the server did not take a tool, by its name. */
  readonly rejected: Readonly<Record<string, { code: string; message: string }>>;
  readonly permissions: Readonly<Record<string, 'granted' | 'prompt' | 'denied'>>;
  /** Oldest first; the first one is shown. */
  readonly asks: readonly Ask[];
  /** Oldest first. */
  readonly running: readonly Running[];
  /** Newest first. */
  readonly uses: readonly Use[];
  setRule(tool: string, rule: Rule): void;
  /** The server does not take these tools; it takes those that a person decided on and that are not among them. */
  noteAdmission(rejected: readonly RejectedTool[], decided: readonly string[]): void;
  ask(question: Question): Promise<Decision>;
  decide(id: number, decision: Decision): void;
  /** Whether the tap by which a person allowed this call is still being handled. */
  isInTap(callId: string): boolean;
  /** Shows a call until the function that it returns is called. */
  show(running: Running): () => void;
  noteUse(use: Use): void;
  clearUses(): void;
}

export type DeviceStore = StoreApi<DeviceState>;

/** Of the last uses. */
const MOST_USES = 20;

const keptRules = recordOf<Rule>(oneOf(...RULES));
const keptUses = listOf(
  shape<Use>({
    callId: text,
    tool: text,
    requestedBy: optional(text),
    at: number,
    ms: number,
    outcome: oneOf('done', 'declined', 'failed', 'cancelled'),
  }),
);

/** The one that counts where a person has set none. */
export const ruleOf = (rules: DeviceState['rules'], tool: string): Rule =>
  (Object.hasOwn(rules, tool) ? rules[tool] : undefined) ?? 'ask';

export function createDeviceStore(memory: DeviceMemory, now: () => number = Date.now): DeviceStore {
  const answers = new Map<number, (decision: Decision) => void>();
  let lastId = 0;
  /** The call that the tap allows. What follows the tap at once is inside it; a timer comes after. */
  let tapped: string | undefined;
  return createStore((set, get) => ({
    connection: { state: 'starting' },
    transport: null,
    tools: [],
    rules: memory.read(':rules', keptRules) ?? {},
    rejected: {},
    permissions: {},
    asks: [],
    running: [],
    uses: (memory.read(':uses', keptUses) ?? []).slice(0, MOST_USES),
    setRule(tool, rule) {
      const rules = { ...get().rules, [tool]: rule };
      memory.write(':rules', rules);
      set({ rules });
    },
    noteAdmission(rejected, decided) {
      const known = Object.entries(get().rejected).filter(([name]) => !decided.includes(name));
      const now = rejected.map(({ name, code, message }) => [name, { code, message }] as const);
      set({ rejected: Object.fromEntries([...known, ...now]) });
    },
    ask({ signal, onAllow, ...question }) {
      if (signal.aborted) return Promise.resolve({ isAllowed: false, reason: '' });
      lastId += 1;
      const id = lastId;
      const ask: Ask = { ...question, id, endsAt: now() + CLOCKS.approvalMs };
      set({ asks: [...get().asks, ask] });
      return new Promise((resolve) => {
        const settle = (decision: Decision) => {
          answers.delete(id);
          signal.removeEventListener('abort', abandon);
          if (decision.isAllowed) onAllow?.();
          set({ asks: get().asks.filter((one) => one.id !== id) });
          resolve(decision);
        };
        const abandon = () => settle({ isAllowed: false, reason: '' });
        answers.set(id, settle);
        signal.addEventListener('abort', abandon);
      });
    },
    decide(id, decision) {
      const ask = get().asks.find((one) => one.id === id);
      tapped = decision.isAllowed ? ask?.callId : undefined;
      setTimeout(() => {
        tapped = undefined;
      });
      answers.get(id)?.(decision);
    },
    isInTap: (callId) => callId === tapped,
    show(shown) {
      set({ running: [...get().running, shown] });
      return () => set({ running: get().running.filter((one) => one !== shown) });
    },
    noteUse(use) {
      const uses = [use, ...get().uses].slice(0, MOST_USES);
      set({ uses });
      try {
        memory.write(':uses', uses);
      } catch {
        // No room: the list ends with the page, and the call that it is of does not fail for it.
      }
    },
    clearUses() {
      memory.write(':uses', []);
      set({ uses: [] });
    },
  }));
}
