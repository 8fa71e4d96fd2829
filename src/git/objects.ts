import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { Refusal } from '#platform/errors.ts'
import { git, readGit } from './git.ts'
import { noObject } from './ref-command.ts'
import { isRefName } from './ref-names.ts'
import { openOutput, streamGit } from './run-git.ts'
import { type SignedText, splitCommit, splitTag } from './signed-text.ts'
import type { Storage } from './storage.ts'

export { noObject }

/**
 * Refs that are hidden and cannot be pushed: those that Belfry uses, and those with a meaning for git (`refs/replace` substitutes objects,
 * the rest belongs to worktrees).
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

/** Limits of lists without pages, and of branches. */
const mostListed = 10_000
const mostBranches = 100_000

/** The first refs on disk with this prefix, sorted by name. */
export async function listRefs(storage: Storage, repo_id: number, prefix: string, most = mostListed): Promise<Ref[]> {
  if (!storage.has(repo_id)) return []
  // Git would read a prefix as a pattern. Limiting the folder is fast enough.
  const folder = ['refs/heads/', 'refs/tags/'].find((each) => prefix.startsWith(each)) ?? 'refs/'
  const refs = await readRefs(storage, repo_id, folder)
  return refs.filter(({ name }) => name.startsWith(prefix)).slice(0, most)
}

export const listBranchRefs = (storage: Storage, repo_id: number) => listRefs(storage, repo_id, 'refs/heads/', mostBranches)

/** Tags with the commits that they lead to, the highest version first. A tag of another object is left out. */
export async function listTagCommits(storage: Storage, repo_id: number): Promise<{ name: string; sha: string }[]> {
  if (!storage.has(repo_id)) return []
  const format = '--format=%(objectname) %(objecttype) %(*objectname) %(*objecttype) %(refname:lstrip=2)'
  const args = ['for-each-ref', '--sort=-version:refname', `--count=${mostBranches}`, format, 'refs/tags/']
  const found = await git(['-C', storage.pathOf(repo_id), ...args], { limit: longestRefs })
  return [...found.matchAll(/^(\w+) (\w+) (\w*) (\w*) (.+)$/gm)].flatMap(([, sha = '', type, peeled = '', inner, name = '']) =>
    type === 'commit' ? [{ name, sha }] : inner === 'commit' ? [{ name, sha: peeled }] : [],
  )
}

/** Whether there is any ref in a folder that is not hidden. */
export async function hasRefs(storage: Storage, repo_id: number, folder: 'refs/' | 'refs/heads/'): Promise<boolean> {
  if (!storage.has(repo_id)) return false
  const shown = folder === 'refs/' ? ['refs/heads/', 'refs/tags/'] : [folder]
  const found = await git(['-C', storage.pathOf(repo_id), 'for-each-ref', '--count=1', '--format=x', ...shown])
  return found !== '' || (folder === 'refs/' && (await readRefs(storage, repo_id, folder)).length > 0)
}

export async function findRef(storage: Storage, repo_id: number, name: string): Promise<Ref | undefined> {
  if (!storage.has(repo_id)) return undefined
  return (await readLooseBranch(storage, repo_id, name)) ?? (await readExactly(storage, repo_id, [name]))[0]
}

/**
 * A branch that has a file of its own, which git prefers to packed refs. To start git takes 8 ms of processor time, and this 0.2 ms. Undefined for every
 * other ref, and where names that differ in case are one file.
 */
async function readLooseBranch(storage: Storage, repo_id: number, name = ''): Promise<Ref | undefined> {
  if (!name.startsWith('refs/heads/') || !isRefName(name) || storage.ignoresCase()) return undefined
  const text = await readFile(join(storage.pathOf(repo_id), name), 'utf8').catch(() => '')
  return /^[0-9a-f]{40}\n$/.test(text) ? { name, sha: text.trimEnd(), type: 'commit' } : undefined
}

/** In bytes: more than a million refs with their types. */
const longestRefs = 1 << 27

