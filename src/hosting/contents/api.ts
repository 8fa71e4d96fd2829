import type { Storage } from '#git/storage.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { licenseJson } from '#hosting/templates/json.ts'
import { Answer, del, get, group, put, type Revalidate } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import type { Wire } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { type Content, deleteFile, readContent, writeFile } from './contents.ts'
import {
  ChangedSchema,
  ContentSchema,
  changedJson,
  contentJson,
  contentObjectJson,
  FileSchema,
  fileJson,
  GitTree,
  LicenseSchema,
  treeJson,
} from './json.ts'
import { representContent } from './representations.ts'
import { loadTree } from './trees.ts'
import { licenseOf, readLicense, readReadme } from './well-known-files.ts'

export const Identity = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  email: Type.String({ minLength: 1, maxLength: 255 }),
  date: Type.Optional(Type.String()),
})

const options = Type.Partial(
  Type.Object({ branch: Type.String({ minLength: 1 }), author: Identity, committer: Identity }),
).properties
const Message = Type.String({ minLength: 1, maxLength: 65_536 })

const reads = {
  permission: 'contents:read',
  viewer: 'optional',
  optional_scopes: ['repo'],
  query: { ref: text() },
} as const
const shows = { ...reads, media: ['raw', 'html', 'object'], answers: { 200: ContentSchema } } as const
const showsFile = { ...reads, media: ['raw', 'html'], answers: { 200: FileSchema } } as const

const writing = {
  permission: 'contents:write',
  scopes: ['public_repo', 'repo'],
  access: 'push',
  writable: true,
  own_transaction: true,
} as const

interface Request {
  storage: Storage
  repo: Repository
  wire: Wire
  query: { ref: string }
  revalidate: Revalidate
}

const refOf = ({ repo, query }: Pick<Request, 'repo' | 'query'>) => query.ref || `refs/heads/${repo.default_branch}`

async function show(request: Request & { medium: 'raw' | 'html' | 'object' | undefined }, path: string) {
  const { storage, repo, wire, query, medium } = request
  const ref = query.ref || repo.default_branch
  const content = await readContent(storage, repo, path, refOf(request))
  if (medium === 'object') return contentObjectJson(content, repo, ref, wire)
  if (medium && (content.kind === 'file' || content.kind === 'symlink')) return showFile({ ...request, medium }, content)
  return contentJson(content, repo, ref, wire)
}

function showFile(request: Request & { medium: 'raw' | 'html' | undefined }, content: Content & { kind: 'file' | 'symlink' }) {
  const { storage, repo, wire, query, medium, revalidate } = request
  if (!medium) return withContent(fileJson(content, repo, query.ref || repo.default_branch, wire))
  const { sha, path } = content.entry
  return revalidate(`${medium} ${sha} ${path}`, () => representContent(storage, repo, content, medium))
}

/** A link to something else than a file has its target instead. */
const withContent = (file: ReturnType<typeof fileJson>) => ({ encoding: 'none', content: '', ...file })

export const api = group('Contents', [
  get(
    '/repos/{owner}/{repo}/contents/{path+}',
    { ...shows, operation: 'repos/get-content', summary: 'A file, or what a folder holds, in a branch, a tag or a commit' },
    (request) => show(request, request.params.path.replace(/\/$/, '')),
  ),
  get(
    '/repos/{owner}/{repo}/contents',
    { ...shows, operation: 'repos/get-root-content', summary: 'What the outermost folder holds' },
    (request) => show(request, ''),
  ),
  get(
    '/repos/{owner}/{repo}/readme',
    { ...showsFile, operation: 'repos/get-readme', summary: 'The README of a repository' },
    async (request) => {
      const { storage, repo } = request
      return showFile(request, await readReadme(storage, repo, refOf(request)))
    },
  ),
  get(
    '/repos/{owner}/{repo}/readme/{dir+}',
    { ...showsFile, operation: 'repos/get-readme-in-directory', summary: 'The README of a folder' },
    async (request) => {
      const { storage, repo, params } = request
      return showFile(request, await readReadme(storage, repo, refOf(request), params.dir.replace(/\/$/, '')))
    },
  ),
  get(
    '/repos/{owner}/{repo}/license',
    {
      ...reads,
      media: ['raw', 'html'],
      operation: 'licenses/get-for-repo',
      summary: 'The license file of a repository, and which license it is',
      answers: { 200: LicenseSchema },
    },
    async (request) => {
      const { storage, repo, query, wire, medium } = request
      const ref = query.ref || repo.default_branch
      const content = await readLicense(storage, repo, refOf(request))
      if (medium) return representContent(storage, repo, content, medium)
      return { ...withContent(fileJson(content, repo, ref, wire)), license: licenseJson(licenseOf(content), wire) }
    },
  ),
  get(
    '/repos/{owner}/{repo}/git/trees/{tree_sha+}',
    {
      ...reads,
      operation: 'git/get-tree',
      refuses: ['conflict'],
      summary: 'A folder by its tree, or by a branch, a tag or a commit; with `recursive`, all below it',
      query: { recursive: text() },
      answers: { 200: GitTree },
    },
    async ({ storage, repo, params, query, wire }) =>
      treeJson(await loadTree(storage, repo, params.tree_sha, query.recursive !== ''), repo, wire),
  ),
  put(
    '/repos/{owner}/{repo}/contents/{path+}',
    {
      operation: 'repos/create-or-update-file-contents',
      refuses: ['conflict'],
      ...writing,
      summary: 'Make a file, or change one whose present `sha` is given, by a commit',
      body: Type.Object({ message: Message, content: Type.String(), sha: Type.Optional(Type.String()), ...options }),
      longest_body: 64 * 1024 * 1024,
      answers: { 200: ChangedSchema, 201: ChangedSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      const changed = await writeFile(db, storage, repo, viewer, params.path, body)
      return new Answer(changedJson(changed, repo, wire), { status: changed.made ? 201 : 200 })
    },
  ),
  del(
    '/repos/{owner}/{repo}/contents/{path+}',
    {
      operation: 'repos/delete-file',
      refuses: ['conflict'],
      ...writing,
      summary: 'Delete a file by a commit',
      body: Type.Object({ message: Message, sha: Type.String(), ...options }),
      answers: { 200: ChangedSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) =>
      changedJson(await deleteFile(db, storage, repo, viewer, params.path, body), repo, wire),
  ),
])
