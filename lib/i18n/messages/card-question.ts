import type { AreaMessages } from '../area-messages.ts';

/** A question of a model, which a person answers on its card. */
export const cardQuestion = {
  en: {
    tip: 'The agent asks a person.',
    field: 'Your answer',
    several: 'Choose one or more',
    yes: 'Yes',
    no: 'No',
    answer: 'Answer',
    decline: 'Decline',
    declineWith: 'Decline…',
    unreadable: 'This question cannot be shown. It can be declined.',
    answeredBy: 'Answered by {name}',
    declinedBy: 'Declined by {name}',
    declined: 'The person who was asked declined to answer.',
    expired: 'No person answered in time.',
    announce: 'The agent asks a question, which waits for an answer.',
    forOperators: 'An operator or administrator answers this question.',
  },
  zh: {
    tip: '智能体向人提问。',
    field: '你的回答',
    several: '可选一项或多项',
    yes: '是',
    no: '否',
    answer: '回答',
    decline: '不回答',
    declineWith: '不回答…',
    unreadable: '无法显示此问题，但可以选择不回答。',
    answeredBy: '已由 {name} 回答',
    declinedBy: '{name} 选择不回答',
    declined: '被问的人选择不回答。',
    expired: '没有人及时回答。',
    announce: '智能体提出了问题，正在等待回答。',
    forOperators: '由操作员或管理员回答此问题。',
  },
} as const satisfies AreaMessages;
