import { readingOf } from '#git/compare.ts'
import { grepFiles, grepLines, listFiles, readBlobIds } from '#git/grep.ts'
import { type LogFilter, readLog } from '#git/log.ts'
import { type CommitObject, resolveCommit } from '#git/objects.ts'
import { within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { signaturesOf } from '#hosting/commits/list-commits.ts'
import { loadRepositoryById, type Repository } from '#hosting/repositories/repositories.ts'
import { visible } from '#hosting/repositories/visibility.ts'
import type { Viewer } from '#identity/accounts.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { parseIsoDate } from '#platform/iso-date.ts'
import type { Slice } from '#platform/listed.ts'
import { trimBoth } from '#platform/trim.ts'
import type { SearchOrder } from './issues.ts'
import { parseQuery, type Qualifier, refused, type SearchQuery } from './query.ts'
import { scopeConditions } from './repository-scope.ts'
import { mostResults, type Results } from './results.ts'

/** Milliseconds until git is ended. */
const patience = 10_000

interface SearchedRepository {
  repo: Repository
  /** The commit of the default branch; undefined in an empty repository. */
  head: string | undefined
}

/** Contents are not in the database, so a search is about one repository and its default branch. */
async function loadPlace(
  db: Queryable,
  storage: Storage,
  viewer: Viewer,
  { qualifiers, text }: SearchQuery,
): Promise<SearchedRepository> {
  const named = qualifiers.filter(({ name }) => name === 'repo')
  const [only] = named
  if (!only || named.length > 1) throw refused('Name one repository: repo:owner/name.')
  if (qualifiers.some(({ negated }) => negated) || /(^|\s)(-|or(\s|$))/.test(text))
    throw refused('NOT and OR are not supported in a search of contents.')
  // Git would read lines as several patterns.
  if (/\p{Cc}/u.test(text)) throw refused('q has a control character')
  const found = await db.first<{ id: number }>(sql`
    select r.id from repositories r where ${scopeConditions(viewer.viewer_id).repo?.(only.value) ?? sql`false`} and ${visible(viewer)}`)
  if (!found) throw refused('The named repository does not exist, or you cannot see it.')
  const repo = await loadRepositoryById(db, viewer, found.id)
  return { repo, head: await resolveCommit(storage, repo.id, `refs/heads/${repo.default_branch}`) }
}

const commitQualifiers = new Set(
  'repo author committer author-name author-email committer-name committer-email merge committer-date hash'.split(' '),
)
const noCommitQualifiers = new Set('user org author-date parent tree is'.split(' '))

export interface FoundCommits extends Results<CommitObject> {
  repo: Repository
}

/** Commits of the default branch whose messages contain all words, the newest thousand. */
export async function searchCommits(
  db: Queryable,
  storage: Storage,
  viewer: Viewer,
  q: string,
  { order }: SearchOrder,
  { limit, offset }: Slice,
): Promise<FoundCommits> {
  const query = parseQuery(q, commitQualifiers, noCommitQualifiers)
  const { repo, head } = await loadPlace(db, storage, viewer, query)
  const { terms, qualifiers } = query
  const filter = await readFilter(db, terms, qualifiers)
  const hash = qualifierOf(qualifiers, 'hash')
  const start = hash === undefined ? head : await resolveCommit(storage, repo.id, hash)
  if (!start || !filter) return { repo, rows: [], total: 0, terms }
  const merge = qualifierOf(qualifiers, 'merge')
  const options = [
    `--max-count=${hash === undefined ? mostResults + 1 : 1}`,
    ...(hash === undefined ? [] : ['--no-walk']),
    ...(merge === undefined ? [] : [merge === 'true' ? '--merges' : '--no-merges']),
  ]
  const found = await within(patience, (signal) =>
    readLog(readingOf(storage, repo.id, repo.id, signal), [start], options, filter),
  )
  const shown = found.slice(0, mostResults)
  if (order === 'asc') shown.reverse()
  const incomplete = found.length > mostResults
  return { repo, rows: shown.slice(offset, offset + limit), total: shown.length, terms, incomplete }
}

const qualifierOf = (qualifiers: Qualifier[], name: string) => qualifiers.find((each) => each.name === name)?.value

/** Undefined if no commit can match. */
async function readFilter(db: Queryable, terms: string[], qualifiers: Qualifier[]): Promise<LogFilter | undefined> {
  const authors = await readPeople(db, qualifiers, 'author')
  const committers = await readPeople(db, qualifiers, 'committer')
  if (authors?.length === 0 || committers?.length === 0) return undefined
  return { messages: terms, authors, committers, ...readDates(qualifierOf(qualifiers, 'committer-date')) }
}

async function readPeople(db: Queryable, qualifiers: Qualifier[], role: 'author' | 'committer') {
  const named = qualifiers.filter(({ name }) => [role, `${role}-name`, `${role}-email`].includes(name))
  const [one] = named
  if (named.length > 1) throw refused(`Name the ${role} once.`)
  if (!one) return undefined
  if (/\p{Cc}/u.test(one.value)) return []
  if (one.name === `${role}-email`) return [`<${one.value}>`]
  return one.name === role ? signaturesOf(db, one.value) : [one.value]
}

function readDates(value: string | undefined): Pick<LogFilter, 'since' | 'until'> {
  if (value === undefined) return {}
  const [, sign = '', single = ''] = /^(>=|<=|>|<)?(.+)$/.exec(value) ?? []
  const [from = '', to] = value.split('..')
  const ends = to === undefined ? [sign.startsWith('<') ? '*' : single, sign.startsWith('>') ? '*' : single] : [from, to]
  const [since, until] = ends.map((text, index) => {
    if (text === '*') return undefined
    // A date without a time stands for the whole day.
    const moment = parseIsoDate(index === 1 && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T23:59:59Z` : text)
    if (!moment) throw refused(`committer-date:${value.slice(0, 60)} is not a range.`)
    return moment
  })
  return { since, until }
}

const codeQualifiers = new Set('repo path filename extension in'.split(' '))
const noCodeQualifiers = new Set('user org language size symbol content is fork'.split(' '))

export interface FoundFile {
  path: string
  sha: string
  /** Lines with the words, if they were asked for. */
  lines: string | null
}

export interface FoundFiles extends Results<FoundFile> {
  repo: Repository
  head: string
}

/** Text files of the default branch that contain all words, or with `in:path` those whose path does. */
export async function searchCode(
  db: Queryable,
  storage: Storage,
  viewer: Viewer,
  q: string,
  { limit, offset }: Slice,
  with_lines: boolean,
): Promise<FoundFiles> {
  const query = parseQuery(q, codeQualifiers, noCodeQualifiers)
  const { repo, head } = await loadPlace(db, storage, viewer, query)
  const { terms, qualifiers } = query
  const narrowed = qualifiers.some(({ name }) => ['filename', 'extension', 'path'].includes(name))
  if (!terms.length && !narrowed) throw refused('q has no words to search for')
  if (!head) return { repo, head: '', rows: [], total: 0, terms }
  return within(patience, async (signal) => {
    const reading = readingOf(storage, repo.id, repo.id, signal)
    const inContents = terms.length > 0 && qualifierOf(qualifiers, 'in') !== 'path'
    const files = await (inContents ? grepFiles(reading, head, terms) : listFiles(reading, head))
    const words = inContents ? [] : terms
    const matching = files.filter(openFilter(qualifiers, words))
    const paths = matching.slice(0, mostResults).slice(offset, offset + limit)
    const blobs = await readBlobIds(reading, head, paths)
    const lines = with_lines && inContents ? await grepLines(reading, head, terms, paths) : new Map<string, string>()
    const rows = blobs.map((blob) => ({ ...blob, lines: lines.get(blob.path) ?? null }))
    return { repo, head, rows, total: matching.length, terms }
  })
}

/** Tests a path. A commit may have a hundred thousand of them and a query five hundred words, so each different word is prepared once. */
function openFilter(qualifiers: Qualifier[], words: string[]) {
  const meets: Record<string, (value: string) => (path: string) => boolean> = {
    path: (value) => {
      const folder = `${trimBoth(value, '/')}/`
      return value === '/' ? (path) => !path.includes('/') : (path) => path.startsWith(folder)
    },
    filename: (value) => (path) => path.slice(path.lastIndexOf('/') + 1) === value,
    extension: (value) => {
      const end = `.${value.replace(/^\./, '')}`
      return (path) => path.endsWith(end) && path.length - path.lastIndexOf('/') > end.length
    },
  }
  const different = [...new Set(words.map((word) => word.toLowerCase()))]
  const tests = qualifiers.flatMap(({ name, value }) => meets[name]?.(value.toLowerCase()) ?? [])
  return (path: string) => {
    const lower = path.toLowerCase()
    return different.every((word) => lower.includes(word)) && tests.every((isMet) => isMet(lower))
  }
}
