export { createRehearsalModel } from './rehearsal-model.ts';
