import type { AreaMessages } from '../area-messages.ts';

/** How tools did, on their page. */
export const toolsStatistics = {
  en: {
    title: 'Statistics',
    again: 'Read again',
    loading: 'Reading the statistics…',
    none: 'No call has ended yet.',
    noneOfTool: 'No call of this tool is among the newest that ended.',
    of: '{count, plural, one {Of the one call that has ended} other {Of the newest # calls that have ended}}; times are from the start of the tool to its end.',
    table: 'Statistics of all tools',
    column: {
      tool: 'Tool',
      count: 'Calls',
      success: 'Success',
      failed: 'Failed',
      p50: 'p50',
      p95: 'p95',
      p99: 'p99',
    },
    byCode: 'Failures by code',
    lastErrors: 'Last errors',
    call: 'Call {id}',
    byClient: 'By client',
  },
  zh: {
    title: '统计',
    again: '重新读取',
    loading: '正在读取统计…',
    none: '还没有已结束的调用。',
    noneOfTool: '最近结束的调用中没有此工具的调用。',
    of: '最近结束的 {count} 个调用；时间从工具开始到结束。',
    table: '全部工具的统计',
    column: {
      tool: '工具',
      count: '调用',
      success: '成功率',
      failed: '失败',
      p50: 'p50',
      p95: 'p95',
      p99: 'p99',
    },
    byCode: '按错误码统计的失败',
    lastErrors: '最近的错误',
    call: '调用 {id}',
    byClient: '按客户端',
  },
} as const satisfies AreaMessages;
