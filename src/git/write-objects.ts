import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { takeTimestamp } from '#platform/durable.ts'
import { syncObjects } from './fsync.ts'
import { git } from './git.ts'
import { readTrees } from './merge-tree.ts'
import { noObject, type Signature } from './objects.ts'
import { within } from './run-git.ts'
import { withScratch } from './scratch.ts'
import type { Storage } from './storage.ts'
import { data, quote, sign } from './write-commit.ts'

/** Objects without a ref. Git removes them after two weeks, unless a ref leads to them by then. */

const patience = 60_000

export async function writeBlob(storage: Storage, repo_id: number, content: Buffer): Promise<string> {
  const path = resolve(storage.pathOf(repo_id))
  const since = takeTimestamp()
  const sha = (await git(['-C', path, 'hash-object', '-w', '--stdin'], { input: content })).trim()
  await syncObjects(path, since)
  return sha
}

/** An entry of a tree: an object by its id, a file by its contents, or null to remove the path. */
export interface TreeChange {
  path: string
  mode: string
  object: string | Buffer | null
}

/** Writes a tree: the entries of `base` with these changes. Paths may lead into folders. */
export function writeTree(storage: Storage, repo_id: number, base: string | undefined, changes: TreeChange[]): Promise<string> {
  return within(patience, (signal) =>
    withScratch(storage, repo_id, signal, async (scratch) => {
      const { output } = await scratch.run(['fast-import', '--quiet'], { input: describe(base, changes) })
      const [tree = noObject] = await readTrees(scratch, [output.toString().trim()])
      await scratch.keep(tree, base ? [base] : [], { local: true })
      return tree
    }),
  )
}

/** fast-import writes trees only for a commit. It does not write a ref that is reset in the same input. */
async function* describe(base: string | undefined, changes: TreeChange[]) {
  const ref = `refs/belfry/${randomUUID()}`
  yield Buffer.from(`commit ${ref}\nmark :1\ncommitter x <x> 0 +0000\ndata 0\n${base ? `M 040000 ${base} ""\n` : ''}`)
  for (const { path, mode, object } of changes) {
    if (object === null) yield Buffer.from(`D ${quote(path)}\n`)
    else if (typeof object === 'string') yield Buffer.from(`M ${mode} ${object} ${quote(path)}\n`)
    else yield Buffer.concat([Buffer.from(`M ${mode} inline ${quote(path)}\n`), data(object)])
  }
  yield Buffer.from(`\nget-mark :1\nreset ${ref}\nfrom ${noObject}\n\n`)
}

export interface NewCommitObject {
  tree: string
  parents: string[]
  author: Signature
  committer: Signature
  message: string
  /** An armored signature of all the rest. */
  signature?: string | undefined
}

/** Texts of a draft are bytes, one per character. */
const bytes = (text: string) => Buffer.from(text).toString('latin1')

export function writeCommitObject(storage: Storage, repo_id: number, commit: NewCommitObject): Promise<string> {
  const { tree, parents, author, committer, message, signature } = commit
  const more = signature ? `gpgsig ${signature.trimEnd().replaceAll('\r', '').split('\n').join('\n ')}\n` : ''
  return within(patience, (signal) =>
    withScratch(storage, repo_id, signal, async (scratch) => {
      const signed = { author: bytes(sign(author)), committer: bytes(sign(committer)) }
      const sha = await scratch.write({ tree, parents, ...signed, more: bytes(more), message: bytes(message) })
      await scratch.keep(sha, parents, { local: true })
      return sha
    }),
  )
}

export interface NewTag {
  tag: string
  object: string
  type: string
  tagger: Signature
  message: string
}

export function writeTag(storage: Storage, repo_id: number, { tag, object, type, tagger, message }: NewTag): Promise<string> {
  const contents = `object ${object}\ntype ${type}\ntag ${tag}\ntagger ${sign(tagger)}\n\n${message}`
  return within(patience, (signal) =>
    withScratch(storage, repo_id, signal, async (scratch) => {
      const sha = await scratch.writeTag(Buffer.from(contents))
      await scratch.keep(sha, [object], { local: true })
      return sha
    }),
  )
}
