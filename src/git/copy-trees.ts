import { join, resolve } from 'node:path'
import { runGit } from './run-git.ts'
import { data, sign } from './write-commit.ts'

/** A commit without parents for each branch. */
export interface RootCommit {
  author: { name: string; email: string; date: Date }
  message: string
}

/**
 * Writes a root commit with the tree of each branch into an empty repository. Of the source it copies what the trees need, and no
 * history.
 */
export async function copyTrees(
  source: string,
  target: string,
  branches: Map<string, string>,
  commit: RootCommit,
  signal: AbortSignal,
) {
  const bounds = { signal, settings: { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(resolve(source), 'objects') } }
  const names = [...branches.values()].map((sha) => `${sha}^{tree}\n`).join('')
  const check = ['cat-file', '--batch-check=%(objectname)']
  const { output } = await runGit(target, check, { ...bounds, input: names, whole: true, limit: 1 << 26 })
  const trees = output.toString().trim().split('\n')
  const author = sign(commit.author)
  const message = data(Buffer.from(commit.message)).toString()
  const input = [...branches.keys()].map(
    (ref, index) => `commit ${ref}\nauthor ${author}\ncommitter ${author}\n${message}M 040000 ${trees[index]} ""\n\n`,
  )
  await runGit(target, ['fast-import', '--quiet'], { ...bounds, input: input.join('') })
  // Packs all reachable objects, also those of the source.
  await runGit(target, ['repack', '-a', '-d', '-q'], bounds)
}
