/** The page of notifications that leave the server. */
export const settingsDeliveries = {
  en: {
    title: 'Deliveries',
    text: 'What is sent to webhooks, Slack and ntfy, by the section notify of the configuration file, which is read at the start.',
    targets: 'Targets',
    noTargets:
      'Nothing is sent: there are no targets. To have some, put a section such as this into the configuration file and start the server again.',
    bounds:
      'At most {open, number} wait for one target, then the oldest is dropped; each is tried {attempts} times. Ended ones are kept for {days} days, {kept, number} at most.',
    refresh: 'Look again',
    separator: ', ',
    state: {
      on: 'on',
      slowed: 'overloaded, left alone until {time}',
      off: 'off since {time}: it answered that it wants no more (410). A test that it takes turns it on again',
    },
    open: '{count, plural, one {# waits} other {# wait}}',
    failures: '{count, plural, one {# failure} other {# failures}} in a row',
    events: {
      approval: { requested: 'Approval requested', decided: 'Approval decided' },
      call: { finished: 'Call finished' },
      client: { offline: 'Client offline' },
      run: { finished: 'Turn finished' },
    },
    list: 'Last deliveries',
    delivery: {
      open: 'waits',
      delivered: 'delivered',
      failed: 'failed, given up',
      dropped: 'dropped: too many waited',
      obsolete: 'not sent: it is of no use any more',
      removed: 'not sent: its target is not there any more',
    },
    attempts: '{count, plural, one {# attempt} other {# attempts}}',
    next: 'next at {time}',
    resend: {
      button: 'Send again',
      now: 'Try now',
      sent: 'It is being sent.',
      notSent: 'It was not sent',
    },
    test: {
      button: 'Send a test',
      sent: 'A test is being sent to {target}.',
      notSent: 'No test was sent',
    },
    enable: {
      button: 'Turn on again',
      done: '{target} is on.',
      failed: 'It was not turned on',
    },
  },
  zh: {
    title: '外发通知',
    text: '按配置文件的 notify 一节发送到 Webhook、Slack 和 ntfy 的内容；该节在启动时读取。',
    targets: '目标',
    noTargets:
      '没有目标，不会发送任何内容。要添加目标，请在配置文件中加入如下一节，然后重新启动服务器。',
    bounds:
      '每个目标最多有 {open, number} 条等待，超出时丢弃最旧的；每条最多尝试 {attempts} 次。已结束的保留 {days} 天，最多 {kept, number} 条。',
    refresh: '刷新',
    separator: '、',
    state: {
      on: '已启用',
      slowed: '对方过载，{time} 之前不再发送',
      off: '自 {time} 起停用：对方表示不再接收（410）。测试成功后会重新启用',
    },
    open: '{count, number} 条等待',
    failures: '连续失败 {count, number} 次',
    events: {
      approval: { requested: '请求批准', decided: '批准已决定' },
      call: { finished: '调用结束' },
      client: { offline: '客户端离线' },
      run: { finished: '一轮结束' },
    },
    list: '最近的发送',
    delivery: {
      open: '等待中',
      delivered: '已送达',
      failed: '失败，已放弃',
      dropped: '已丢弃：等待的太多',
      obsolete: '未发送：已不再有用',
      removed: '未发送：目标已不存在',
    },
    attempts: '尝试 {count, number} 次',
    next: '下次 {time}',
    resend: { button: '重新发送', now: '立即尝试', sent: '正在发送。', notSent: '未能发送' },
    test: {
      button: '发送测试',
      sent: '正在向 {target} 发送测试。',
      notSent: '未能发送测试',
    },
    enable: { button: '重新启用', done: '{target} 已启用。', failed: '未能启用' },
  },
} as const;
