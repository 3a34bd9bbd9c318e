/** Two digits with an operator between them; a date is none. */
const EXPRESSION = /\d\s*[+*/^×÷]\s*[(\d.]|\d\s+-\s+\d|\b(?:sqrt|sin|cos|tan|log|abs|round)\(/;

/** Each row has the words in which people ask for something, and the words that tools are named with. */
export const CONCEPTS: readonly (readonly [asked: RegExp, named: string])[] = [
  [
    /screen ?shot|screen ?grab|capture (?:the |my )?(?:screen|page|tab)|截图|截屏|屏幕快照/i,
    'screenshot|capture',
  ],
  [
    /where (?:am i|i am|are we)|\b(?:geo)?location\b|(?:my|current) (?:coordinates|whereabouts)|\bposition\b|\bgps\b|在哪|位置|定位|坐标/i,
    'geolocation|location|position|gps',
  ],
  [/weather|forecast|temperature|\brain(?:ing|y)?\b|天气|气温|下雨|预报/i, 'weather|forecast'],
  [
    new RegExp(`${EXPRESSION.source}|\\bcalculat|\\bcompute\\b|计算|算一下|等于多少`, 'i'),
    'calculation|calculate|calculator|calc|math|eval',
  ],
  [/\bselect\b[\s\S]+\bfrom\b|\bsql\b|\bdatabase\b|数据库/i, 'database|sql|db'],
  [
    /\bcopy\b|(?:to|into|onto) (?:the |my )?clipboard|(?:write|set|put)\b.*\bclipboard|复制|写入剪贴板|放到剪贴板/i,
    'clipboard write|clipboard copy|clipboard set',
  ],
  [/clipboard|\bpaste\b|剪贴板|粘贴/i, 'clipboard'],
  [
    /\bphoto|\bpicture\b|\bselfie\b|\bcamera\b|拍照|照片|相机|拍一张|自拍/i,
    'photo|camera|picture|selfie',
  ],
  [
    /\bnotif|\bremind me\b|\balert me\b|通知|提醒/i,
    'notification|notify|notifications|remind|reminder',
  ],
  [/\bdevice\b|what (?:browser|computer|phone|system)|设备|什么浏览器|什么手机/i, 'device'],
  [/\bbattery\b|电量|电池/i, 'battery'],
  [
    /(?:page|tab)(?:'s)? (?:text|content|say)|(?:read|text of|text on|content of|say on|says on) (?:the |this |my )?page|页面(?:上)?的?(?:文字|文本|内容)|网页(?:文字|内容)|读(?:一下)?(?:这个)?(?:页面|网页)/i,
    'page text|page content|page read',
  ],
  [
    /\bopen (?:the |this |a )?(?:page|site|website|url|link|address)|https?:\/\/|打开(?:网页|网站|链接)/i,
    'page open',
  ],
  [/vibrat|\bbuzz\b|震动|振动/i, 'vibrate|vibration|haptic'],
  [/torch|flash ?light|手电|闪光灯/i, 'torch|flashlight'],
  [
    /\bspeak\b|say (?:out )?(?:loud|aloud)|read (?:it )?aloud|朗读|念出来|说出来/i,
    'speak|speech say|tts|say',
  ],
  [/\brecord (?:audio|sound|voice)|microphone|录音|麦克风/i, 'microphone|audio|record|recorder'],
  [
    /\bmotion\b|orientation|acceler|compass|gyro|方向|加速度|指南针|陀螺/i,
    'motion|orientation|accelerometer|compass|sensor|sensors',
  ],
  [/\bcontacts?\b|address book|联系人|通讯录/i, 'contact|contacts'],
  [/\bshare\b|分享/i, 'share'],
  [/\bscan\b|\bqr\b|barcode|扫码|扫描|二维码/i, 'scan|qr|barcode'],
  [/\bsearch\b|look up|搜索|查找/i, 'search|lookup'],
  [/what time|\btime is it\b|几点|现在时间/i, 'time|clock'],
  [/\blights?\b|\blamp\b|开灯|关灯|电灯/i, 'light|lights|lamp'],
];
