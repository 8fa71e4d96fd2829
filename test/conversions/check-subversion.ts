import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LeftOut, Origin, Preview, Workspace } from '#importer/source.ts'
import type { Recorded } from '#importer/staging/arrange/arrange.ts'
import { isForbiddenPath } from '#importer/staging/paths.ts'
import { recordFile } from '#importer/subversion/checkpoint.ts'
import { subversion } from '#importer/subversion/subversion.ts'
import { findElements } from '#importer/subversion/xml.ts'
import { openWorkspace } from '#test/imports/workspace.ts'
import { type Checked, type CheckOptions, pathOfOrigin } from './oracle.ts'
import { compareTrees, inParallel, reachable, readCommit, readFolder, sampleOf, type Tree } from './trees.ts'

const run = promisify(execFile)
const env = { ...process.env, LC_ALL: 'C.UTF-8' }

type Commit = Extract<Recorded, { number: number }>
type Ref = Extract<Recorded, { ref: string }>

/** Converts a repository, and compares the result with what `svn` says about the repository on disk. */
export async function checkSubversion(repository: string, origin: Origin, options: CheckOptions): Promise<Checked> {
  await using workspace = await openWorkspace()
  const preview = await subversion.preview?.(origin, workspace)
  await subversion.convert(origin, workspace)
  const log = await readLog(repository)
  const { kept, ...checked } = await checkRefs(repository, origin, workspace, preview, log, options)
  checked.differences.push(...compareRevisions(log, kept, checked.left_out, pathOfOrigin(origin)))
  return checked
}

/** Converts all projects of a repository in one go, and compares each. Each revision must be in one of them, or be named. */
export async function* checkProjects(repository: string, origin: Origin, options: CheckOptions) {
  await using workspace = await openWorkspace()
  const preview = await subversion.preview?.({ ...origin, projects: true }, workspace)
  await subversion.convert({ ...origin, projects: true }, workspace)
  const log = await readLog(repository)
  const parts: (Checked & { name: string; kept: KeptCommit[] })[] = []
  for (const part of preview?.parts ?? []) {
    const folder = join(workspace.folder, `part-${part.name}`)
    await mkdir(folder)
    const own = { ...workspace, part: part.name, folder }
    const checked = await checkRefs(repository, { ...origin, projects: true }, own, part, log, options)
    parts.push({ name: part.name, ...checked })
  }
  const kept = parts.flatMap((part) => part.kept)
  const left = parts.flatMap((part) => part.left_out)
  parts.at(-1)?.differences.push(...compareRevisions(log, kept, left, pathOfOrigin(origin)))
  for (const { kept: _, ...checked } of parts) yield checked
}

type Promised = Pick<Preview, 'branches' | 'tags' | 'left_out'> | undefined
/** A commit that a branch or a tag has, and the folders that are not in it. */
type KeptCommit = Commit & { without: string[] }

/** Makes the branches and tags of what was converted, and compares them. */
async function checkRefs(
  repository: string,
  origin: Origin,
  workspace: Workspace,
  preview: Promised,
  log: Logged[],
  options: CheckOptions,
): Promise<Checked & { kept: KeptCommit[] }> {
  const differences: string[] = []
  const arranged = await subversion.arrange?.(origin, workspace)
  const left_out = arranged?.left_out ?? []
  const lines = (await readFile(recordFile(workspace.folder), 'utf8')).split('\n').filter(Boolean)
  const records: Recorded[] = lines.map((line) => JSON.parse(line))
  const refs = records.filter((record): record is Ref => 'ref' in record)
  const commits = records.filter((record): record is Commit => 'number' in record)
  const head = log.at(-1)?.number ?? 0

  const shortName = ({ ref }: Ref) => ref.replace('refs/import/orig/', '')
  const promised = [
    ...(preview?.branches ?? []).map(({ name }) => `heads/${name}`),
    ...(preview?.tags ?? []).map(({ name }) => `tags/${name}`),
  ]
  const made = refs.map(shortName)
  for (const name of promised) if (!made.includes(name)) differences.push(`${name} was announced and not made`)
  for (const name of made) if (!promised.includes(name)) differences.push(`${name} was made and not announced`)

  const others = refs.flatMap(({ without = [] }) => without)
  const compare = async (where: string, { root, commit }: Recorded, number: number, without: string[]) => {
    const exported = withoutFolders(await exportFolder(repository, root, number, workspace.folder), root, without)
    return compareTrees(where, exported, await readCommit(workspace.repository, commit))
  }
  const tips = await inParallel(refs, (ref) => compare(shortName(ref), ref, ref.at ?? head, ref.without ?? []))
  const reached = await reachable(workspace.repository)
  const kept = commits
    .filter(({ commit }) => reached.has(commit))
    .map((commit) => ({ ...commit, without: commit.unassigned ? others : [] }))
  const compared = await inParallel(sampleOf(kept, options.revisions), (commit) =>
    compare(`r${commit.number} of ${commit.root || '/'}`, commit, commit.number, commit.without),
  )
  differences.push(...tips.flat(), ...compared.flat())
  // The preview does not know about merges, so it may name more.
  for (const { path, revisions, reason } of left_out)
    if (!preview?.left_out.some((one) => one.path === path && one.reason === reason && one.revisions[0] <= revisions[0]))
      differences.push(`${path} (${reason}) is left out and was not announced`)
  return { revisions: head, compared: refs.length + compared.length, refs: refs.length, left_out, differences, kept }
}

