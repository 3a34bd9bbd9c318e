import type { AreaMessages } from '../area-messages.ts';

/** What was written or chosen, and not sent, when another person decided. */
export const cardKept = {
  en: {
    denied: '{name} denied this before you. What you wrote was not sent.',
    allowed: '{name} allowed this before you. What you wrote was not sent.',
    declined:
      '{name} declined this before you. {what, select, chosen {What you chose} other {What you wrote}} was not sent.',
    answered:
      '{name} answered this before you. {what, select, chosen {What you chose} other {What you wrote}} was not sent.',
    ended:
      'This ended before you decided. {what, select, chosen {What you chose} other {What you wrote}} was not sent.',
    text: 'What you wrote',
    copy: 'Copy the text',
  },
  zh: {
    denied: '{name} 在你之前拒绝了它。你写的内容没有发送。',
    allowed: '{name} 在你之前允许了它。你写的内容没有发送。',
    declined:
      '{name} 在你之前选择不回答。你{what, select, chosen {选择} other {写}}的内容没有发送。',
    answered: '{name} 在你之前回答了它。你{what, select, chosen {选择} other {写}}的内容没有发送。',
    ended: '它在你决定之前已经结束。你{what, select, chosen {选择} other {写}}的内容没有发送。',
    text: '你写的内容',
    copy: '复制文字',
  },
} as const satisfies AreaMessages;
