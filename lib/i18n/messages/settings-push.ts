/** The page of notes to this browser, and what there is of them. */
export const settingsPush = {
  en: {
    title: 'Notifications on this device',
    text: 'A note on this device when a call waits for your decision or has failed, also while no page of the workbench is open. It says what happened, and names no tool and no argument.',
    here: 'This browser',
    on: 'This browser gets notifications.',
    off: 'This browser gets no notifications.',
    turnOn: 'Turn on',
    turnOff: 'Turn off',
    test: 'Send a test',
    busy: 'One moment…',
    what: 'Send',
    kinds: {
      approvals: 'Calls that wait for my decision',
      failures: 'Calls and conversations that failed',
    },
    details: 'Show names',
    detailsHint:
      'The names of the tool and the device are in the note, which a locked screen shows.',
    viewer:
      'Notifications are for those who decide. Your role is viewer: an administrator can give you the role operator.',
    disabled: 'This server sends no notifications: push.enabled is false in its configuration.',
    support: {
      insecure:
        'Notifications need https. This page was opened by http. Start the workbench with --lan or behind a proxy with TLS, and open its https address.',
      home_screen:
        'On an iPhone or iPad notifications need the app: in Safari tap Share, then Add to Home Screen, and turn them on there (iOS 16.4 or newer).',
      unsupported:
        'This browser cannot receive notifications while the page is closed. Use a current Chrome, Edge, Firefox or Safari, and no private window.',
      denied:
        'The browser blocks notifications of this page. Open the site settings by the icon left of the address, allow notifications, then come back.',
    },
    problem: {
      denied:
        'The browser blocks notifications of this page. Open the site settings by the icon left of the address, allow notifications, then try again.',
      dismissed:
        'The question of the browser was closed without an answer. Try again, and choose Allow.',
      service:
        'The browser could not reach its push service. Notifications go through a service of the browser’s maker, so this device needs the internet.',
    },
    outcome: {
      delivered:
        'The push service took the test. The note appears in a moment; where it does not, look at the settings of the system and at “do not disturb”.',
      ended: 'The push service does not know this browser any more. Turn notifications on again.',
    },
    failed: {
      unreachable:
        'The server could not reach {host}. It needs the internet for notifications; without it, a webhook to ntfy in your own network does the same.',
      timeout: '{host} did not answer the server in time. Check its internet connection.',
      busy: '{host} is busy. It is tried again.',
      redirected: '{host} answered with a redirect, which is not followed. A proxy may be between.',
      refused: '{host} refused the note (status {status}). Turn notifications off and on again.',
    },
    last: {
      delivered: 'Last note: taken by {host}, {time}.',
      failed: 'Last note: failed, {time}.',
      none: 'No note was sent since the server started.',
    },
    all: 'Your browsers',
    none: 'None of your browsers gets notifications.',
    thisOne: 'this one',
    until: 'Ends {time}, unless the workbench is opened there again.',
    remove: 'Remove',
    removeNamed: 'Remove {browser}',
    loading: 'Loading…',
    privacy:
      'The note is encrypted for this browser. The push service sees when one is sent, and from which server.',
  },
  zh: {
    title: '此设备的通知',
    text: '当调用等待您的决定或失败时，即使没有打开工作台页面，也在此设备上显示通知。通知只说明发生了什么，不含工具名称和参数。',
    here: '此浏览器',
    on: '此浏览器会收到通知。',
    off: '此浏览器不会收到通知。',
    turnOn: '开启',
    turnOff: '关闭',
    test: '发送测试',
    busy: '请稍候…',
    what: '发送',
    kinds: { approvals: '等待我决定的调用', failures: '失败的调用和对话' },
    details: '显示名称',
    detailsHint: '通知中包含工具和设备的名称，锁屏时也会显示。',
    viewer: '通知供有权决定的人使用。您的角色是 viewer：管理员可以授予您 operator 角色。',
    disabled: '此服务器不发送通知：其配置中 push.enabled 为 false。',
    support: {
      insecure:
        '通知需要 https，而此页面是通过 http 打开的。请用 --lan 启动工作台，或将其置于带 TLS 的代理之后，然后打开其 https 地址。',
      home_screen:
        '在 iPhone 或 iPad 上，通知需要应用：在 Safari 中点“分享”，再点“添加到主屏幕”，然后在那里开启（iOS 16.4 或更高版本）。',
      unsupported:
        '此浏览器在页面关闭时无法接收通知。请使用较新的 Chrome、Edge、Firefox 或 Safari，且不要使用无痕窗口。',
      denied: '浏览器阻止了此页面的通知。请点地址栏左侧的图标打开网站设置，允许通知，然后返回。',
    },
    problem: {
      denied: '浏览器阻止了此页面的通知。请点地址栏左侧的图标打开网站设置，允许通知，然后重试。',
      dismissed: '浏览器的询问被关闭，没有得到回答。请重试并选择“允许”。',
      service: '浏览器无法连接其推送服务。通知经由浏览器厂商的服务发送，因此此设备需要连接互联网。',
    },
    outcome: {
      delivered:
        '推送服务已接收测试，通知很快就会出现；如果没有出现，请检查系统的通知设置和“勿扰”模式。',
      ended: '推送服务已不认识此浏览器。请重新开启通知。',
    },
    failed: {
      unreachable:
        '服务器无法连接 {host}。发送通知需要互联网；没有互联网时，可以用 webhook 发送到您自己网络中的 ntfy。',
      timeout: '{host} 没有及时回答服务器。请检查服务器的互联网连接。',
      busy: '{host} 正忙，将会重试。',
      redirected: '{host} 以重定向回答，服务器不会跟随。中间可能有代理。',
      refused: '{host} 拒绝了通知（状态 {status}）。请关闭通知后重新开启。',
    },
    last: {
      delivered: '最近一次通知：{host} 已接收，{time}。',
      failed: '最近一次通知：失败，{time}。',
      none: '服务器启动以来没有发送过通知。',
    },
    all: '您的浏览器',
    none: '您没有浏览器会收到通知。',
    thisOne: '当前',
    until: '除非在那里再次打开工作台，否则 {time} 结束。',
    remove: '移除',
    removeNamed: '移除 {browser}',
    loading: '加载中…',
    privacy: '通知为此浏览器加密。推送服务只能看到何时发送以及来自哪台服务器。',
  },
} as const;
