import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import type { BrowserEnv } from './browser-env.ts';

type Env = Pick<BrowserEnv, 'device' | 'battery' | 'secureContext'>;

/** What kind of device and browser this is. */
export const createDeviceInfoTool = (env: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'device.info',
    displayName: 'Device',
    description:
      'Describes this device and browser: platform, screen, window, languages, time zone, connection, battery.',
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    timeoutMs: 5_000,
    args: {},
    async run() {
      const battery = await env.battery();
      return {
        output: {
          ...env.device(),
          ...(battery && { battery: { level: battery.level, charging: battery.charging } }),
          secure_context: env.secureContext,
        },
      };
    },
  });
