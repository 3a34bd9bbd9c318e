export { BlobDamagedError, type BlobOutcome, type BlobUpload } from './blob-store.ts';
export { type BlobFiles, type BlobStore, createDiskBlobStore } from './disk-blob-store.ts';
export { type ForeignFile, findFile, readForeignFile, textIn } from './foreign-file.ts';
export { type ScaleOutcome, scaleForModel } from './scale-image.ts';
export { blobsConfigSchema, createUploadQuota } from './upload-quota.ts';
