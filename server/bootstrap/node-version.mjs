/** The oldest Node that this launcher itself is written for. */
export const OLDEST_LAUNCHER_NODE = '20.20';

/**
 * Whether Callboard runs on this Node as it is: 22.18 brought type stripping without a flag beside
 * `node:sqlite`; of 23 only the end had both, and nobody maintains it, so it counts as too old.
 *
 * @param {string} version as `process.versions.node` gives it
 */
export function runsCallboard(version) {
  const { major, minor } = parse(version);
  return major === 22 ? minor >= 18 : major >= 24;
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
