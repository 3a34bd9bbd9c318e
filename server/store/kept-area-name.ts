/** What small values that outlive the server are of. */
export type KeptAreaName =
  | 'always'
  | 'breaker'
  | 'autonomy'
  | 'rate'
  | 'asked'
  | 'reads'
  | 'file_origin'
  | 'device'
  | 'blocked_origin'
  | 'mcp_pin'
  | 'mcp_task'
  | 'notify_target'
  | 'push_subscription'
  | 'polling_client';
