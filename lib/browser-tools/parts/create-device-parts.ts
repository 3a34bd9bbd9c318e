import type { ChosenContact, DeviceParts } from '../device-parts.ts';
import { openCodeReader } from './code-reader.ts';
import { createSensors } from './create-sensors.ts';
import { createListening, createVoice } from './create-speech.ts';
import { recordSound } from './record-sound.ts';
import { rewritePicture } from './write-picture.ts';

interface ContactsManager {
  getProperties(): Promise<readonly string[]>;
  select(
    properties: readonly string[],
    options: { multiple: boolean },
  ): Promise<readonly ChosenContact[]>;
}

interface NetworkInformation {
  readonly type?: string;
  readonly effectiveType?: string;
  readonly downlink?: number;
  readonly rtt?: number;
  readonly saveData?: boolean;
}

/** What some browsers have beyond TypeScript's types. */
interface NavigatorParts {
  readonly contacts?: ContactsManager;
  readonly connection?: NetworkInformation;
  readonly share?: (data: ShareData) => Promise<void>;
  readonly canShare?: (data: ShareData) => boolean;
  readonly vibrate?: (pattern: number[]) => boolean;
  readonly mediaDevices?: MediaDevices;
}

/** The parts of the real browser beyond those of every tab. */
export function createDeviceParts(secure: boolean): DeviceParts {
  const parts: NavigatorParts = navigator;
  const { contacts, mediaDevices: media } = parts;
  // Looked up before any call: a browser forgets a tap meanwhile.
  const properties = contacts?.getProperties().catch(() => []) ?? Promise.resolve([]);
  const hasMedia = secure && media !== undefined && 'getUserMedia' in media;
  return {
    microphone:
      hasMedia && 'MediaRecorder' in window
        ? { open: () => media.getUserMedia({ audio: true }), record: recordSound }
        : null,
    codes: hasMedia ? { open: openCodeReader } : null,
    sensors: secure ? createSensors() : null,
    contacts:
      secure && contacts && 'select' in contacts
        ? {
            properties: () => properties,
            select: (properties, options) => contacts.select(properties, options),
          }
        : null,
    voice: createVoice(),
    listening: secure ? createListening() : null,
    share:
      secure && parts.share
        ? {
            canShare: (content) => navigator.canShare?.(content) ?? true,
            send: (content) => navigator.share(content),
          }
        : null,
    files: { pick: pickFiles, rewritePicture },
    vibration: parts.vibrate ? { start: (pattern) => navigator.vibrate([...pattern]) } : null,
    network: { read: () => describeNetwork(parts) },
    windows: { open: openWindow },
  };
}

function describeNetwork({ connection }: NavigatorParts): Record<string, unknown> {
  const { type, effectiveType, downlink, rtt, saveData } = connection ?? {};
  return {
    online: navigator.onLine,
    ...(type !== undefined && { type }),
    ...(effectiveType !== undefined && { effective_type: effectiveType }),
    ...(downlink !== undefined && { downlink_mbps: downlink }),
    ...(rtt !== undefined && { rtt_ms: rtt }),
    ...(saveData !== undefined && { save_data: saveData }),
  };
}

/**
 * Opens an address in a window of its own, inside a click; whether the browser did. With `noopener`
 * it would not report that, so an empty window is opened, separated from this page, and sent there.
 */
function openWindow(url: string): boolean {
  const opened = window.open('', '_blank');
  if (!opened) return false;
  opened.opener = null;
  opened.location.replace(url);
  return true;
}

/** Opens the browser's window that picks files; inside a click. Null when it was closed. */
function pickFiles(
  { accept, multiple }: { accept: string | undefined; multiple: boolean },
  signal: AbortSignal,
): Promise<readonly File[] | null> {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = multiple;
  if (accept !== undefined) input.accept = accept;
  // In the document, and hidden: Safari forgets one that is not.
  input.hidden = true;
  document.body.append(input);
  return new Promise<readonly File[] | null>((resolve) => {
    input.addEventListener('change', () => resolve([...(input.files ?? [])]));
    input.addEventListener('cancel', () => resolve(null));
    signal.addEventListener('abort', () => resolve(null), { once: true });
    input.click();
  }).finally(() => input.remove());
}
