import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { objectOf, type Raw, textOf, valuesOf } from './changesets.ts'
import type { Client } from './client.ts'
import { below } from './paths.ts'
import { Refused } from './responses.ts'

export interface Branch {
  /** Below the project. */
  path: string
  parent: string | undefined
  deleted: boolean
}

/** The branches of a project, including deleted ones, because there may be merges from them. */
export async function listBranches(client: Client, project: string): Promise<Branch[]> {
  const query = { includeChildren: true, includeDeleted: true }
  const { document } = await client.read(`${encodeURIComponent(project)}/_apis/tfvc/branches`, query).catch((error) => {
    if (error instanceof Refused && error.status === 404) return { document: { value: [] } }
    throw error
  })
  const branches = new Map<string, Branch>()
  const waiting = valuesOf(document).map((raw) => ({ raw, parent: undefined as string | undefined }))
  for (const { raw, parent } of waiting) {
    const path = below(`$/${project}`, textOf(raw.path))
    if (path) branches.set(path, { path, parent, deleted: raw.isDeleted === true })
    const children = Array.isArray(raw.children) ? raw.children.map(objectOf) : []
    waiting.push(...children.map((child: Raw) => ({ raw: child, parent: path || parent })))
  }
  return [...branches.values()]
}

const branchesFile = (folder: string) => join(folder, 'branches.json')

/** Stores the paths in our spelling. */
export function saveBranches(folder: string, branches: Branch[], spell: (path: string) => string) {
  const spelled = branches.map((branch) => ({
    ...branch,
    path: spell(branch.path),
    ...(branch.parent !== undefined && { parent: spell(branch.parent) }),
  }))
  writeFileSync(branchesFile(folder), JSON.stringify(spelled), { mode: 0o600 })
}

export function readBranches(folder: string): Branch[] {
  return JSON.parse(readFileSync(branchesFile(folder), 'utf8'))
}

/** The main branch: a top-level branch, by its name or by the number of its descendants. */
export function mainBranch(branches: Branch[]): Branch | undefined {
  const live = branches.filter(({ deleted }) => !deleted)
  const isTop = ({ parent }: Branch) => !live.some(({ path }) => path === parent)
  const weight = (branch: Branch) =>
    (isTop(branch) ? 1e9 : 0) +
    (/(^|\/)(main|mainline|trunk|master)$/i.test(branch.path) ? 1e6 : 0) +
    descendants(branches, branch)
  return live.toSorted((one, other) => weight(other) - weight(one))[0]
}

function descendants(branches: Branch[], { path }: Branch): number {
  const found = new Set([path])
  for (let size = 0; size < found.size; ) {
    size = found.size
    for (const branch of branches) if (branch.parent !== undefined && found.has(branch.parent)) found.add(branch.path)
  }
  return found.size - 1
}
