import type { S3Client } from './s3-client.ts'

/** Keys in one answer. */
const pageSize = 200

export interface ListedKey {
  /** Below the prefix. */
  key: string
  size: number
  stored_at: Date
}

/** The objects whose keys begin so, page by page. */
export async function* listKeys(client: S3Client, prefix: string): AsyncGenerator<ListedKey[]> {
  for (let token: string | undefined; ; ) {
    const query = { 'list-type': '2', 'max-keys': String(pageSize), prefix: client.prefix + prefix }
    const more = token === undefined ? {} : { 'continuation-token': token }
    const text = await client.sendForText({ method: 'GET', query: { ...query, ...more } })
    yield elementsOf(text, 'Contents').map((entry) => ({
      key: ownKey(client, entry),
      size: Number(fieldOf(entry, 'Size')),
      stored_at: new Date(fieldOf(entry, 'LastModified') ?? ''),
    }))
    token = fieldOf(text, 'NextContinuationToken')
    if (token === undefined || fieldOf(text, 'IsTruncated') !== 'true') return
  }
}

export interface ListedUpload {
  key: string
  id: string
  begun_at: Date
}

/** Multipart uploads that are neither complete nor aborted, page by page. */
export async function* listUploads(client: S3Client, prefix: string): AsyncGenerator<ListedUpload[]> {
  for (let marker: Record<string, string> = {}; ; ) {
    const query = { uploads: '', prefix: client.prefix + prefix, ...marker }
    const text = await client.sendForText({ method: 'GET', query })
    yield elementsOf(text, 'Upload').map((entry) => ({
      key: ownKey(client, entry),
      id: fieldOf(entry, 'UploadId') ?? '',
      begun_at: new Date(fieldOf(entry, 'Initiated') ?? ''),
    }))
    const [key, id] = [fieldOf(text, 'NextKeyMarker'), fieldOf(text, 'NextUploadIdMarker')]
    if (!key || fieldOf(text, 'IsTruncated') !== 'true') return
    marker = { 'key-marker': key, ...(id && { 'upload-id-marker': id }) }
  }
}

const ownKey = (client: S3Client, entry: string) => (fieldOf(entry, 'Key') ?? '').slice(client.prefix.length)

/** Answers are flat, without attributes in the elements that we read, and their keys are ours. */
const elementsOf = (text: string, name: string) =>
  text
    .split(`<${name}>`)
    .slice(1)
    .flatMap((part) => (part.includes(`</${name}>`) ? part.split(`</${name}>`, 1) : []))

export function fieldOf(text: string, name: string): string | undefined {
  const [found] = elementsOf(text, name)
  return found?.replace(/&(lt|gt|quot|apos|amp|#\d+|#x[0-9a-f]+);/gi, (_, entity: string) => decode(entity))
}

const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

const decode = (entity: string) =>
  named[entity.toLowerCase()] ?? String.fromCodePoint(Number(entity.replace(/^#x/i, '0x').replace('#', '')))
