import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Origin } from '#importer/source.ts'
import type { Recorded } from '#importer/staging/arrange/arrange.ts'
import { subversion } from '#importer/subversion/subversion.ts'
import { needs } from '#test/needs.ts'
import { openSvnFolder } from './svn-servers.ts'
import type { openWorkspace } from './workspace.ts'

needs({ svn: 'subversion' })

const run = promisify(execFile)
export type Workspace = Awaited<ReturnType<typeof openWorkspace>>

/** Converts and arranges, like the steps of an import. */
export async function importing(origin: Origin, workspace: Workspace) {
  const converted = await subversion.convert(origin, workspace)
  const arranged = await subversion.arrange?.(origin, workspace)
  return { ...converted, default_branch: arranged?.default_branch, notes: { ...converted.notes, ...arranged?.notes } }
}

/** Imports in a process that is killed half-way, with `made` of properties. Returns its last checkpoint. */
export async function killHalfWay(url: string, { folder }: Workspace, made: 'ignores' | 'attributes' | '' = '') {
  const program = join(import.meta.dirname, 'svn-interrupted.ts')
  await assert.rejects(run(process.execPath, [program, url, folder, made]), { signal: 'SIGKILL' })
  return JSON.parse(await readFile(join(folder, 'reached.json'), 'utf8'))
}

export const refsOf = (workspace: Workspace) =>
  workspace.git('for-each-ref', '--format=%(refname:lstrip=3) %(objectname)', 'refs/import/orig')

/** The commits of roots. */
export async function recordsOf(workspace: Workspace): Promise<Recorded[]> {
  const lines = (await readFile(join(workspace.folder, 'arranged.jsonl'), 'utf8')).trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** Mode, id and path of each file that `svn export` writes, in git's form. */
export async function exported(repository: string, root: string) {
  await using folder = await openSvnFolder()
  const target = join(folder.path, 'exported')
  const url = `file://${repository}/${root.split('/').map(encodeURIComponent).join('/')}`
  const env = { ...process.env, LC_ALL: 'C.UTF-8' }
  await run('svn', ['export', '--quiet', '--ignore-externals', '--ignore-keywords', url, target], { env })
  const files = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory())
  return files.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    const link = entry.isSymbolicLink()
    const content = link ? readlinkSync(path, 'buffer') : readFileSync(path)
    const mode = link ? '120000' : lstatSync(path).mode & 0o100 ? '100755' : '100644'
    return `${mode} ${blobId(content)} ${path.slice(target.length + 1)}`
  })
}

export const blobId = (content: Buffer | string) => {
  const bytes = Buffer.from(content as string)
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/** The same for the files in git. */
export async function filesOf(workspace: Workspace, commit: string) {
  const listed = await workspace.git('ls-tree', '-r', '-z', commit)
  return listed
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^(\d+) blob (\w+)\t/, '$1 $2 '))
}
