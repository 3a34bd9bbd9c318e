export { type AgUiService, createAgUiService } from './create-ag-ui-service.ts';
