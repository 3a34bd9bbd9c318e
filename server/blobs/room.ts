export {
  BlobDamagedError,
  type BlobFiles,
  type BlobOutcome,
  type BlobStore,
  type BlobUpload,
  createDiskBlobStore,
} from './disk-blob-store.ts';
export { type ForeignFile, findFile, readForeignFile, textIn } from './foreign-file.ts';
export { type ScaleOutcome, scaleForModel } from './scale-image.ts';
export { blobsConfigSchema, createUploadQuota } from './upload-quota.ts';
