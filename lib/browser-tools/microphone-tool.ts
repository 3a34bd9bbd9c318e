import type { ClientToolDefinition } from '../client/client-tool.ts';
import { defineClientTool } from '../client/define-client-tool.ts';
import { number } from '../client/tool-arguments.ts';
import type { BrowserEnv } from './browser-env.ts';
import { openStream } from './open-stream.ts';
import { stopStream } from './stop-stream.ts';
import { reportSeconds } from './wait-ms.ts';
import { withPermission } from './with-permission.ts';

type Env = Pick<BrowserEnv, 'permission'> & { microphone: NonNullable<BrowserEnv['microphone']> };

/** Below this the loudest moment is noise of the device itself. */
const SILENCE = 0.003;

/** A sound of some seconds; the microphone is on no longer than that. */
export const createMicrophoneTool = (env: Env): ClientToolDefinition =>
  defineClientTool({
    name: 'microphone.record',
    displayName: 'Record sound',
    description:
      'Records sound with the microphone of this device for some seconds, as a file beside the result. The person may be asked first.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    timeoutMs: 90_000,
    args: { seconds: number({ min: 0.5, max: 60, default: 10, description: 'How long.' }) },
    async run({ seconds }, context) {
      const { signal } = context;
      const open = () => openStream(env.microphone.open, 'The microphone', signal);
      const stream = await withPermission(env, 'microphone', context, open);
      let level = 0;
      const total = Math.ceil(seconds);
      const endReports = reportSeconds(total, (done) =>
        context.status({ progress: { done, total }, preview: { level } }),
      );
      try {
        const { blob, mediaType, durationMs, peak } = await env.microphone.record(stream, {
          ms: seconds * 1_000,
          signal,
          onLevel(now) {
            level = Math.round(now * 100) / 100;
          },
        });
        const isSilent = peak !== null && peak < SILENCE;
        const about = { media_type: mediaType, size: blob.size, duration_ms: durationMs };
        return {
          output: {
            ...about,
            ...(peak !== null && { peak: Math.round(peak * 1_000) / 1_000, silent: isSilent }),
            ...(isSilent && { note: 'Nothing can be heard: the microphone may be muted.' }),
          },
          attachments: [
            {
              blob,
              mediaType,
              name: `recording.${mediaType.split('/')[1] ?? 'webm'}`,
              alt: `Sound of ${(durationMs / 1_000).toFixed(1)} s`,
            },
          ],
        };
      } finally {
        endReports();
        stopStream(stream);
      }
    },
  });
