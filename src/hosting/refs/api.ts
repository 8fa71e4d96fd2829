import type { Ref } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { findProtection, findProtections } from '#hosting/protection/protection.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Answer, created, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { choice } from '#http/input.ts'
import { checkAdmin } from '#http/permissions.ts'
import { Nothing, type Wire } from '#http/serialization.ts'
import type { Queryable } from '#platform/database.ts'
import { Type } from '#platform/schema.ts'
import { listBranches, listTags, loadBranch, loadCommit, writeCommit } from './commits.ts'
import { Branch, branchJson, GitRef, refJson, ShortBranch, shortBranchJson, shortName, TagSchema, tagJson } from './json.ts'
import { createRef, deleteRef, listMatchingRefs, loadRef, updateRef } from './refs.ts'
import { findBranch, renameBranch } from './rename-branch.ts'

const reads = { permission: 'contents:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writes = {
  permission: 'contents:write',
  scopes: ['public_repo', 'repo'],
  access: 'push',
  writable: true,
  own_transaction: true,
} as const

const Refs = Type.Array(GitRef)

async function showBranch(db: Queryable, storage: Storage, repo: Repository, branch: Ref, wire: Wire) {
  const commit = await loadCommit(storage, repo, branch.sha)
  const protection = await findProtection(db, repo, shortName(branch))
  return branchJson(branch, protection, await writeCommit(db, commit, repo, wire), repo, wire)
}

export const api = group('Git references', [
  get(
    '/repos/{owner}/{repo}/git/ref/{ref+}',
    {
      ...reads,
      operation: 'git/get-ref',
      refuses: ['conflict'],
      summary: 'A branch or tag, as `heads/main` or `tags/v1`',
      answers: { 200: GitRef },
    },
    async ({ storage, repo, params, wire }) => refJson(await loadRef(storage, repo, params.ref), repo, wire),
  ),
  get(
    '/repos/{owner}/{repo}/git/matching-refs/{ref+}',
    {
      ...reads,
      operation: 'git/list-matching-refs',
      refuses: ['conflict'],
      summary: 'Refs whose names begin with this text',
      answers: { 200: Refs },
    },
    async ({ storage, repo, params, wire }) =>
      (await listMatchingRefs(storage, repo, params.ref)).map((ref) => refJson(ref, repo, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/git/refs',
    { ...reads, operation: 'git/list-refs', refuses: ['conflict'], summary: 'All refs', answers: { 200: Refs } },
    async ({ storage, repo, wire }) => (await listMatchingRefs(storage, repo, '')).map((ref) => refJson(ref, repo, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/git/refs/{ref+}',
    {
      ...reads,
      operation: 'git/get-ref-by-old-name',
      refuses: ['conflict'],
      summary: 'A branch or tag, by an older address',
      answers: { 200: GitRef },
    },
    async ({ storage, repo, params, wire }) => refJson(await loadRef(storage, repo, params.ref), repo, wire),
  ),
  post(
    '/repos/{owner}/{repo}/git/refs',
    {
      ...writes,
      operation: 'git/create-ref',
      refuses: ['conflict'],
      summary: 'Make a branch or a tag where an object is',
      body: Type.Object({ ref: Type.String(), sha: Type.String() }),
      answers: { 201: GitRef },
    },
    async ({ db, storage, repo, viewer, body, wire }) =>
      created(refJson(await createRef(db, storage, repo, viewer, body), repo, wire)),
  ),
  patch(
    '/repos/{owner}/{repo}/git/refs/{ref+}',
    {
      ...writes,
      operation: 'git/update-ref',
      refuses: ['conflict'],
      summary: 'Move a branch or a tag, forward unless forced',
      body: Type.Object({ sha: Type.String(), force: Type.Optional(Type.Boolean()) }),
      answers: { 200: GitRef },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) =>
      refJson(await updateRef(db, storage, repo, viewer, params.ref, body), repo, wire),
  ),
  del(
    '/repos/{owner}/{repo}/git/refs/{ref+}',
    {
      ...writes,
      operation: 'git/delete-ref',
      refuses: ['conflict'],
      summary: 'Delete a branch or a tag',
      answers: { 204: Nothing },
    },
    ({ db, storage, repo, viewer, params }) => deleteRef(db, storage, repo, viewer, params.ref),
  ),
  get(
    '/repos/{owner}/{repo}/branches',
    {
      ...reads,
      operation: 'repos/list-branches',
      summary: 'Branches, by name: all, or those that are protected or not',
      query: { protected: choice('', 'true', 'false') },
      ...listOf(ShortBranch),
    },
    async ({ db, storage, repo, query, page, wire }) => {
      const listed = await listBranches(db, storage, repo, query.protected, page)
      const protections = await findProtections(db, repo, listed.rows.map(shortName))
      return paged(listed, (branch) => shortBranchJson(branch, protections.get(shortName(branch)), repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/branches/{branch+}',
    { ...reads, operation: 'repos/get-branch', summary: 'A branch and its last commit', answers: { 200: Branch } },
    async ({ db, storage, repo, params, wire }) => {
      const branch = await findBranch(db, storage, repo, params.branch)
      return showBranch(db, storage, repo, branch, wire)
    },
  ),
  post(
    '/repos/{owner}/{repo}/branches/{branch+}/rename',
    {
      ...writes,
      operation: 'repos/rename-branch',
      summary: 'Rename a branch; its protection and open pull requests follow, and the former name redirects',
      body: Type.Object({ new_name: Type.String({ minLength: 1, maxLength: 255 }) }),
      answers: { 201: Branch },
    },
    async ({ db, storage, repo, caller, viewer, params, body, wire }) => {
      const { branch: from } = params
      await loadBranch(storage, repo, from)
      if (from === repo.default_branch || (await findProtection(db, repo, from))) checkAdmin(caller, repo)
      const branch = await renameBranch(db, storage, repo, viewer, from, body.new_name)
      return new Answer(await showBranch(db, storage, repo, branch, wire), { status: 201 })
    },
  ),
  get(
    '/repos/{owner}/{repo}/tags',
    { ...reads, operation: 'repos/list-tags', summary: 'Tags of commits, the highest version first', ...listOf(TagSchema) },
    async ({ storage, repo, page, wire }) => paged(await listTags(storage, repo, page), (tag) => tagJson(tag, repo, wire)),
  ),
])
