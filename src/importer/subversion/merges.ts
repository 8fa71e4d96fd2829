import type { Connection } from './connection.ts'
import type { Plan } from './plan.ts'
import type { PreviewOptions } from './preview.ts'
import { addressOf, type Repository } from './projects.ts'
import { findElements } from './xml.ts'

export type Merges = Pick<PreviewOptions, 'converted' | 'readMerges'>

/** Of more branches, the first ones are asked for: the trunk is the first. */
const maxBranches = 100
const concurrency = 8

/** Reads which branches were merged, without contents. The log of a dump has it, that of a server does not. */
export function openMerges({ head }: Plan, repository: Repository, connection: Connection): Merges {
  if (connection.file) return {}
  const known = new Map<string, Promise<string | undefined>>()

  async function read(root: string): Promise<string | undefined> {
    const listed = await connection.svn(['proplist', '--verbose', '--xml'], `${addressOf(repository, root)}@${head}`)
    return findElements(listed, 'property').find(({ attributes }) => attributes.name === 'svn:mergeinfo')?.text
  }

  return {
    async readMerges(roots) {
      const asked = roots.slice(0, maxBranches)
      const found = new Map<string, string>()
      for (let at = 0; at < asked.length; at += concurrency) {
        const some = asked.slice(at, at + concurrency)
        for (const root of some) known.set(root, known.get(root) ?? read(root))
        const values = await Promise.all(some.map((root) => known.get(root)))
        for (const [place, root] of some.entries()) {
          const mergeinfo = values[place]
          if (mergeinfo !== undefined) found.set(root, mergeinfo)
        }
      }
      return found
    },
  }
}
