/** What every question to the person at this browser has. */
export interface PersonPrompt {
  readonly callId: string;
  readonly tool: string;
  /** The tool's own words, in English; a page has words of its own for the tools of `browserTools`. */
  readonly message: string;
  /** Which of a page's own questions for this tool, where it has more than one. */
  readonly variant?: 'screens' | undefined;
  /** What it is about, in words of others: an address, a text to share. To be shown, never translated. */
  readonly detail?: string | undefined;
  /** Aborted when the call has ended meanwhile: the question is then to go away. */
  readonly signal: AbortSignal;
}

/** A picture of a question: one of the server's blobs, or its bytes. */
export type QuestionPicture = { readonly blobId: string } | { readonly dataUrl: string };

/** What `display.show` shows. All texts are words of others. */
export interface PersonQuestion extends PersonPrompt {
  readonly title: string | undefined;
  readonly text: string | undefined;
  readonly image: QuestionPicture | undefined;
  /** At most six, each chosen by a button of its own; none: there is only a way to close it. */
  readonly buttons: readonly string[];
  /** Whether the person may write something, too. */
  readonly input: boolean;
}

/** The button that was chosen, or that the question was closed; and what was written. */
export type PersonAnswer =
  | { readonly button: number; readonly text: string }
  | { readonly button: null; readonly text: string }
  | 'closed';

/** How a tool asks the person at this browser; the page draws it. */
export interface DevicePrompts {
  /**
   * Resolves once the person has decided. `onAllow` is called inside the click that allows, for
   * what a browser permits nowhere else: the window that picks a file, contacts, sharing.
   */
  ask(request: PersonPrompt & { readonly onAllow?: () => void }): Promise<'allowed' | 'denied'>;
  /** A question with its answer. A page without it does not offer `display.show`. */
  show?(question: PersonQuestion): Promise<PersonAnswer>;
  /** Whether the tap that has just allowed this very call is still being handled; a tap of before is no touch. */
  isInTap?(callId: string): boolean;
}
