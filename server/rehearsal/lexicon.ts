/** Something people ask for, in the words they use, and the words tools are named with. */
export interface Concept {
  readonly key: string;
  /** What people write, English and Chinese. */
  readonly pattern: RegExp;
  /** Words of tools' names and descriptions that mean it. */
  readonly named: readonly string[];
}

/** Two digits with an operator between them; a date is none. */
const EXPRESSION = /\d\s*[+*/^×÷]\s*[(\d.]|\d\s+-\s+\d|\b(?:sqrt|sin|cos|tan|log|abs|round)\(/;

export const CONCEPTS: readonly Concept[] = [
  {
    key: 'screenshot',
    pattern:
      /screen ?shot|screen ?grab|capture (?:the |my )?(?:screen|page|tab)|截图|截屏|屏幕快照/i,
    named: ['screenshot', 'capture'],
  },
  {
    key: 'location',
    pattern:
      /where (?:am i|i am|are we)|(?:my|current) (?:position|location|coordinates|whereabouts)|\b(?:geo)?location\b|\bposition\b|\bgps\b|在哪|位置|定位|坐标/i,
    named: ['geolocation', 'location', 'position', 'gps'],
  },
  {
    key: 'weather',
    pattern: /weather|forecast|temperature|\brain(?:ing|y)?\b|天气|气温|下雨|预报/i,
    named: ['weather', 'forecast'],
  },
  {
    key: 'calculation',
    pattern: new RegExp(`${EXPRESSION.source}|\\bcalculat|\\bcompute\\b|计算|算一下|等于多少`, 'i'),
    named: ['calculation', 'calculate', 'calculator', 'calc', 'math', 'eval'],
  },
  {
    key: 'database',
    pattern: /\bselect\b[\s\S]+\bfrom\b|\bsql\b|\bdatabase\b|数据库/i,
    named: ['database', 'sql', 'db'],
  },
  {
    key: 'copy',
    pattern:
      /\bcopy\b|(?:to|into|onto) (?:the |my )?clipboard|(?:write|set|put)\b.*\bclipboard|复制|写入剪贴板|放到剪贴板/i,
    named: ['clipboard write', 'clipboard copy', 'clipboard set'],
  },
  { key: 'clipboard', pattern: /clipboard|\bpaste\b|剪贴板|粘贴/i, named: ['clipboard'] },
  {
    key: 'photo',
    pattern: /\bphoto|\bpicture\b|\bselfie\b|\bcamera\b|拍照|照片|相机|拍一张|自拍/i,
    named: ['photo', 'camera', 'picture', 'selfie'],
  },
  {
    key: 'notification',
    pattern: /\bnotif|\bremind me\b|\balert me\b|通知|提醒/i,
    named: ['notification', 'notify', 'notifications', 'remind', 'reminder'],
  },
  {
    key: 'device',
    pattern:
      /\bdevice\b|what (?:browser|computer|phone|system)|\bbattery\b|设备|什么浏览器|什么手机|电量|电池/i,
    named: ['device', 'battery'],
  },
  {
    key: 'page text',
    pattern:
      /(?:page|tab)(?:'s)? (?:text|content|say)|(?:read|text of|text on|content of|say on|says on) (?:the |this |my )?page|页面(?:上)?的?(?:文字|文本|内容)|网页(?:文字|内容)|读(?:一下)?(?:这个)?(?:页面|网页)/i,
    named: ['page text', 'page content', 'page read'],
  },
  {
    key: 'page open',
    pattern:
      /\bopen (?:the |this |a )?(?:page|site|website|url|link|address)|https?:\/\/|打开(?:网页|网站|链接)/i,
    named: ['page open'],
  },
  {
    key: 'vibrate',
    pattern: /vibrat|\bbuzz\b|震动|振动/i,
    named: ['vibrate', 'vibration', 'haptic'],
  },
  { key: 'torch', pattern: /torch|flash ?light|手电|闪光灯/i, named: ['torch', 'flashlight'] },
  {
    key: 'speak',
    pattern: /\bspeak\b|say (?:out )?(?:loud|aloud)|read (?:it )?aloud|朗读|念出来|说出来/i,
    named: ['speak', 'speech say', 'tts', 'say'],
  },
  {
    key: 'listen',
    pattern: /\brecord (?:audio|sound|voice)|microphone|录音|麦克风/i,
    named: ['microphone', 'audio', 'record', 'recorder'],
  },
  {
    key: 'motion',
    pattern: /\bmotion\b|orientation|acceler|compass|gyro|方向|加速度|指南针|陀螺/i,
    named: ['motion', 'orientation', 'accelerometer', 'compass', 'sensor', 'sensors'],
  },
  {
    key: 'contacts',
    pattern: /\bcontacts?\b|address book|联系人|通讯录/i,
    named: ['contact', 'contacts'],
  },
  { key: 'share', pattern: /\bshare\b|分享/i, named: ['share'] },
  {
    key: 'scan',
    pattern: /\bscan\b|\bqr\b|barcode|扫码|扫描|二维码/i,
    named: ['scan', 'qr', 'barcode'],
  },
  { key: 'search', pattern: /\bsearch\b|look up|搜索|查找/i, named: ['search', 'lookup'] },
  { key: 'time', pattern: /what time|\btime is it\b|几点|现在时间/i, named: ['time', 'clock'] },
  {
    key: 'light',
    pattern: /\blights?\b|\blamp\b|开灯|关灯|电灯/i,
    named: ['light', 'lights', 'lamp'],
  },
];

export const hasExpression = (text: string): boolean => EXPRESSION.test(text);
