import {
  type CommitObject,
  hasRefs,
  readBlob,
  readCommit,
  readTag,
  resolveTree,
  type TagObject,
  typeOf,
  typesOf,
} from '#git/objects.ts'
import { isRefName } from '#git/ref-names.ts'
import type { Storage } from '#git/storage.ts'
import { type TreeChange, writeBlob, writeCommitObject, writeTag, writeTree } from '#git/write-objects.ts'
import { decode, type Identity, signatureOf } from '#hosting/contents/contents.ts'
import { checkPath } from '#hosting/contents/paths.ts'
import { loadTree, type Tree } from '#hosting/contents/trees.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import { missing, Refusal } from '#platform/errors.ts'

const refused = (message: string) => new Refusal('invalid', message)

/** Contents in JSON take several times their size in memory. Larger blobs are sent as bytes. */
const largestInJson = 32 << 20

export interface Blob {
  sha: string
  content: Buffer
}

export async function loadBlob(storage: Storage, repo: Repository, sha: string): Promise<Blob> {
  await checkType(storage, repo, sha, 'blob')
  return { sha, content: await readBlob(storage, repo.id, sha, Math.min(largestInJson, storage.limits.object)) }
}

export const checkBlob = (storage: Storage, repo: Repository, sha: string) => checkType(storage, repo, sha, 'blob')

export async function loadCommitObject(storage: Storage, repo: Repository, sha: string): Promise<CommitObject> {
  await checkType(storage, repo, sha, 'commit')
  return readCommit(storage, repo.id, sha)
}

export async function loadTag(storage: Storage, repo: Repository, sha: string): Promise<TagObject> {
  await checkType(storage, repo, sha, 'tag')
  return readTag(storage, repo.id, sha)
}

const isSha = (text: string) => /^[0-9a-f]{40}$/.test(text)

async function checkType(storage: Storage, repo: Repository, sha: string, type: string) {
  if (isSha(sha) && storage.has(repo.id) && (await typeOf(storage, repo.id, sha)) === type) return
  await checkNotEmpty(storage, repo)
  throw missing()
}

async function checkNotEmpty(storage: Storage, repo: Repository) {
  if (!(await hasRefs(storage, repo.id, 'refs/'))) throw new Refusal('conflict', 'Git Repository is empty.')
}

export async function createBlob(storage: Storage, repo: Repository, content: string, encoding: 'utf-8' | 'base64') {
  await checkNotEmpty(storage, repo)
  const bytes = encoding === 'base64' ? decode(content) : Buffer.from(content)
  if (bytes.length > storage.limits.object) throw refused(`A blob may have at most ${storage.limits.object} bytes.`)
  return writeBlob(storage, repo.id, bytes)
}

export interface NewEntry {
  path: string
  mode?: string
  type?: string
  sha?: string | null
  content?: string
}

const types: Record<string, string> = { '040000': 'tree', '160000': 'commit' }

export async function createTree(
  storage: Storage,
  repo: Repository,
  base: string | undefined,
  wanted: NewEntry[],
): Promise<Tree> {
  await checkNotEmpty(storage, repo)
  // Clients also send the id of a commit for its tree.
  const base_tree = base === undefined ? undefined : await resolveTree(storage, repo.id, isSha(base) ? base : '')
  if (base !== undefined && !base_tree) throw refused('base_tree is not a valid tree')
  const named = wanted.flatMap(({ sha, mode }) => (sha && mode !== '160000' ? [sha] : []))
  if (!named.every(isSha)) throw refused('tree.sha must be exactly 40 characters and contain only [0-9a-f].')
  const found = await typesOf(storage, repo.id, named)
  const known = new Map(named.map((sha, index) => [sha, found[index]]))
  const sha = await writeTree(
    storage,
    repo.id,
    base_tree,
    wanted.map((entry) => changeOf(entry, known)),
  )
  return loadTree(storage, repo, sha, false)
}

function changeOf({ path, mode = '100644', type, sha, content }: NewEntry, known: Map<string, string | undefined>): TreeChange {
  checkPath(path)
  const kind = types[mode] ?? 'blob'
  if (type !== undefined && type !== kind) throw refused(`tree.type ${type} does not go with tree.mode ${mode}`)
  if (sha !== undefined && content !== undefined) throw refused('Use either tree.sha or tree.content, not both')
  if (sha === null) return { path, mode, object: null }
  if (sha !== undefined) {
    if (kind === 'commit' ? !isSha(sha) : known.get(sha) !== kind) throw refused(`tree.sha ${sha} is not a valid ${kind}`)
    return { path, mode, object: sha }
  }
  if (content === undefined || kind !== 'blob') throw refused(`${path} needs a tree.sha, or the tree.content of a file`)
  return { path, mode, object: Buffer.from(content) }
}

export interface NewCommit {
  message: string
  tree: string
  parents?: string[]
  author?: Identity
  committer?: Identity
  signature?: string
}

export async function createCommit(
  storage: Storage,
  repo: Repository,
  user: Account,
  { message, tree, parents = [], signature, ...people }: NewCommit,
  now: Date,
): Promise<CommitObject> {
  await checkNotEmpty(storage, repo)
  const author = signatureOf(people.author, user, now)
  const committer = people.committer ? signatureOf(people.committer, user, now) : author
  if (![tree, ...parents].every(isSha)) {
    throw refused('The tree and parents parameters must be exactly 40 characters and contain only [0-9a-f].')
  }
  const [kind, ...kinds] = await typesOf(storage, repo.id, [tree, ...parents])
  if (kind !== 'tree') throw refused('Tree SHA does not exist')
  if (kinds.some((each) => each !== 'commit')) throw refused('Parent SHA does not exist or is not a commit object')
  const sha = await writeCommitObject(storage, repo.id, { tree, parents, author, committer, message, signature })
  return readCommit(storage, repo.id, sha)
}

export interface NewTag {
  tag: string
  message: string
  object: string
  type: string
  tagger?: Identity
}

/** An annotated tag. `POST …/git/refs` then creates the ref of it. */
export async function createTag(storage: Storage, repo: Repository, user: Account, asked: NewTag, now: Date): Promise<TagObject> {
  await checkNotEmpty(storage, repo)
  const { tag, message, object, type } = asked
  if (!isRefName(`refs/tags/${tag}`)) throw refused('tag is not a valid tag name')
  if (!isSha(object) || (await typeOf(storage, repo.id, object)) !== type) throw refused(`object is not the SHA of a ${type}`)
  const tagger = signatureOf(asked.tagger, user, now)
  return loadTag(storage, repo, await writeTag(storage, repo.id, { tag, object, type, tagger, message }))
}
