import { expect, test } from 'vitest';
import { isOutsideBuild } from './build.mjs';

test.each([
  'server/bootstrap',
  'server/testing',
  'server/store/store.contract.ts',
  'lib/a.test.ts',
  'components/card.test.tsx',
  'lib/call/SPEC.md',
  'app/.DS_Store',
])('%s asks for no new build', (path) => expect(isOutsideBuild(path)).toBe(true));

test.each([
  'server/main/main.ts',
  'app/globals.css',
  'lib/i18n/messages/device/zh.json',
  'components/test-view.tsx',
  'package.json',
])('%s does', (path) => expect(isOutsideBuild(path)).toBe(false));
