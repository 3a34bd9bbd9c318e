import type { AreaMessages } from '../area-messages.ts';

/** Rules of "always" in words. */
export const cardAlways = {
  en: {
    any: 'with any arguments',
    bound: 'where {list}; other arguments: {others}',
    and: ' and ',
    is: '{name} is {value}',
    startsWith: '{name} begins with {value}',
    atMost: '{name} is at most {value}',
    others: { any: 'any', none: 'none' },
    othersLabel: 'Other arguments',
    anyOf: '{name}: any value',
    same: '{name}: this value',
    limit: '{name}: at most…',
    uses: '{count, plural, one {for 1 call} other {for # calls}}',
    allowedBy: 'Not asked about: a rule of {name} allows it',
    about: ', by {names}',
    use: ' · use {use} of {uses}',
  },
  zh: {
    any: '参数不限',
    bound: '要求 {list}；其他参数：{others}',
    and: '，且 ',
    is: '{name} 为 {value}',
    startsWith: '{name} 以 {value} 开头',
    atMost: '{name} 不超过 {value}',
    others: { any: '不限', none: '没有' },
    othersLabel: '其他参数',
    anyOf: '{name}：任意值',
    same: '{name}：此值',
    limit: '{name}：不超过…',
    uses: '{count} 次调用',
    allowedBy: '未询问：{name} 的规则允许此调用',
    about: '，依据 {names}',
    use: ' · 第 {use}/{uses} 次使用',
  },
} as const satisfies AreaMessages;
