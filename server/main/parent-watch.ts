/** What is used of a process that may have been started with an IPC channel. */
export interface ParentChannel {
  /** Whether the channel is open; undefined when there never was one. */
  connected?: boolean | undefined;
  once(event: 'disconnect', listener: () => void): unknown;
  off(event: 'disconnect', listener: () => void): unknown;
  channel?: { unref(): void } | null | undefined;
}

/**
 * Calls `onExit` once when the launcher that started this process has ended; returns a function that unsubscribes.
 *
 * A signal reaches one process, not those that it started: npm ends of a SIGTERM and a launcher of
 * a SIGKILL without a word to the server, which would then keep the port and the data directory.
 * The operating system closes the launcher's end of the IPC channel in any case, so its closing is
 * the word. Started without a channel, by hand or by a service manager, nothing is watched.
 *
 * It may come on top of a signal: what it calls has to bear being asked to stop twice.
 */
export function watchParent(onExit: () => void, channel: ParentChannel = process): () => void {
  if (channel.connected === undefined) return () => {};
  if (!channel.connected) {
    // It ended before this listened; called later, so that the caller has the returned function first.
    const soon = setImmediate(onExit);
    return () => clearImmediate(soon);
  }
  channel.once('disconnect', onExit);
  // Listening keeps the channel open for ever; it must not keep a server alive that has ended.
  channel.channel?.unref();
  return () => channel.off('disconnect', onExit);
}
