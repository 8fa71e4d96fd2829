import { ImportFailure } from '#importer/source.ts'
import type { Client } from './client.ts'

/** The documented maximum of a page. */
const page = 100
/** A shorter page is the last. A longer one may be a limit of the server. */
const surelyLast = 25
const wholeComment = 1_000_000
/** Per changeset; they are held in memory. */
const maxChanges = 2_000_000
/** The marks take twenty bytes of memory for each possible number. */
const highestNumber = 10_000_000

export interface Identity {
  id: string
  displayName: string
  uniqueName: string
}

export interface Changeset {
  id: number
  author: Identity
  /** In seconds since 1970. */
  time: number
  comment: string
}

export interface Item {
  /** The path on the server, from `$/`. */
  path: string
  folder: boolean
  symlink: boolean
  size: number | undefined
  /** MD5 in Base64. Servers in FIPS mode do not send it. */
  hash: string | undefined
}

export interface Change {
  item: Item
  types: ReadonlySet<string>
  source: string | undefined
  merges: { path: string; from: number; to: number; rename: boolean }[]
}

/** The number of the last changeset of a project, or 0. */
export async function lastChangeset(client: Client, project: string): Promise<number> {
  const { document } = await client.read(`${encodeURIComponent(project)}/_apis/tfvc/changesets`, {
    'searchCriteria.itemPath': `$/${project}`,
    $top: 1,
  })
  const [last] = valuesOf(document)
  return last === undefined ? 0 : numberOf(last, 'changesetId')
}

/** The changesets of a project in a range, oldest first. */
export async function* listChangesets(client: Client, project: string, after: number, until: number): AsyncGenerator<Changeset> {
  for (let last = after; last < until; ) {
    const { document } = await client.read(`${encodeURIComponent(project)}/_apis/tfvc/changesets`, {
      'searchCriteria.itemPath': `$/${project}`,
      // Documentation differs on whether `fromId` is inclusive, so the last one is requested again and skipped.
      'searchCriteria.fromId': last,
      'searchCriteria.toId': until,
      $orderby: 'id asc',
      $top: page,
      maxCommentLength: wholeComment,
    })
    const found = valuesOf(document).filter((raw) => numberOf(raw, 'changesetId') > last)
    if (found.length === 0) return
    for (const raw of found) {
      const id = numberOf(raw, 'changesetId')
      if (id > until) return
      if (id <= last) throw new ImportFailure(`The server lists changeset ${id} after ${last}.`)
      last = id
      yield readChangeset(raw.commentTruncated === true ? await wholeChangeset(client, id) : raw)
    }
  }
}

async function wholeChangeset(client: Client, id: number) {
  const { document } = await client.read(`_apis/tfvc/changesets/${id}`, { maxCommentLength: wholeComment })
  return objectOf(document)
}

export async function readOneChangeset(client: Client, id: number): Promise<Changeset> {
  return readChangeset(await wholeChangeset(client, id))
}

function readChangeset(raw: Raw): Changeset {
  const date = textOf(raw.createdDate)
  const time = Math.floor(Date.parse(/[zZ]$|[+-]\d\d:?\d\d$/.test(date) ? date : `${date}Z`) / 1000)
  return {
    id: numberOf(raw, 'changesetId'),
    author: readIdentity(raw.author ?? raw.checkedInBy),
    time: time > 0 ? time : 0,
    comment: textOf(raw.comment),
  }
}

function readIdentity(raw: unknown): Identity {
  const { id, displayName, uniqueName } = (raw ?? {}) as Raw
  return { id: textOf(id), displayName: textOf(displayName), uniqueName: textOf(uniqueName) }
}

/** The changes of a changeset in the whole collection. */
export async function listChanges(client: Client, id: number): Promise<Change[]> {
  const changes: Change[] = []
  let token = ''
  for (;;) {
    const from = token ? { continuationToken: token } : { $skip: changes.length }
    const { document, next } = await client.read(`_apis/tfvc/changesets/${id}/changes`, { ...from, $top: page })
    const values = valuesOf(document)
    changes.push(...values.map(readChange))
    if (next === token && next !== '') throw new ImportFailure(`The server sent the same page twice for changeset ${id} again.`)
    if (next === '' && values.length < surelyLast) return changes
    if (changes.length > maxChanges) throw new ImportFailure(`Changeset ${id} has more than ${maxChanges} changes.`)
    token = next
  }
}

function readChange(raw: Raw): Change {
  const merges = Array.isArray(raw.mergeSources) ? raw.mergeSources.map(objectOf) : []
  return {
    item: readItem(objectOf(raw.item)),
    types: new Set(textOf(raw.changeType).split(/,\s*/)),
    source: raw.sourceServerItem === undefined ? undefined : textOf(raw.sourceServerItem),
    merges: merges.map((merge) => ({
      path: textOf(merge.serverItem),
      from: Number(merge.versionFrom) || 0,
      to: Number(merge.versionTo) || 0,
      rename: merge.isRename === true,
    })),
  }
}

export function readItem(raw: Raw): Item {
  const hash = textOf(raw.hashValue)
  return {
    path: textOf(raw.path),
    folder: raw.isFolder === true,
    symlink: raw.isSymLink === true,
    size: Number.isSafeInteger(raw.size) && Number(raw.size) >= 0 ? Number(raw.size) : undefined,
    hash: /^[A-Za-z0-9+/]{22}==$/.test(hash) ? hash : undefined,
  }
}

export type Raw = Record<string, unknown>

export function valuesOf(document: unknown): Raw[] {
  const { value } = objectOf(document)
  if (!Array.isArray(value)) throw new ImportFailure('The answer of the server is not a list.')
  return value.map(objectOf)
}

export function objectOf(raw: unknown): Raw {
  if (typeof raw !== 'object' || raw === null)
    throw new ImportFailure('The answer of the server does not have the expected form.')
  return raw as Raw
}

/** Git cannot store a lone surrogate. */
export function textOf(raw: unknown): string {
  return typeof raw === 'string' ? raw.toWellFormed() : ''
}

function numberOf(raw: Raw, field: string): number {
  const value = raw[field]
  if (Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= highestNumber) return Number(value)
  throw new ImportFailure('The answer of the server has no valid changeset number.')
}
