import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { filesIn, readConversion } from '#importer/mercurial/convert.ts'
import { mercurial } from '#importer/mercurial/mercurial.ts'
import type { Origin } from '#importer/source.ts'
import { visitMarks } from '#importer/staging/arrange/marks.ts'
import { isForbiddenLink, isForbiddenPath } from '#importer/staging/paths.ts'
import { type Hg, openHg } from '#test/imports/hg.ts'
import { openWorkspace } from '#test/imports/workspace.ts'
import type { Checked, CheckOptions } from './oracle.ts'
import { compareTrees, reachable, readCommit, readFolder, sampleOf, type Tree } from './trees.ts'

/** Converts a repository, and compares the result with what `hg` says about the repository on disk. */
export async function checkMercurial(repository: string, origin: Origin, options: CheckOptions): Promise<Checked> {
  await using workspace = await openWorkspace()
  await using hg = await openHg(repository)
  const differences: string[] = []
  const { left_out = [], commit_count } = await mercurial.convert(origin, workspace)
  const { refs, commits_from } = readConversion(workspace.folder)
  const commits = new Map<number, string>()
  await visitMarks(filesIn(workspace.folder).marks, (mark, id) => commits.set(mark - commits_from, id))
  const commitOf = (rev: number) => commits.get(rev) ?? ''
  const log = await readLog(hg)
  if (commit_count !== log.length) differences.push(`${log.length} changesets have become ${commit_count}`)

  const compare = async (where: string, rev: number) => {
    const target = join(workspace.folder, `archive-${randomUUID()}`)
    try {
      const written = await archive(hg, rev, target)
      if (written === 'impossible') return []
      const files = written === 'done' ? readFolder(target) : new Map()
      return compareTrees(where, withoutForeign(files), await readCommit(workspace.repository, commitOf(rev)))
    } finally {
      await rm(target, { recursive: true, force: true })
    }
  }
  for (const { ref, node, number } of refs) {
    if (log[number]?.node !== node) differences.push(`${ref} is another changeset`)
    else differences.push(...(await compare(ref.replace('refs/import/orig/', ''), number)))
  }
  const tips = new Set(refs.map(({ number }) => number))
  const sample = sampleOf(
    log.filter(({ rev }) => !tips.has(rev)),
    options.revisions,
  )
  for (const { rev } of sample) differences.push(...(await compare(`changeset ${rev}`, rev)))
  differences.push(...(await compareBranches(hg, refs)))

  const reached = await reachable(workspace.repository)
  for (const { rev, branch } of log) {
    const named = left_out.some(({ path, revisions: [first, last] }) => rev >= first && rev <= last && isNamed(path, branch))
    if (!reached.has(commitOf(rev)) && !named) differences.push(`changeset ${rev} is in no branch and no tag, and is not named`)
  }
  return { revisions: log.length, compared: refs.length + sample.length, refs: refs.length, left_out, differences }
}

const isNamed = (path: string, branch: string) =>
  path === '/' || path === branch || (path.endsWith('/') && branch.startsWith(path))

/** Mercurial itself cannot write a changeset in which a path is both a file and a folder. */
async function archive(hg: Hg, rev: number, target: string): Promise<'done' | 'no files' | 'impossible'> {
  try {
    await hg.run('archive', '-r', String(rev), target)
    return 'done'
  } catch (error) {
    const { message } = error as Error
    if (message.includes('no files match')) return 'no files'
    if (/(Not|Is) a directory/.test(message)) return 'impossible'
    throw error
  }
}

interface Logged {
  rev: number
  node: string
  branch: string
}

async function readLog(hg: Hg): Promise<Logged[]> {
  const listed = (await hg.run('log', '-r', 'all()', '-T', '{rev} {node} {branch}\\n')).toString().split('\n').slice(0, -1)
  return listed.map((line) => {
    const [rev, node = '', ...branch] = line.split(' ')
    return { rev: Number(rev), node, branch: branch.join(' ') }
  })
}

/** The tip of each open branch must be the target of a git branch. */
async function compareBranches(hg: Hg, refs: { ref: string; node: string }[]): Promise<string[]> {
  const listed = (await hg.run('branches', '-T', '{node} {branch}\\n')).toString().split('\n').slice(0, -1)
  const heads = new Set(refs.filter(({ ref }) => ref.startsWith('refs/import/orig/heads/')).map(({ node }) => node))
  return listed.filter((line) => !heads.has(line.slice(0, 40))).map((line) => `the tip of ${line.slice(41)} is no branch`)
}

/** Git has no files with these names, and Mercurial's own files are no part of a changeset. */
function withoutForeign(tree: Tree): Tree {
  const isForeign = (path: string, file: string) =>
    path === '.hg_archival.txt' || isForbiddenPath(path) || (file.startsWith('120000') && isForbiddenLink(path))
  return new Map([...tree].filter(([path, file]) => !isForeign(path, file)))
}
