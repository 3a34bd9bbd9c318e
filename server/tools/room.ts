export {
  type AnyServerTool,
  defineTool,
  type Operand,
  refusal,
  StoppedError,
  type ToolAnswer,
  type ToolContext,
  ToolError,
} from './define-tool.ts';
export { openOwnTools } from './open-tools.ts';
export { OwnTools } from './own-tools.ts';
export { createToolChecks } from './tool-checks.ts';
export type {
  AnyTool,
  CheckedSpec,
  CheckedTool,
  ClientAvailability,
  ClientTool,
  OfferChange,
  OfferedTool,
  OpenCircuit,
  Registration,
} from './tool-provider.ts';
export {
  type ConfiguredEffect,
  OF_POOL,
  OF_SERVER,
  type ProvidedTool,
  type ToolOrigin,
  type ToolProvider,
} from './tool-provider.ts';
export { type ToolOffers, ToolRegistry } from './tool-registry.ts';
export { toolsConfigShape } from './tools-config.ts';
