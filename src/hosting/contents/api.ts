import type { Storage } from '#git/storage.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Answer, del, get, group, put } from '#http/endpoint.ts'
import { text } from '#http/input.ts'
import type { Wire } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { deleteFile, readContent, writeFile } from './contents.ts'
import { ChangedSchema, ContentSchema, changedJson, contentJson, GitTree, treeJson } from './json.ts'
import { loadTree } from './trees.ts'

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
  answers: { 200: ContentSchema },
} as const

const writing = {
  permission: 'contents:write',
  scopes: ['public_repo', 'repo'],
  access: 'push',
  writable: true,
  own_transaction: true,
} as const

async function show(storage: Storage, repo: Repository, path: string, asked: string, wire: Wire) {
  const ref = asked || repo.default_branch
  return contentJson(await readContent(storage, repo, path, ref), repo, ref, wire)
}

export const api = group('Contents', [
  get(
    '/repos/{owner}/{repo}/contents/{path+}',
    { ...reads, operation: 'repos/get-content', summary: 'A file, or what a folder holds, in a branch, a tag or a commit' },
    ({ storage, repo, params, query, wire }) => show(storage, repo, params.path.replace(/\/$/, ''), query.ref, wire),
  ),
  get(
    '/repos/{owner}/{repo}/contents',
    { ...reads, operation: 'repos/get-root-content', summary: 'What the outermost folder holds' },
    ({ storage, repo, query, wire }) => show(storage, repo, '', query.ref, wire),
  ),
  get(
    '/repos/{owner}/{repo}/git/trees/{tree_sha+}',
    {
      permission: 'contents:read',
      viewer: 'optional',
      optional_scopes: ['repo'],
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
