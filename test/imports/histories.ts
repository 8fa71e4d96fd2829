import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The authors, in turn. */
export const people = Array.from({ length: 10 }, (_, index) => ({ name: `Person ${index}`, email: `person${index}@svn` }))

export interface Shape {
  commits: number
  /** The size of a file in bytes, by the number of the commit that adds or changes it. */
  large?: { at: number; path: string; size: number; fill?: number }[]
  /** Other files in the same way. */
  texts?: { at: number; path: string; text: string }[]
  /** Deletions by the number of the commit. */
  removed?: { at: number; path: string }[]
}

/** A folder with a stage repository of such a history. */
export async function openHistory(shape: Shape) {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-history-'))
  const repository = join(folder, 'stage.git')
  await writeHistory(repository, shape)
  return {
    folder,
    repository,
    git: (args: string[], input: string | Buffer = '') =>
      execFileSync('git', ['-C', repository, ...args], { input, maxBuffer: 1 << 26 })
        .toString()
        .trim(),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Makes a bare repository with branches, merges and tags below `refs/import/orig`; the same each time. */
export async function writeHistory(repository: string, shape: Shape) {
  execFileSync('git', ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', repository])
  const settings = ['-c', 'core.compression=0', '-c', 'core.bigFileThreshold=16m', '-c', 'fastimport.unpackLimit=0']
  const git = spawn('git', ['-C', repository, ...settings, 'fast-import', '--quiet'], { stdio: ['pipe', 'inherit', 'inherit'] })
  const closed = once(git, 'close')
  for (const piece of describe(shape)) if (!git.stdin.write(piece)) await once(git.stdin, 'drain')
  git.stdin.end()
  const [status] = await closed
  if (status !== 0) throw new Error(`git fast-import failed (${status})`)
  // Annotated tags can only be made under their own name.
  const move = 'create refs/import/orig/%(refname:lstrip=1) %(objectname)%0adelete %(refname)'
  const input = execFileSync('git', ['-C', repository, 'for-each-ref', `--format=${move}`, 'refs/tags'])
  execFileSync('git', ['-C', repository, 'update-ref', '--stdin'], { input })
}

const files = 400

function* describe({ commits, large = [], texts = [], removed = [] }: Shape): Generator<string | Buffer> {
  for (let at = 1; at <= commits; at++) {
    const author = people[at % people.length]
    const committer = people[(at * 7) % people.length]
    const when = `${1_400_000_000 + at * 60} +0100`
    yield `commit refs/import/orig/heads/main\nmark :${at}\n`
    yield `author ${author?.name} <${author?.email}> ${when}\ncommitter ${committer?.name} <${committer?.email}> ${when}\n`
    yield data(`Change ${at}\n\nWhy it was made.\n`)
    if (at > 1) yield `from :${at - 1}\n`
    if (at > 50 && at % 50 === 0) yield `merge :${at - 20}\n`
    for (const file of changed(at)) {
      yield `M 100644 inline src/part${file % 20}/file${file}.txt\n${data(`file ${file} as of ${at}\n`.repeat(40))}`
    }
    for (const { path, size, fill = 0 } of large.filter((each) => each.at === at)) {
      yield `M 100644 inline "${path}"\ndata ${size}\n`
      yield* pieces(size, fill)
      yield '\n'
    }
    for (const { path, text } of texts.filter((each) => each.at === at)) yield `M 100644 inline "${path}"\n${data(text)}`
    for (const { path } of removed.filter((each) => each.at === at)) yield `D "${path}"\n`
    yield '\n'
    if (at % 1000 === 500) yield `reset refs/import/orig/tags/light-${at}\nfrom :${at}\n\n`
    if (at % 1000 === 0 || at === commits) {
      yield `tag v${at}\nfrom :${at}\ntagger ${author?.name} <${author?.email}> ${when}\n${data(`Version ${at}\n`)}`
    }
  }
}

const changed = (at: number) =>
  at === 1 ? Array.from({ length: files }, (_, index) => index) : [at, at * 3, at * 7].map((each) => each % files)

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`

function* pieces(size: number, fill: number) {
  const piece = Buffer.alloc(1 << 20)
  for (let left = size, number = 0; left > 0; left -= piece.length, number++) {
    // Fast to make, and incompressible.
    for (let at = 0; at < piece.length; at += 8) piece.writeUInt32LE(((at ^ number) * 2_654_435_761 + fill) >>> 0, at)
    yield Buffer.from(piece.subarray(0, Math.min(left, piece.length)))
  }
}
