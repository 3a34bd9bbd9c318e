import type { DevicePrompts } from '../browser-env.ts';
import type { BrowserEnv } from '../create-browser-env.ts';
import { SENSORS } from '../device-parts.ts';

const unused = (): never => {
  throw new Error('no tool is run here');
};

/** A browser that has every part, of which none is used: for what the tools are, not what they do. */
export const everyPart: BrowserEnv = {
  secureContext: true,
  geolocation: { get: unused, watch: unused },
  camera: { open: unused },
  display: { open: unused, sharesTabs: true },
  clipboard: { read: unused, write: unused, needsTouch: unused },
  notifications: { permission: unused, ask: unused, show: unused },
  page: { draw: unused, text: unused, title: '', url: '' },
  takeFrame: unused,
  device: unused,
  hasBattery: true,
  battery: unused,
  permission: unused,
  onStateChange: unused,
  visibility: unused,
  onTouch: unused,
  microphone: { open: unused, record: unused },
  codes: { open: unused },
  sensors: { names: SENSORS, needsTouch: unused, ask: unused, watch: unused },
  contacts: { properties: unused, select: unused },
  voice: { speak: unused },
  listening: { listen: unused },
  share: { canShare: unused, send: unused },
  files: { pick: unused, rewritePicture: unused },
  vibration: { start: unused },
  network: { read: unused },
  windows: { open: unused },
};

export const everyPrompt: Required<DevicePrompts> = {
  ask: unused,
  show: unused,
  isInTap: unused,
};
