import { hash } from 'node:crypto'
import type { Verification } from '#importer/source.ts'
import { isForbiddenLink, isForbiddenPath } from '#importer/staging/paths.ts'
import type { Contents, Entry } from './git-contents.ts'
import { attributesFile, type Traits, writeAttributesFile } from './gitattributes.ts'
import { writeIgnoreFile } from './gitignore.ts'
import type { Folder, Inspector, Listed, MadeFiles } from './inspector.ts'
import { joinPath } from './layout.ts'
import { openLineEndReport } from './line-ends.ts'

/** A folder to compare in the source and in git. */
export interface Task {
  where: string
  /** `path` is in the repository, `inner` below the compared root. */
  path: string
  inner: string
  number: number
  /** A tree, or an expression that resolves to one. */
  tree: string
  /** Whether it belongs to a branch or tag, not to an earlier revision. */
  tip: boolean
  /** The folders of the repository that are not compared. */
  without?: Set<string>
}

interface Check {
  path: string
  entry: Entry
  md5: string
  eol?: Traits['eol']
}

const ignoreFile = '.gitignore'
/** The properties of a generated file. */
const plainFile = { executable: false, special: false, md5: '' }

/** Requests to the server at a time, and files per request to git. */
const concurrency = 16
const batch = 2000
const maxMismatches = 100
const maxRemembered = 1_000_000

