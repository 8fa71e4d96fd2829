import { StartError } from '#platform/errors.ts'
import type { Logger } from '#platform/log.ts'
import type { FileStore } from './file-store.ts'
import { lfsRoot, openFolderStore } from './folder.ts'
import type { Downloads, S3Address } from './s3-address.ts'
import { S3Store } from './s3-store.ts'

interface StorageSettings {
  BELFRY_DATA: string
  BELFRY_STORAGE_URL: S3Address | null
  BELFRY_STORAGE_DOWNLOADS: Downloads
  AWS_ACCESS_KEY_ID: string | null
  AWS_SECRET_ACCESS_KEY: string | null
  BELFRY_CA: string | null
}

/** The store that the settings name. Nothing is sent to it yet: a start does not depend on it. */
export function openFileStore(settings: StorageSettings, log: Logger): FileStore {
  const { BELFRY_STORAGE_URL: address, BELFRY_STORAGE_DOWNLOADS: downloads, BELFRY_CA: certificates } = settings
  if (address === null) {
    if (downloads !== 'streamed')
      throw new StartError('BELFRY_STORAGE_DOWNLOADS needs BELFRY_STORAGE_URL: files in BELFRY_DATA are sent by Belfry.')
    return openFolderStore(lfsRoot(settings.BELFRY_DATA))
  }
  const { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: secret } = settings
  const credentials = address.credentials ?? (key && secret ? { key, secret } : undefined)
  if (!credentials)
    throw new StartError(
      'BELFRY_STORAGE_URL has no credentials: write s3://KEY:SECRET@…, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    )
  return new S3Store(address, credentials, { downloads, certificates, log })
}
