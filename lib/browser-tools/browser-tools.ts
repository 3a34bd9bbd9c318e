import type { ClientToolDefinition } from '../client/client-tool.ts';
import type { BrowserEnv } from './browser-env.ts';
import { createCameraTool } from './camera-tool.ts';
import { createClipboardReadTool, createClipboardWriteTool } from './clipboard-tools.ts';
import { createDeviceInfoTool } from './device-info-tool.ts';
import type { DevicePrompts } from './device-prompts.ts';
import { createGeolocationTool } from './geolocation-tool.ts';
import { createNotificationTool } from './notification-tool.ts';
import { createPageTextTool } from './page-text-tool.ts';
import { createScreenshotTool } from './screenshot-tool.ts';

/** Every tool that this browser can offer, and none that it cannot (BT1). */
export function createBrowserTools(
  env: BrowserEnv,
  prompts: DevicePrompts,
): ClientToolDefinition[] {
  const { geolocation, camera, clipboard, notifications } = env;
  return [
    createScreenshotTool(env, prompts),
    createDeviceInfoTool(env),
    createPageTextTool(env),
    ...(geolocation ? [createGeolocationTool({ ...env, geolocation })] : []),
    ...(camera ? [createCameraTool({ ...env, camera })] : []),
    ...(clipboard ? [createClipboardReadTool({ ...env, clipboard })] : []),
    ...(clipboard ? [createClipboardWriteTool({ ...env, clipboard })] : []),
    ...(notifications ? [createNotificationTool({ ...env, notifications })] : []),
  ];
}
