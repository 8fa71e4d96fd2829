import { createHash } from 'node:crypto'
import { openObjectStream } from '#importer/staging/object-reader.ts'

/** The MD5 of blobs in Base64, by their ids. Holds no blob in memory. */
export async function hashBlobs(repository: string, ids: string[], signal: AbortSignal): Promise<Map<string, string>> {
  const hashes = new Map<string, string>()
  if (ids.length === 0) return hashes
  await using objects = openObjectStream(repository, `${ids.join('\n')}\n`, signal, '--buffer')
  for (let head = await objects.head(); head; head = await objects.head()) {
    if (head.type !== 'blob') throw new Error(`${head.id} is a ${head.type}, not a blob`)
    const hash = createHash('md5')
    for await (const chunk of objects.chunks(head)) hash.update(chunk)
    hashes.set(head.id, hash.digest('base64'))
  }
  return hashes
}
