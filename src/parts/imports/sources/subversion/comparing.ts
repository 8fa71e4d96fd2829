import { isForbiddenLink, isForbiddenPath } from '../../staging/paths.ts'
import type { Verification } from '../source.ts'
import { type Contents, type Entry, keyOf } from './contents.ts'
import type { Inspector, Listed } from './inspecting.ts'
import { joinPath } from './layout.ts'

/** A folder that must be the same in the source and in git. */
export interface Task {
  where: string
  /** In the source, and below the root that is compared. */
  path: string
  inner: string
  number: number
  tree: string
  /** Whether it is of a branch or tag, and not of an earlier revision. */
  tip: boolean
}

interface Check {
  where: string
  path: string
  entry: Entry
  md5: string
}

/** How many folders are asked for at once, and of how many files git is asked at once. */
const atOnce = 8
const batch = 2000
const mostMismatches = 100
const mostRemembered = 1_000_000

/**
 * What was compared before is not compared again where it is the same in git, of the same name, and last changed by the same
 * revision.
 */
export function openComparison(inspector: Inspector, contents: Contents, signal: AbortSignal, result: Verification) {
  const equal = new Set<string>()
  const tasks: Task[] = []
  let checks: Check[] = []

  function report(where: string, path: string, what: string) {
    if (result.mismatches.length < mostMismatches) result.mismatches.push({ where, path, what })
  }

  async function compareFolder(task: Task) {
    const { where, path, inner, number, tree } = task
    const entries = await contents.entries(tree)
    const sameAs = (name: string, changed: number) => {
      const entry = entries.get(name)
      return entry && !Number.isNaN(changed) ? `${changed} ${entry.mode} ${entry.id} ${name}` : undefined
    }
    const isKnown = (name: string, changed: number) => equal.has(sameAs(name, changed) ?? '')
    const listed = await inspector.list(path, number, isKnown)
    let found = 0
    for (const one of listed) {
      const entry = entries.get(one.name)
      if (entry) found++
      if (!one.folder) result.files++
      const same = sameAs(one.name, one.changed)
      if (same !== undefined && equal.has(same)) continue
      if (isForbiddenPath(Buffer.from(one.name).toString('latin1'))) continue
      if (same !== undefined && equal.size < mostRemembered) equal.add(same)
      const here = joinPath(inner, one.name)
      if (!one.folder) compareFile(where, here, one, entry)
      else if (!entry) await compareNothing({ ...task, path: joinPath(path, one.name), inner: here })
      else if (entry.mode !== '40000') report(where, here, 'is a folder in Subversion, and a file in git')
      else tasks.push({ ...task, path: joinPath(path, one.name), inner: here, tree: entry.id })
    }
    if (found === entries.size) return
    const names = new Set(listed.map(({ name }) => name))
    for (const name of entries.keys())
      if (!names.has(name)) report(where, joinPath(inner, name), 'is in git, and not in Subversion')
  }

  function compareFile(where: string, path: string, one: Listed, entry: Entry | undefined) {
    if (!entry) {
      if (!(one.special && isForbiddenLink(path))) report(where, path, 'is missing in git')
      return
    }
    if (entry.mode === '40000') return report(where, path, 'is a file in Subversion, and a folder in git')
    const executable = one.executable && !one.special
    const matches = entry.mode === '120000' ? one.special : (entry.mode === '100755') === executable
    if (!matches) report(where, path, `has the mode ${entry.mode}`)
    checks.push({ where, path, entry, md5: one.md5 })
  }

  /** Git keeps no folder without files: so there must be none in it. */
  async function compareNothing(task: Task): Promise<boolean> {
    const { where, path, inner, number, tip } = task
    let empty = true
    for (const one of await inspector.list(path, number, () => false)) {
      const here = joinPath(inner, one.name)
      if (isForbiddenPath(Buffer.from(one.name).toString('latin1'))) continue
      if (one.folder) empty = (await compareNothing({ ...task, path: joinPath(path, one.name), inner: here })) && empty
      else {
        compareFile(where, here, one, undefined)
        empty = false
      }
    }
    if (empty && tip) result.notes = { 'empty folders': (result.notes?.['empty folders'] ?? 0) + 1 }
    return empty
  }

  async function compareContents() {
    const some = checks
    checks = []
    const sums = await contents.sums(some.map(({ entry }) => entry))
    for (const { where, path, entry, md5 } of some) if (sums.get(keyOf(entry)) !== md5) report(where, path, 'has another content')
  }

  /** As many at once as there are; what a folder has in it comes before what is beside it, so that the list stays short. */
  async function settle() {
    let busy = 0
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        if (signal.aborted) reject(signal.reason)
        else if (tasks.length === 0 && busy === 0) resolve()
        for (let task = tasks.pop(); task; task = busy < atOnce ? tasks.pop() : undefined) {
          busy++
          compareFolder(task).then(() => {
            busy--
            go()
          }, reject)
        }
      }
      go()
    })
    if (checks.length >= batch) await compareContents()
  }

  return {
    async add(task: Task) {
      tasks.push(task)
      if (tasks.length >= atOnce) await settle()
    },

    async end() {
      await settle()
      if (checks.length > 0) await compareContents()
    },
  }
}
