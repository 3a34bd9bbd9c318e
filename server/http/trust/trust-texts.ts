import { type Locale, negotiateLocale } from '#lib/i18n/locales';

/** How to install a CA on one system. `{file}` and `{profile}` are links. */
interface Guide {
  readonly system: string;
  readonly steps: readonly string[];
}

export interface TrustTexts {
  readonly lang: string;
  readonly title: string;
  readonly intro: string;
  readonly compare: string;
  readonly fingerprint: string;
  readonly file: string;
  readonly profile: string;
  readonly effect: string;
  readonly guides: readonly Guide[];
  readonly removal: string;
}

const EN: TrustTexts = {
  lang: 'en',
  title: 'Trust this Callboard',
  intro:
    'This server has a certificate of its own. Browsers warn about it until its CA (certificate authority) is installed on the device. It is installed once; the certificates that follow are trusted by it.',
  compare:
    'First compare the fingerprint below with the one that the server prints at its start, or that the workbench shows at the computer. If they differ, somebody on the network answers in its place: install nothing.',
  fingerprint: 'SHA-256 fingerprint of the CA',
  file: 'CA certificate (ca.crt)',
  profile: 'Profile for iOS (ca.mobileconfig)',
  effect:
    'A device that trusts this CA accepts every certificate that this server signs. Its key stays in the data directory of the server, for its owner alone.',
  guides: [
    {
      system: 'iPhone and iPad (iOS, iPadOS)',
      steps: [
        'In Safari open {profile} and choose Allow.',
        'Open Settings, choose Profile Downloaded (or General, VPN & Device Management, and the profile), then Install, and enter the passcode.',
        'Open Settings, General, About, Certificate Trust Settings, and switch the CA on. Without this step iOS does not trust it.',
        'Load this page again: there is no warning any more.',
      ],
    },
    {
      system: 'Android',
      steps: [
        'Open {file}; the browser saves it.',
        'Open Settings, Security & privacy, More security & privacy, Encryption & credentials, Install a certificate, CA certificate. The names differ by maker: search the settings for “CA certificate”.',
        'Choose Install anyway, confirm with the screen lock, and pick ca.crt.',
        'Chrome trusts it at once. Firefox needs Settings, About Firefox, five taps on the logo, then Secret Settings, Use third party CA certificates.',
      ],
    },
    {
      system: 'macOS',
      steps: [
        'Open {file}, then double-click it: Keychain Access opens. Add it to the keychain “login”.',
        'In Keychain Access double-click the CA, open Trust, set “When using this certificate” to Always Trust, close the window and enter your password.',
        'Or in a terminal: security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db ca.crt',
      ],
    },
    {
      system: 'Windows',
      steps: [
        'Open {file}, then double-click it and choose Install Certificate, Current User.',
        'Choose “Place all certificates in the following store”, Browse, Trusted Root Certification Authorities, Next, Finish, and confirm with Yes.',
        'Or in a terminal: certutil -user -addstore Root ca.crt',
      ],
    },
    {
      system: 'Linux',
      steps: [
        'Chrome and Chromium: Settings, Privacy and security, Security, Manage certificates, Installed by you, Trusted Certificates, Import {file}.',
        'Or in a terminal: certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n callboard -i ca.crt',
        'Firefox: Settings, Privacy & Security, Certificates, View Certificates, Authorities, Import, “Trust this CA to identify websites”.',
      ],
    },
  ],
  removal: 'To undo it, remove the CA or the profile in the same place.',
};

const ZH: TrustTexts = {
  lang: 'zh',
  title: '信任这个 Callboard',
  intro:
    '本服务器使用自己的证书。在设备上安装它的 CA（证书颁发机构）之前，浏览器会发出警告。只需安装一次；之后的证书都由它签发并受信任。',
  compare:
    '请先把下面的指纹与服务器启动时打印的指纹，或电脑上工作台显示的指纹进行比较。如果不同，说明网络上有人冒充该服务器：不要安装任何东西。',
  fingerprint: 'CA 的 SHA-256 指纹',
  file: 'CA 证书（ca.crt）',
  profile: 'iOS 描述文件（ca.mobileconfig）',
  effect:
    '信任此 CA 的设备会接受本服务器签发的所有证书。它的密钥保存在服务器的数据目录中，只有所有者可以读取。',
  guides: [
    {
      system: 'iPhone 和 iPad（iOS、iPadOS）',
      steps: [
        '在 Safari 中打开{profile}，选择“允许”。',
        '打开“设置”，选择“已下载描述文件”（或“通用”→“VPN 与设备管理”→该描述文件），点“安装”，输入密码。',
        '打开“设置”→“通用”→“关于本机”→“证书信任设置”，打开此 CA 的开关。没有这一步，iOS 不会信任它。',
        '重新载入本页：不再有警告。',
      ],
    },
    {
      system: 'Android',
      steps: [
        '打开{file}，浏览器会保存它。',
        '打开“设置”→“安全和隐私”→“更多安全和隐私设置”→“加密与凭据”→“安装证书”→“CA 证书”。各厂商名称不同，可在设置中搜索“CA 证书”。',
        '选择“仍然安装”，用锁屏密码确认，然后选择 ca.crt。',
        'Chrome 立即信任它。Firefox 需要：“设置”→“关于 Firefox”→连点标志五次，然后在“Secret Settings”中打开“使用第三方 CA 证书”。',
      ],
    },
    {
      system: 'macOS',
      steps: [
        '打开{file}，双击它：“钥匙串访问”会打开。把它添加到“登录”钥匙串。',
        '在“钥匙串访问”中双击该 CA，展开“信任”，把“使用此证书时”设为“始终信任”，关闭窗口并输入密码。',
        '或在终端中：security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db ca.crt',
      ],
    },
    {
      system: 'Windows',
      steps: [
        '打开{file}，双击它，选择“安装证书”→“当前用户”。',
        '选择“将所有的证书都放入下列存储”→“浏览”→“受信任的根证书颁发机构”→“下一步”→“完成”，并以“是”确认。',
        '或在终端中：certutil -user -addstore Root ca.crt',
      ],
    },
    {
      system: 'Linux',
      steps: [
        'Chrome 和 Chromium：“设置”→“隐私和安全”→“安全”→“管理证书”→“由您安装”→“受信任的证书”，导入{file}。',
        '或在终端中：certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n callboard -i ca.crt',
        'Firefox：“设置”→“隐私与安全”→“证书”→“查看证书”→“证书颁发机构”→“导入”，勾选“信任由此证书颁发机构来标识网站”。',
      ],
    },
  ],
  removal: '要撤销，请在同一处删除该 CA 或描述文件。',
};

const TEXTS: Readonly<Record<Locale, TrustTexts>> = { en: EN, zh: ZH };

/** The texts in the language that the browser asks for first; English when it names neither. */
export const trustTexts = (acceptLanguage: string | undefined): TrustTexts =>
  TEXTS[negotiateLocale(undefined, acceptLanguage)];
