import type { ClientToolContext } from '../client/client-tool.ts';
import { ToolFailure } from '../client/tool-failure.ts';
import { errorMessage } from '../util/error-message.ts';
import type { DevicePrompts, PersonPrompt } from './device-prompts.ts';
import { isNotAllowed } from './permission-denied.ts';

/** The person was asked, and did not want to. */
export const declined = (what: string): ToolFailure =>
  new ToolFailure(
    'declined',
    `The person at this device declined ${what}. Ask them in the conversation before you call it again.`,
  );

export interface TouchQuestion extends Pick<PersonPrompt, 'tool' | 'message' | 'detail'> {
  /** To follow "declined", e.g. `to choose files`. */
  readonly what: string;
}

/**
 * Asks the person for a touch, and acts inside it: browsers permit some things nowhere else (BT60).
 * The clock of the call stands still until `act` has ended.
 */
export function withTouch<T>(
  prompts: DevicePrompts,
  { tool, message, what, detail }: TouchQuestion,
  context: ClientToolContext,
  act: () => Promise<T>,
): Promise<T> {
  const { callId, signal } = context;
  return context.askDevice(async () => {
    let started: Promise<T> | undefined;
    const onAllow = () => {
      if (!signal.aborted) started ??= act();
    };
    const answer = await prompts.ask({ callId, tool, message, detail, signal, onAllow });
    signal.throwIfAborted();
    if (answer === 'denied') throw declined(what);
    // A page that does not call it in the click: most browsers count the touch a moment longer.
    onAllow();
    try {
      return await (started ?? act());
    } catch (error) {
      if (isAbort(error)) throw declined(what);
      if (isNotAllowed(error)) throw needsPerson(tool, error);
      throw error;
    }
  });
}

const needsPerson = (tool: string, error: unknown): ToolFailure =>
  new ToolFailure(
    'needs_person',
    `The browser permits ${tool} only in a touch of the page, and did not count this one: ${errorMessage(error)}. The person can touch the page and the call can be repeated.`,
  );

/** A browser's own window that the person closed. */
const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';