/** Skips an entry that was compared before with the same path, git id and last changed revision. */
export function openComparison(
  inspector: Inspector,
  contents: Contents,
  signal: AbortSignal,
  result: Verification,
  { attributes }: MadeFiles,
) {
  const compared = new Map<string, Set<string>>()
  let remembered = 0
  const tasks: Task[] = []
  const lineEnds = openLineEndReport()

  function report(where: string, path: string, what: string) {
    if (result.mismatches.length < maxMismatches) result.mismatches.push({ where, path, what })
  }

  function equalIn(inner: string) {
    const equal = compared.get(inner) ?? new Set()
    compared.set(inner, equal)
    return equal
  }

  async function compareFolder(task: Task) {
    const { where, path, inner, number, tree, without } = task
    const entries = await contents.entries(tree)
    // The first task that meets an entry compares it; tasks that meet it at the same time skip it.
    const equal = equalIn(inner)
    const known = new Map<string, boolean>()
    const isKnown = (name: string, changed: number) => {
      const entry = entries.get(name)
      if (!entry || Number.isNaN(changed)) return false
      const before = known.get(name)
      if (before !== undefined) return before
      const same = `${changed} ${entry.mode} ${entry.id} ${name}`
      const is = equal.has(same)
      if (!is && remembered++ < maxRemembered) equal.add(same)
      known.set(name, is)
      return is
    }
    const folder = await inspector.list(path, number, isKnown)
    const listed = without
      ? folder.entries.filter((one) => !(one.folder && without.has(joinPath(path, one.name))))
      : folder.entries
    const checks: Check[] = []
    let found = 0
    for (const one of listed) {
      const entry = entries.get(one.name)
      if (entry) found++
      if (!one.folder) result.files++
      if (isKnown(one.name, one.changed) || isForbiddenName(one.name)) continue
      const here = joinPath(inner, one.name)
      if (!one.folder) checks.push(...compareFile(where, here, one, entry))
      else if (!entry) await compareNothing({ ...task, path: joinPath(path, one.name), inner: here })
      else if (entry.mode !== '40000') report(where, here, 'is a folder in Subversion and a file in git')
      else tasks.push({ ...task, path: joinPath(path, one.name), inner: here, tree: entry.id })
    }
    const names = new Set(listed.map(({ name }) => name))
    for (const [name, made] of madeIn(folder, attributes)) {
      const entry = entries.get(name)
      if (entry) found++
      names.add(name)
      checks.push(...compareFile(where, joinPath(inner, name), { ...plainFile, md5: hash('md5', made) }, entry))
    }
    await compareContents(where, checks, task.tip)
    if (found === entries.size) return
    for (const name of entries.keys())
      if (!names.has(name)) report(where, joinPath(inner, name), 'is in git and not in Subversion')
  }

  /** Returns the content checks that are left. */
  function compareFile(
    where: string,
    path: string,
    one: Omit<Listed, 'name' | 'folder' | 'changed' | 'traits'> & { traits?: Traits },
    entry: Entry | undefined,
  ): Check[] {
    if (!entry) {
      if (!(one.special && isForbiddenLink(path))) report(where, path, 'is missing in git')
      return []
    }
    if (entry.mode === '40000') {
      report(where, path, 'is a file in Subversion and a folder in git')
      return []
    }
    const executable = one.executable && !one.special
    const matches = entry.mode === '120000' ? one.special : (entry.mode === '100755') === executable
    if (!matches) report(where, path, `has the mode ${entry.mode}`)
    return [{ path, entry, md5: one.md5, eol: one.special ? undefined : one.traits?.eol }]
  }

  async function compareContents(where: string, checks: Check[], tip: boolean) {
    for (let at = 0; at < checks.length; at += batch) {
      const some = checks.slice(at, at + batch)
      // In earlier revisions, line ends do not matter to those who go on with the repository.
      const sums = await contents.sums(some.map(({ entry, eol }) => ({ ...entry, eol: tip ? eol : undefined })))
      for (const [place, { path, md5, eol }] of some.entries()) {
        const sum = sums[place]
        if (sum?.md5 !== md5) report(where, path, 'has another content')
        if (eol && sum?.other_ends) lineEnds.add(path, eol)
      }
    }
  }

  /** Git has no empty folders, so a folder that is missing in git must have no files. */
  async function compareNothing(task: Task): Promise<boolean> {
    const { where, path, inner, number, tip, without } = task
    let empty = true
    const folder = await inspector.list(path, number, () => false)
    for (const [name] of madeIn(folder, attributes)) {
      compareFile(where, joinPath(inner, name), plainFile, undefined)
      empty = false
    }
    for (const one of folder.entries) {
      const here = joinPath(inner, one.name)
      if (one.folder && without?.has(joinPath(path, one.name))) continue
      if (isForbiddenName(one.name)) continue
      if (one.folder) empty = (await compareNothing({ ...task, path: joinPath(path, one.name), inner: here })) && empty
      else {
        compareFile(where, here, one, undefined)
        empty = false
      }
    }
    if (empty && tip && !without) result.notes = { ...result.notes, 'empty folders': (result.notes?.['empty folders'] ?? 0) + 1 }
    return empty
  }

  let busy = 0
  let failure: unknown
  let wake = () => {}

  /** Depth first, so that the list of tasks stays short. */
  function goOn() {
    while (busy < concurrency && failure === undefined) {
      const task = tasks.pop()
      if (!task) break
      busy++
      compareFolder(task)
        .catch((error: unknown) => {
          failure ??= error
        })
        .finally(() => {
          busy--
          goOn()
          wake()
        })
    }
  }

  async function until(isSo: () => boolean) {
    goOn()
    while (failure === undefined && !isSo())
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    signal.throwIfAborted()
    if (failure !== undefined) throw failure
  }

  return {
    async add(task: Task) {
      tasks.push(task)
      await until(() => tasks.length < concurrency)
    },

    async settle() {
      await until(() => tasks.length === 0 && busy === 0)
      lineEnds.complete(result)
    },
  }
}

/** The names and contents of generated files. A file of the source takes precedence. */
function madeIn({ entries, lists }: Folder, attributes = false): [name: string, content: string][] {
  const files = attributes ? entries.filter(({ name, folder }) => !folder && !isForbiddenName(name)) : []
  const made = [
    [ignoreFile, writeIgnoreFile(lists)],
    [attributesFile, writeAttributesFile(files)],
  ] as const
  return made.flatMap(([name, content]) =>
    content === undefined || entries.some((entry) => entry.name === name) ? [] : [[name, content]],
  )
}

const isForbiddenName = (name: string) => isForbiddenPath(Buffer.from(name).toString('latin1'))
