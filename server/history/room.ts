export { readHistory } from './describe-history.ts';
export { Retention } from './retention.ts';
