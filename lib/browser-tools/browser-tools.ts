import type { ClientToolDefinition } from '../client/client-tool.ts';
import type { DevicePrompts } from './browser-env.ts';
import type { BrowserEnv } from './create-browser-env.ts';
import {
  createClipboardReadTool,
  createClipboardWriteTool,
  createContactsTool,
  createFileTool,
  createShareTool,
} from './data-tools.ts';
import { createCameraTool, createMicrophoneTool, createScanTool } from './media-tools.ts';
import {
  createBatteryTool,
  createDeviceInfoTool,
  createNetworkTool,
  createPageOpenTool,
  createPageTextTool,
} from './page-tools.ts';
import { createDisplayTool, createNotificationTool, createVibrateTool } from './person-tools.ts';
import {
  createGeolocationTool,
  createGeolocationWatchTool,
  createSensorsTool,
} from './place-tools.ts';
import { createScreenshotTool } from './screenshot-tool.ts';
import { createListenTool, createSpeakTool } from './speech-tools.ts';

/** The tool, or null where this browser lacks what it needs (BT1). */
type Create = (env: BrowserEnv, prompts: DevicePrompts) => ClientToolDefinition | null;

/** Every tool of a browser by its name, as pages list them: by group, in this order. */
const TOOLS = {
  page: {
    'browser.screenshot': (env, prompts) => createScreenshotTool(env, prompts),
    'page.text': (env) => createPageTextTool(env),
    'page.open': ({ windows }, prompts) => createPageOpenTool({ windows, prompts }),
  },
  person: {
    'display.show': (_env, { show }) => (show ? createDisplayTool({ show }) : null),
    'notification.show': ({ notifications, ...env }, prompts) =>
      notifications && createNotificationTool({ ...env, notifications, prompts }),
    'speech.say': ({ voice }, prompts) => voice && createSpeakTool({ voice, prompts }),
    'speech.listen': ({ listening, ...env }, prompts) =>
      listening && createListenTool({ ...env, listening, prompts }),
    vibrate: ({ vibration }, prompts) => vibration && createVibrateTool({ vibration, prompts }),
  },
  place: {
    'geolocation.get': ({ geolocation, ...env }) =>
      geolocation && createGeolocationTool({ ...env, geolocation }),
    'geolocation.watch': ({ geolocation, ...env }) =>
      geolocation && createGeolocationWatchTool({ ...env, geolocation }),
    'sensors.read': ({ sensors }, prompts) => sensors && createSensorsTool({ sensors, prompts }),
  },
  media: {
    'camera.photo': ({ camera, ...env }) => camera && createCameraTool({ ...env, camera }),
    'camera.scan': ({ camera, codes, ...env }) =>
      camera && codes && createScanTool({ ...env, camera, codes }),
    'microphone.record': ({ microphone, ...env }) =>
      microphone && createMicrophoneTool({ ...env, microphone }),
  },
  data: {
    'clipboard.read': ({ clipboard, ...env }, prompts) =>
      clipboard && createClipboardReadTool({ ...env, clipboard, prompts }),
    'clipboard.write': ({ clipboard, ...env }, prompts) =>
      clipboard && createClipboardWriteTool({ ...env, clipboard, prompts }),
    'file.pick': ({ files }, prompts) => createFileTool({ files, prompts }),
    'contacts.pick': ({ contacts }, prompts) =>
      contacts && createContactsTool({ contacts, prompts }),
    'share.send': ({ share }, prompts) => share && createShareTool({ share, prompts }),
  },
  device: {
    'device.info': (env) => createDeviceInfoTool(env),
    'battery.read': (env) => (env.hasBattery ? createBatteryTool(env) : null),
    'network.read': (env) => createNetworkTool(env),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Create>>>>;

export type BrowserToolGroup = keyof typeof TOOLS;

export interface GroupedTool {
  readonly group: BrowserToolGroup;
  readonly tool: ClientToolDefinition;
}

/** Tools that mean something on a phone alone; the workbench's own tab does not offer them. */
export const PHONE_TOOLS: ReadonlySet<string> = new Set([
  'vibrate',
  'sensors.read',
  'contacts.pick',
]);

/** This browser can offer these, by group and always in the same order: for a page with a switch for each. */
export function groupedBrowserTools(env: BrowserEnv, prompts: DevicePrompts): GroupedTool[] {
  const groups = Object.entries(TOOLS) as [BrowserToolGroup, Record<string, Create>][];
  return groups.flatMap(([group, creates]) =>
    Object.values(creates).flatMap((create) => {
      const tool = create(env, prompts);
      return tool ? [{ group, tool }] : [];
    }),
  );
}

/** Every tool that this browser can offer, and none that it cannot (BT1). */
export const createBrowserTools = (
  env: BrowserEnv,
  prompts: DevicePrompts,
): ClientToolDefinition[] => groupedBrowserTools(env, prompts).map(({ tool }) => tool);
