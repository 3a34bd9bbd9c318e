import type { NoticeCode } from '#lib/protocol/notice-codes';
import type { AreaMessages } from '../area-messages.ts';

/** What a turn reports of itself. `detail` is in the words of the provider. */
export const notices = {
  en: {
    restarted: 'The server was restarted during this turn. The turn continues from here.',
    tools_left_out:
      '{offered} of {available} tools were offered to the model, which accepts no more. Write the name of a tool in your message to include it.',
    tools_unfit:
      '{more, plural, =0 {{tool} is} one {{tool} and # more tool are} other {{tool} and # more tools are}} not offered to {model}, whose API accepts no form of the schema: {detail}.',
    calls_left_out:
      'The model made {count, plural, one {# more call} other {# more calls}} in one step than are recorded; they did not run. A step runs at most {limit}.',
    history_left_out:
      'Not sent to {model}, whose context has no room for more: the oldest {count, plural, one {# message} other {# messages}} of this conversation. Nothing is deleted.',
    calls_as_text:
      'The model wrote a call of {tool} as text, so it did not run. Set "tool_calling": "text" for "{model}" under "models" in the configuration file, then restart the server.',
    images_refused: 'The provider of {model} rejected a picture. The answer was made without it.',
    content_refused:
      'The provider of {model} rejected parts of the request, which are no longer sent: {names}.',
    step_limit: 'The limit of {steps} steps ended this turn.',
    repeated_calls:
      'The model called {tool} {count} times with the same arguments and the same result. This ended the turn.',
    tool_timeouts: '{tool} timed out {count} times in a row. The turn is paused.',
    arguments_cut:
      'The model reached its output limit {count} times in a row while it wrote the arguments of {tool}. This ended the turn.',
    tool_failures: '{tool} failed {count} times in a row with the same error. The turn is paused.',
    budget_seconds: 'The limit of {limit} s for one turn is reached.',
    budget_calls: 'The limit of {limit} calls for one turn is reached.',
    budget_tokens: 'The limit of {limit} tokens for one turn is reached.',
    empty_answers: 'The model answered with nothing {count} times in a row. This ended the turn.',
    answer_cut: 'The model reached its output limit; the answer is cut.',
    answer_filtered: 'The content filter of the provider ended the answer.',
    cancelled: 'Stopped.',
    no_api_key:
      '{model} needs an API key. Set {key} and restart the server, or use the rehearsal, which needs none.',
    model_unauthenticated:
      'The provider of {model} rejected the API key (HTTP {status}). Check {key} and restart the server.',
    model_quota:
      'The account for {model} has no quota left. Check its billing, or choose another model.',
    model_rate_limited: 'The provider of {model} limits requests. Wait a moment and send again.',
    model_unreachable:
      'The provider of {model} cannot be reached ({detail}). Check OPENAI_BASE_URL and the network.',
    model_unavailable: 'The provider of {model} failed (HTTP {status}). Try again later. {detail}',
    model_not_found: 'There is no model {model}. Choose another one.',
    model_silent: '{model} sent nothing for {seconds} s. Send again, or choose another model.',
    model_no_api:
      'The server of {model} responded with a web page, so this is not the address of an API. Check OPENAI_BASE_URL (is /v1 missing at its end?) and whether the network asks to sign in.',
    model_unreadable:
      'The server of {model} responded in a form that is not understood. {detail} Send again, or choose another model.',
    model_too_long:
      'The answer of {model} took longer than {seconds} s. Send again, or choose another model.',
    model_failed: '{model} failed: {detail} Send again, or choose another model.',
    model_refused_request: 'The provider of {model} rejected the request (HTTP {status}). {detail}',
    tools_not_supported:
      'The server of {model} does not accept tools for it. Set "tool_calling": "text" for "{model}" under "models" in the configuration file, then restart the server.',
    context_too_long:
      'The conversation is longer than {model} accepts. Start a new one, or choose a model with a larger context.',
    stream_cut: 'The answer of {model} was cut off. Send a message to continue.',
    endpoint_silent:
      'OPENAI_BASE_URL is set to {url}, which did not list its models: {detail} If it is off, start it, then send again. It is asked again with each run.',
    endpoint_empty:
      'OPENAI_BASE_URL is set to {url}, which responds, but has no models. Load one there, then send again.',
    interrupted:
      'The server was restarted several times during the same step of this turn. Send a message to continue.',
    owner_revoked:
      'The token of the owner of this run was revoked; nothing more is done in its name.',
    internal: 'The server failed: {detail}',
    store_failed: 'The server cannot write to its data directory: {detail}',
  },
  zh: {
    restarted: '服务器在此期间重新启动了，本轮从这里继续。',
    tools_left_out:
      '模型最多接受这么多工具：{available} 个工具中只提供了 {offered} 个。在消息里写出工具的名称，它就会在其中。',
    tools_unfit:
      '{more, plural, =0 {工具 {tool} } other {工具 {tool} 等另外 # 个工具}}没有提供给 {model}：其接口不接受该参数结构：{detail}。',
    calls_left_out:
      '模型在一步中多发出了 {count, plural, other {# 个}}调用，没有记录，也没有执行。每步最多执行 {limit} 个。',
    history_left_out:
      '此对话中最早的 {count, plural, other {# 条}}消息没有发送给 {model}：其上下文长度容不下更多。对话内容并未删除。',
    calls_as_text:
      '模型把对 {tool} 的调用写成了文本，因此没有执行。请在配置文件的 "models" 中为 "{model}" 设置 "tool_calling": "text"，然后重新启动服务器。',
    images_refused: '{model} 的提供方拒绝了一张图片，回答未使用该图片。',
    content_refused: '{model} 的提供方拒绝了请求中的以下部分，今后不再发送：{names}。',
    step_limit: '已达到 {steps} 步的上限，本轮到此结束。',
    repeated_calls: '模型以相同的参数调用 {tool} {count} 次，结果都相同，本轮到此结束。',
    tool_timeouts: '{tool} 连续超时 {count} 次，本轮已暂停。',
    arguments_cut: '模型在写 {tool} 的参数时连续 {count} 次达到输出上限，本轮到此结束。',
    tool_failures: '{tool} 连续 {count} 次因同样的错误失败，本轮已暂停。',
    budget_seconds: '已达到每轮 {limit} 秒的上限，本轮到此结束。',
    budget_calls: '已达到每轮 {limit} 次调用的上限，本轮到此结束。',
    budget_tokens: '已达到每轮 {limit} 个令牌的上限，本轮到此结束。',
    empty_answers: '模型连续 {count} 次没有给出任何回答，本轮到此结束。',
    answer_cut: '模型达到输出上限，回答被截断。',
    answer_filtered: '模型提供方的过滤器中止了回答。',
    cancelled: '已停止。',
    no_api_key:
      '{model} 需要 API 密钥。请设置 {key} 后重新启动服务器，或使用不需要密钥的演练模型。',
    model_unauthenticated:
      '{model} 的提供方拒绝了 API 密钥（HTTP {status}）。请检查 {key} 后重新启动服务器。',
    model_quota: '{model} 的账户额度已用完。请检查账单，或选择其他模型。',
    model_rate_limited: '{model} 的提供方限制了请求。请稍候再发送。',
    model_unreachable: '无法连接 {model} 的提供方（{detail}）。请检查 OPENAI_BASE_URL 和网络。',
    model_unavailable: '{model} 的提供方出错（HTTP {status}）。请稍后再试。{detail}',
    model_not_found: '没有模型 {model}。请选择其他模型。',
    model_silent: '{model} 已有 {seconds} 秒没有回应。请重新发送，或选择其他模型。',
    model_no_api:
      '{model} 的服务返回了网页，这不是 API 的地址。请检查 OPENAI_BASE_URL（末尾是否缺少 /v1）以及网络是否要求登录。',
    model_unreadable: '无法读懂 {model} 的服务返回的内容。{detail} 请重新发送，或选择其他模型。',
    model_too_long: '{model} 的回答超过了 {seconds} 秒。请重新发送，或选择其他模型。',
    model_failed: '{model} 出错：{detail} 请重新发送，或选择其他模型。',
    model_refused_request: '{model} 的提供方拒绝了请求（HTTP {status}）。{detail}',
    tools_not_supported:
      '{model} 的服务不接受工具。请在配置文件的 "models" 中为 "{model}" 设置 "tool_calling": "text"，然后重新启动服务器。',
    context_too_long: '对话超出 {model} 的长度限制。请开始新对话，或选择上下文更长的模型。',
    stream_cut: '{model} 的回答中断了。请发送消息以继续。',
    endpoint_silent:
      'OPENAI_BASE_URL 设为 {url}，但它没有给出模型列表：{detail} 如果它没有运行，请启动它，然后重新发送。每次运行都会再次询问它。',
    endpoint_empty:
      'OPENAI_BASE_URL 设为 {url}，它有回应，但没有模型。请在那里加载一个，然后重新发送。',
    interrupted: '本轮的同一步中服务器多次重新启动。请发送消息以继续。',
    owner_revoked: '此运行所有者的令牌已被撤销，不再以其名义执行任何操作。',
    internal: '服务器出错：{detail}',
    store_failed: '服务器无法写入数据目录：{detail}',
  },
} as const satisfies AreaMessages & Record<'en' | 'zh', Record<NoticeCode, string>>;
