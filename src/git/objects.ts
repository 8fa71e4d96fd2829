import { Refusal } from '#platform/errors.ts'
import { git, readGit } from './git.ts'
import { noObject } from './ref-command.ts'
import type { Storage } from './storage.ts'

export { noObject }

/**
 * Refs that are hidden and cannot be pushed: those that Belfry uses itself, and those that have a meaning for git itself
 * (`refs/replace` substitutes objects, the rest belongs to a worktree).
 */
export const hiddenRefs = ['import', 'belfry', 'drafts', 'replace', 'bisect', 'worktree', 'rewritten'].map(
  (name) => `refs/${name}`,
)
export const isHidden = (name: string) => hiddenRefs.some((folder) => name.startsWith(`${folder}/`))

export interface Ref {
  name: string
  sha: string
  type: string
}

/** As many refs as a list without pages shows, and as branches can be paged through. */
const mostListed = 10_000
const mostBranches = 100_000

/** The first refs on disk whose names begin with `prefix`, in the order of their names. */
export async function listRefs(storage: Storage, repo_id: number, prefix: string, most = mostListed): Promise<Ref[]> {
  if (!storage.has(repo_id)) return []
  // Given to git, a prefix would be a pattern; the folders it may be in are enough to be quick.
  const folder = ['refs/heads/', 'refs/tags/'].find((each) => prefix.startsWith(each)) ?? 'refs/'
  const refs = await readRefs(storage, repo_id, folder)
  return refs.filter(({ name }) => name.startsWith(prefix)).slice(0, most)
}

export const listBranchRefs = (storage: Storage, repo_id: number) => listRefs(storage, repo_id, 'refs/heads/', mostBranches)

/** Whether there is any ref in a folder that is not hidden. */
export async function hasRefs(storage: Storage, repo_id: number, folder: 'refs/' | 'refs/heads/'): Promise<boolean> {
  if (!storage.has(repo_id)) return false
  const shown = folder === 'refs/' ? ['refs/heads/', 'refs/tags/'] : [folder]
  const found = await git(['-C', storage.pathOf(repo_id), 'for-each-ref', '--count=1', '--format=x', ...shown])
  return found !== '' || (folder === 'refs/' && (await readRefs(storage, repo_id, folder)).length > 0)
}

export async function findRef(storage: Storage, repo_id: number, name: string): Promise<Ref | undefined> {
  if (!storage.has(repo_id) || !isRefName(name)) return undefined
  return (await readRefs(storage, repo_id, name)).find((ref) => ref.name === name)
}

/** Bytes of all refs with their types: more than a million. */
const longestRefs = 1 << 27

async function readRefs(storage: Storage, repo_id: number, pattern: string): Promise<Ref[]> {
  const format = '--format=%(objectname) %(objecttype) %(refname)'
  const found = await git(['-C', storage.pathOf(repo_id), 'for-each-ref', format, pattern], { limit: longestRefs })
  const refs = [...found.matchAll(/^(\w+) (\w+) (.+)$/gm)].map(([, sha = '', type = '', name = '']) => ({ name, sha, type }))
  return refs.filter(({ name }) => !isHidden(name))
}

/** Git's own rules for a whole name, as `refs/heads/main`. */
export function isRefName(name: string): boolean {
  const parts = name.split('/')
  return (
    name.isWellFormed() &&
    Buffer.byteLength(name) <= 1000 &&
    parts[0] === 'refs' &&
    parts.length > 2 &&
    parts.every((part) => part !== '' && Buffer.byteLength(part) <= 250 && !part.startsWith('.') && !/\.lock$|\.$/.test(part)) &&
    !/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(name)
  )
}

/** What kind of object there is by this name; undefined when there is none. */
export async function typeOf(storage: Storage, repo_id: number, sha: string): Promise<string | undefined> {
  return (await look(storage, repo_id, [sha]))[0]?.type
}

/** The commit that a name stands for: a whole name of its own, a branch, a tag, or the first digits of its own, in this order. */
export const resolveCommit = (storage: Storage, repo_id: number, name: string) => resolveTo(storage, repo_id, name, 'commit')

/** The tree that a name stands for: its own, or that of a commit. */
export const resolveTree = (storage: Storage, repo_id: number, name: string) => resolveTo(storage, repo_id, name, 'tree')

