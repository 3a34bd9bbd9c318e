import type { AreaMessages } from '../area-messages.ts';

/** The clock of a card; a part of the card's messages. */
export const cardTime = {
  en: {
    left: {
      approval: '{time} left to decide',
      queue: '{time} left for a client to take it',
      start: 'sent; {time} left to take it',
      execute: '{time} left',
      resume: '{time} left for it to come back',
      cancel: '{time} left for it to stop',
    },
    ran: 'ran {time}',
    waited: 'waited {time}',
    running: 'running {elapsed} of {limit}',
    late: 'times out in {seconds} s',
    clockPaused: 'ran {elapsed} of {limit}, clock paused',
    counted: '{text} (counted here{since, select, none {} other {; offline since {since}}})',
  },
  zh: {
    left: {
      approval: '批准时限还剩 {time}',
      queue: '等待接手还剩 {time}',
      start: '已询问；接手还剩 {time}',
      execute: '剩余 {time}',
      resume: '等待返回还剩 {time}',
      cancel: '等待停止还剩 {time}',
    },
    ran: '执行用时 {time}',
    waited: '等待 {time}',
    running: '已执行 {elapsed}，限时 {limit}',
    late: '{seconds} 秒后超时',
    clockPaused: '已执行 {elapsed}，限时 {limit}，计时已停',
    counted: '{text}（在本地计时{since, select, none {} other {；自 {since} 起离线}}）',
  },
} as const satisfies AreaMessages;
