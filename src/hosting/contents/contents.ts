import { posix } from 'node:path'
import { git } from '#git/git.ts'
import {
  type CommitObject,
  findRef,
  hasRefs,
  noObject,
  readBlob,
  readCommit,
  resolveCommit,
  resolveTree,
  type Signature,
} from '#git/objects.ts'
import { isRefName } from '#git/ref-names.ts'
import type { Storage } from '#git/storage.ts'
import { type Entry, readFolder, readPath } from '#git/tree-entries.ts'
import { writeCommit } from '#git/write-commit.ts'
import { BranchProtected } from '#hosting/protection/push-rules.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import { authorOf } from '#hosting/repositories/contents.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { invalid, missing, Refusal } from '#platform/errors.ts'
import { checkPath, isPath } from './paths.ts'

/** The contents at a path of a commit: a folder's entries, or one file, link or submodule. */
export type Content =
  | { kind: 'dir'; sha: string; path: string; entries: Entry[] }
  /** `link` is the target of the link through which the file was found. */
  | { kind: 'file'; entry: Entry; bytes: Buffer | null; link?: string }
  | { kind: 'symlink'; entry: Entry; target: string }
  | { kind: 'submodule'; entry: Entry; submodule_git_url: string | null }

/** Contents of larger files are not sent. */
const largestSent = 1024 * 1024
/** The documented limit of a folder's entries. The trees API returns more. */
const mostEntries = 1000
/** Limits of a link's target, as on most systems, and of `.gitmodules`, in bytes. */
const longestLink = 4096
const longestModules = 1024 * 1024

export async function readContent(storage: Storage, repo: Repository, path: string, ref: string): Promise<Content> {
  if (path !== '') checkPath(path)
  const commit = await resolveCommit(storage, repo.id, ref)
  if (!commit) throw await noCommit(storage, repo, ref)
  if (path === '') {
    const [tree, entries] = await Promise.all([resolveTree(storage, repo.id, commit), listFolder(storage, repo, commit)])
    return { kind: 'dir', sha: tree ?? noObject, path, entries }
  }
  const entry = await findEntry(storage, repo, commit, path)
  if (!entry) throw missing()
  if (entry.type === 'tree') return { kind: 'dir', sha: entry.sha, path, entries: await readWithin(storage, repo, entry) }
  if (entry.type === 'commit') {
    return { kind: 'submodule', entry, submodule_git_url: await findSubmodule(storage, repo, commit, path) }
  }
  return entry.mode === '120000' ? readLink(storage, repo, commit, entry) : readFile(storage, repo, entry)
}

/** The entries of a folder of a commit; none if there is no such folder. */
export async function listEntries(storage: Storage, repo: Repository, commit: string, path: string): Promise<Entry[]> {
  if (path === '') return listFolder(storage, repo, commit)
  const folder = isPath(path) ? await findEntry(storage, repo, commit, path) : undefined
  return folder?.type === 'tree' ? readWithin(storage, repo, folder) : []
}

async function noCommit(storage: Storage, repo: Repository, ref: string) {
  if (!(await hasRefs(storage, repo.id, 'refs/heads/'))) return new Refusal('missing', 'This repository is empty.')
  return new Refusal('missing', `No commit found for the ref ${ref}`)
}

async function findEntry(storage: Storage, repo: Repository, commit: string, path: string): Promise<Entry | undefined> {
  return (await readPath(storage, repo.id, commit, path)).find((entry) => entry.path === path)
}

async function readWithin(storage: Storage, repo: Repository, folder: Entry): Promise<Entry[]> {
  const entries = await listFolder(storage, repo, folder.sha)
  return entries.map((entry) => ({ ...entry, path: `${folder.path}/${entry.path}` }))
}

async function listFolder(storage: Storage, repo: Repository, tree: string): Promise<Entry[]> {
  return (await readFolder(storage, repo.id, tree, { entries: mostEntries })).entries
}

async function readFile(storage: Storage, repo: Repository, entry: Entry): Promise<Content & { kind: 'file' }> {
  const { object } = storage.limits
  if (entry.size > largestSent && entry.size <= object) return { kind: 'file', entry, bytes: null }
  return { kind: 'file', entry, bytes: await readBlob(storage, repo.id, entry.sha, Math.min(largestSent, object)) }
}

/** A link to a file in the repository is read as that file. */
async function readLink(storage: Storage, repo: Repository, commit: string, entry: Entry): Promise<Content> {
  const target = (await readBlob(storage, repo.id, entry.sha, longestLink)).toString()
  const path = posix.join(posix.dirname(entry.path), target)
  const found = !target.startsWith('/') && isPath(path) ? await findEntry(storage, repo, commit, path) : undefined
  if (found?.type !== 'blob' || found.mode === '120000') return { kind: 'symlink', entry, target }
  return { ...(await readFile(storage, repo, { ...found, path: entry.path })), link: target }
}

/** The settings of a path in `.gitmodules`. */
async function findSubmodule(storage: Storage, repo: Repository, commit: string, path: string): Promise<string | null> {
  const [modules] = await readPath(storage, repo.id, commit, '.gitmodules')
  if (modules?.type !== 'blob' || modules.size > longestModules) return null
  const args = ['config', `--blob=${commit}:.gitmodules`, '-z', '--get-regexp', '^submodule\\..*\\.(path|url)$']
  // A missing or malformed file defines no submodule.
  const listed = await git(['-C', storage.pathOf(repo.id), ...args]).catch(() => '')
  const settings = new Map(listed.split('\0').map((line) => line.split('\n', 2) as [string, string]))
  const [key] = [...settings].find(([name, value]) => name.endsWith('.path') && value === path) ?? []
  return settings.get(key?.replace(/path$/, 'url') ?? '') ?? null
}