interface Logged {
  number: number
  /** Whether it is a file that is added or changed; others are folders and deletions. */
  paths: { path: string; file: boolean }[]
}

/** The paths that each revision touches. */
async function readLog(repository: string): Promise<Logged[]> {
  const { stdout } = await run('svn', ['log', '--xml', '-v', '-q', '-r', '0:HEAD', `file://${encodeURI(repository)}`], {
    env,
    maxBuffer: 1 << 30,
  })
  return findElements(stdout, 'logentry').map(({ attributes, children }) => ({
    number: Number(attributes.revision),
    paths: children
      .filter(({ name }) => name === 'paths')
      .flatMap((paths) => paths.children)
      .map(({ text, attributes: { kind, action } }) => ({
        path: text.replace(/^\//, ''),
        file: kind === 'file' && action !== 'D',
      })),
  }))
}

/** Each revision that touches a file must be a commit, or be named as left out. */
function compareRevisions(log: Logged[], kept: KeptCommit[], left: LeftOut[], project: string): string[] {
  const roots = new Map<number, KeptCommit[]>()
  for (const commit of kept) roots.set(commit.number, [...(roots.get(commit.number) ?? []), commit])
  const differences: string[] = []
  const lost = new Set<LeftOut>()
  for (const { number, paths } of log) {
    for (const { path, file } of paths.filter((logged) => isIn(project, logged.path))) {
      const isKept = (roots.get(number) ?? []).some(
        ({ root, without }) =>
          (root === '' || path.startsWith(`${root}/`)) && !without.some((other) => path.startsWith(`${other}/`)),
      )
      const allowed = !isForbiddenPath(Buffer.from(path).toString('latin1'))
      if (isKept && allowed) continue
      const named = left.filter((entry) => isNamed(entry, number, path))
      if (named.length === 0 && file) differences.push(`r${number} of ${path} is in no branch and no tag, and is not named`)
      for (const entry of named) lost.add(entry)
    }
  }
  for (const entry of left)
    if (entry.reason !== 'empty' && !lost.has(entry))
      differences.push(`${entry.path} r${entry.revisions.join('-')} is named as left out (${entry.reason}), but is there`)
  return differences.length > 20 ? [...differences.slice(0, 20), `${differences.length - 20} more revisions`] : differences
}

function isNamed({ path, revisions: [first, last] }: LeftOut, number: number, file: string) {
  return number >= first && number <= last && (path === '/' || isIn(path.replace(/\/$/, ''), file))
}

const isIn = (folder: string, path: string) => folder === '' || path === folder || path.startsWith(`${folder}/`)

async function exportFolder(repository: string, root: string, number: number, folder: string): Promise<Tree> {
  const target = join(folder, `export-${randomUUID()}`)
  const url = `file://${encodeURI(repository)}/${root.split('/').map(encodeURIComponent).join('/')}@${number}`
  const options = ['--quiet', '--ignore-externals', '--ignore-keywords', '--native-eol', 'LF', '-r', String(number)]
  try {
    await run('svn', ['export', ...options, url, target], { env, maxBuffer: 1 << 26 })
    const files = readFolder(target)
    return new Map([...files].filter(([path]) => !isForbiddenPath(path)))
  } finally {
    await rm(target, { recursive: true, force: true })
  }
}

function withoutFolders(tree: Tree, root: string, without: string[]): Tree {
  if (without.length === 0) return tree
  const names = without.map((path) => Buffer.from(root === '' ? path : path.slice(root.length + 1)).toString('latin1'))
  return new Map([...tree].filter(([path]) => !names.some((name) => path.startsWith(`${name}/`))))
}
