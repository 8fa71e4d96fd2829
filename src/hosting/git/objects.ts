import { randomUUID } from 'node:crypto'
import { moment } from '#platform/durable.ts'
import { git } from './git.ts'
import type { Storage } from './storage.ts'
import { syncObjects } from './syncing.ts'

export const noObject = '0'.repeat(40)

/** What is kept for ourselves: nobody is shown it, by whatever way they ask, and nobody pushes to it. */
const hidden = 'refs/import/'
export const isHidden = (name: string) => name.startsWith(hidden)

export interface Ref {
  name: string
  sha: string
  type: string
}

/** Refs on disk whose names begin with `prefix`, in the order of their names. */
export async function listRefs(storage: Storage, repo_id: number, prefix: string): Promise<Ref[]> {
  if (!storage.has(repo_id)) return []
  // Given to git, a prefix would be a pattern; the folders it may be in are enough to be quick.
  const folder = ['refs/heads/', 'refs/tags/'].find((each) => prefix.startsWith(each)) ?? 'refs/'
  return (await readRefs(storage, repo_id, folder)).filter(({ name }) => name.startsWith(prefix))
}

export async function findRef(storage: Storage, repo_id: number, name: string): Promise<Ref | undefined> {
  if (!storage.has(repo_id) || !isRefName(name)) return undefined
  return (await readRefs(storage, repo_id, name)).find((ref) => ref.name === name)
}

async function readRefs(storage: Storage, repo_id: number, pattern: string): Promise<Ref[]> {
  const format = '--format=%(objectname) %(objecttype) %(refname)'
  const found = await git(['-C', storage.pathOf(repo_id), 'for-each-ref', format, pattern])
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
export async function resolveCommit(storage: Storage, repo_id: number, name: string): Promise<string | undefined> {
  if (!storage.has(repo_id)) return undefined
  const refs = [`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`, name].filter(
    (each) => isRefName(each) && !isHidden(each),
  )
  const whole = name === 'HEAD' || /^[0-9a-f]{40}$/.test(name) ? [name] : []
  const short = /^[0-9a-f]{4,39}$/.test(name) ? [name] : []
  const names = [...whole, ...refs, ...short].map((each) => `${each}^{commit}`)
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

export interface Entry {
  mode: string
  type: string
  sha: string
  size: number
  path: string
}

/** What stands at a path, after every folder that leads there. */
export async function readPath(storage: Storage, repo_id: number, commit: string, path: string): Promise<Entry[]> {
  const parts = path.split('/')
  const wanted = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const listed = await listTree(storage, repo_id, ['-t', commit, '--', ...wanted])
  // Asked for a folder and for something in it, git lists all of the folder.
  return listed.filter((entry) => wanted.includes(entry.path))
}

/** Everything in a folder, by its tree. */
export const readFolder = (storage: Storage, repo_id: number, tree: string) => listTree(storage, repo_id, [tree])

async function listTree(storage: Storage, repo_id: number, args: string[]): Promise<Entry[]> {
  const found = await git(['--literal-pathspecs', '-C', storage.pathOf(repo_id), 'ls-tree', '-z', '-l', ...args])
  return [...found.matchAll(/(\d+) (\w+) (\w+) +(\d+|-)\t([^\0]+)\0/g)].map(
    ([, mode = '', type = '', sha = '', size = '', path = '']) => ({ mode, type, sha, size: Number(size) || 0, path }),
  )
}

export async function readBlob(storage: Storage, repo_id: number, sha: string): Promise<Buffer> {
  const told = await git(['-C', storage.pathOf(repo_id), 'cat-file', 'blob', sha], { encoding: 'base64' })
  return Buffer.from(told, 'base64')
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

export async function readCommit(storage: Storage, repo_id: number, sha: string): Promise<CommitObject> {
  const text = await git(['-C', storage.pathOf(repo_id), 'cat-file', 'commit', sha])
  const end = text.indexOf('\n\n')
  const head = end < 0 ? text : text.slice(0, end)
  const all = (field: string) => [...head.matchAll(new RegExp(`^${field} (.*)$`, 'gm'))].map(([, value = '']) => value)
  return {
    sha,
    tree: all('tree')[0] ?? noObject,
    parents: all('parent'),
    author: readSignature(all('author')[0]),
    committer: readSignature(all('committer')[0]),
    message: end < 0 ? '' : text.slice(end + 2),
  }
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

export interface NewCommit {
  parent: string | undefined
  author: Signature
  committer: Signature
  message: string
  path: string
  /** What the file holds from now on; null removes it. */
  file: { mode: string; content: Buffer } | null
}

/** Writes a commit that no ref leads to yet; gives its name, and that of the file's contents. */
export async function writeCommit(storage: Storage, repo_id: number, commit: NewCommit): Promise<{ sha: string; blob: string }> {
  // The import has to be into a ref. One that is taken back in the same breath is never written.
  const ref = `refs/belfry/${randomUUID()}`
  const { parent, author, committer, path, file } = commit
  const input = Buffer.concat([
    ...(file ? [Buffer.from('blob\nmark :1\n'), data(file.content)] : []),
    Buffer.from(`commit ${ref}\nmark :2\nauthor ${sign(author)}\ncommitter ${sign(committer)}\n`),
    data(Buffer.from(commit.message)),
    Buffer.from(parent ? `from ${parent}\n` : ''),
    Buffer.from(file ? `M ${file.mode} :1 ${quote(path)}\n` : `D ${quote(path)}\n`),
    Buffer.from(`\nget-mark :2\n${file ? 'get-mark :1\n' : ''}reset ${ref}\nfrom ${noObject}\n\n`),
  ])
  const since = moment()
  const [sha = '', blob = ''] = (await git(['-C', storage.pathOf(repo_id), 'fast-import', '--quiet'], { input })).split('\n')
  await syncObjects(storage.pathOf(repo_id), since)
  return { sha, blob }
}

const sign = ({ name, email, date }: Signature) => `${name} <${email}> ${Math.floor(date.getTime() / 1000)} +0000`

const data = (bytes: Buffer) => Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')])

/** As C would write it: all that is not plain is a byte in octal. */
const quote = (path: string) =>
  `"${Buffer.from(path)
    .toString('latin1')
    .replaceAll(/[^ !#-[\]-~]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`
