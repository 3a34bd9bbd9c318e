import type { AreaMessages } from '../area-messages.ts';

/** Why a call did not succeed, as its card says it. */
export const cardError = {
  en: {
    noReason: 'The call failed without a reason.',
    tool_error: 'The tool failed.',
    permission: 'The person or the browser refused permission.',
    invalid_args: 'The arguments do not fit the tool’s schema.',
    denied: 'The call was denied.',
    approval_expired: 'Nobody decided in time.',
    expiredAfter: 'Nobody decided within {limit}.',
    cancelled: 'The call was cancelled.',
    cancelledBy: 'Cancelled by {name}.',
    no_provider: 'No client offers this tool now.',
    client_disconnected: '{client} disconnected before it answered.',
    outcome_unknown: {
      left: '{client} disconnected during the call.',
      revoked: '{client} was revoked during the call.',
      back: '{client} came back and cannot tell whether the tool ran.',
      other: '{client} cannot tell whether the tool ran.',
    },
    reason: {
      not_offered: 'The model named a tool that it was not offered.',
      no_name: 'The model made a call without naming a tool.',
      too_many_calls: 'The model made more calls than may run in one step.',
      too_many_approvals:
        'As many calls as may wait for a decision waited already. This one did not run.',
      approval_rate:
        'As many questions as people may be asked within an hour were asked already. This one did not run.',
      not_alone: 'It ends the turn, and came with other calls, so it did not run.',
      repeated_call:
        'The model repeated a call that gave the same result each time, so it did not run again.',
      content_changed:
        '{name} changed after a person was asked about the call. Retry it to be asked about it as it is now.',
      rate_limited: 'There were already as many such calls as the policy allows in the time.',
      server_left: 'The MCP server {name} was lost during the call.',
      arguments_cut: 'The model reached its output limit while it wrote the arguments.',
      arguments_unreadable: 'The model wrote arguments that are not one JSON object.',
      arguments_incomplete: 'The model stopped before the arguments were complete.',
    },
    result_invalid: 'The answer was not a valid result.',
    result_too_large: 'The answer was too large to keep.',
    interrupted: 'The server was restarted during the call.',
    timeout: {
      approval: 'The person at {client} did not decide in time.',
      queue: 'No client took the call in time.',
      start: '{client} did not take the call in time.',
      execute: 'No answer within {limit}.',
      resume: '{client} did not come back in time.',
      cancel: '{client} did not confirm that it stopped.',
      other: 'The call ran out of time.',
    },
  },
  zh: {
    noReason: '调用失败，没有说明原因。',
    tool_error: '工具出错。',
    permission: '本人或浏览器拒绝了。',
    invalid_args: '参数不符合工具的模式。',
    denied: '调用已被拒绝。',
    approval_expired: '没有人及时处理。',
    expiredAfter: '{limit}内没有人处理。',
    cancelled: '调用已取消。',
    cancelledBy: '{name} 取消了调用。',
    no_provider: '目前没有客户端提供此工具。',
    client_disconnected: '{client}在答复之前离开了。',
    outcome_unknown: {
      left: '{client}在执行途中离开了。',
      revoked: '{client}在执行途中被撤销了授权。',
      back: '{client}已回来，但无法确定工具是否执行过。',
      other: '{client}无法确定工具是否执行过。',
    },
    reason: {
      not_offered: '模型调用了没有提供给它的工具。',
      no_name: '模型发出了没有工具名称的调用。',
      too_many_calls: '模型在一步中发出的调用超过了可执行的数量。',
      too_many_approvals: '等待决定的调用已达到上限，因此这一个没有执行。',
      approval_rate: '一小时内向人提出的请求已达到上限，因此这一个没有执行。',
      not_alone: '它会结束本轮，却与其他调用一起发出，因此没有执行。',
      repeated_call: '模型重复了同一个调用，而每次结果都相同，因此没有再次执行。',
      content_changed: '询问之后 {name} 有变化。重试会按现在的内容重新询问。',
      rate_limited: '这段时间内此类调用已达到策略允许的次数。',
      server_left: 'MCP 服务器 {name} 在执行途中断开了。',
      arguments_cut: '模型在写参数时达到了输出上限。',
      arguments_unreadable: '模型写出的参数不是一个 JSON 对象。',
      arguments_incomplete: '模型在参数写完之前停止了。',
    },
    result_invalid: '答复不是有效的结果。',
    result_too_large: '答复太大，无法保存。',
    interrupted: '执行途中服务器重新启动了。',
    timeout: {
      approval: '{client}旁的人没有及时决定。',
      queue: '没有客户端及时接手。',
      start: '{client}没有及时接手。',
      execute: '{limit}内没有答复。',
      resume: '{client}没有及时回来。',
      cancel: '{client}没有确认已停止。',
      other: '调用超时。',
    },
  },
} as const satisfies AreaMessages;

/** Whether a call that failed did something. */
export const cardExecuted = {
  en: {
    no: 'It did not run.',
    yes: 'It ran.',
    unknown: 'It may have run. Check before you repeat it.',
  },
  zh: {
    no: '它没有执行。',
    yes: '它已经执行。',
    unknown: '它可能已经执行。重复之前请先核实。',
  },
} as const satisfies AreaMessages;
