import { resolveCommit } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { missing } from '#platform/errors.ts'
import { type Content, listEntries, readContent } from './contents.ts'
import { detectLicense, type License } from './licenses.ts'

export type FileContent = Content & { kind: 'file' | 'symlink' }

/** Folders with a README of the whole repository, in the order of precedence. */
const places = ['.github', '', 'docs']
const readmes = [/^readme\.(md|markdown|mdown|mkdn?)$/i, /^readme\.\w+$/i, /^readme$/i]
export const licenseNames = [
  /^licen[sc]e$/i,
  /^licen[sc]e\.\w+$/i,
  /^unlicense(\.\w+)?$/i,
  /^copying(\.\w+)?$/i,
  /^licen[sc]e-[\w.-]+$/i,
]

/** The README of a folder or, without one, of the repository. */
export function readReadme(storage: Storage, repo: Repository, ref: string, folder?: string): Promise<FileContent> {
  return readFirst(storage, repo, ref, folder === undefined ? places : [folder], readmes)
}

export function readLicense(storage: Storage, repo: Repository, ref: string): Promise<FileContent> {
  return readFirst(storage, repo, ref, [''], licenseNames)
}

const pullTemplates = [/^pull_request_template(\.(md|markdown|txt))?$/i]

/** The text that new pull requests begin with. */
export function readPullTemplate(storage: Storage, repo: Repository, ref: string): Promise<FileContent> {
  return readFirst(storage, repo, ref, places, pullTemplates)
}

/** Which license a file is. */
export function licenseOf(content: FileContent): License {
  return detectLicense(content.kind === 'file' ? (content.bytes?.toString() ?? '') : '')
}

/** The file with the first matching name in the first folder that has one. */
async function readFirst(
  storage: Storage,
  repo: Repository,
  ref: string,
  folders: string[],
  names: RegExp[],
): Promise<FileContent> {
  const commit = await resolveCommit(storage, repo.id, ref)
  if (!commit) throw missing()
  for (const folder of folders) {
    const files = (await listEntries(storage, repo, commit, folder)).filter(({ type }) => type === 'blob')
    const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
    const found = names.map((name) => files.find(({ path }) => name.test(nameOf(path)))).find((file) => file !== undefined)
    const content = found && (await readContent(storage, repo, found.path, commit))
    if (content?.kind === 'file' || content?.kind === 'symlink') return content
  }
  throw missing()
}
