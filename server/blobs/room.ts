export {
  BlobDamagedError,
  type BlobFiles,
  type BlobOutcome,
  type BlobStore,
  type BlobUpload,
  type UploadQuota,
} from './blob-store.ts';
export { createDiskBlobStore } from './disk-blob-store.ts';
export { findFile, textIn } from './find-file.ts';
export { type ForeignFile, readForeignFile } from './foreign-file.ts';
export { type ScaleOutcome, scaleForModel } from './scale-image.ts';
export { createUploadQuota } from './upload-quota.ts';
