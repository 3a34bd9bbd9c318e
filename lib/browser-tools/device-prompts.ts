/** How a tool asks the person at this browser for a tap; the page draws it. */
export interface DevicePrompts {
  /** Resolves once the person has decided. The tap that allows counts as a user's gesture. */
  ask(request: {
    readonly callId: string;
    readonly tool: string;
    readonly message: string;
    /** Aborted when the call has ended meanwhile: the question is then to go away. */
    readonly signal: AbortSignal;
  }): Promise<'allowed' | 'denied'>;
}
