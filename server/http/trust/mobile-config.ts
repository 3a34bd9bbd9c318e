import { createHash } from 'node:crypto';
import { escapeHtml } from './escape-html.ts';

/** A profile with the CA for iOS: not signed, so that iOS shows it as what it is. The same CA has the same profile. */
export function mobileConfig(ca: { readonly der: Uint8Array; readonly name: string }): string {
  const name = escapeHtml(ca.name);
  const content = Buffer.from(ca.der).toString('base64');
  const profile = uuidOf('profile', ca.der);
  const certificate = uuidOf('certificate', ca.der);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>PayloadContent</key>
  <array>
    <dict>
      <key>PayloadCertificateFileName</key><string>callboard-ca.crt</string>
      <key>PayloadContent</key><data>${content}</data>
      <key>PayloadDescription</key><string>${name}</string>
      <key>PayloadDisplayName</key><string>${name}</string>
      <key>PayloadIdentifier</key><string>callboard.ca.${certificate}</string>
      <key>PayloadType</key><string>com.apple.security.root</string>
      <key>PayloadUUID</key><string>${certificate}</string>
      <key>PayloadVersion</key><integer>1</integer>
    </dict>
  </array>
  <key>PayloadDisplayName</key><string>${name}</string>
  <key>PayloadIdentifier</key><string>callboard.profile.${profile}</string>
  <key>PayloadRemovalDisallowed</key><false/>
  <key>PayloadType</key><string>Configuration</string>
  <key>PayloadUUID</key><string>${profile}</string>
  <key>PayloadVersion</key><integer>1</integer>
</dict>
</plist>
`;
}

/** Of version 8, which holds what its maker wants. */
function uuidOf(what: string, der: Uint8Array): string {
  const hex = createHash('sha256').update(what).update(der).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-').toUpperCase();
}
