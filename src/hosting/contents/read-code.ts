import { type BlameRange, readBlame } from '#git/blame.ts'
import { readingOf } from '#git/compare.ts'
import { listFiles } from '#git/grep.ts'
import { type CommitSummary, type LastCommits, readLastCommits } from '#git/last-commits.ts'
import { within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import type { Entry } from '#git/tree-entries.ts'
import { Refusal } from '#platform/errors.ts'
import type { CodeLocation } from './code-location.ts'
import { CommitCache } from './commit-cache.ts'
import { type Content, readContent } from './contents.ts'
import { type FileContent, readReadme } from './well-known-files.ts'

const keyOf = ({ repo, sha, path }: CodeLocation) => `${repo.id} ${sha} ${path}`

const sizeOf = (content: Content | undefined) => {
  if (content?.kind === 'file') return content.bytes?.length ?? 0
  return content?.kind === 'dir' ? content.entries.reduce((sum, { path }) => sum + 2 * path.length + 250, 0) : 500
}

const contents = new CommitCache<Content>(16 << 20, sizeOf)

/** What is at a location, as pages need it repeatedly. */
export function readCode(storage: Storage, location: CodeLocation): Promise<Content> {
  const { repo, sha, path } = location
  return contents.get(keyOf(location), () => readContent(storage, repo, path, sha))
}

const readmes = new CommitCache<FileContent | undefined>(8 << 20, sizeOf)

/** The README of a folder; of the root, that of the repository. */
export function findReadme(storage: Storage, location: CodeLocation): Promise<FileContent | undefined> {
  const { repo, sha, path } = location
  return readmes.get(keyOf(location), async () => {
    try {
      return await readReadme(storage, repo, sha, path || undefined)
    } catch (error) {
      if (error instanceof Refusal && error.reason === 'missing') return undefined
      throw error
    }
  })
}

/** Milliseconds for one walk through history. Pages do not wait that long, see `ifSoon`. */
const walkPatience = 10_000
const blamePatience = 10_000

const sizeOfSummary = ({ title, author }: CommitSummary) => 2 * (title.length + author.name.length + author.email.length) + 200
const lastCommits = new CommitCache<LastCommits>(8 << 20, ({ entries }) =>
  [...entries.values()].reduce((sum, commit) => sum + sizeOfSummary(commit), 500),
)

/** The last commit of each entry of a folder. Of a file, the latest commit. */
export function findLastCommits(storage: Storage, location: CodeLocation, entries: Entry[]): Promise<LastCommits> {
  const { repo, sha, path } = location
  const names = entries.map((entry) => entry.path.slice(entry.path.lastIndexOf('/') + 1))
  return lastCommits.get(keyOf(location), () => {
    const reading = readingOf(storage, repo.id, repo.id, AbortSignal.timeout(walkPatience))
    return readLastCommits(reading, sha, path, names)
  })
}

const blames = new CommitCache<BlameRange[]>(8 << 20, (ranges) =>
  ranges.reduce((sum, { commit }) => sum + sizeOfSummary(commit), 500),
)

export function findBlame(storage: Storage, location: CodeLocation): Promise<BlameRange[]> {
  const { repo, sha, path } = location
  return blames.get(keyOf(location), () =>
    within(blamePatience, (signal) => readBlame(readingOf(storage, repo.id, repo.id, signal), sha, path)),
  )
}

const fileNames = new CommitCache<string[]>(8 << 20, (names) => names.reduce((sum, name) => sum + 2 * name.length + 30, 0))

/** The names of all files of a commit, or of the first hundred thousand. */
export function findFileNames(storage: Storage, { repo, sha }: CodeLocation): Promise<string[]> {
  return fileNames.get(`${repo.id} ${sha}`, () =>
    within(walkPatience, (signal) => listFiles(readingOf(storage, repo.id, repo.id, signal), sha)),
  )
}
