import { loadCommit } from '#hosting/refs/commits.ts'
import { created, del, get, group, listOf, paged, patch, post } from '#http/endpoint.ts'
import { Nothing } from '#http/serialization.ts'
import { Type } from '#platform/schema.ts'
import {
  createCommitComment,
  deleteCommitComment,
  listCommitComments,
  loadCommitComment,
  updateCommitComment,
} from './commit-comments.ts'
import { CommitCommentSchema, commitCommentJson } from './json.ts'

const reading = { permission: 'contents:read', viewer: 'optional', optional_scopes: ['repo'] } as const
const writing = { writable: true, permission: 'contents:write', scopes: ['public_repo', 'repo'] } as const
const Body = Type.String({ maxLength: 65_536 })
const Place = Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 2_147_483_647 })

export const api = group('Commit comments', [
  get(
    '/repos/{owner}/{repo}/comments',
    {
      ...reading,
      operation: 'repos/list-commit-comments-for-repo',
      summary: 'List the comments on all commits of a repository, oldest first',
      ...listOf(CommitCommentSchema),
    },
    async ({ db, repo, page, wire }) =>
      paged(await listCommitComments(db, repo, page), (row) => commitCommentJson(row, repo, wire)),
  ),
  get(
    '/repos/{owner}/{repo}/commits/{commit_sha+}/comments',
    {
      ...reading,
      operation: 'repos/list-comments-for-commit',
      refuses: ['conflict'],
      summary: 'List the comments on a commit, oldest first',
      ...listOf(CommitCommentSchema),
    },
    async ({ db, storage, repo, params, page, wire }) => {
      const { sha } = await loadCommit(storage, repo, params.commit_sha)
      return paged(await listCommitComments(db, repo, page, sha), (row) => commitCommentJson(row, repo, wire))
    },
  ),
  post(
    '/repos/{owner}/{repo}/commits/{commit_sha+}/comments',
    {
      ...writing,
      operation: 'repos/create-commit-comment',
      refuses: ['conflict'],
      summary: 'Comment on a commit, or on a line of one of its files',
      body: Type.Object({
        body: Body,
        path: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], minLength: 1, maxLength: 4096 })),
        position: Type.Optional(Place),
        line: Type.Optional(Place),
      }),
      own_transaction: true,
      answers: { 201: CommitCommentSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      const comment = await createCommitComment(db, storage, repo, viewer, params.commit_sha, body)
      return created(commitCommentJson(comment, repo, wire))
    },
  ),
  get(
    '/repos/{owner}/{repo}/comments/{comment_id}',
    {
      ...reading,
      operation: 'repos/get-commit-comment',
      summary: 'Get a comment on a commit',
      answers: { 200: CommitCommentSchema },
    },
    async ({ db, repo, params, wire }) => commitCommentJson(await loadCommitComment(db, repo, params.comment_id), repo, wire),
  ),
  patch(
    '/repos/{owner}/{repo}/comments/{comment_id}',
    {
      ...writing,
      operation: 'repos/update-commit-comment',
      summary: 'Change a comment on a commit, as its author or with push access',
      body: Type.Object({ body: Body }),
      own_transaction: true,
      answers: { 200: CommitCommentSchema },
    },
    async ({ db, storage, repo, viewer, params, body, wire }) => {
      const comment = await updateCommitComment(db, storage, repo, viewer, params.comment_id, body.body)
      return commitCommentJson(comment, repo, wire)
    },
  ),
  del(
    '/repos/{owner}/{repo}/comments/{comment_id}',
    {
      ...writing,
      operation: 'repos/delete-commit-comment',
      summary: 'Delete a comment on a commit, as its author or with push access',
      answers: { 204: Nothing },
    },
    ({ db, repo, viewer, params }) => deleteCommitComment(db, repo, viewer, params.comment_id),
  ),
])
