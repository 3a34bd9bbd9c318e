/** Of the tabs of this browser the newest is the device: two would be asked the same. */
export function onlyPage(id: string, onTaken: () => void): { take(): void; end(): void } {
  const name = `callboard:device:${id}`;
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(name) : null;
  channel?.addEventListener('message', onTaken);
  const take = () => channel?.postMessage('taken');
  take();
  return { take, end: () => channel?.close() };
}
