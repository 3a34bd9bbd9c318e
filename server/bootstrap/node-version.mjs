/** The oldest Node that this launcher itself is written for. */
export const OLDEST_LAUNCHER_NODE = '20.20';

/** The advice for those who install Node themselves. */
export const RIGHT_NODE = 'install Node 24 (24.21 or newer) or Node 26';

/**
 * Says whether Callboard runs on this Node as it is. Its database tool rests on SQLite's authorizer and
 * limits: late releases of 24 have both, 26 from its first on. 25 is not maintained any more.
 *
 * @param {string} version as `process.versions.node` gives it
 */
export function runsCallboard(version) {
  const { major, minor } = parse(version);
  return major >= 26 || (major === 24 && minor >= 21);
}

/**
 * Says what is wrong with this Node for the built server, and what would be right; undefined: nothing.
 *
 * @param {string} version
 */
export function problemOfNode(version) {
  if (runsCallboard(version)) return undefined;
  return `the server does not run on Node ${version}; run "npm start", which brings a Node that it runs on, or ${RIGHT_NODE}.`;
}

/**
 * Says whether this launcher can do its work on this Node.
 *
 * @param {string} version as `process.versions.node` gives it
 */
export function runsLauncher(version) {
  const { major, minor } = parse(version);
  const oldest = parse(OLDEST_LAUNCHER_NODE);
  return major === oldest.major ? minor >= oldest.minor : major > oldest.major;
}

/** @param {string} version */
function parse(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return { major, minor };
}
