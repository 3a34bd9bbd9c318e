/** The oldest Node that this launcher itself is written for. */
export const OLDEST_LAUNCHER_NODE = '20.20';

/**
 * Whether Callboard runs on this Node as it is. Its database tool rests on SQLite's authorizer and
 * limits, which `node:sqlite` has from 25.8 on; the next line that is maintained is 26.
 *
 * @param {string} version as `process.versions.node` gives it
 */
export function runsCallboard(version) {
  return parse(version).major >= 26;
}

/**
 * Whether this launcher can do its work on this Node.
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
