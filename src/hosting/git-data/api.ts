import { openBlob } from '#git/objects.ts'
import { Identity } from '#hosting/contents/api.ts'
import { GitTree, treeJson } from '#hosting/contents/json.ts'
import { GitCommit, gitCommitJson } from '#hosting/refs/json.ts'
import { created, get, group, post } from '#http/endpoint.ts'
import { Represented } from '#http/media.ts'
import { Type } from '#platform/schema.ts'
import { checkBlob, createBlob, createCommit, createTag, createTree, loadBlob, loadCommitObject, loadTag } from './git-data.ts'
import { blobJson, GitBlob, GitTag, ShortBlob, shortBlobJson, tagJson } from './json.ts'

const reads = {
  permission: 'contents:read',
  viewer: 'optional',
  optional_scopes: ['repo'],
  refuses: ['conflict'],
} as const
/** Objects are not visible in lists until a ref leads to them, so there is nothing to record. */
const writes = {
  permission: 'contents:write',
  scopes: ['public_repo', 'repo'],
  access: 'push',
  writable: true,
  own_transaction: true,
  refuses: ['conflict'],
} as const
const longest_body = 64 << 20
const Message = Type.String({ minLength: 1, maxLength: 65_536 })
const Sha = Type.String({ maxLength: 40 })
const oneOf = <const Words extends readonly string[]>(...words: Words) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: words })

const NewEntry = Type.Object({
  path: Type.String(),
  mode: Type.Optional(oneOf('100644', '100755', '040000', '160000', '120000')),
  type: Type.Optional(oneOf('blob', 'tree', 'commit')),
  sha: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 40 })),
  content: Type.Optional(Type.String()),
})

export const api = group('Git database', [
  get(
    '/repos/{owner}/{repo}/git/blobs/{file_sha}',
    {
      ...reads,
      operation: 'git/get-blob',
      summary: 'Get the contents of a file by its blob',
      media: ['raw'],
      answers: { 200: GitBlob },
    },
    async ({ storage, repo, params, wire, medium, revalidate }) => {
      const { file_sha } = params
      if (!medium) return blobJson(await loadBlob(storage, repo, file_sha), repo, wire)
      await checkBlob(storage, repo, file_sha)
      return revalidate(`${medium} ${file_sha}`, async () => new Represented(medium, await openBlob(storage, repo.id, file_sha)))
    },
  ),
  post(
    '/repos/{owner}/{repo}/git/blobs',
    {
      ...writes,
      operation: 'git/create-blob',
      summary: 'Create a blob, which a tree can then contain',
      body: Type.Object({ content: Type.String(), encoding: Type.Optional(oneOf('utf-8', 'base64')) }),
      longest_body,
      answers: { 201: ShortBlob },
    },
    async ({ storage, repo, body, wire }) =>
      created(shortBlobJson(await createBlob(storage, repo, body.content, body.encoding ?? 'utf-8'), repo, wire)),
  ),
  post(
    '/repos/{owner}/{repo}/git/trees',
    {
      ...writes,
      operation: 'git/create-tree',
      summary: 'Create a tree, alone or as a change of `base_tree`; an entry whose `sha` is null is removed',
      body: Type.Object({ tree: Type.Array(NewEntry, { minItems: 1, maxItems: 20_000 }), base_tree: Type.Optional(Sha) }),
      longest_body,
      answers: { 201: GitTree },
    },
    async ({ storage, repo, body, wire }) =>
      created(treeJson(await createTree(storage, repo, body.base_tree, body.tree), repo, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/git/commits/{commit_sha}',
    { ...reads, operation: 'git/get-commit', summary: 'Get a commit object', answers: { 200: GitCommit } },
    async ({ storage, repo, params, wire }) =>
      gitCommitJson(await loadCommitObject(storage, repo, params.commit_sha), repo, wire),
  ),
  post(
    '/repos/{owner}/{repo}/git/commits',
    {
      ...writes,
      operation: 'git/create-commit',
      summary: 'Create a commit of a tree; `PATCH …/git/refs` moves a branch to it',
      body: Type.Object({
        message: Message,
        tree: Sha,
        parents: Type.Optional(Type.Array(Sha, { maxItems: 100 })),
        author: Type.Optional(Identity),
        committer: Type.Optional(Identity),
        signature: Type.Optional(Type.String({ maxLength: 65_536 })),
      }),
      answers: { 201: GitCommit },
    },
    async ({ db, storage, repo, viewer, body, wire }) =>
      created(gitCommitJson(await createCommit(storage, repo, viewer, body, db.now), repo, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/git/tags/{tag_sha}',
    { ...reads, operation: 'git/get-tag', summary: 'Get an annotated tag by the id of its object', answers: { 200: GitTag } },
    async ({ storage, repo, params, wire }) => tagJson(await loadTag(storage, repo, params.tag_sha), repo, wire),
  ),
  post(
    '/repos/{owner}/{repo}/git/tags',
    {
      ...writes,
      operation: 'git/create-tag',
      summary: 'Create an annotated tag; `POST …/git/refs` creates its ref',
      body: Type.Object({
        tag: Type.String({ minLength: 1, maxLength: 250 }),
        message: Message,
        object: Sha,
        type: oneOf('commit', 'tree', 'blob'),
        tagger: Type.Optional(Identity),
      }),
      answers: { 201: GitTag },
    },
    async ({ db, storage, repo, viewer, body, wire }) =>
      created(tagJson(await createTag(storage, repo, viewer, body, db.now), repo, wire)),
  ),
])
