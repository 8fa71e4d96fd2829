import { runGit, streamGit } from '#git/run-git.ts'
import { ImportFailure } from '#importer/source.ts'
import { lines } from './blobs.ts'

/** Harmless faults that many old histories have. None of them is dangerous to check out. */
export const toleratedFaults = [
  'zeroPaddedFilemode',
  'badTimezone',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'badDate',
  'badDateOverflow',
  'missingEmail',
  'missingNameBeforeEmail',
  'badName',
  'badEmail',
  'multipleAuthors',
]

const strict = `--strict=${toleratedFaults.map((fault) => `${fault.toLowerCase()}=ignore`).join()}`

/** An object that git refuses, as its programs report it. */
export const faultyObject = /(?:object|in (?:tree|blob|commit|tag)) ([0-9a-f]{40}): (\w+): (.*)/

export const refuseObject = (what: string, fault: string, text: string) =>
  new ImportFailure(
    `The history has an object that is refused because it is dangerous to check out: ${what}, ${text} (${fault}). Remove it from the history of the source, or leave it out with belfry convert --exclude, then import again.`,
  )

/** Checks the objects of packs as a push is checked, and refuses for example a `.gitmodules` that runs a command where it is cloned. */
export async function checkPacks(repository: string, packs: string[], tips: string[], signal: AbortSignal) {
  for (const pack of packs) {
    try {
      const verify = ['-c', 'core.bigFileThreshold=16m', 'index-pack', '--verify', strict, pack]
      await runGit(repository, verify, { signal, detached: false })
    } catch (error) {
      signal.throwIfAborted()
      const [, id, fault = '', text = ''] = faultyObject.exec(error instanceof Error ? error.message : '') ?? []
      if (id === undefined) throw error
      throw refuseObject((await findPath(repository, id, tips, signal)) ?? id, fault, text)
    }
  }
}

async function findPath(repository: string, id: string, tips: string[], signal: AbortSignal): Promise<string | undefined> {
  const list = ['rev-list', '--objects', '--stdin']
  for await (const group of lines(streamGit(repository, list, { signal, input: `${tips.join('\n')}\n`, detached: false }))) {
    const found = group.find((line) => line.startsWith(`${id} `))
    if (found) return Buffer.from(found.slice(id.length + 1), 'latin1').toString()
  }
  return undefined
}
