import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { authorization, discard, readBody } from '#importer/probe-http.ts'
import { ImportFailure, type Origin, type Workspace } from '#importer/source.ts'
import { isDiskFull } from '#platform/disk-full.ts'
import type { StoredObject } from '#platform/file-store/file-store.ts'
import { hasObject, storeObject } from '#platform/file-store/folder.ts'
import type { OutboundAnswer } from '#platform/outbound/egress.ts'

/** Objects per request, and downloads at a time. */
const batch = 100
const concurrency = 4
const maxAttempts = 2
const maxRedirects = 4
/** In bytes, for a batch of a hundred objects. */
const maxAnswerSize = 4 << 20
const media = 'application/vnd.git-lfs+json'

/**
 * Downloads the LFS objects that the source offers. Objects that are already in the store are downloaded too, because knowing an object's
 * id does not give the right to read it.
 */
export async function fetchLargeObjects(
  origin: Origin,
  workspace: Workspace,
  wanted: StoredObject[],
  onProgress: (part: number) => void,
) {
  const journal = join(workspace.folder, 'large-objects')
  const fetched = new Set(await readJournal(journal, workspace.lfs_store))
  const objects = wanted.filter(({ oid }) => fetched.has(oid))
  const missing = wanted.filter(({ oid }) => !fetched.has(oid))
  let done = 0
  for (let from = 0; from < missing.length; from += batch) {
    const group = missing.slice(from, from + batch)
    const links = await requestLinks(origin, workspace, group)
    const fetchNext = async () => {
      for (let object = group.shift(); object; object = group.shift()) {
        const link = links.get(object.oid)
        if (link && (await fetchObject(origin, workspace, object, link))) {
          await appendFile(journal, `${object.oid}\n`)
          objects.push(object)
        }
        onProgress(++done / missing.length)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, fetchNext))
  }
  return objects
}

/** The objects that a killed run of this import has downloaded. */
async function readJournal(journal: string, store: string): Promise<string[]> {
  const text = await readFile(journal, 'utf8').catch(() => '')
  const oids: string[] = []
  for (const [oid] of text.matchAll(/^[0-9a-f]{64}$/gm)) if (await hasObject(store, oid)) oids.push(oid)
  return oids
}

interface Link {
  href: string
  header: Record<string, string>
}

/** The download links of the objects that the source offers. */
async function requestLinks(origin: Origin, workspace: Workspace, wanted: StoredObject[]): Promise<Map<string, Link>> {
  const url = `${origin.url.replace(/(\.git)?$/, '.git')}/info/lfs/objects/batch`
  const links = new Map<string, Link>()
  try {
    const answer = await workspace.egress.request(url, {
      method: 'POST',
      headers: { accept: media, 'content-type': media, ...authorization(origin) },
      body: JSON.stringify({ operation: 'download', transfers: ['basic'], hash_algo: 'sha256', objects: wanted }),
      signal: workspace.signal,
    })
    const text = (await readBody(answer, maxAnswerSize, 'The answer is too large.')).toString()
    const document: unknown = answer.status === 200 ? JSON.parse(text) : undefined
    for (const object of listOf(document, 'objects')) {
      const { oid, actions } = object as { oid?: unknown; actions?: { download?: { href?: unknown; header?: unknown } } }
      const { href, header } = actions?.download ?? {}
      if (typeof oid === 'string' && typeof href === 'string' && URL.canParse(href))
        links.set(oid, { href, header: textsOf(header) })
    }
  } catch {
    // A source without LFS, or with invalid answers, offers no objects.
    workspace.signal.throwIfAborted()
  }
  return links
}

function listOf(value: unknown, name: string): unknown[] {
  const list = value instanceof Object ? (value as Record<string, unknown>)[name] : undefined
  return Array.isArray(list) ? list.filter((each) => each instanceof Object) : []
}

function textsOf(value: unknown): Record<string, string> {
  const entries = value instanceof Object ? Object.entries(value) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** Whether the object was downloaded and has the right checksum. */
async function fetchObject(origin: Origin, workspace: Workspace, { oid, size }: StoredObject, link: Link): Promise<boolean> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    try {
      const answer = await download(origin, workspace, link)
      if (answer.status === 200) {
        await storeObject(workspace.lfs_store, oid, size, answer.body)
        return true
      }
      discard(answer)
      if (answer.status < 500) return false
    } catch (error) {
      workspace.signal.throwIfAborted()
      if (isDiskFull(error))
        throw new ImportFailure('There is not enough disk space for the large files. Ask an administrator of this server.')
    }
  }
  return false
}

/** Sends the headers that the source asks for, and the password only to the source itself. */
async function download(origin: Origin, { egress, signal }: Workspace, { href, header }: Link): Promise<OutboundAnswer> {
  const home = new URL(origin.url).origin
  const given = Object.keys(header).some((name) => name.toLowerCase() === 'authorization')
  let here = new URL(href)
  let headers = { ...(!given && here.origin === home && authorization(origin)), ...header }
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const answer = await egress.request(here.href, { headers, signal })
    const { location } = answer.headers
    const next = answer.status >= 300 && answer.status < 400 && typeof location === 'string' && URL.parse(location, here)
    if (!next) return answer
    discard(answer)
    if (next.origin !== here.origin) headers = {}
    here = next
  }
  throw new Error('moved too often')
}
