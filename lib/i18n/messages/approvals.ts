import type { AreaMessages } from '../area-messages.ts';

/** The page of all that waits for a person. */
export const approvals = {
  en: {
    title: 'Approvals',
    text: 'Calls of all conversations that wait for a person. The first decision counts.',
    waiting: 'Waiting',
    decided: 'Decided',
    none: 'Nothing waits for a decision.',
    loading: 'Fetching what waits…',
    stale: 'The connection is lost. What is here is the last known state.',
    from: 'Asked by {caller} {ago},',
    agent: 'the agent',
    agentOf: 'the agent of {owner}',
    subAgent: 'the sub-agent {agent}',
    subAgentOf: 'the sub-agent {agent} of {owner}',
    inRun: 'in {run}',
    more: 'Show more ({count})',
    leftOut:
      '{count, plural, one {# more call waits} other {# more calls wait}} than could be sent at once.',
    fetch: 'Fetch more',
    notFetched: 'What else waits could not be fetched',
  },
  zh: {
    title: '待批准',
    text: '所有对话中等待人来决定的调用。以第一个决定为准。',
    waiting: '等待中',
    decided: '已决定',
    none: '没有等待决定的调用。',
    loading: '正在获取等待中的调用…',
    stale: '连接已断开，这里是最后已知的状态。',
    from: '由 {caller} 于{ago}请求，',
    agent: '智能体',
    agentOf: '{owner} 的智能体',
    subAgent: '子智能体 {agent}',
    subAgentOf: '{owner} 的子智能体 {agent}',
    inRun: '属于 {run}',
    more: '显示更多（{count}）',
    leftOut: '还有 {count, plural, other {# 个}}调用在等待，无法一次全部发送。',
    fetch: '获取更多',
    notFetched: '未能获取其余等待中的调用',
  },
} as const satisfies AreaMessages;
