import { existsSync } from 'node:fs';

/** @type {import('next').NextConfig} */
const config = {
  reactCompiler: true,
  poweredByHeader: false,
  // Pages only: nothing here optimises images or answers an API, so those doors stay shut.
  images: { unoptimized: true },
  agentRules: false,
  productionBrowserSourceMaps: false,
  // `npm test` checks all types; a start must not fail for a test's.
  typescript: { ignoreBuildErrors: true },
};

const TEXTS = 'app/i18n-request.ts';

/** Texts are bundled by the build. Where it is installed there are no sources, and this package is not needed. */
const isBuildable = existsSync(new URL(TEXTS, import.meta.url));

/** @param {import('next').NextConfig} config */
async function withTexts(config) {
  const { default: createNextIntlPlugin } = await import('next-intl/plugin');
  const withPlugin = createNextIntlPlugin({
    requestConfig: `./${TEXTS}`,
    experimental: {
      // Messages are parsed by the build, so no page loads their parser, which has 9 kB gzipped.
      messages: {
        path: './lib/i18n/messages/workbench',
        format: 'json',
        locales: 'infer',
        precompile: true,
      },
    },
  });
  return withPlugin(config);
}

export default isBuildable ? await withTexts(config) : config;