async function resolveTo(storage: Storage, repo_id: number, name: string, type: 'commit' | 'tree'): Promise<string | undefined> {
  if (!storage.has(repo_id)) return undefined
  const refs = [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`, name].filter(
    (each) => isRefName(each) && !isHidden(each),
  )
  const whole = name === 'HEAD' || /^[0-9a-f]{40}$/.test(name) ? [name] : []
  const short = /^[0-9a-f]{4,39}$/.test(name) ? [name] : []
  const names = [...whole, ...refs, ...short].map((each) => `${each}^{${type}}`)
  return (await look(storage, repo_id, names)).find((found) => found !== undefined)?.sha
}

async function look(storage: Storage, repo_id: number, names: string[]) {
  const told = await git(['-C', storage.pathOf(repo_id), 'cat-file', '--batch-check=%(objecttype) %(objectname)'], {
    input: names.map((name) => `${name}\n`).join(''),
  })
  return told
    .split('\n')
    .slice(0, names.length)
    .map((line) => /^(commit|tree|blob|tag) ([0-9a-f]{40})$/.exec(line))
    .map((found) => (found ? { type: found[1] ?? '', sha: found[2] ?? '' } : undefined))
}

/** Refuses an object that was pushed before there was a limit, in the documented format. */
const tooLarge = (size: number, most: number) =>
  new Refusal('forbidden', `This API returns objects of up to ${most} bytes, and this one has ${size}. Fetch it with git.`, [
    { resource: 'Blob', code: 'too_large', field: 'data' },
  ])

/** Asks for the size first, because git would read the whole object. */
async function checkSize(storage: Storage, repo_id: number, sha: string, most: number): Promise<number> {
  const [line = ''] = (await git(['-C', storage.pathOf(repo_id), 'cat-file', '-s', sha])).split('\n')
  if (Number(line) > most) throw tooLarge(Number(line), most)
  return Number(line)
}

/** The contents of a file of at most so many bytes. */
export async function readBlob(storage: Storage, repo_id: number, sha: string, most: number): Promise<Buffer> {
  await checkSize(storage, repo_id, sha, most)
  return readGit(['-C', storage.pathOf(repo_id), 'cat-file', 'blob', sha], { limit: most })
}

export interface Signature {
  name: string
  email: string
  date: Date
}

export interface CommitObject {
  sha: string
  tree: string
  parents: string[]
  author: Signature
  committer: Signature
  message: string
}

/** Bytes of a commit that are read, and characters of its message that are shown. */
const longestCommit = 1 << 20
const longestMessage = 1 << 16

export async function readCommit(storage: Storage, repo_id: number, sha: string): Promise<CommitObject> {
  const size = await checkSize(storage, repo_id, sha, storage.limits.object)
  const text = await git(['-C', storage.pathOf(repo_id), 'cat-file', 'commit', sha], { limit: longestCommit, cut: true })
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end)
  const all = (field: string) => [...head.matchAll(new RegExp(`^${field} (.*)$`, 'gm'))].map(([, value = '']) => value)
  return {
    sha,
    tree: all('tree')[0] ?? noObject,
    // When the head of a commit is cut off, its last parent may be incomplete.
    parents: all('parent').filter((parent) => parent.length === noObject.length),
    author: readSignature(all('author')[0]),
    committer: readSignature(all('committer')[0]),
    message: end < 0 ? '' : cutMessage(text.slice(end + 2), size),
  }
}

/** Says that the message was cut, so that readers do not take the part for the whole. */
export function cutMessage(message: string, size = Buffer.byteLength(message)): string {
  if (message.length <= longestMessage) return message
  return `${message.slice(0, longestMessage).toWellFormed()}\n\n[The rest of this message is not shown: the commit has ${size} bytes.]`
}

/** People push commits with signatures of all sorts: what cannot be read is empty. */
function readSignature(line = ''): Signature {
  const [, name = '', email = '', seconds = '0'] = /^(.*?) ?<([^>]*)> (\d{1,12}) /.exec(`${line} `) ?? []
  return { name, email, date: new Date(Number(seconds) * 1000) }
}

/** Whether everything in `ancestor` is in `descendant` too. */
export async function holdsAll(storage: Storage, repo_id: number, descendant: string, ancestor: string): Promise<boolean> {
  return (await git(['-C', storage.pathOf(repo_id), 'rev-list', '-n', '1', ancestor, `^${descendant}`])) === ''
}
