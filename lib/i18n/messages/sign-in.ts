import type { AreaMessages } from '../area-messages.ts';

export const signIn = {
  en: {
    pageTitle: 'Sign in',
    title: 'Sign in to Callboard',
    text: 'This workbench runs on your machine. Only those who have a token may use it.',
    token: 'Token',
    submit: 'Sign in',
    submitting: 'Signing in…',
    ended:
      'Your session has ended. It was not used for a long time, or its token was revoked. Sign in again to continue; what you typed is kept.',
    linkUsed:
      'This link no longer works: each link works once, for ten minutes. Sign in with the token, or restart the server for a new link.',
    wrong: 'This token is wrong, or it was revoked. Copy it again, without spaces before or after.',
    empty: 'Enter the token.',
    limited: 'Too many attempts. Try again in {seconds} s.',
    unreachable: 'The server does not respond. Is it still running?',
    failed: 'Signing in failed: {reason}',
    noStorage:
      'This browser stores nothing for this page, so you cannot stay signed in. Allow cookies and site data for this page.',
    helpTitle: 'Where do I find it?',
    helpLink:
      'When it starts, the server prints a sign-in link in the terminal. Open the link to sign in without typing anything.',
    helpToken:
      'The token itself is in the file "token" in the data directory (.callboard by default), or it is what you set as CALLBOARD_TOKEN. Others get a token of their own from an administrator.',
  },
  zh: {
    pageTitle: '登录',
    title: '登录 Callboard',
    text: '此工作台运行在您的机器上，只有持有令牌的人可以使用。',
    token: '令牌',
    submit: '登录',
    submitting: '正在登录…',
    ended: '登录已结束：长时间未使用，或令牌已被吊销。请重新登录后继续；您输入的内容已保留。',
    linkUsed:
      '该链接已失效：每个链接只能用一次，有效期十分钟。请用令牌登录，或重新启动以获得新链接。',
    wrong: '令牌不正确或已被吊销。请重新复制，前后不要有空格。',
    empty: '请输入令牌。',
    limited: '尝试次数过多。请在 {seconds} 秒后重试。',
    unreachable: '服务器没有响应。它还在运行吗？',
    failed: '登录失败：{reason}',
    noStorage:
      '此浏览器不为本页面保存任何数据，因此无法保持登录。请允许本站点使用 Cookie 和网站数据。',
    helpTitle: '在哪里可以找到？',
    helpLink: '服务器启动时会在终端打印登录链接。打开它即可登录，无需输入。',
    helpToken:
      '令牌保存在数据目录（默认为 .callboard）的 "token" 文件中，或者是您设置的 CALLBOARD_TOKEN。其他人可向管理员索取自己的令牌。',
  },
} as const satisfies AreaMessages;
