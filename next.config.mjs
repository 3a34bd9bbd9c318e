import createNextIntlPlugin from 'next-intl/plugin';

const withNextIntl = createNextIntlPlugin('./app/i18n-request.ts');

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

export default withNextIntl(config);
