import { useTranslations } from 'next-intl';
import type { DevicePrompt } from '#lib/stores/device-prompts-store';

/** What a touch is for: in the person's language for built-in tools, else in the tool's own words. */
export function useDeviceWords() {
  const asks = useTranslations('browserTools.asks');
  const does = useTranslations('browserTools.does');
  const t = useTranslations('shell.tab');
  return {
    question({ tool, message, variant }: DevicePrompt): string {
      const key = toKey(tool);
      if (key === 'browser_screenshot' && variant) return asks(`${key}_${variant}`);
      return isAsked(key) ? asks(key) : message;
    },
    allow({ tool }: DevicePrompt): string {
      const key = toKey(tool);
      return isAsked(key) ? does(key) : t('allow');
    },
  };
}

const ASKED = [
  ...(['browser_screenshot', 'page_open', 'notification_show', 'vibrate', 'sensors_read'] as const),
  ...(['speech_say', 'speech_listen'] as const),
  ...(['clipboard_read', 'clipboard_write', 'file_pick', 'contacts_pick', 'share_send'] as const),
];

const toKey = (tool: string): string => tool.replaceAll('.', '_');

const isAsked = (key: string): key is (typeof ASKED)[number] => ASKED.some((one) => one === key);
