import { writeCommit } from '#hosting/refs/commits.ts'
import { Commit } from '#hosting/refs/json.ts'
import { Answer, created, group, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import { mergeBranch, mergeUpstream } from './merges.ts'

const writes = {
  permission: 'contents:write',
  scopes: ['public_repo', 'repo'],
  access: 'push',
  writable: true,
  own_transaction: true,
  refuses: ['conflict'],
} as const
const Name = Type.String({ minLength: 1, maxLength: 500 })

export const api = group('Merges', [
  post(
    '/repos/{owner}/{repo}/merges',
    {
      ...writes,
      operation: 'repos/merge',
      summary: 'Merge a branch, a tag or a commit into a branch; 204 if the branch has it already',
      body: Type.Object({ base: Name, head: Name, commit_message: Type.Optional(Type.String({ maxLength: 65_536 })) }),
      answers: { 201: Commit, 204: Nothing },
    },
    async ({ db, storage, repo, viewer, body, wire }) => {
      const commit = await mergeBranch(db, storage, repo, viewer, body)
      return commit ? created(await writeCommit(db, commit, repo, wire)) : new Answer(undefined, { status: 204 })
    },
  ),
  post(
    '/repos/{owner}/{repo}/merge-upstream',
    {
      ...writes,
      operation: 'repos/merge-upstream',
      summary: 'Bring the commits of the parent to a branch of a fork',
      body: Type.Object({ branch: Name }),
      answers: {
        200: Type.Object(
          { message: Type.String(), merge_type: Type.String(), base_branch: Type.String() },
          { title: 'MergedUpstream' },
        ),
      },
    },
    ({ db, storage, caller, repo, viewer, body }) => mergeUpstream(db, storage, caller, repo, viewer, body.branch),
  ),
])