async function readRefs(storage: Storage, repo_id: number, ...patterns: string[]): Promise<Ref[]> {
  const format = '--format=%(objectname) %(objecttype) %(refname)'
  const found = await git(['-C', storage.pathOf(repo_id), 'for-each-ref', format, ...patterns], { limit: longestRefs })
  const refs = [...found.matchAll(/^(\w+) (\w+) (.+)$/gm)].map(([, sha = '', type = '', name = '']) => ({ name, sha, type }))
  return refs.filter(({ name }) => !isHidden(name))
}

/** Milliseconds until a search for branches is given up. */
const searchPatience = 5_000

/** The first branches by name that contain a commit, and their heads; none if the search takes too long. */
export async function branchesWith(storage: Storage, repo_id: number, sha: string, most: number): Promise<Ref[]> {
  const options = ['--format=%(objectname) %(refname)', `--count=${most}`, `--contains=${sha}`]
  const args = ['-C', storage.pathOf(repo_id), 'for-each-ref', ...options, 'refs/heads/']
  const found = await git(args, { timeout: searchPatience }).catch((error) => {
    if (error instanceof Refusal) return ''
    throw error
  })
  return [...found.matchAll(/^(\w+) (.+)$/gm)].map(([, head = '', name = '']) => ({ name, sha: head, type: 'commit' }))
}

export const isId = (name: string) => /^[0-9a-f]{40}$/.test(name)

/** The type of an object; undefined if it is missing. */
export async function typeOf(storage: Storage, repo_id: number, sha: string): Promise<string | undefined> {
  return (await look(storage, repo_id, [sha]))[0]?.type
}

/** The same for many. */
export async function typesOf(storage: Storage, repo_id: number, shas: string[]): Promise<(string | undefined)[]> {
  return shas.length ? (await look(storage, repo_id, shas)).map((found) => found?.type) : []
}

/** Resolves a commit: a full id, a branch, a tag, or an abbreviated id, in this order. */
export const resolveCommit = (storage: Storage, repo_id: number, name: string) => resolveTo(storage, repo_id, name, 'commit')

/** Resolves a tree, or the tree of a commit. */
export const resolveTree = (storage: Storage, repo_id: number, name: string) => resolveTo(storage, repo_id, name, 'tree')

async function resolveTo(storage: Storage, repo_id: number, name: string, type: 'commit' | 'tree'): Promise<string | undefined> {
  if (!storage.has(repo_id)) return undefined
  const peel = async (ids: string[]) => {
    const found = ids.length
      ? await look(
          storage,
          repo_id,
          ids.map((id) => `${id}^{${type}}`),
        )
      : []
    return found.find((each) => each !== undefined)?.sha
  }
  const known = isId(name) ? await peel([name]) : undefined
  if (known) return known
  const names = await refsNamed(storage, repo_id, name)
  const branch = type === 'commit' ? await readLooseBranch(storage, repo_id, names[0]) : undefined
  if (branch) return branch.sha
  const refs = await readExactly(storage, repo_id, names)
  if (refs[0]?.type === type) return refs[0].sha
  return peel([...refs.map(({ sha }) => sha), ...(/^[0-9a-f]{4,39}$/.test(name) ? [name] : [])])
}

