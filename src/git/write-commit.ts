import { randomUUID } from 'node:crypto'
import { noObject, type Signature } from './objects.ts'
import { within } from './run-git.ts'
import { withScratch } from './scratch.ts'
import type { Storage } from './storage.ts'

export interface NewCommit {
  parent: string | undefined
  author: Signature
  committer: Signature
  message: string
  path: string
  /** The new contents; null removes the file. */
  file: { mode: string; content: Buffer } | null
}

const patience = 60_000

/**
 * Writes a commit without a ref. Returns its id, and that of the blob. The commit is written to a temporary folder and copied into the
 * repository with the checks of a push.
 */
export async function writeCommit(storage: Storage, repo_id: number, commit: NewCommit): Promise<{ sha: string; blob: string }> {
  return within(patience, (signal) =>
    withScratch(storage, repo_id, signal, async (scratch) => {
      const { output } = await scratch.run(['fast-import', '--quiet'], { input: once(describe(commit)) })
      const [sha = '', blob = ''] = output.toString().split('\n')
      await scratch.keep(sha, commit.parent ? [commit.parent] : [])
      return { sha, blob }
    }),
  )
}

async function* once(bytes: Buffer) {
  yield bytes
}

function describe({ parent, author, committer, message, path, file }: NewCommit) {
  // fast-import needs a ref. It does not write a ref that is reset in the same input.
  const ref = `refs/belfry/${randomUUID()}`
  return Buffer.concat([
    ...(file ? [Buffer.from('blob\nmark :1\n'), data(file.content)] : []),
    Buffer.from(`commit ${ref}\nmark :2\nauthor ${sign(author)}\ncommitter ${sign(committer)}\n`),
    data(Buffer.from(message)),
    Buffer.from(parent ? `from ${parent}\n` : ''),
    Buffer.from(file ? `M ${file.mode} :1 ${quote(path)}\n` : `D ${quote(path)}\n`),
    Buffer.from(`\nget-mark :2\n${file ? 'get-mark :1\n' : ''}reset ${ref}\nfrom ${noObject}\n\n`),
  ])
}

export const sign = ({ name, email, date }: Signature) => `${name} <${email}> ${Math.floor(date.getTime() / 1000)} +0000`

export const data = (bytes: Buffer) => Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')])

/** Quotes a path as in C; bytes outside printable ASCII are octal. */
export const quote = (path: string) =>
  `"${Buffer.from(path)
    .toString('latin1')
    .replaceAll(/[^ !#-[\]-~]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`