export interface Change {
  message: string
  sha?: string
  branch?: string
  author?: Identity
  committer?: Identity
}

export interface Identity {
  name: string
  email: string
  date?: string
}

export interface Changed {
  commit: CommitObject
  branch: string
  /** The file after the change; null if it was deleted. */
  entry: Entry | null
  made: boolean
}

/** Creates or changes a file in a commit of its own. */
export async function writeFile(
  db: Database,
  storage: Storage,
  repo: Repository,
  user: Account,
  path: string,
  { content, ...change }: Change & { content: string },
): Promise<Changed> {
  const bytes = decode(content)
  if (bytes.length > storage.limits.object)
    throw new Refusal('invalid', `A file may have at most ${storage.limits.object} bytes.`)
  const { branch, head, chain } = await findLocation(storage, repo, path, change)
  const present = chain.find((entry) => entry.path === path)
  const inTheWay = present?.type === 'blob' ? undefined : (present ?? chain.find(({ type }) => type !== 'tree'))
  if (inTheWay) {
    const kind = inTheWay.type === 'tree' ? 'a folder' : inTheWay.type === 'commit' ? 'a submodule' : 'a file'
    throw invalid({ resource: 'Content', code: 'invalid', field: 'path', message: `${inTheWay.path} is ${kind}` })
  }
  if (present && change.sha === undefined) throw new Refusal('invalid', 'Invalid request.\n\n"sha" wasn\'t supplied.')
  if (change.sha !== undefined && present?.sha !== change.sha) throw mismatch(path, change.sha)
  // An executable file stays executable. Writing to a link replaces it by a file.
  const file = { mode: present?.mode === '100755' ? '100755' : '100644', content: bytes }
  const { commit, blob } = await commitAndPush(db, storage, repo, user, { path, change, branch, head, file })
  const entry = { mode: file.mode, type: 'blob', sha: blob, size: bytes.length, path }
  return { commit, branch, entry, made: present === undefined }
}

export async function deleteFile(
  db: Database,
  storage: Storage,
  repo: Repository,
  user: Account,
  path: string,
  change: Change & { sha: string },
): Promise<Changed> {
  const { branch, head, chain } = await findLocation(storage, repo, path, change)
  const present = chain.find((entry) => entry.path === path)
  if (present?.type !== 'blob') throw missing()
  if (present.sha !== change.sha) throw mismatch(path, change.sha)
  const { commit } = await commitAndPush(db, storage, repo, user, { path, change, branch, head, file: null })
  return { commit, branch, entry: null, made: false }
}

const mismatch = (path: string, sha: string) => new Refusal('conflict', `${path} does not match ${sha}`)

export function decode(content: string): Buffer {
  const packed = content.replaceAll(/\s/g, '')
  if (packed.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(packed)) return Buffer.from(packed, 'base64')
  throw new Refusal('invalid', 'content is not valid Base64')
}

/** The branch of a change, its last commit, and the entries at and above the path. */
async function findLocation(storage: Storage, repo: Repository, path: string, change: Change) {
  checkPath(path)
  if (!storage.has(repo.id)) throw new Refusal('conflict', 'The repository is still being copied. Please try again later.')
  const { branch = repo.default_branch } = change
  const ref = `refs/heads/${branch}`
  const head = (await findRef(storage, repo.id, ref))?.sha
  // The first commit creates the first branch.
  if (!head && (!isRefName(ref) || (await hasRefs(storage, repo.id, 'refs/heads/')))) {
    throw new Refusal('missing', `Branch ${branch} not found`)
  }
  return { branch, head, chain: head ? await readPath(storage, repo.id, head, path) : [] }
}

interface Step {
  path: string
  change: Change
  branch: string
  head: string | undefined
  file: { mode: string; content: Buffer } | null
}

/** A branch that moved since it was read is a conflict, so that no commit is lost. */
async function commitAndPush(db: Database, storage: Storage, repo: Repository, user: Account, step: Step) {
  const { path, change, branch, head, file } = step
  const committer = signatureOf(change.committer, user, db.now)
  const author = change.author ? signatureOf(change.author, user, db.now) : committer
  const { message } = change
  const { sha: after, blob } = await writeCommit(storage, repo.id, { parent: head, author, committer, message, path, file })
  const command = { ref: `refs/heads/${branch}`, before: head ?? noObject, after }
  await pushRefs(db, storage, repo, user, [command]).catch((error) => {
    const verb = file ? 'update' : 'delete'
    throw error instanceof BranchProtected ? new Refusal('conflict', `Could not ${verb} file: ${error.message}`) : error
  })
  return { commit: await readCommit(storage, repo.id, after), blob }
}

export function signatureOf(identity: Identity | undefined, user: Account, now: Date): Signature {
  if (!identity) return { ...authorOf(user), date: now }
  const [name, email] = [identity.name, identity.email].map((text) => text.replaceAll(/[\p{Cc}<>]/gu, '').trim())
  const date = identity.date === undefined ? now : new Date(isoDate.test(identity.date) ? identity.date : Number.NaN)
  if (!name || !email) throw new Refusal('invalid', 'An author and a committer have a name and an email.')
  // Git counts seconds from 1970.
  if (!(date.getTime() >= 0)) throw new Refusal('invalid', 'date is not a valid timestamp')
  return { name, email, date }
}

const isoDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/
