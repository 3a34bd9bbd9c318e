/** Running a call again at another client, and calls that ask each of them. */
export const cardElsewhere = {
  en: {
    open: 'Run on another device…',
    title: 'Run {tool} on another device',
    note: 'A new call with the same arguments, by the rules for that device.',
    noteAgain:
      'A new call with the same arguments, by the rules for that device. The tool ran already, or may have: it may run twice.',
    list: 'Devices that offer {tool}',
    none: 'No device offers {tool} now. The list changes as devices come.',
    ran: 'It ran this call',
    silent: 'Does not answer',
    paused: 'Failed to deliver; asked again later',
    hidden: 'Hidden',
    otherSchema: 'Takes other arguments',
    all: 'All of them',
    more: '{count, plural, one {# more device offers it.} other {# more devices offer it.}}',
    calls: 'What each device was asked',
  },
  zh: {
    open: '在其他设备上运行…',
    title: '在其他设备上运行 {tool}',
    note: '用相同参数发起新的调用，按该设备的规则处理。',
    noteAgain:
      '用相同参数发起新的调用，按该设备的规则处理。该工具已执行或可能已执行：可能会执行两次。',
    list: '提供 {tool} 的设备',
    none: '现在没有设备提供 {tool}。有设备加入时，此列表会更新。',
    ran: '此调用由它执行',
    silent: '没有回应',
    paused: '未能送达；稍后再试',
    hidden: '在后台',
    otherSchema: '参数不同',
    all: '全部设备',
    more: '另有 {count, number} 个设备提供它。',
    calls: '对每个设备的调用',
  },
} as const;
