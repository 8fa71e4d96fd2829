import type { Entry } from '#git/tree-entries.ts'
import { encodePath, GitCommit, gitCommitJson } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { SimpleLicense } from '#hosting/templates/json.ts'
import { Address, NullableString, type Wire } from '#http/serialization.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Changed, Content } from './contents.ts'
import type { Tree } from './trees.ts'

const entry = {
  type: Type.String(),
  size: Type.Integer(),
  name: Type.String(),
  path: Type.String(),
  sha: Type.String(),
  url: Address,
  git_url: NullableString,
  html_url: NullableString,
  download_url: NullableString,
  _links: Type.Object({ self: Address, git: NullableString, html: NullableString }),
}

const ContentEntry = Type.Object(entry, { title: 'ContentEntry' })

const one = Type.Object({
  ...entry,
  encoding: Type.Optional(Type.String()),
  content: Type.Optional(Type.String()),
  target: Type.Optional(Type.String()),
  submodule_git_url: Type.Optional(NullableString),
  /** Of a folder that is requested as an object. */
  entries: Type.Optional(Type.Array(ContentEntry)),
})

/** A list for a folder, one object otherwise. */
export const ContentSchema = Type.Unsafe<Static<typeof one> | Static<typeof ContentEntry>[]>({
  ...one,
  type: ['object', 'array'],
  items: ContentEntry,
})

type Named = Pick<Repository, 'id' | 'owner_login' | 'name'>

const types: Record<string, string> = { '040000': 'dir', '120000': 'symlink', '160000': 'submodule' }

function entryJson({ mode, type, sha, size, path }: Entry, repo: Named, ref: string, wire: Wire): Static<typeof ContentEntry> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const above = `${wire.api}/repos/${full_name}`
  const place = `${encodePath(ref)}/${encodePath(path)}`
  const url = `${above}/contents/${encodePath(path)}?ref=${encodePath(ref)}`
  // The commit of a submodule is in another repository.
  const git_url = type === 'commit' ? null : `${above}/git/${type}s/${sha}`
  const html_url = type === 'commit' ? null : `${wire.web}/${full_name}/${type}/${place}`
  return {
    type: types[mode] ?? 'file',
    size,
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    sha,
    url,
    git_url,
    html_url,
    download_url: type === 'blob' ? `${wire.web}/${full_name}/raw/${place}` : null,
    _links: { self: url, git: git_url, html: html_url },
  }
}

export function contentJson(content: Content, repo: Named, ref: string, wire: Wire): Static<typeof ContentSchema> {
  if (content.kind === 'dir') return content.entries.map((each) => listedJson(each, repo, ref, wire))
  return fileJson(content, repo, ref, wire)
}

/** A folder as an object with a list, so that every response has the same type. */
export function contentObjectJson(content: Content, repo: Named, ref: string, wire: Wire): Static<typeof one> {
  if (content.kind !== 'dir') return fileJson(content, repo, ref, wire)
  const { sha, path, entries } = content
  const shown = entryJson({ mode: '040000', type: 'tree', sha, size: 0, path }, repo, ref, wire)
  return { ...shown, entries: entries.map((each) => listedJson(each, repo, ref, wire)) }
}

export const FileSchema = Type.Object(
  { ...one.properties, encoding: Type.String(), content: Type.String() },
  { title: 'ContentFile' },
)

export function fileJson(content: Exclude<Content, { kind: 'dir' }>, repo: Named, ref: string, wire: Wire): Static<typeof one> {
  const shown = entryJson(content.entry, repo, ref, wire)
  if (content.kind === 'symlink') return { ...shown, target: content.target }
  if (content.kind === 'submodule') return { ...shown, submodule_git_url: content.submodule_git_url }
  const { bytes } = content
  return { ...shown, ...(bytes ? { encoding: 'base64', content: inLines(bytes) } : { encoding: 'none', content: '' }) }
}

/** The public API calls a submodule in a folder's list a file. */
function listedJson(each: Entry, repo: Named, ref: string, wire: Wire) {
  const shown = entryJson(each, repo, ref, wire)
  return shown.type === 'submodule' ? { ...shown, type: 'file' } : shown
}

/** Base64 in lines of 60 characters, each with a line end. */
export const inLines = (bytes: Buffer) => bytes.toString('base64').replaceAll(/.{1,60}/g, '$&\n')

export const ChangedSchema = Type.Object(
  {
    content: Type.Unsafe<Static<typeof ContentEntry> | null>({ ...ContentEntry, nullable: true }),
    commit: GitCommit,
  },
  { title: 'FileCommit' },
)

export function changedJson({ entry: now, branch, commit }: Changed, repo: Named, wire: Wire): Static<typeof ChangedSchema> {
  return { content: now && entryJson(now, repo, branch, wire), commit: gitCommitJson(commit, repo, wire) }
}

/** A git tree. Paths are relative to it. */
export const GitTree = Type.Object(
  {
    sha: Type.String(),
    url: Address,
    tree: Type.Array(
      Type.Object({
        path: Type.String(),
        mode: Type.String(),
        type: Type.String(),
        sha: Type.String(),
        size: Type.Optional(Type.Integer()),
        url: Type.Optional(Address),
      }),
    ),
    truncated: Type.Boolean(),
  },
  { title: 'GitTree' },
)

export function treeJson({ sha, entries, truncated }: Tree, repo: Named, wire: Wire): Static<typeof GitTree> {
  const above = `${wire.api}/repos/${repo.owner_login}/${repo.name}/git`
  return {
    sha,
    url: `${above}/trees/${sha}`,
    tree: entries.map(({ path, mode, type, sha, size }) => ({
      ...{ path, mode, type, sha },
      ...(type === 'blob' && { size }),
      // The commit of a submodule is in another repository.
      ...(type !== 'commit' && { url: `${above}/${type}s/${sha}` }),
    })),
    truncated,
  }
}

export const LicenseSchema = Type.Object(
  {
    ...FileSchema.properties,
    license: SimpleLicense,
  },
  { title: 'LicenseContent' },
)