/** The refs that a name can stand for, in order. A name that begins with `refs/` stands for itself only. */
async function refsNamed(storage: Storage, repo_id: number, name: string): Promise<string[]> {
  if (name === 'HEAD') return [(await git(['-C', storage.pathOf(repo_id), 'symbolic-ref', 'HEAD'])).trim()]
  return name.startsWith('refs/') ? [name] : [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`]
}

/** These refs, as far as they exist. Git's own commands would try other refs for one that is missing. */
async function readExactly(storage: Storage, repo_id: number, names: string[]): Promise<Ref[]> {
  const valid = names.filter(isRefName)
  const refs = valid.length ? await readRefs(storage, repo_id, ...valid) : []
  return valid.flatMap((name) => refs.find((ref) => ref.name === name) ?? [])
}

async function look(storage: Storage, repo_id: number, names: string[]) {
  const output = await git(['-C', storage.pathOf(repo_id), 'cat-file', '--batch-check=%(objecttype) %(objectname)'], {
    input: names.map((name) => `${name}\n`).join(''),
  })
  return output
    .split('\n')
    .slice(0, names.length)
    .map((line) => /^(commit|tree|blob|tag) ([0-9a-f]{40})$/.exec(line))
    .map((found) => (found ? { type: found[1] ?? '', sha: found[2] ?? '' } : undefined))
}

/** Refuses a larger object than the documented limit; it may have been pushed before there was a limit. */
const tooLarge = (size: number, most: number) =>
  new Refusal('forbidden', `This API returns objects of up to ${most} bytes, and this one has ${size}. Fetch it with git.`, [
    { resource: 'Blob', code: 'too_large', field: 'data' },
  ])

/** Reads the size first, because git would read the whole object. */
async function checkSize(storage: Storage, repo_id: number, sha: string, most: number): Promise<number> {
  const [line = ''] = (await git(['-C', storage.pathOf(repo_id), 'cat-file', '-s', sha])).split('\n')
  if (Number(line) > most) throw tooLarge(Number(line), most)
  return Number(line)
}

/** The contents of a file, at most `most` bytes. */
export async function readBlob(storage: Storage, repo_id: number, sha: string, most: number): Promise<Buffer> {
  await checkSize(storage, repo_id, sha, most)
  return readGit(['-C', storage.pathOf(repo_id), 'cat-file', 'blob', sha], { limit: most })
}

/** The contents of a file of any size. */
export function openBlob(storage: Storage, repo_id: number, sha: string): Promise<Readable> {
  const bounds = { signal: AbortSignal.timeout(longestDownload) }
  return openOutput(streamGit(resolve(storage.pathOf(repo_id)), ['cat-file', 'blob', sha], bounds))
}

/** Milliseconds. */
const longestDownload = 600_000

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
  signed?: SignedText | undefined
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
    // When the header of a commit is cut, its last parent may be incomplete.
    parents: all('parent').filter((parent) => parent.length === noObject.length),
    author: readSignature(all('author')[0]),
    committer: readSignature(all('committer')[0]),
    message: end < 0 ? '' : cutMessage(text.slice(end + 2), size),
    signed: splitCommit(text),
  }
}

export interface TagObject {
  sha: string
  tag: string
  object: string
  type: string
  /** Tags of old versions of git have none. */
  tagger: Signature
  message: string
  signed: SignedText | undefined
}

export async function readTag(storage: Storage, repo_id: number, sha: string): Promise<TagObject> {
  const size = await checkSize(storage, repo_id, sha, storage.limits.object)
  const text = await git(['-C', storage.pathOf(repo_id), 'cat-file', 'tag', sha], { limit: longestCommit, cut: true })
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end)
  const first = (field: string) => new RegExp(`^${field} (.*)$`, 'm').exec(head)?.[1]
  return {
    sha,
    tag: first('tag') ?? '',
    object: first('object') ?? noObject,
    type: first('type') ?? 'commit',
    tagger: readSignature(first('tagger')),
    message: end < 0 ? '' : cutMessage(text.slice(end + 2), size),
    signed: splitTag(text),
  }
}

/** Marks a message that was cut. */
export function cutMessage(message: string, size = Buffer.byteLength(message)): string {
  if (message.length <= longestMessage) return message
  return `${message.slice(0, longestMessage).toWellFormed()}\n\n[The rest of this message is not shown: the commit has ${size} bytes.]`
}

/** Signatures of pushed commits can be malformed; unreadable parts are empty. */
function readSignature(line = ''): Signature {
  const [, name = '', email = '', seconds = '0'] = /^([^<]*)<([^>]*)> (\d{1,12}) /.exec(`${line} `) ?? []
  return { name: name.replace(/ $/, ''), email, date: new Date(Number(seconds) * 1000) }
}

/** Whether `descendant` contains everything that `ancestor` contains. */
export async function holdsAll(storage: Storage, repo_id: number, descendant: string, ancestor: string): Promise<boolean> {
  return (await git(['-C', storage.pathOf(repo_id), 'rev-list', '-n', '1', ancestor, `^${descendant}`])) === ''
}

/** Whether `head` has merge commits that `before`, or any branch if there was none before, does not have. */
export async function holdsMerges(storage: Storage, repo_id: number, head: string, before: string): Promise<boolean> {
  const known = before === noObject ? ['--not', '--branches'] : [`^${before}`]
  return (await git(['-C', storage.pathOf(repo_id), 'rev-list', '-n', '1', '--merges', head, ...known])) !== ''
}
