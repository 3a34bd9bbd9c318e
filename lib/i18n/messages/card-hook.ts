import type { AreaMessages } from '../area-messages.ts';

/** What hooks of the configuration did to a call. */
export const cardHook = {
  en: {
    changed_arguments: 'The hook {name} changed arguments: {keys}',
    asked: 'The hook {name} asks a person',
    cancelled: 'The hook {name} cancelled the call',
    changed_result: 'The hook {name} changed the result',
    failed: 'The hook {name} failed',
  },
  zh: {
    changed_arguments: '钩子 {name} 更改了参数：{keys}',
    asked: '钩子 {name} 要求人工确认',
    cancelled: '钩子 {name} 取消了调用',
    changed_result: '钩子 {name} 更改了结果',
    failed: '钩子 {name} 失败',
  },
} as const satisfies AreaMessages;
